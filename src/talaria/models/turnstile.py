"""The turnstile in front of a provider: no more requests and tokens a minute than it grants, and everybody in turn.

Limits hold over every span of 60 seconds. Those who wait stand in lines, one a user, and the lines take turns: a user
with a thousand calls does not keep another's one call waiting behind them.
"""

import asyncio
from collections import deque

import msgspec

from talaria.core.errors import Overloaded
from talaria.ports.clock import Clock

MINUTE = 60_000
"""ms."""


class Ticket(msgspec.Struct, gc=False):
    """What one call takes: when it was let through, and its tokens, a guess until it is settled."""

    at: int
    tokens: int
    is_counted: bool


class Turnstile:
    """Lets calls through at the pace of `rpm` requests and `tpm` tokens a minute; None is any number."""

    def __init__(self, rpm: int | None, tpm: int | None, clock: Clock) -> None:
        self._rpm = rpm
        self._tpm = tpm
        self._clock = clock
        self._passed: deque[Ticket] = deque()
        self._spent = 0
        self._lines: dict[str, deque[tuple[int, asyncio.Future[Ticket]]]] = {}
        self._keeper: asyncio.Task[None] | None = None

    async def enter(self, user: str, tokens: int, patience: float) -> Ticket:
        """Wait until a call of about so many tokens may be made.

        Raises:
            Overloaded: that would take more than `patience` seconds.
        """
        if self._rpm is None and self._tpm is None:
            return Ticket(0, tokens, is_counted=False)
        if not self._lines and not self._wait_for(tokens):
            return self._let(tokens)
        place: asyncio.Future[Ticket] = asyncio.get_running_loop().create_future()
        self._lines.setdefault(user, deque()).append((tokens, place))
        if self._keeper is None:
            self._keeper = asyncio.create_task(self._keep(), name="turnstile")
        try:
            async with asyncio.timeout(patience):
                return await place
        except TimeoutError as error:
            wait = max(1.0, self._wait_for(tokens) / 1000)
            raise Overloaded("too many model calls at once; try again later", retry_after=wait) from error
        finally:
            if place.cancelled():
                self._look_again()

    def settle(self, ticket: Ticket, tokens: int) -> None:
        """Say how many tokens a call took in the end."""
        if ticket.is_counted:
            self._spent += tokens - ticket.tokens
        ticket.tokens = tokens

    async def close(self) -> None:
        """Nobody is let through any more."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
            self._keeper = None

    def _look_again(self) -> None:
        """Somebody has gone, for whom the keeper may be waiting while the others could pass."""
        if self._keeper is not None:
            self._keeper.cancel()
            self._keeper = asyncio.create_task(self._keep(), name="turnstile")

    async def _keep(self) -> None:
        """Open for the lines in turn, for as long as there are any."""
        while self._lines:
            user, line = next(iter(self._lines.items()))
            tokens, place = line[0]
            if not place.done() and (wait := self._wait_for(tokens)):
                await self._clock.sleep(wait / 1000)
                continue
            line.popleft()
            del self._lines[user]
            if line:
                self._lines[user] = line  # the next line's turn
            if not place.done():  # else whoever stood there has gone
                place.set_result(self._let(tokens))
        self._keeper = None

    def _let(self, tokens: int) -> Ticket:
        ticket = Ticket(self._clock.now(), tokens, is_counted=True)
        self._passed.append(ticket)
        self._spent += tokens
        return ticket

    def _wait_for(self, tokens: int) -> int:
        """How many ms until a call of so many tokens may be made. One larger than the limit goes when it is alone."""
        now = self._clock.now()
        while self._passed and self._passed[0].at <= now - MINUTE:
            gone = self._passed.popleft()
            self._spent, gone.is_counted = self._spent - gone.tokens, False
        requests, spent, wait = len(self._passed), self._spent, 0
        for ticket in self._passed:
            if self._fits(requests, spent, tokens):
                break
            requests, spent, wait = requests - 1, spent - ticket.tokens, max(1, ticket.at + MINUTE - now)
        return wait

    def _fits(self, requests: int, spent: int, tokens: int) -> bool:
        has_place = self._rpm is None or requests < self._rpm
        return has_place and (self._tpm is None or not spent or spent + tokens <= self._tpm)
