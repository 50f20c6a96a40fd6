"""Bash and what runs in the background, in a real sandbox."""

import asyncio
import re
from dataclasses import replace

import pytest

from talaria.core.errors import SandboxLost
from talaria.core.principal import Principal
from talaria.tools.builtin.background import MOST_RUNNING
from talaria.tools.session import session_in_memory
from tests.tools.builtin.conftest import Bench

pytestmark = pytest.mark.service("bwrap")


def ended(said: str) -> str:
    """How it ended, without how long it took."""
    return re.sub(r"\d+\.\d s", "T s", said)


def id_in(said: str) -> str:
    """The id of a command in the background."""
    found = re.search(r"bash_\w+", said)
    assert found is not None, said
    return found[0]


async def test_output_and_exit_code_are_told(bench: Bench) -> None:
    assert ended(await bench.bash("echo out; echo err >&2")) == "out\nerr\n\n[exit code 0, T s]"
    assert ended(await bench.bash("exit 3")) == "(no output)\n\n[exit code 3, T s]"
    assert "exit code 137 (SIGKILL)" in await bench.bash("kill -9 $$")
    assert "syntax error" in await bench.bash("if then")
    assert "exit code 127" in await bench.bash("no-such-program")


async def test_output_is_told_while_it_comes(bench: Bench) -> None:
    running = asyncio.create_task(bench.bash("echo 中文; read x </workspace/go; echo end"))
    await bench.bash("mkfifo go")
    await asyncio.wait_for(running, 20)
    assert "".join(bench.said).startswith("中文\n")


async def test_the_working_directory_is_kept_and_variables_are_not(bench: Bench) -> None:
    await bench.bash("mkdir -p 'a b/c'; cd 'a b/c'; X=1; export Y=2")
    assert (await bench.bash("pwd; echo [$X$Y]")).startswith("/workspace/a b/c\n[]\n")
    await bench.bash("cd ..; exit 2")
    assert (await bench.bash("pwd")).startswith("/workspace/a b\n")
    await bench.bash("rm -r /workspace/*; true")
    assert (await bench.bash("pwd")).startswith("/workspace\n")


async def test_nothing_can_be_typed_in(bench: Bench) -> None:
    assert "exit code 0" in await bench.bash("cat")


async def test_a_command_that_takes_too_long_is_ended_with_all_that_it_started(bench: Bench) -> None:
    said = await bench.bash("echo begun; (setsid sleep 300 &) ; sleep 300", timeout=1)
    assert said.startswith("begun\n\n[timed out after 1 s; it and all that it started were ended.")
    assert (await bench.bash("pgrep -c sleep || cat /proc/*/comm | grep -c sleep")).startswith("0\n")


async def test_what_detaches_ends_with_its_command(bench: Bench) -> None:
    said = await bench.bash("nohup setsid sleep 300 >/dev/null 2>&1 & echo bg")
    assert said.startswith("bg\n\n[exit code 0")
    assert (await bench.bash("cat /proc/*/comm | grep -c sleep")).startswith("0\n")


async def test_floods_keep_head_and_tail(bench: Bench) -> None:
    said = await bench.bash("echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last")
    assert said.startswith("first\nxxx")
    assert "bytes of output left out …]" in said
    assert "x\nlast\n\n[exit code 0" in said
    assert len(said) < 150_000


async def test_binary_output_is_said_to_be_binary(bench: Bench) -> None:
    assert "5 bytes: [binary output" in await bench.bash("printf 'a\\0bcd'")


async def test_a_full_workspace_is_said_to_be_full(bench: Bench) -> None:
    said = await bench.bash("for i in 1 2 3 4 5 6 7 8 9; do head -c 20000000 /dev/zero >f$i || exit; done; sleep 20")
    assert "/workspace is full" in said or "File size limit" in said or "No space left" in said
    await bench.bash("rm -f f*")
    assert (await bench.bash("echo room >f; cat f")).startswith("room\n")


async def test_a_command_in_the_background_is_found_again(bench: Bench) -> None:
    said = await bench.bash("echo one; while [ ! -e go ]; do sleep 0.05; done; echo two", run_in_background=True)
    name = id_in(said)
    assert await bench("BashOutput", id=name) == f"one\n\n[{name}: running]"
    assert await bench("BashOutput", id=name) == f"(no new output)\n\n[{name}: running]"
    await bench.bash("touch go")
    await bench.background.find(bench.context, name).settle(20)
    assert await bench("BashOutput", id=name) == f"two\n\n[{name}: ended with exit code 0]"


async def test_a_command_in_the_background_that_fails_at_once_says_so(bench: Bench) -> None:
    said = await bench.bash("no-such-program", run_in_background=True)
    assert "not found" in said
    assert "ended with exit code 127" in said


async def test_killing_ends_all_of_it_and_nothing_else(bench: Bench) -> None:
    names = [
        id_in(await bench.bash(f"(setsid sleep {each} &); sleep {each}", run_in_background=True)) for each in (301, 302)
    ]
    assert "ended by KillBash" in await bench("KillBash", id=names[0])
    running = await bench.bash("cat /proc/*/cmdline | tr '\\0' ' '")
    assert "sleep 301" not in running
    assert running.count("sleep 302") >= 2
    assert "running are '" + names[1] in await bench("BashOutput", id="bash_none")
    assert "ended by KillBash" in await bench("KillBash", id=names[0])


async def test_there_may_be_only_so_many_in_the_background(bench: Bench) -> None:
    for _ in range(MOST_RUNNING):
        assert "Started" in await bench.bash("sleep 300", run_in_background=True)
    assert "end one of" in await bench.bash("sleep 300", run_in_background=True)


async def test_what_runs_in_the_background_is_lost_with_the_sandbox(bench: Bench) -> None:
    said = await bench.bash("echo here; sleep 300", run_in_background=True)
    name = id_in(said)
    await bench.sandbox.close()
    await bench.background.find(bench.context, name).settle(20)
    assert f"here\n\n[{name}: lost: " in await bench("BashOutput", id=name)
    with pytest.raises(SandboxLost):
        await bench.use("Bash", command="true")


async def test_what_was_started_in_another_session_is_not_there(bench: Bench) -> None:
    name = id_in(await bench.bash("sleep 300", run_in_background=True))
    bench.context = replace(bench.context, session=session_in_memory("s-2"))
    assert "no background command" in await bench("BashOutput", id=name)
    bench.context = replace(bench.context, session=session_in_memory("s-1", Principal(user="eve")))
    assert "no background command" in await bench("KillBash", id=name)


async def test_secrets_of_a_command_in_the_background_are_masked_in_later_turns(bench: Bench) -> None:
    bench.context = replace(bench.context, secrets={"apiKey": "sk-LIVE-abc123"})
    said = await bench.bash("sleep 1; echo sk-LIVE-abc123", run_in_background=True)
    name = id_in(said)
    bench.context = replace(bench.context, secrets={})
    await bench.background.find(bench.context, name).settle(20)
    assert "sk-LIVE-abc123" not in await bench("BashOutput", id=name)


async def test_a_command_may_be_longer_than_an_argument_may(bench: Bench) -> None:
    said = await bench.bash("cat <<'END' | wc -c\n" + "x" * 300_000 + "\nEND\ncat; echo done")
    assert said.startswith("300001\ndone")
