"""The model of the trials: stateless, so that it says the same after a restart, and strict about what it is sent."""

from collections import defaultdict
from typing import Any, cast

from talaria.testing.model_server import since_user
from talaria.testing.steps import Step, chunks
from tests.crash.scenario import TURNS

Message = dict[str, Any]
SAME_IDS = ".same"


class StrictModel:
    """Answers by what the request holds. `violations` are by trial, the words behind the first message's turn.

    `lost` counts, by trial, how often the last round of a request was not in the next one: its results, or all of it.
    A trial whose name ends in `SAME_IDS` gets the same call ids in every answer, as from a provider that counts from 0.
    """

    def __init__(self) -> None:
        self.violations: defaultdict[str, list[str]] = defaultdict(list)
        self.lost: defaultdict[str, int] = defaultdict(int)
        self._before: dict[str, dict[str, Any]] = {}
        self._asked = 0

    def __call__(self, body: dict[str, Any]) -> Step:
        """The step that answers a request."""
        messages = cast("list[Message]", body["messages"])
        users = [text_of(message) for message in messages if message["role"] == "user"]
        trial = users[0].split()[1]
        self.violations[trial] += faults(messages)
        self.violations[trial] += self._changes(trial, body)
        self._asked += 1
        steps = TURNS[users[-1].split(maxsplit=1)[0]]
        step = steps[min(since_user(body, "assistant"), len(steps) - 1)]
        number = 1 if trial.endswith(SAME_IDS) else self._asked
        return Step(raw=tuple(piece.decode() for piece in chunks(step, "scripted", number)))

    def _changes(self, trial: str, body: dict[str, Any]) -> list[str]:
        """What the model has seen stays as it was: every request begins with the one before, lost rounds aside."""
        before = self._before.get(trial, body)
        self._before[trial] = body
        found = ["the tools changed"] if body.get("tools") != before.get("tools") else []
        seen: list[Message] = before["messages"]
        if body["messages"][: len(seen)] == seen:
            return found
        self.lost[trial] += 1
        last = max(at for at, message in enumerate(seen) if message["role"] != "tool")
        kept = seen[:last] if seen[last]["role"] == "assistant" else seen
        if body["messages"][: len(kept)] != kept:
            found.append(f"earlier messages changed: {kept} → {body['messages'][: len(kept)]}")
        return found


def text_of(message: Message) -> str:
    """A message's text, whether it is in parts or not."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def faults(messages: list[Message]) -> list[str]:
    """What a provider of the OpenAI kind would refuse in a history."""
    found = [] if messages and messages[0]["role"] == "system" else ["the system message is not first"]
    open_calls: list[str] = []
    for at, message in enumerate(messages):
        match message["role"]:
            case "tool":
                expected = open_calls.pop(0) if open_calls else None
                if message["tool_call_id"] != expected:
                    found.append(f"message {at} answers {message['tool_call_id']}, expected {expected}")
            case role:
                if open_calls:
                    found.append(f"message {at} ({role}) comes before the answers to {open_calls}")
                open_calls = [call["id"] for call in message.get("tool_calls") or ()]
                found += _repeated(at, messages)
    return found + ([f"no answers to {open_calls}"] if open_calls else [])


def _repeated(at: int, messages: list[Message]) -> list[str]:
    """Two user or assistant messages in a row say that one of them is there twice."""
    message = messages[at]
    calls = [call["id"] for call in message.get("tool_calls") or ()]
    found = [f"message {at} has a call id twice: {calls}"] if len(set(calls)) < len(calls) else []
    same = at > 0 and message["role"] == messages[at - 1]["role"]
    return found + ([f"messages {at - 1} and {at} are both of {message['role']}"] if same else [])
