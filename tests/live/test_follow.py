"""Whenever a client comes, however often it goes: it has the whole text once, and every event once."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from talaria.core.events import START, ChatEvent
from talaria.live.follow import follow
from talaria.live.hub import Hub
from tests.live.running import RUN, Follower, Running, entry_positions, settle, texts_of

Step = tuple[Any, ...]
steps: st.SearchStrategy[list[Step]] = st.lists(
    st.one_of(
        st.tuples(
            st.just("say"), st.sampled_from(["a", "bcd", "\N{SNOWMAN}\N{GRINNING FACE}", "x" * 9_000]), st.booleans()
        ),
        st.tuples(st.just("begin")),
        st.tuples(st.just("answer"), st.booleans()),
        st.tuples(st.just("unstreamed"), st.sampled_from(["tail", "y" * 20_000])),
        st.tuples(st.just("judge"), st.sampled_from(["rejected", "mended"])),
        st.tuples(st.just("notice")),
        st.tuples(st.just("crash")),
        st.tuples(st.just("sweep")),
        st.tuples(st.just("lose"), st.integers(0, 99)),
        st.tuples(st.just("slow")),
        st.tuples(st.just("quick")),
        st.tuples(st.just("join")),
    ),
    max_size=40,
)


async def perform(step: Step, running: Running, client: Follower) -> None:
    match step:
        case ("say", text, reasoning):
            running.say(text, reasoning=reasoning)
        case ("unstreamed", text):
            running.say(text, streamed=False)
            await running.answer(call=False)
        case ("begin",):
            running.begin()
        case ("answer", call):
            await running.answer(call=call)
        case ("judge", verdict):
            await running.judge(verdict)
        case ("notice",):
            running.live.tell(ChatEvent("notice", "hm", reason="retrying"))
        case ("crash",):
            await running.crash()
            await client.lose(len(client.received))
            client.connect()
        case ("sweep",):
            running.hub.sweep()
        case _:
            await reading(step, client)


async def reading(step: Step, client: Follower) -> None:
    """What happens to the client only."""
    match step:
        case ("lose", keep):
            await client.lose(len(client.received) * keep // 100)
            client.connect()
        case ("slow",):
            client.gate.clear()
        case _:
            client.gate.set()


async def check(running: Running, client: Follower) -> None:
    await client.ended()
    replayed = await running.replay()
    assert client.texts() == texts_of(replayed)
    assert client.entry_positions() == entry_positions(replayed)
    positions = [frame.position for frame in client.received if frame.position is not None]
    assert len(set(positions)) == len(positions)


@given(steps, st.integers(0, 3), st.booleans())
@settings(max_examples=150)
async def test_a_client_that_comes_and_goes_has_everything_once(script: list[Step], before: int, early: bool) -> None:
    running = Running()
    client = Follower(running)
    if early:
        client.connect()
        await settle()
    await running.start(before)
    if not early:
        client.connect()
    for step in script:
        await perform(step, running, client)
        await settle()
    await running.end()
    await check(running, client)


@given(steps, st.integers(0, 100), st.integers(0, 3))
@settings(max_examples=60)
async def test_a_client_that_comes_back_when_all_is_over_has_the_rest(
    script: list[Step], keep: int, sweeps: int
) -> None:
    running = Running()
    await running.start()
    client = Follower(running)
    client.connect()
    for step in script:
        await perform(step, running, client)
        await settle()
    await client.lose(len(client.received) * keep // 100)
    await running.end()
    for _ in range(sweeps):
        running.hub.sweep()
    client.connect()
    await check(running, client)


async def test_a_client_that_saw_an_attempt_that_was_given_up_is_told_so() -> None:
    running = Running()
    await running.start()
    client = Follower(running)
    client.connect()
    running.say("One two")
    await settle()
    await client.lose(len(client.received))
    await running.crash()
    running.say("One three")
    await running.answer(call=False)
    await running.end()
    client.connect()
    await check(running, client)
    assert [frame.event.type for frame in client.received] == ["run_started", "token", "rewind", "token", "finish"]
    assert client.texts() == ("One three", "")


async def test_what_an_owner_left_unsaid_is_taken_back_by_the_next_one_that_says_nothing() -> None:
    running = Running()
    await running.start()
    client = Follower(running)
    client.connect()
    running.say("One t")
    await settle()
    running.parts, running.epoch = None, running.epoch + 1
    await running.answer(call=True)
    running.say("Done.")
    await running.answer(call=False)
    await running.end()
    await client.ended()
    kinds = [frame.event.type for frame in client.received]
    assert kinds[:4] == ["run_started", "token", "rewind", "tool_call"]
    assert client.texts() == ("Done.", "")
    await check(running, client)


@pytest.mark.parametrize("verdict", ["rejected", "mended"])
@pytest.mark.parametrize("keep", range(7))
async def test_an_answer_that_was_taken_back_is_so_wherever_a_client_comes_back(verdict: str, keep: int) -> None:
    running = Running()
    await running.start()
    client = Follower(running)
    client.connect()
    running.say("Hm.", reasoning=True)
    running.say("One ")
    running.say("two")
    await running.answer(call=False)
    await running.judge(verdict)
    if verdict == "rejected":
        running.say("{}")
        await running.answer(call=False)
    await settle()
    await client.lose(keep)
    await running.end()
    client.connect()
    await check(running, client)
    assert client.texts() == ("{}", "Hm.")


async def test_a_slow_client_reads_on_from_the_journal() -> None:
    running = Running()
    await running.start()
    client = Follower(running)
    client.connect()
    await settle()
    client.gate.clear()
    for at in range(200):
        running.say(f"{at} " * 200)
        await running.answer(call=True)
    live = running.hub.get(RUN)
    assert live is not None
    assert live.read(0) is None
    await running.end()
    await check(running, client)


async def test_a_run_in_line_tells_its_place_and_then_goes_on() -> None:
    running = Running()
    client = Follower(running)
    running.hub.own(RUN, 0).tell_place(2)
    running.hub.disown(RUN)
    client.connect()
    await settle()
    live = running.hub.get(RUN)
    assert live is not None
    live.tell_place(1)
    await settle()
    await client.lose(len(client.received) - 1)
    client.connect()
    await settle()
    await running.start()
    running.say("Hi.")
    await running.answer(call=False)
    await running.end()
    await client.ended()
    assert [frame.event.type for frame in client.received] == ["queued", "queued", "run_started", "token", "finish"]


async def test_a_buffer_that_nobody_needs_is_dropped_and_one_that_is_followed_stays() -> None:
    running = Running()
    await running.start()
    client = Follower(running)
    client.connect()
    await settle()
    running.hub.disown(RUN)
    for _ in range(5):
        running.hub.sweep()
    assert len(running.hub) == 1
    await client.lose(99)
    running.hub.sweep()
    assert len(running.hub) == 1
    running.hub.sweep()
    assert len(running.hub) == 0


async def test_closing_lets_every_follower_go() -> None:
    running = Running()
    await running.start()
    client = Follower(running)
    client.connect()
    await settle()
    running.hub.close()
    await client.ended()
    assert [frame.event.type for frame in client.received] == ["run_started"]


@pytest.mark.parametrize("sweeps", [0, 3])
async def test_a_follower_that_comes_just_as_the_run_ends_sees_the_end(sweeps: int) -> None:
    running = Running()
    await running.start()
    reading, go_on = asyncio.Event(), asyncio.Event()
    source = await running.locate()
    assert source is not None

    async def slowly() -> Any:
        reading.set()
        await go_on.wait()
        return await running.locate()

    async def everything() -> list[str]:
        return [frame.event.type async for frames in follow(running.hub, RUN, slowly, START) for frame in frames]

    hub: Hub = running.hub
    following = asyncio.create_task(everything())
    await asyncio.wait_for(asyncio.shield(asyncio.ensure_future(_either(following, reading))), 5)
    running.say("Hi.")
    await running.answer(call=False)
    await running.end()
    for _ in range(sweeps):
        hub.sweep()
    go_on.set()
    assert (await asyncio.wait_for(following, 5))[-1] == "finish"


async def _either(task: "asyncio.Task[list[str]]", event: asyncio.Event) -> None:
    waiting = asyncio.create_task(event.wait())
    await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED, timeout=0.05)
    waiting.cancel()
