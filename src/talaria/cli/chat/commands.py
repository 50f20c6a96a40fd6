"""The commands: what a line that begins with a slash does."""

from collections.abc import Awaitable, Callable, Iterable
from difflib import get_close_matches
from typing import NamedTuple

from rich.table import Table
from rich.text import Text

from talaria.cli.chat import words
from talaria.cli.chat.client import ChatError, Client
from talaria.cli.chat.conversation import Conversation
from talaria.cli.chat.offers import Offers, Rows
from talaria.cli.chat.screen import Screen

_THINKING = {"on": "enabled", "off": "disabled", "default": None}


class Command(NamedTuple):
    """A command: what stands behind its name, what it does, and what does it."""

    argument: str
    help: str
    act: Callable[[str], Awaitable[None]]


class Commands:
    """The commands that choose and show. `thoughts` are those of the last turn."""

    def __init__(self, screen: Screen, client: Client, conversation: Conversation, offers: Offers) -> None:
        self._screen = screen
        self._client = client
        self._conversation = conversation
        self._offers = offers
        self.thoughts: list[str] = []
        self.table: dict[str, Command] = {
            "help": Command("", "this list", self._help),
            "model": Command("[NAME|default]", "show the models, or choose one", self._model),
            "think": Command("[on|off|default]", "whether the model is to think first", self._think),
            "tools": Command("[NAME…|all|none]", "show the tools, or choose what turns may use", self._tools),
            "sessions": Command("", "list the newest sessions", self._sessions),
            "new": Command("[ID]", "begin a new session", self._new),
            "reasoning": Command("", "show the reasoning of the last turn", self._reasoning),
        }

    async def run(self, line: str) -> None:
        """Run the command in a line."""
        name, _, argument = line[1:].partition(" ")
        command = self.table.get(name)
        if command is None:
            near = get_close_matches(name, self.table, n=1)
            self._screen.say(
                f"there is no /{name}{f'; did you mean /{near[0]}?' if near else ''}; /help lists all", "red"
            )
            return
        try:
            await command.act(argument.strip())
        except ChatError as error:
            self._screen.say(f"✗ {error.message}", "red")

    async def _help(self, _: str) -> None:
        self._list((f"/{name} {each.argument}", each.help) for name, each in self.table.items())
        self._screen.say("Alt-Enter begins a new line. Ctrl-C cancels a turn, a second one leaves. Ctrl-D leaves.")

    async def _model(self, name: str) -> None:
        if name:
            self._conversation.model = None if name == "default" else name
        else:
            await self._offers.refresh(self._client)
            self._list((each["name"], "") for each in self._offers.models)
        self._screen.say(f"model: {self._conversation.model or 'the default'}")

    async def _think(self, word: str) -> None:
        if word and word not in _THINKING:
            self._screen.say("/think takes on, off or default", "red")
            return
        if word:
            self._conversation.thinking = _THINKING[word]
        self._screen.say(f"thinking: {self._conversation.thinking or 'as the model does by default'}")

    async def _tools(self, names: str) -> None:
        if names:
            given = names.replace(",", " ").split()
            self._conversation.tools = None if names == "all" else [each for each in given if each != "none"]
        else:
            await self._offers.refresh(self._client)
            self._list(_tool_rows(self._offers.tools))
        chosen = self._conversation.tools
        said = "all of the agent's" if chosen is None else ", ".join(chosen) or "none"
        self._screen.say(f"tools that turns may use: {said}")

    async def _sessions(self, _: str) -> None:
        await self._offers.refresh(self._client)
        rows = self._offers.sessions
        self._list(
            (each["sessionId"], f"{each['title']} · {_turns(each['turns'])} · {each['updatedAt'][:16]}")
            for each in rows
        )
        self._screen.say("/resume ID goes on with one" if rows else "there are no sessions yet")

    async def _new(self, session: str) -> None:
        self._conversation.turn_to(session or None)
        self._screen.say(f"a new session{f', {session}' if session else ''}")

    async def _reasoning(self, _: str) -> None:
        for each in self.thoughts:
            self._screen.show(Text(words.clean(each).strip(), "dim italic"))
        if not self.thoughts:
            self._screen.say("the last turn has no reasoning")

    def _list(self, rows: Iterable[tuple[str, str]]) -> None:
        table = Table.grid(padding=(0, 2))
        table.add_column(style="cyan", no_wrap=True)
        table.add_column(style="dim", overflow="ellipsis", no_wrap=True)
        for name, text in rows:
            table.add_row(words.one_line(name), words.one_line(text))
        self._screen.show(table)


def _tool_rows(tools: Rows) -> Iterable[tuple[str, str]]:
    return ((each["name"], f"{'(asks) ' if each.get('approval') else ''}{each['description']}") for each in tools)


def _turns(count: int) -> str:
    return f"{count} turn{'' if count == 1 else 's'}"
