"""Starting the processes of a sandbox. Everything here blocks and runs in a thread."""

import json
import os
import select
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from talaria.core.errors import SandboxUnavailable
from talaria.sandbox.bubblewrap.arguments import Plan, command
from talaria.sandbox.bubblewrap.descriptors import appending, holding, listening, reading
from talaria.sandbox.bubblewrap.machine import search_path
from talaria.sandbox.bubblewrap.records import Folder, Record
from talaria.sandbox.bubblewrap.system import FILES
from talaria.sandbox.launcher import Size

AGENT = "/run/agent.py"
_PATIENCE = 20.0
"""Seconds a start may take, on a machine that is busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What to start. `python` runs `agent`, a program, with `options` and where it listens as arguments."""

    folder: Folder
    record: Record
    size: Size
    show: Sequence[str]
    seccomp: bytes
    python: str
    agent: str
    options: Mapping[str, str | int | float]


def start(what: Start, *, to_its_end: bool = False) -> int:
    """Start a sandbox; return when its first process is there, or, `to_its_end`, when that has ended well.

    The answer is the pid of the bubblewrap that waits for it: our child, to be buried, but not to be ended with us.

    Raises:
        SandboxUnavailable: it did not; the message has what the programs on the way said.
    """
    with ExitStack() as stack:
        listener = stack.enter_context(listening(what.folder.socket))
        files = {path: stack.enter_context(holding(text.encode())) for path, text in FILES.items()}
        agent = stack.enter_context(holding(what.agent.encode()))
        seccomp = stack.enter_context(holding(what.seccomp))
        info = stack.enter_context(appending(what.folder.info))
        log = stack.enter_context(appending(what.folder.log))
        status, told = os.pipe()
        stack.callback(os.close, status)
        inherited = {"fd": listener, **_events(what.record, stack)}
        plan = Plan(
            size=what.size,
            workspace=what.folder.workspace,
            uid=what.record.uid,
            groups=[Path(group) / "cgroup.procs" for group in what.record.groups],
            show=what.show,
            files={**files, AGENT: agent},
            seccomp=seccomp,
            info=info,
            status=told,
            agent=[what.python, "-I", "-S", AGENT, *_words(what.options), *_words(inherited)],
        )
        try:
            process = _run(command(plan), log, (*inherited.values(), *plan.files.values(), seccomp, info, told))
        finally:
            os.close(told)
        try:
            _wait(status, what.folder, to_its_end=to_its_end)
        except SandboxUnavailable:
            process.kill()
            process.wait()
            raise
        # Whoever forgets a process that runs is warned; this one is not forgotten, and may outlive us.
        process.returncode = 0
        return process.pid


def _events(record: Record, stack: ExitStack) -> dict[str, int]:
    """Where the agent reads whether the kernel ended something for want of memory, if there is a group for that."""
    paths = (Path(group) / file for group in record.groups for file in ("memory.events", "memory.oom_control"))
    path = next((path for path in paths if path.exists()), None)
    return {"oom": stack.enter_context(reading(path))} if path else {}


def _words(options: Mapping[str, str | int | float]) -> list[str]:
    return [f"{name}={value}" for name, value in options.items()]


def _run(argv: Sequence[str], log: int, kept: tuple[int, ...]) -> subprocess.Popen[bytes]:
    path = search_path()
    program = shutil.which(argv[0], path=path) or argv[0]
    # Every word is ours; what comes from outside is only paths.
    return subprocess.Popen(  # noqa: S603
        [program, *argv[1:]],
        cwd="/",
        env={"PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        pass_fds=kept,
        start_new_session=True,
        umask=0o022,
    )


def _wait(status: int, folder: Folder, *, to_its_end: bool) -> None:
    """Bubblewrap tells the first pid, and at the end the exit code; it tells nothing if it never came so far."""
    told = b""
    while b'"exit-code"' not in told if to_its_end else b"\n" not in told:
        ready, _, _ = select.select([status], [], [], _PATIENCE)
        new = os.read(status, 4096) if ready else b""
        if not new:
            raise _unavailable(folder.complaint() or ("no word" if ready else f"nothing within {_PATIENCE:g} s"))
        told += new
    if to_its_end and json.loads(told.splitlines()[-1])["exit-code"] != 0:
        raise _unavailable(folder.complaint())


def _unavailable(why: str) -> SandboxUnavailable:
    needs = "it needs unprivileged user namespaces, and started by root CAP_SETUID"
    return SandboxUnavailable(f"bubblewrap cannot start a sandbox here ({needs}): {why}")
