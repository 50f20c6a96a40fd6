"""A tool in a process of its own answers like any other, and leaves nothing behind."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from talaria import Agent, ChatEvent, tool
from talaria.core.redaction import MASK
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from talaria.tools.declaration import Tool
from talaria.tools.errors import ToolInvalid
from tests.polling import wait_until
from tests.runtime import isolated
from tests.runtime.world import end_of, kinds, soon, world


def calling(name: str, **arguments: Any) -> ScriptedModel:
    return ScriptedModel(Call(name, arguments), Say("On."))


def result(events: Sequence[ChatEvent]) -> str:
    return next(each.result for event in events for each in event.tool_results or ())


async def answer(tool: Tool[..., Any], **arguments: Any) -> str:
    async with world(calling(tool.name, **arguments), tools=[tool]) as here:
        events = await here.ask()
    assert end_of(events) == ("finish", "stop")
    return result(events)


async def test_arguments_are_bound_in_the_process_and_only_text_comes_back() -> None:
    told = json.loads(await answer(isolated.bound, on="2024/1/2"))
    assert told.pop("pid") != os.getpid()
    assert told == {"types": ["date", "Size"], "on": "2024-01-02"}


async def test_an_async_tool_gets_the_context_without_live_objects() -> None:
    agent = Agent("a", tools=[isolated.waits], deps=object())
    async with world(calling("waits"), agents=[agent]) as here:
        events = await here.ask(tool_context={"key": "hush-hush-123"}, agent="a")
    assert result(events) == f"{MASK} anonymous s-1 None True"


async def test_what_it_says_comes_as_it_runs() -> None:
    async with world(calling("speaks"), tools=[isolated.speaks]) as here:
        events = await here.ask()
    assert "".join(event.data for event in events if event.type == "tool_output") == "first second \ufffd"
    assert [(event.name, event.data) for event in events if event.type == "custom"] == [("progress", {"done": 1})]
    assert result(events) == "TypeError"
    assert kinds(events)[-1] == "finish"


async def test_it_can_end_the_run() -> None:
    async with world(calling("stops"), tools=[isolated.stops]) as here:
        events = await here.ask()
    assert end_of(events) == ("error", "tool_failed")
    assert events[-1].data == "enough"


@pytest.mark.parametrize(
    ("how", "words"),
    [("exit", "RuntimeError: the tool raised SystemExit"), ("result", "bytes has no JSON form")],
)
async def test_whatever_it_does_the_model_is_told(how: str, words: str) -> None:
    assert words in await answer(isolated.fails, how=how)


@pytest.mark.parametrize(("how", "words"), [("raise", "ValueError: no good"), ("die", "ended before it answered")])
async def test_what_may_be_repeated_is_tried_again(how: str, words: str) -> None:
    async with world(calling("fails", how=how), tools=[isolated.fails], server={"runTimeout": 1_000_000}) as here:
        events = asyncio.create_task(here.ask())

        def passes() -> bool:
            here.clock.move(8)
            return events.done()

        await soon(passes, "the run's end")
    assert words in result(await events)
    assert "Tried 2 times" in result(await events)


async def test_a_process_that_ends_without_an_answer_has_an_unknown_outcome() -> None:
    assert "it is not known whether it took effect" in await answer(isolated.dies)


async def test_a_tool_made_by_hand_gets_json() -> None:
    assert await answer(isolated.by_hand, text="hey") == "HEY"


async def test_a_function_that_the_process_cannot_find_is_told() -> None:
    told = await answer(isolated.lost)
    assert "cannot find elsewhere in tests.runtime.isolated" in told
    assert "top level of a module" in told


def test_a_function_that_no_process_could_find_is_refused() -> None:
    with pytest.raises(ToolInvalid, match=r"which tests\.runtime\.test_isolation"):

        @tool(isolate="process")
        def inner() -> str:
            """Be hidden."""
            return ""

    with pytest.raises(ToolInvalid, match="top level"):
        Tool("shout", "Shout.", {"type": "object"}, str.upper, isolate="process")


async def numbers(file: Path) -> list[int]:
    await soon(file.exists, "the tool having begun")
    return read(file)


def read(file: Path) -> list[int]:
    return [int(number) for number in file.read_text().split()]


def is_there(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]


def alive(processes: Sequence[int]) -> list[int]:
    found: list[int] = []
    for number in processes:
        try:
            if is_there(number):
                found.append(number)
        except OSError:  # it went while we looked
            continue
    return found


async def test_a_call_that_takes_too_long_is_killed_with_all_it_started(tmp_path: Path) -> None:
    file = tmp_path / "numbers"
    async with world(calling("hangs", file=str(file)), tools=[isolated.hangs], limits={"toolTimeout": 2}) as here:
        run_id = await here.send()
        processes = await numbers(file)
        assert len(alive(processes)) == 3
        assert "Timed out after 2 s; it is not known" in result(await here.events(run_id))
        await soon(lambda: not alive(processes), "the processes' end")
        await soon(lambda: not here.parts.threads.stuck, "the thread being free again")


async def test_a_cancel_kills_the_process(tmp_path: Path) -> None:
    file = tmp_path / "numbers"
    async with world(calling("hangs", file=str(file)), tools=[isolated.hangs]) as here:
        run_id = await here.send()
        processes = await numbers(file)
        await here.cancel(run_id)
        assert end_of(await here.events(run_id)) == ("finish", "cancelled")
        await soon(lambda: not alive(processes), "the processes' end")


async def test_a_runtime_that_closes_kills_the_process(tmp_path: Path) -> None:
    file = tmp_path / "numbers"
    async with world(calling("hangs", file=str(file)), tools=[isolated.hangs], server={"grace": 0}) as here:
        await here.send()
        processes = await numbers(file)
    await soon(lambda: not alive(processes), "the processes' end")


PROGRAM = """
import asyncio, sys
from tests.runtime import isolated
from tests.runtime.test_isolation import calling
from tests.runtime.world import world

async def main():
    async with world(calling("hangs", file=sys.argv[1]), tools=[isolated.hangs]) as here:
        await here.ask()

asyncio.run(main())
"""


@pytest.mark.parametrize("victim", ["server", "guard"])
def test_nothing_survives_a_server_or_a_guard_that_is_killed(tmp_path: Path, victim: str) -> None:
    file = tmp_path / "numbers"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    program = subprocess.Popen((sys.executable, "-c", PROGRAM, str(file)), env=environment)
    try:
        wait_until(file.exists, "the tool having begun")
        processes = read(file)
        if victim == "server":
            program.kill()
        else:
            os.kill(processes[1], signal.SIGKILL)
        wait_until(lambda: not alive(processes), "the processes' end")
    finally:
        program.kill()
        program.wait()
