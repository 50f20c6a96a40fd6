"""Faults of the store and of the harness stay where they are: other sessions go on, nobody waits for ever."""

import asyncio
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager

import pytest
from structlog.testing import capture_logs

from talaria import Agent, Runtime, TalariaError, tool
from talaria.core.errors import InternalError, InvalidRequest, StoreClosed
from talaria.core.events import START
from talaria.core.ids import SessionKey
from talaria.ports.journal import Batch
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.tools import Shop
from tests.runtime.world import ME, SESSION, bounded, end_of, soon, text_of, world

PATH = SessionKey("default", "anonymous", "-", SESSION).path


async def test_a_journal_that_cannot_be_read_is_not_read_again_and_again(store: str) -> None:
    agent = Agent("a")
    async with world(ScriptedModel(Say("Elsewhere.")), store=store) as here:
        await here.store.journal.append(Batch(PATH, 1, 0, (b'{"type":"of_a_later_version.9"}',)))
        events = await here.ask()
        assert end_of(events) == ("error", "internal")
        with pytest.raises(InternalError, match="cannot go on now"):
            await bounded(here.runtime.run(agent, "Go", session=SESSION))
        assert end_of(await here.ask(session_id="other")) == ("finish", "stop")
        await here.idle()


async def test_a_run_whose_journal_takes_no_more_tells_who_waits_and_goes_on_later(store: str) -> None:
    shop = Shop()
    agent = Agent("a")
    model = ScriptedModel(Call("slow_sell"), Say("On."), Say("Next."))
    async with world(model, tools=shop.tools, store=store) as here:
        running = asyncio.create_task(here.runtime.run(agent, "Go", session=SESSION))
        await bounded(shop.began.wait())
        seq = len(await here.store.journal.read(PATH))
        await here.store.journal.append(Batch(PATH, 2**60, seq, ()))  # another owner
        shop.go_on.set()
        with pytest.raises(InternalError, match="cannot go on now"):
            await bounded(running)
        await here.idle()


async def test_a_run_that_was_given_up_can_be_followed_when_it_goes_on() -> None:
    shop = Shop()
    model = ScriptedModel(Call("slow_sell"), Say("Lost."), Say("On."))
    async with world(model, tools=shop.tools) as here:
        run_id = await here.send()
        await bounded(shop.began.wait())
        seq = len(await here.store.journal.read(PATH))
        book = here.store._state.books[PATH]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownMemberType]
        kept = book.epoch  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        await here.store.journal.append(Batch(PATH, 2**60, seq, ()))
        shop.go_on.set()
        assert end_of(await here.events(run_id)) == ("error", "internal")
        await here.idle()
        book.epoch = kept
        here.parts.engine.wake(PATH)
        await here.stands(run_id, "finished")
        events = await here.events(run_id)
        assert (end_of(events), text_of(events)) == (("finish", "stop"), "On.")


async def test_a_listener_that_fails_listens_again() -> None:
    async with world(ScriptedModel(Say("One."), Say("Two."))) as here:
        await here.ask()
        arrivals = here.store.inbox._arrivals  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownMemberType]
        arrivals.take = _raiser(RuntimeError("lost"))
        assert end_of(await here.ask()) == ("finish", "stop")


async def test_a_run_goes_on_by_itself_once_its_journal_takes_entries_again() -> None:
    shop = Shop()
    model = ScriptedModel(Call("slow_look"), Say("On."))
    async with world(model, tools=shop.tools) as here:
        run_id = await here.send()
        await bounded(shop.began.wait())
        book = here.store._state.books[PATH]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownMemberType]
        kept, book.epoch = book.epoch, 2**60  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        shop.go_on.set()
        assert end_of(await here.events(run_id)) == ("error", "internal")
        await here.idle()
        with capture_logs() as logs:
            here.clock.move(1)
            await soon(lambda: any(line["event"] == "journal_refused" for line in logs), "another try")
            await here.idle()
        book.epoch = kept
        here.clock.move(2)
        await here.stands(run_id, "finished")


async def test_turns_that_could_not_begin_begin_once_the_journal_takes_entries_again() -> None:
    agent = Agent("a")
    model = ScriptedModel(script=lambda _: Say("Now."))
    async with world(model) as here:
        await here.store.journal.append(Batch(PATH, 2**60, 0, ()))
        tasks = [asyncio.create_task(here.runtime.run(agent, "Go", session=SESSION)) for _ in range(3)]
        for task in tasks:
            with pytest.raises(InternalError, match="cannot go on now"):
                await bounded(task)
        await here.idle()
        here.store._state.books[PATH].epoch = 0  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        here.clock.move(30)
        await soon(lambda: len(model.prompts) == 3, "all three turns")
        await here.idle()
        assert len(await here.messages()) == 6


async def test_a_turn_runs_once_another_program_no_longer_has_the_file_locked(sqlite: str) -> None:
    shop = Shop()
    async with world(ScriptedModel(Call("slow_look"), Say("On.")), tools=shop.tools, store=sqlite) as here:
        here.store._files.writer.execute("PRAGMA busy_timeout = 1")  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        run_id = await here.send()
        await bounded(shop.began.wait())
        with closing(sqlite3.connect(sqlite.removeprefix("sqlite:///"), isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            shop.go_on.set()
            assert end_of(await here.events(run_id)) == ("error", "internal")
            await here.idle()
        here.clock.move(1)
        await here.stands(run_id, "finished")


@contextmanager
def broken(url: str, table: str) -> Generator[None]:
    """Reads and writes of a table fail, within the block."""
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)) as other:
        other.execute(f"ALTER TABLE {table} RENAME TO elsewhere")
        yield
        other.execute(f"ALTER TABLE elsewhere RENAME TO {table}")


async def test_letters_are_heard_after_they_could_not_be_read_once(sqlite: str) -> None:
    async with world(ScriptedModel(Say("One."), Say("Two.")), store=sqlite) as here:
        await here.ask()
        await here.idle()
        with capture_logs() as logs, broken(sqlite, "letter"):
            await soon(lambda: any(line["event"] == "listener_failed" for line in logs), "a look that failed")
        assert end_of(await here.ask()) == ("finish", "stop")


async def test_alarms_ring_after_the_index_could_not_be_read_once(sqlite: str) -> None:
    model = ScriptedModel(Call("refund"), Say("Not paid."))
    async with world(model, tools=Shop().tools, store=sqlite) as here:
        run_id = await here.send()
        await here.stands(run_id, "waiting_approval")
        with capture_logs() as logs, broken(sqlite, "idx"):
            here.clock.move(7 * 24 * 3600)
            await soon(lambda: any(line["event"] == "listener_failed" for line in logs), "a look that failed")
        await here.stands(run_id, "finished")


def _raiser(error: Exception):
    def take() -> str:
        raise error

    return take


async def test_a_position_that_no_event_can_have_is_refused_and_harms_nobody(store: str) -> None:
    shop = Shop()
    async with world(ScriptedModel(Call("refund"), Say("On.")), tools=shop.tools, store=store) as here:
        run_id = await here.send()
        await here.stands(run_id, "waiting_approval")
        with pytest.raises(InvalidRequest):
            await bounded(anext(here.follow(run_id, (10**14, 0, 0, 0))))
        with pytest.raises(InvalidRequest):
            await bounded(anext(here.follow(run_id, (10**14, 5, 1, 7))))
        follower = asyncio.create_task(here.events(run_id))
        await here.decide(await here.question(run_id))
        assert end_of(await bounded(follower)) == ("finish", "stop")


async def test_a_closed_store_ends_everything_that_waits(store: str) -> None:
    gate = asyncio.Event()
    async with world(ScriptedModel(Say("Slow.", gate=gate, chunk=2)), store=store) as here:
        run_id = await here.send()
        await here.until(run_id, "token")
        await here.store.close()
        with pytest.raises(StoreClosed):
            await here.send()
        gate.set()
        await soon(lambda: here.parts.engine.running == 0, "the owner giving up")
        assert len(here.parts.kit.secrets) == 0


async def test_a_program_hears_what_is_wrong_with_its_request() -> None:
    async with world() as here:
        with pytest.raises(InvalidRequest, match="query"):
            await here.runtime.run(Agent("a"), "")
        with pytest.raises(InvalidRequest, match="session"):
            await here.runtime.run(Agent("a"), "Go", session="no spaces please")
        with pytest.raises(InvalidRequest, match="not available"):
            await here.runtime.run(Agent("a"), "Go", subagents=[{"name": "x"}])


def test_a_runtime_that_is_not_open_says_so() -> None:
    with pytest.raises(TalariaError, match="not open"):
        _ = Runtime({"store": {"url": "memory://"}}).parts


async def test_a_program_that_stops_reading_leaves_no_follower_behind() -> None:
    gate = asyncio.Event()

    @tool
    async def wait() -> str:
        """Wait."""
        await gate.wait()
        return "waited"

    async with world(ScriptedModel(Call("wait"), Say("On.")), tools=[wait]) as here:
        stream = here.runtime.stream(Agent("a"), "Go", session="s")
        first = await bounded(anext(stream))
        await stream.aclose()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        live = here.parts.kit.hub.get(str(first.data))
        assert live is not None
        assert live.followers == 0
        gate.set()
        assert end_of(await here.events(str(first.data))) == ("finish", "stop")
        assert ME.user == "anonymous"
        assert START == (0, 0, 0, 0)
