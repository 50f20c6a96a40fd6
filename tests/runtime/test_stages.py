"""Stages of one's own: where they stand, what they may do, and that nothing passes one that fails."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from talaria import Agent, Principal, StageCall, StageResult, StopRun, stage, tool
from talaria.core.errors import ConfigurationError
from talaria.journal.entries import ToolFinished, ToolStarted
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from talaria.tools.own_chain import FAILED, LEFT, WITHHELD, chain_with
from talaria.tools.own_stages import PLACES, Go, OwnStage
from talaria.tools.stages import STAGES
from tests.polling import eventually
from tests.runtime.tools import Shop
from tests.runtime.world import end_of, told, world


def selling(*what: str) -> ScriptedModel:
    return ScriptedModel(Say(calls=tuple(Call("sell", {"what": each}) for each in what)), Say("Done."))


async def sold(shop: Shop, *stages: OwnStage) -> tuple[list[ToolFinished], list[str]]:
    """Sell a cup with these stages; return how the call ended, and the names of the entries."""
    async with world(selling("cup"), tools=shop.tools, stages=stages) as here:
        await here.ask()
        return [each for each in await here.entries() if isinstance(each, ToolFinished)], await here.tales()


def test_places_are_named_as_the_chain_names_its_stages() -> None:
    assert tuple(getattr(each, "__name__", "") for each in STAGES) == PLACES


async def test_stages_stand_where_they_say_and_keep_their_order() -> None:
    met: list[str] = []

    def named(name: str) -> Callable[[StageCall, Go], Awaitable[StageResult]]:
        async def one(call: StageCall, proceed: Go) -> StageResult:
            met.append(name)
            return await proceed()

        return one

    late, early = stage(before="run")(named("late")), stage(after="arguments")(named("early"))
    first, second = stage(after="permission")(named("first")), stage(before="limits")(named("second"))
    await sold(Shop(), late, first, second, early, first)
    assert met == ["early", "first", "second", "late"]
    assert len(chain_with([late, first, first])) == len(STAGES) + 2


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ({"after": "permissions"}, "no stage named 'permissions'; there are 'known', .* did you mean 'permission'?"),
        ({"after": "known"}, "after 'arguments' at the earliest"),
        ({"after": "run"}, "before 'run' at the latest"),
        ({}, "one place"),
        ({"after": "order", "before": "once"}, "one place"),
    ],
)
def test_a_place_that_is_none_is_an_error_at_start_up(where: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        stage(**where)


def test_a_stage_is_async() -> None:
    def plain(call: StageCall, proceed: Go) -> Any: ...

    with pytest.raises(ConfigurationError, match="stage 'plain' is no 'async def'"):
        stage(after="limits")(plain)


async def test_a_refused_call_does_not_run_and_the_model_is_told() -> None:
    @stage(after="permission")
    async def no_cups(call: StageCall, proceed: Go) -> StageResult:
        return call.refuse(f"no {call.arguments['what']} for {call.principal.user}")

    shop = Shop()
    [done], tales = await sold(shop, no_cups)
    assert (done.text, done.outcome) == ("no cup for anonymous", "refused")
    assert shop.done == []
    assert "ToolStarted" not in tales


async def test_a_stage_knows_the_call_and_what_it_ends_with() -> None:
    seen: list[Any] = []

    @stage(before="approval")
    async def audit(call: StageCall, proceed: Go) -> StageResult:
        done = await proceed()
        seen.append((call.tool.name, dict(call.arguments), call.session_id, call.principal.user, call.deps, done))
        with pytest.raises(TypeError):
            call.arguments["what"] = "all"  # pyright: ignore[reportIndexIssue]
        return done

    shop = Shop()
    model = ScriptedModel(Say(calls=(Call("sell", {"what": "cup"}, id="c1"),)), Say("Done."))
    async with world(model, stages=[audit]) as here:
        agent = Agent("a", tools=[shop.sell], deps="deps")
        await here.runtime.run(agent, "Go", session="s-1", principal=Principal(user="eve"))
    assert seen == [("sell", {"what": "cup"}, "s-1", "eve", "deps", StageResult("sold cup"))]


async def test_a_changed_text_is_what_the_model_gets_masked_and_trimmed_and_the_first_is_not_kept() -> None:
    @stage(after="limits")
    async def words(call: StageCall, proceed: Go) -> StageResult:
        return (await proceed()).with_text("hunter22 " * 20)

    @tool(result_limit=30)
    async def sell(what: str) -> str:
        """Sell."""
        return "all too long, " * 10

    async with world(selling("cup"), tools=[sell], stages=[words]) as here:
        await here.ask(toolContext={"key": "hunter22"})
        [done] = [each for each in await here.entries() if isinstance(each, ToolFinished)]
        whole = (
            await here.store.blobs.get((await here.parts.lookup.place(Principal(), done.run)).path, done.blob)
        ).decode()
    assert done.truncated
    assert whole == "[masked] " * 20
    assert "hunter22" not in done.text


@pytest.mark.parametrize("ran", [False, True])
@pytest.mark.parametrize("wrong", ["raises", "returns nothing"])
async def test_a_stage_that_fails_lets_nothing_pass(wrong: str, *, ran: bool) -> None:
    @stage(after="limits")
    async def broken(call: StageCall, proceed: Go) -> Any:
        if ran:
            await proceed()
        if wrong == "raises":
            raise RuntimeError("broken")

    shop = Shop()
    with capture_logs() as logs:
        [done], tales = await sold(shop, broken)
    assert (done.text, done.outcome) == ((WITHHELD, "error") if ran else (FAILED, "refused"))
    assert shop.done == (["sell cup"] if ran else [])
    assert tales[-1] == "RunFinished"
    assert wrong != "raises" or [each["stage"] for each in logs if each["event"] == "stage_failed"] == ["broken"]


async def test_a_tool_is_not_run_twice_for_one_call() -> None:
    @stage(after="limits")
    async def again(call: StageCall, proceed: Go) -> StageResult:
        await proceed()
        return await proceed()

    shop = Shop()
    [done], _ = await sold(shop, again)
    assert shop.done == ["sell cup"]
    assert done.text == WITHHELD


async def test_a_stage_cannot_swallow_that_a_call_waits_for_a_person() -> None:
    rounds: list[str] = []

    @stage(before="approval")
    async def greedy(call: StageCall, proceed: Go) -> StageResult:
        rounds.append(call.tool.name)
        try:
            return await proceed()
        except Exception:  # noqa: BLE001
            return StageResult("done, promised")

    shop = Shop()
    async with world(
        ScriptedModel(Say(calls=(Call("refund"),)), Say("Ok.")), tools=shop.tools, stages=[greedy]
    ) as here:
        run = await here.send()
        await here.decide(await here.question(run), approve=False)
        events = await here.events(run)
    assert end_of(events) == ("finish", "stop")
    assert "tool_result refund: Not run: a person declined this call." in told(events)
    assert (shop.done, rounds) == ([], ["refund", "refund"])


async def test_a_stage_that_gives_a_call_up_leaves_it_unknown() -> None:
    @stage(after="limits")
    async def hasty(call: StageCall, proceed: Go) -> StageResult:
        async with asyncio.timeout(0):
            return await proceed()

    @tool
    async def sell(what: str) -> str:
        """Sell."""
        await asyncio.Event().wait()
        return what

    async with world(selling("cup"), tools=[sell], stages=[hasty]) as here:
        await here.ask()
        [done] = [each for each in await here.entries() if isinstance(each, ToolFinished)]
    assert (done.text, done.outcome) == (LEFT, "unknown")


async def test_a_stage_may_end_the_run() -> None:
    @stage(after="permission")
    async def closed(call: StageCall, proceed: Go) -> StageResult:
        raise StopRun("The shop is closed.")

    async with world(selling("cup", "hat"), tools=Shop().tools, stages=[closed]) as here:
        events = await here.ask()
        assert not [each for each in await here.entries() if isinstance(each, ToolStarted)]
    assert end_of(events) == ("error", "tool_failed")


async def test_a_cancel_goes_through_a_stage() -> None:
    @stage(after="limits")
    async def stubborn(call: StageCall, proceed: Go) -> StageResult:
        try:
            return await proceed()
        except asyncio.CancelledError:
            return StageResult("never mind")

    shop = Shop()
    async with world(ScriptedModel(Say(calls=(Call("slow_sell"),))), tools=shop.tools, stages=[stubborn]) as here:
        run = await here.send()
        await shop.began.wait()
        await here.cancel(run)
        assert end_of(await here.events(run)) == ("finish", "cancelled")


async def test_a_stage_between_retry_and_run_sees_every_attempt() -> None:
    met: list[str] = []

    @tool(name="sell", retries=2, idempotent=True)
    def flaky(what: str) -> str:
        """Sell."""
        if len(met) < 2:
            raise OSError("away")
        return f"{what} sold"

    @stage(before="run")
    async def watching(call: StageCall, proceed: Go) -> StageResult:
        met.append(call.tool.name)
        return await proceed()

    async with world(selling("cup"), tools=[flaky], stages=[watching]) as here:
        run = await here.send()

        async def tried_again() -> bool:
            here.clock.move(1.0)
            return len(met) > 1

        await eventually(tried_again, "another attempt")
        assert "tool_result sell: cup sold" in told(await here.events(run))
    assert met == ["sell", "sell"]


PLUGIN = """
from talaria import StageCall, stage

@stage(after="permission")
async def closed(call: StageCall, proceed):
    return call.refuse("closed by the plugin")
"""


@pytest.mark.blocking  # a plugin is imported, and looked for where the program was started
async def test_a_plugin_brings_stages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "closing_plugin.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)  # pyright: ignore[reportUnknownMemberType]
    async with world(selling("cup"), tools=Shop().tools, plugins=["closing_plugin"]) as here:
        assert "tool_result sell: closed by the plugin" in told(await here.ask())
