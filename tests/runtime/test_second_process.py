"""Two processes decide about one question of one file: one decision is in force, and the call runs at most once."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from talaria.core.errors import Conflict
from talaria.core.ids import SessionKey
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.tools import Shop
from tests.runtime.world import SESSION, World, bounded, end_of, told, world

VISITOR = Path(__file__).with_name("visitor.py")
PATH = SessionKey("default", "anonymous", "-", SESSION).path
Go = Callable[[], Awaitable[list[str]]]


async def visitor(store: str, run_id: str, request_id: str) -> Go:
    """Start another process on the file; what is returned has it decide, and gives what it found in force."""
    arguments = (store.removeprefix("sqlite:///"), PATH, run_id, request_id)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, str(VISITOR), *arguments, stdin=pipe, stdout=pipe)
    assert process.stdout is not None
    assert await bounded(process.stdout.readline(), 30) == b"open\n"

    async def go() -> list[str]:
        out, _ = await bounded(process.communicate(b"\n"), 30)
        assert process.returncode == 0
        return out.decode().splitlines()

    return go


async def in_force(here: World, request_id: str) -> str:
    try:
        view = await here.decide(request_id)
    except Conflict as error:
        view = error.current
    return f"{view['decision']} {view['by']}"


@pytest.mark.parametrize("also_here", [False, True], ids=["the other process", "both"])
async def test_of_two_processes_that_decide_one_is_first(sqlite: str, also_here: bool) -> None:
    shop = Shop()
    async with world(ScriptedModel(Call("refund"), Say("Done.")), tools=shop.tools, store=sqlite) as here:
        run_id = await here.send()
        request_id = await here.question(run_id)
        await here.stands(run_id, "waiting_approval")
        visiting = asyncio.ensure_future((await visitor(sqlite, run_id, request_id))())
        found: set[str] = {await in_force(here, request_id)} if also_here else set()
        found.update(await visiting)
        events = await bounded(here.events(run_id))
        found.add(await in_force(here, request_id))
    assert end_of(events) == ("finish", "stop")
    assert len(found) == 1, found
    decision = found.pop().split()[0]
    assert [line for line in told(events) if line.startswith("approval_resolved")] == [f"approval_resolved {decision}"]
    assert shop.done == (["refund 1"] if decision == "approved" else [])
