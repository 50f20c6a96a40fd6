"""Completion: commands, and what may stand behind them."""

from collections.abc import Iterable, Mapping

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from talaria.cli.chat.offers import Offers
from talaria.cli.chat.words import one_line

Words = dict[str, str]
"""What can be written → what it means."""


class ChatCompleter(Completer):
    """Completes lines that begin with a slash."""

    def __init__(self, commands: Mapping[str, str], offers: Offers) -> None:
        self._commands = {f"/{name}": text for name, text in commands.items()}
        self._offers = offers

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield what the word at the cursor may become."""
        line = document.text_before_cursor
        if not line.startswith("/"):
            return
        command, space, rest = line.partition(" ")
        word = rest.rpartition(" ")[2] if space else command
        for each, meaning in (self._after(command) if space else self._commands).items():
            if each.startswith(word):
                yield Completion(each, -len(word), display_meta=one_line(meaning)[:60])

    def _after(self, command: str) -> Words:
        match command:
            case "/model":
                return {each["name"]: "" for each in self._offers.models} | {"default": "the agent's own"}
            case "/think":
                return {"on": "", "off": "", "default": "as the model does"}
            case "/tools":
                named = {each["name"]: each["description"] for each in self._offers.tools}
                return named | {"all": "no limit", "none": "no tools"}
            case "/resume":
                return {each["sessionId"]: each["title"] for each in self._offers.sessions}
            case _:
                return {}
