"""A turn on the screen: its events are read, what changes is painted, and what it asks is asked."""

import asyncio
import time

from talaria.cli.chat.asker import Asker
from talaria.cli.chat.blocks import Question
from talaria.cli.chat.client import ChatError, Client, EventStream
from talaria.cli.chat.draw import Moment, draw, draw_block
from talaria.cli.chat.keyboard import listening_for_interrupts
from talaria.cli.chat.prompts import Interrupted
from talaria.cli.chat.screen import Screen
from talaria.cli.chat.turn import Turn

FRAME = 0.08
"""Seconds between two pictures, at least."""

CALM = 0.15
"""Seconds that a question must stand before it is asked: in a run that is read from its start it may be answered."""


class RunningTurn:
    """Shows one turn from its first event to its end."""

    def __init__(self, screen: Screen, client: Client, asker: Asker) -> None:
        self._screen = screen
        self._client = client
        self._asker = asker
        self._changed = asyncio.Event()
        self._left = asyncio.Event()
        self._cancelling: asyncio.Task[None] | None = None
        self.turn = Turn()

    async def show(self, events: EventStream) -> bool:
        """Show the turn; return whether the person stays. The first Ctrl-C cancels the turn, the second one leaves.

        Raises:
            ChatError: the server refused, or was away for too long.
        """
        reading = asyncio.create_task(self._read(events), name="read")
        try:
            with listening_for_interrupts(lambda: self._interrupt(events)):
                while not reading.done() and not self._left.is_set():
                    await self._frame(events, reading)
        finally:
            reading.cancel()
            await asyncio.wait([reading])
            self._settle()
            self._screen.clear()
        for block in self.turn.blocks:
            self._screen.show(draw_block(block, Moment()))
        if not self._left.is_set():
            reading.result()
        return not self._left.is_set()

    async def _read(self, events: EventStream) -> None:
        async for event in events:
            self.turn.take(event)
            self._changed.set()

    async def _frame(self, events: EventStream, reading: "asyncio.Task[None]") -> None:
        began = time.monotonic()
        self._settle()
        question = next(iter(self.turn.questions.values()), None)
        if question is not None and await self._stands(question, reading):
            self._screen.clear()
            await self._ask(question, events, reading)
            return
        self._screen.paint(draw(self.turn.blocks, Moment(began, is_live=True)))
        took = time.monotonic() - began
        await asyncio.wait([reading], timeout=max(FRAME, 3 * took))  # a long answer takes long to draw

    def _settle(self) -> None:
        for block in self.turn.settle():
            self._screen.show(draw_block(block, Moment()))

    # Questions

    async def _stands(self, question: Question, reading: "asyncio.Task[None]") -> bool:
        await asyncio.wait([reading], timeout=CALM)
        return question.id in self.turn.questions and not reading.done()

    async def _ask(self, question: Question, events: EventStream, reading: "asyncio.Task[None]") -> None:
        """Ask, until there is an answer, from here or from elsewhere, or the turn is over."""
        asking = asyncio.create_task(self._asker.ask(question), name="ask")
        answered = asyncio.create_task(self._is_over(question), name="answered")
        try:
            await asyncio.wait([asking, answered, reading], return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                await asyncio.wait([answered, reading], timeout=5, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (asking, answered):
                task.cancel()
            await asyncio.wait([asking, answered])
        if asking.cancelled():
            self._screen.say("· this question is settled")
        elif isinstance(error := asking.exception(), Interrupted):
            self._interrupt(events)
        elif error is not None:
            raise error
        self.turn.questions.pop(question.id, None)

    async def _is_over(self, question: Question) -> None:
        while question.id in self.turn.questions:
            self._changed.clear()
            await self._changed.wait()

    # Ctrl-C

    def _interrupt(self, events: EventStream) -> None:
        if self._cancelling is not None or not events.run_id:
            self._left.set()
            return
        self._screen.say("· cancelling; Ctrl-C again leaves")
        self._cancelling = asyncio.create_task(self._cancel(events.run_id), name="cancel")

    async def _cancel(self, run_id: str) -> None:
        try:
            await self._client.post("/chat/cancel", {"runId": run_id})
        except ChatError as error:
            self._screen.say(f"✗ {error.message}", "red")
