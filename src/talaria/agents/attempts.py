"""The attempts at one model call: what the one under way has said, and what all of them took."""

from talaria.agents.granted import Means
from talaria.core.usage import Usage
from talaria.journal.transcript import wire_message
from talaria.ports.model import Answer, Delta, ModelRequest


class Attempts:
    """What no provider counted is guessed: four characters a token, at the price of the model that was asked for."""

    def __init__(self, means: Means, request: ModelRequest) -> None:
        self._means = means
        self._request = request
        self._void = Usage()
        self.said: list[Delta] = []

    def again(self) -> None:
        """Begin an attempt: what was said before is void."""
        if self.said:
            self._void += self._guess()
            self.said.clear()

    def took(self, answer: Answer | None) -> Usage:
        """What all attempts took; None: the last one came to nothing."""
        return self._void + (answer.usage if answer else self._guess())

    def _guess(self) -> Usage:
        prompt = self._request.prompt
        sent = len(prompt.system) + sum(len(wire_message(message)["content"]) for message in prompt.messages)
        said = sum(len(delta.text) for delta in self.said)
        return self._means.priced(Usage(-(-sent // 4), -(-said // 4), estimated=True), self._request.model)
