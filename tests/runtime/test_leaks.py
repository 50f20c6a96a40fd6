"""After many runs nothing of them is left in memory."""

import asyncio
import gc
from collections.abc import Sequence

import structlog
from structlog.contextvars import merge_contextvars

from talaria.journal.state import SessionState
from talaria.live.buffer import LiveBuffer
from talaria.runtime.owner import Owner
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.tools import Shop
from tests.runtime.world import bounded, end_of, world


async def test_five_hundred_runs_leave_nothing_behind() -> None:
    shop = Shop()
    model = ScriptedModel(
        script=lambda request: Say("Done.") if _called(request.prompt.messages) else Call("look", {"what": "x"})
    )
    async with world(model, tools=shop.tools, server={"maxRuns": 50, "queue": 500}) as here:
        await here.ask(session_id="warm")
        runs: set[str] = set()
        others = _owners()  # of other tests, whose exceptions hold them
        before = {task.get_name() for task in asyncio.all_tasks()}

        async def one(at: int) -> None:
            run_id = await here.send(session_id=f"s-{at}", tool_context={"apiKey": "s3cret-value"})
            runs.add(run_id)
            assert end_of(await here.events(run_id)) == ("finish", "stop")

        await bounded(asyncio.gather(*(one(at) for at in range(500))), 60)
        await here.idle()
        model.requests.clear()
        model.prompts.clear()
        here.clock.move(60)
        for _ in range(3):
            here.parts.engine.sweep()
        kit = here.parts.kit
        assert (len(kit.hub), len(kit.secrets), len(kit.outcomes)) == (0, 0, 0)
        assert {task.get_name() for task in asyncio.all_tasks()} == before
        gc.collect()
        states = [each for each in gc.get_objects() if isinstance(each, SessionState) and each.run is not None]
        assert _owners() <= others
        buffers = [each for each in gc.get_objects() if isinstance(each, LiveBuffer)]
        assert runs.isdisjoint(each.run.id for each in states if each.run is not None)
        assert runs.isdisjoint(each.run_id for each in buffers)


def _owners() -> set[int]:
    gc.collect()
    return {id(each) for each in gc.get_objects() if isinstance(each, Owner)}


def _called(messages: Sequence[object]) -> bool:
    return type(messages[-1]).__name__ == "ToolMessage"


async def test_a_run_that_is_over_keeps_no_events_in_memory() -> None:
    async with world(ScriptedModel(Say("x" * 100_000, chunk=10))) as here:
        run_id = await here.send()
        await here.stands(run_id, "finished")
        live = here.parts.kit.hub.get(run_id)
        assert live is not None
        assert live.read(live.end) == []
        assert live.read(0) is None
        assert len(await here.events(run_id)) == 3


async def test_every_line_about_a_run_says_which() -> None:
    shop = Shop()
    calls = (Call("look"), Call("nothing"), Call("refund"))
    with structlog.testing.capture_logs(processors=[merge_contextvars]) as logs:
        async with world(ScriptedModel(Say(calls=calls), Say("Done.")), tools=shop.tools) as here:
            run_id = await here.send()
            await here.stands(run_id, "waiting_approval")
            await here.decide(await here.question(run_id))
            await here.events(run_id)
            await here.idle()
    about = [line for line in logs if line["event"] != "secrets_too_short"]
    assert {line["event"] for line in about} >= {
        "model_finished",
        "tool_finished",
        "approval_requested",
        "approval_resolved",
        "run_resumed",
        "run_finished",
    }
    for line in about:
        assert (line["tenant"], line["session"], line["run"], line["agent"]) == ("default", "s-1", run_id, "assistant")
    for line in about:
        if line["event"] in ("tool_finished", "model_finished"):
            assert line["round"] >= 1
        if line["event"] == "tool_finished":
            assert line["call"]
    ends = [line["round"] for line in about if line["event"] == "model_finished"]
    assert ends == [1, 2]
