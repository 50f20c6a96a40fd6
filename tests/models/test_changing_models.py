"""Conversations that change their model at every turn: no provider would refuse a request, whatever happened before."""

import asyncio
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from talaria import Agent, Principal, Runtime, tool
from tests.models.babel import MODELS, Act, Babel, Wrote, routes
from tests.models.serving import Serving

ANN = Principal(user="ann")


@tool(side_effects=False)
def look(q: str = "") -> str:
    """Look something up."""
    return {"huge": "x" * 30_000, "blank": "  ", "none": "", "odd": "查询\x00\ud800"}.get(q, f"found {q}")


@tool(side_effects=False)
def fail() -> str:
    """Fail."""
    raise ValueError("no")


@tool(approval=True)
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


CLERK = Agent("clerk", tools=[look, fail, pay])
IDS = st.sampled_from(
    ["", "call_0", "call_1", "functions.look:0", "chatcmpl-tool-" + "a" * 32, "查询|fc_1", "x" * 200, "toolu_1"]
)
NAMES = st.sampled_from(["look", "look", "look", "fail", "pay", "查询天气", "n" * 100, "no such tool", "Look", "a.b"])
ARGUMENTS = st.sampled_from(
    ['{"q":"a"}', '{"q":"huge"}', '{"q":"blank"}', '{"q":"none"}', '{"q":"odd"}', "", "{}", "[1]", '{"q":',
     "null", '"x"', '{"amount":1}', '{"q": "\\ud800"}', '{"q":NaN}', "{'q': 'a'}"]
)  # fmt: skip
CALLS = st.builds(Wrote, IDS, NAMES, ARGUMENTS)
TEXTS = st.sampled_from(["", "", " ", "\n", "Well.", "天气很好 👋", "\x00"])
THOUGHTS = st.sampled_from(["", "", "Hm.", " "])
BREAKS = st.sampled_from([False] * 6 + [True])
ACTS = st.builds(Act, TEXTS, THOUGHTS, st.lists(CALLS, max_size=3).map(tuple), BREAKS)
DECISIONS = st.sampled_from(["approve", "decline", "cancel"])
TURNS = st.tuples(st.sampled_from(sorted(MODELS)), st.lists(ACTS, min_size=1, max_size=4), DECISIONS)
ODD = [Wrote(id_, "查询 天气", "[1]") for id_ in ("", "", "x" * 200, "查询|fc_1", "x" * 200)]


async def _turn(runtime: Runtime, babel: Babel, model: str, acts: list[Act], decision: str) -> None:
    babel.acts = list(acts)
    run_id = ""
    async for event in runtime.stream(CLERK, "Go on.", session="s", principal=ANN, model_name=MODELS[model]):
        if event.type == "run_started":
            run_id = str(event.data)
        if event.type == "approval_request":
            match decision:
                case "approve":
                    await runtime.approve(str(event.data), principal=ANN)
                case "decline":
                    await runtime.decline(str(event.data), principal=ANN)
                case _:
                    await runtime.cancel(run_id, principal=ANN)


async def _converse(turns: list[Any]) -> list[str]:
    babel = Babel()
    async with Serving(babel.answer) as url:
        config = {"store": {"url": "memory://"}, "models": routes(url), "defaultModel": "gpt-4o"}
        made = await asyncio.to_thread(Runtime, config, tools=[look, fail, pay])
        async with made as runtime:
            for model, acts, decision in turns:
                await _turn(runtime, babel, model, acts, decision)
    return babel.wrong


async def _ask_each(history: list[dict[str, Any]]) -> list[str]:
    babel = Babel()
    async with Serving(babel.answer) as url:
        config = {"store": {"url": "memory://"}, "models": routes(url)}
        made = await asyncio.to_thread(Runtime, config, tools=[look, fail, pay])
        async with made as runtime:
            for model in MODELS.values():
                fields: dict[str, Any] = {"model_name": model, "use_server_memory": False, "history": history}
                await runtime.run(CLERK, "Go on.", principal=ANN, **fields)
    return babel.wrong


@example([(model, [Act("", "Hm.", tuple(ODD))], "approve") for model in (*MODELS, *MODELS)])
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(TURNS, min_size=2, max_size=5))
def test_every_request_is_valid_whichever_model_gets_it(turns: list[Any]) -> None:
    wrong = asyncio.run(_converse(turns))
    assert not wrong, wrong[0]


HISTORY_CALLS = st.fixed_dictionaries({"id": IDS, "name": st.just("") | NAMES, "arguments": ARGUMENTS})
HISTORY = st.lists(
    st.one_of(
        st.fixed_dictionaries({"role": st.sampled_from(["system", "user"]), "content": TEXTS}),
        st.fixed_dictionaries(
            {"role": st.just("assistant"), "content": TEXTS, "tool_calls": st.lists(HISTORY_CALLS, max_size=3)}
        ),
        st.fixed_dictionaries({"role": st.just("tool"), "content": TEXTS, "tool_call_id": IDS}),
    ),
    max_size=6,
)
TWICE = {"id": "a", "name": "look", "arguments": "{}"}


@example([{"role": "assistant", "tool_calls": [TWICE, TWICE]}, {"role": "tool", "content": "1", "tool_call_id": "a"}])
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(HISTORY)
def test_every_history_that_a_client_brings_is_made_valid(history: list[dict[str, Any]]) -> None:
    wrong = asyncio.run(_ask_each(history))
    assert not wrong, wrong[0]
