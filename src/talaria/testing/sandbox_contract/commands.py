"""What commands are given and what comes of them."""

# ruff: noqa: D102 - the names of tests are their docstrings

import asyncio
import hashlib
import json

import pytest

from talaria.core.errors import InvalidRequest
from talaria.ports.sandbox import Command, Sandbox
from talaria.testing.sandbox_contract.opening import SECONDS, Opening, python, shell, whole

_TELL = "import sys, json; print(json.dumps(sys.argv[1:]))"
_LINES = "import sys\nfor n in range(400_000): sys.stdout.write(f'{n:09}\\n')"


class CommandContract(Opening):
    """Arguments, environment, input, output, exit codes."""

    async def test_a_command_gives_its_output_and_its_exit_code(self, sandbox: Sandbox) -> None:
        done = await shell(sandbox, "echo hello; exit 3")
        assert (done.exit_code, done.head, done.tail, done.dropped, done.reason) == (3, b"hello\n", b"", 0, "exited")

    async def test_both_streams_come_in_the_order_they_were_written(self, sandbox: Sandbox) -> None:
        done = await shell(sandbox, "echo 1; echo 2 >&2; echo 3; echo 4 >&2")
        assert done.head == b"1\n2\n3\n4\n"

    async def test_output_is_told_while_the_command_runs(self, sandbox: Sandbox) -> None:
        told: list[bytes] = []
        began = asyncio.Event()

        def listen(data: bytes) -> None:
            told.append(data)
            began.set()

        script = "echo first; until [ -e go ]; do sleep 0.05; done; echo last"
        running = asyncio.create_task(sandbox.exec(Command(argv=["bash", "-c", script], timeout=SECONDS), listen))
        async with asyncio.timeout(SECONDS):
            await began.wait()
        assert told == [b"first\n"]
        await sandbox.write("go", b"")
        assert (await running).head == b"".join(told) == b"first\nlast\n"

    async def test_arguments_arrive_as_they_are(self, sandbox: Sandbox) -> None:
        words = ["", " ", "a b", "$HOME", "`id`", '"', "'", "\\", "*", "a\nb", "世界 😀", "--", "-c"]
        done = await python(sandbox, _TELL, *words)
        assert json.loads(done.head) == words

    async def test_a_long_argument_arrives_and_one_too_long_is_refused(self, sandbox: Sandbox) -> None:
        done = await python(sandbox, "import sys; print(len(sys.argv[1]))", "x" * 100_000)
        assert done.head == b"100000\n"
        with pytest.raises(InvalidRequest):
            await python(sandbox, "pass", *["x" * 1_000_000] * 8)
        assert (await python(sandbox, "pass", "x" * 1_000_000)).exit_code == 126

    async def test_the_environment_of_a_command_comes_on_top_of_the_sandboxs_own(self, sandbox: Sandbox) -> None:
        environment = {"GIVEN": "a=b\n世界", "HOME": "/elsewhere"}
        script = 'printf "%s|" "$GIVEN" "$HOME"; [ -n "$PATH" ] && echo path'
        done = await sandbox.exec(Command(argv=["bash", "-c", script], env=environment))
        assert done.head == "a=b\n世界|/elsewhere|path\n".encode()
        assert (await shell(sandbox, 'echo "$GIVEN"; cd "$HOME" && touch here && echo home')).head == b"\nhome\n"

    async def test_input_is_given_whole(self, sandbox: Sandbox) -> None:
        data = bytes(range(256)) * 8_192
        program = "import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())"
        done = await sandbox.exec(Command(argv=["python3", "-c", program], stdin=data, timeout=SECONDS))
        assert done.head.decode().strip() == hashlib.sha256(data).hexdigest()

    async def test_without_input_a_command_reads_an_empty_one(self, sandbox: Sandbox) -> None:
        done = await shell(sandbox, "cat; echo $?")
        assert (done.head, done.reason) == (b"0\n", "exited")

    async def test_input_that_nobody_reads_holds_nothing_up(self, sandbox: Sandbox) -> None:
        done = await sandbox.exec(Command(argv=["true"], stdin=bytes(3_000_000), timeout=SECONDS))
        assert (done.exit_code, done.reason) == (0, "exited")

    async def test_a_command_ended_by_a_signal_says_so_in_its_exit_code(self, sandbox: Sandbox) -> None:
        assert (await shell(sandbox, "kill -TERM $$")).exit_code == 128 + 15
        assert (await shell(sandbox, "kill -KILL $$")).exit_code == 128 + 9

    async def test_signals_have_their_usual_effect_on_commands(self, sandbox: Sandbox) -> None:
        done = await python(sandbox, "import signal; print([int(s) for s in signal.Signals if "
                            "signal.getsignal(s) is signal.SIG_IGN])")  # fmt: skip
        usual = {13, 25}  # Python itself ignores SIGPIPE and SIGXFSZ
        assert set(json.loads(done.head)) <= usual

    async def test_a_program_that_is_not_there_is_exit_code_127_with_words(self, sandbox: Sandbox) -> None:
        done = await sandbox.exec(Command(argv=["no-such-program"]))
        assert done.exit_code == 127
        assert b"no-such-program" in done.head

    async def test_a_program_that_may_not_run_is_exit_code_126(self, sandbox: Sandbox) -> None:
        await sandbox.write("plain.txt", b"no program")
        assert (await sandbox.exec(Command(argv=["./plain.txt"]))).exit_code == 126

    async def test_a_script_that_was_written_can_be_run(self, sandbox: Sandbox) -> None:
        await sandbox.write("bin/run", b"#!/bin/sh\necho ran $1\n")
        done = await shell(sandbox, "chmod +x bin/run && bin/run well")
        assert done.head == b"ran well\n"

    async def test_a_command_begins_where_it_is_told_to(self, sandbox: Sandbox) -> None:
        await sandbox.write("one/two/file", b"")
        for folder in ("one/two", "/workspace/one/two", "one/two/", "one/three/../two"):
            done = await sandbox.exec(Command(argv=["ls"], cwd=folder))
            assert done.head == b"file\n"

    async def test_a_command_begins_in_no_folder_outside_the_workspace(self, sandbox: Sandbox) -> None:
        await sandbox.write("file", b"")
        await shell(sandbox, "ln -s / out; ln -s .. up")
        for folder in ("/", "/etc", "..", "missing", "file", "out", "up", "out/etc"):
            with pytest.raises(InvalidRequest):
                await sandbox.exec(Command(argv=["pwd"], cwd=folder))

    async def test_of_a_flood_the_head_and_the_tail_are_kept(self, sandbox: Sandbox) -> None:
        every = b"".join(b"%09d\n" % n for n in range(400_000))
        done = await sandbox.exec(Command(argv=["python3", "-c", _LINES], head=1_000, tail=2_000, timeout=SECONDS))
        assert (done.head, done.tail) == (every[:1_000], every[-2_000:])
        assert done.dropped == len(every) - 3_000

    async def test_what_is_told_of_a_flood_is_the_head(self, sandbox: Sandbox) -> None:
        told: list[bytes] = []
        command = Command(argv=["python3", "-c", _LINES], head=100_000, tail=50, timeout=SECONDS)
        done = await sandbox.exec(command, told.append)
        assert b"".join(told) == done.head
        assert len(done.head) == 100_000

    async def test_what_fits_into_head_and_tail_is_whole(self, sandbox: Sandbox) -> None:
        for head, tail in ((5, 5), (10, 0), (0, 10), (9, 100)):
            done = await sandbox.exec(Command(argv=["printf", "0123456789"], head=head, tail=tail))
            assert (whole(done), done.dropped) == (b"0123456789", 0)
        done = await sandbox.exec(Command(argv=["printf", "0123456789"], head=0, tail=0))
        assert (whole(done), done.dropped) == (b"", 10)

    async def test_bytes_that_are_no_text_come_through_untouched(self, sandbox: Sandbox) -> None:
        done = await python(sandbox, "import sys; sys.stdout.buffer.write(bytes(range(256)) * 40 + b'\\xff\\xfe\\x00')")
        assert done.head == bytes(range(256)) * 40 + b"\xff\xfe\x00"

    async def test_nothing_with_a_nul_in_it_is_run(self, sandbox: Sandbox) -> None:
        for command in (
            Command(argv=["echo", "a\0b"]),
            Command(argv=["echo"], env={"A": "a\0B=b"}),
            Command(argv=["echo"], cwd="a\0b"),
            Command(argv=[]),
        ):
            with pytest.raises(InvalidRequest):
                await sandbox.exec(command)

    async def test_commands_run_side_by_side(self, sandbox: Sandbox) -> None:
        script = "touch on.$0; until [ -e on.0 -a -e on.1 -a -e on.2 -a -e on.3 ]; do sleep 0.02; done; echo $0"
        commands = [Command(argv=["bash", "-c", script, str(n)], timeout=SECONDS) for n in range(4)]
        done = await asyncio.gather(*map(sandbox.exec, commands))
        assert [each.head for each in done] == [b"%d\n" % n for n in range(4)]

    async def test_a_command_that_closes_its_output_may_go_on(self, sandbox: Sandbox) -> None:
        done = await shell(sandbox, "exec >&- 2>&-; sleep 0.3; touch later; exit 4")
        assert done.exit_code == 4
        assert await sandbox.read("later") == b""

    async def test_one_who_listens_and_fails_ends_the_command(self, sandbox: Sandbox) -> None:
        def fail(data: bytes) -> None:
            raise LookupError(data)

        with pytest.raises(LookupError, match="said"):
            await sandbox.exec(Command(argv=["bash", "-c", "echo said; sleep 301.5"]), fail)
        assert (await shell(sandbox, "echo well")).head == b"well\n"
