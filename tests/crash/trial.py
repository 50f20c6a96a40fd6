"""One trial: a scenario on a site, from the first request to the last event, through every kill that is planned."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from talaria.testing.model_server import ModelServer
from tests.crash.client import Client, Manners
from tests.crash.effects import Effect
from tests.crash.evidence import Death, Stored, effects_in, read_store
from tests.crash.fleet import Fleet, open_fleet
from tests.crash.model import SAME_IDS, StrictModel
from tests.crash.points import Kill, read_points
from tests.crash.server import REACHED, Start
from tests.crash.site import Site
from tests.crash.transcript import Transcript

DRAWN = 1000
"""Seeds from here on draw their kills."""

LIMIT = 40.0
"""Seconds within which a trial is over, whatever is killed."""


class Plan(msgspec.Struct, frozen=True):
    """What happens in a trial: the n-th kill ends the n-th server."""

    seed: int
    kills: tuple[Kill, ...] = ()
    manners: Manners = Manners()
    same_ids: bool = False
    grace: float = 2.0
    turns: tuple[str, ...] = ("first", "second")

    @property
    def name(self) -> str:
        """The trial's session; see `StrictModel` for its end."""
        return f"s{self.seed}{SAME_IDS if self.same_ids else ''}"

    @property
    def promised(self) -> int:
        """How many of the kills are sure to happen: those that are planned one by one, not drawn."""
        return 0 if self.seed >= DRAWN else len(self.kills)

    def __str__(self) -> str:
        return f"seed {self.seed}: {', '.join(map(str, self.kills)) or 'no kill'}; {self.manners}"


class Outcome(msgspec.Struct, frozen=True):
    """Everything that is known after a trial."""

    plan: Plan
    deaths: tuple[Death, ...]
    stored: Stored
    effects: tuple[Effect, ...]
    transcripts: dict[str, Transcript]
    replays: dict[str, Transcript]
    decided: dict[str, str]
    violations: tuple[str, ...]
    lost_rounds: int
    points: tuple[str, ...]

    @property
    def kills(self) -> int:
        """How many servers ended before the trial did."""
        return len(self.deaths)


class Bench:
    """What trials have in common: servers to be had, and a model."""

    def __init__(self, fleet: Fleet, url: str, model: StrictModel, folder: Path) -> None:
        self.fleet = fleet
        self.url = url
        self.model = model
        self.folder = folder

    async def run(self, plan: Plan, attempt: int = 0) -> Outcome:
        """Run a trial to its end.

        Raises:
            AssertionError: it does not come to its end; says how far it came.
        """
        folder = self.folder_of(plan, attempt)
        folder.mkdir()
        site = Site(self.fleet, Start(0, str(folder), self.url, grace=plan.grace), plan.kills)
        client = Client(site, plan.manners, plan.name)
        try:
            replays = await self._play(site, client, plan)
        finally:
            await client.close()
            await site.close()
        return Outcome(
            plan,
            tuple(site.deaths),
            read_store(folder, folder / "end"),
            tuple(effects_in(folder)),
            client.transcripts,
            replays,
            client.decided,
            tuple(self.model.violations.pop(plan.name, ())),
            self.model.lost.pop(plan.name, 0),
            tuple(read_points(folder / REACHED)),
        )

    def folder_of(self, plan: Plan, attempt: int) -> Path:
        """Where a trial keeps its files."""
        return self.folder / f"{plan.name}.{attempt}"

    async def _play(self, site: Site, client: Client, plan: Plan) -> dict[str, Transcript]:
        running = asyncio.create_task(site.run(), name=f"site {plan.name}")
        playing = asyncio.create_task(_turns(client, plan), name=f"client {plan.name}")
        try:
            async with asyncio.timeout(LIMIT):
                await asyncio.wait((running, playing), return_when=asyncio.FIRST_COMPLETED)
                return await playing if playing.done() else await _failed(running)
        finally:
            for task in (running, playing):
                task.cancel()
            await asyncio.gather(running, playing, return_exceptions=True)


async def _failed(running: asyncio.Task[None]) -> dict[str, Transcript]:
    await running
    raise AssertionError("a site ends only by failing")


async def _turns(client: Client, plan: Plan) -> dict[str, Transcript]:
    async with asyncio.TaskGroup() as group:
        for name in plan.turns:
            turn = group.create_task(client.turn(name))
            await (_begun(client, turn) if plan.manners.queues else turn)
    return {name: await client.replay(name) for name in client.transcripts}


async def _begun(client: Client, turn: "asyncio.Task[Transcript]") -> None:
    """Wait until the answer begins; a client that was away all that while hears of it only when the turn is over."""
    answering = asyncio.create_task(client.answering.wait())
    await asyncio.wait((answering, turn), return_when=asyncio.FIRST_COMPLETED)
    answering.cancel()


@asynccontextmanager
async def open_bench(folder: Path) -> AsyncGenerator[Bench]:
    """Start a zygote and a model."""
    model = StrictModel()
    async with ModelServer(model) as server, open_fleet() as fleet:
        yield Bench(fleet, server.base_url, model, folder)
