"""The chat at a terminal: lines in, turns and commands."""

from talaria.cli.chat.asker import Asker
from talaria.cli.chat.client import ChatError, Client, EventStream
from talaria.cli.chat.commands import Command, Commands
from talaria.cli.chat.completion import ChatCompleter
from talaria.cli.chat.conversation import Conversation
from talaria.cli.chat.draw import Moment, draw
from talaria.cli.chat.offers import Offers
from talaria.cli.chat.past import blocks_of, recent
from talaria.cli.chat.places import history_file
from talaria.cli.chat.prompts import Interrupted, Left, Prompts
from talaria.cli.chat.running import RunningTurn
from talaria.cli.chat.screen import Screen


class Repl:
    """Talks to one server until the person leaves."""

    def __init__(self, screen: Screen, client: Client, conversation: Conversation) -> None:
        self._screen = screen
        self._client = client
        self._conversation = conversation
        self._offers = Offers()
        self._commands = Commands(screen, client, conversation, self._offers)
        self._commands.table |= {
            "resume": Command("[ID]", "go on with an old session, by default the newest", self._resume),
            "quit": Command("", "leave", self._quit),
        }
        texts = {name: each.help for name, each in self._commands.table.items()}
        self._prompts = Prompts(history_file(), ChatCompleter(texts, self._offers))
        self._asker = Asker(screen, self._prompts, client)

    async def run(self) -> None:
        """Take lines until the person leaves.

        Raises:
            ChatError: the server cannot be reached at all.
        """
        await self._offers.refresh(self._client)
        self._screen.say(f"Talaria at {self._client.url} · /help lists the commands")
        try:
            if self._conversation.session is not None:
                await self._go_on(self._conversation.session)
            warned = False
            while True:
                warned = await self._next(warned)
        except Left:
            self._screen.say("bye")

    async def _next(self, warned: bool) -> bool:
        """Take a line; return whether the person was told that the next Ctrl-C leaves."""
        try:
            line = (await self._prompts.line("› ")).strip()
        except Interrupted:
            if warned:
                raise Left from None
            self._screen.say("Ctrl-C again leaves")
            return True
        if line.startswith("/"):
            await self._commands.run(line)
        elif line:
            await self._turn(self._client.turn(self._conversation.request(line)))
        return False

    async def _turn(self, events: EventStream) -> None:
        running = RunningTurn(self._screen, self._client, self._asker)
        try:
            stays = await running.show(events)
        except ChatError as error:
            self._screen.say(f"✗ {error.message}", "red")
            stays = True
        self._conversation.session = running.turn.session_id or self._conversation.session
        self._commands.thoughts = running.turn.thoughts
        if not stays:
            raise Left

    # Old sessions

    async def _resume(self, session: str) -> None:
        await self._offers.refresh(self._client)
        if not session and not self._offers.sessions:
            self._screen.say("there are no sessions yet")
            return
        await self._go_on(session or self._offers.sessions[0]["sessionId"])

    async def _go_on(self, session: str) -> None:
        """Show a session, follow the turn that runs in it, and have the next turns in it."""
        row = next((each for each in self._offers.sessions if each["sessionId"] == session), None)
        self._conversation.turn_to(session, row)
        try:
            view = await self._client.get(f"/sessions/{session}", **self._conversation.owner)
        except ChatError as error:
            self._screen.say(f"a new session, {session}" if error.status == 404 else f"✗ {error.message}")
            return
        self._conversation.turn_to(session, view)
        active = str(view.get("activeRun", ""))
        before, messages = recent(view["messages"], bool(active))
        if before:
            self._screen.say(f"… {before} messages before these")
        self._screen.show(draw(blocks_of(messages), Moment()))
        self._screen.say(f"session {session}")
        if active:
            await self._turn(self._client.run(active))

    async def _quit(self, _: str) -> None:
        raise Left
