"""Commands in the background: started in one turn, looked at in another, gone when the sandbox or the server ends."""

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from talaria.core.errors import InvalidRequest, TalariaError
from talaria.core.redaction import Redactor
from talaria.ports.sandbox import Command, Exited, Sandbox
from talaria.tools.builtin.output import LiveOutput, noted, output_text, plain
from talaria.tools.context import ToolContext
from talaria.tools.declaration import Tool
from talaria.tools.nearest import listed

MOST_RUNNING = 8
"""In one session."""
MOST_ENDED = 20
"""Of one session, that can still be looked at."""
MOST_SESSIONS = 1000
LONGEST = 3600.0
"""Seconds that one may take: as long as it runs, the sandbox is in use."""
HEAD = 256 * 1024
"""Bytes of output that can be read while it runs."""
GRACE = 0.3
"""Seconds in which most commands fail that will."""

Key = str
"""A session's path."""


class Job:
    """A command that runs in the background."""

    def __init__(self, name: str, command: str, redactor: Redactor) -> None:
        self.name = name
        self.command = command
        self._redactor = redactor
        self._new: list[str] = []
        self._state = "running"
        self._task: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._state == "running"

    def start(self, sandbox: Sandbox, argv: Sequence[str]) -> None:
        """Begin."""
        self._task = asyncio.create_task(self._run(sandbox, argv), name=f"background {self.name}")

    async def _run(self, sandbox: Sandbox, argv: Sequence[str]) -> None:
        try:
            exited = await sandbox.exec(
                Command(argv=argv, stdin=self.command.encode(), timeout=LONGEST, head=HEAD),
                LiveOutput(self._new.append),
            )
        except TalariaError as error:
            self._state = f"lost: {error.message}"
        except asyncio.CancelledError:
            self._state = "ended by KillBash, with all that it started"
            raise
        else:
            self._end(exited)

    def _end(self, exited: Exited) -> None:
        if exited.dropped or exited.tail:
            self._new.append(output_text(b"", exited.dropped, exited.tail))
        self._new.append(noted(exited))
        ended = {"timeout": f"ended after {LONGEST:g} s, the longest that one may run"}
        ended |= {"disk": "ended: /workspace is full", "memory": "ended: out of memory"}
        self._state = ended.get(exited.reason, f"ended with exit code {exited.exit_code}")

    async def settle(self, seconds: float) -> None:
        """Return when it has ended, or after so many seconds."""
        if self._task is not None:
            await asyncio.wait([self._task], timeout=seconds)

    async def kill(self) -> None:
        """End it, and all that it started."""
        if self._task is not None:
            self._task.cancel()
            await self.settle(10)

    def news(self) -> str:
        """Return what it has written since the last time, and how it is."""
        text = plain("".join(self._new))
        self._new.clear()
        said = self._redactor.mask(text).rstrip("\n")
        return f"{said or '(no new output)'}\n\n[{self.name}: {self._state}]"


class Background:
    """The background commands of this process, by session."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[Key, dict[str, Job]] = OrderedDict()

    async def start(self, ctx: ToolContext, sandbox: Sandbox, command: str, argv: Sequence[str]) -> str:
        """Start a command, which `argv` reads from its standard input, and say how it can be found again.

        Raises:
            InvalidRequest: too many run in this session.
        """
        jobs = self._of(ctx)
        running = [each.name for each in jobs.values() if each.is_running]
        if len(running) >= MOST_RUNNING:
            raise InvalidRequest(
                f"{MOST_RUNNING} commands run in the background, the most there may be; end one of "
                f"{listed(running)} with KillBash"
            )
        name = _new_name(jobs)
        job = jobs[name] = Job(name, command, Redactor(ctx.secrets))
        _forget_ended(jobs)
        job.start(sandbox, argv)
        await job.settle(GRACE)
        if not job.is_running:
            return job.news()
        return f"Started in the background as {name}. BashOutput shows what it writes, KillBash ends it."

    def find(self, ctx: ToolContext, name: str) -> Job:
        """Return a background command of this session.

        Raises:
            InvalidRequest: there is none of this id.
        """
        jobs = self._of(ctx)
        if name not in jobs:
            running = [each.name for each in jobs.values() if each.is_running]
            raise InvalidRequest(
                f"no background command '{name[:80]}': none of this id was started since the server did, or it ended "
                f"long ago; running are {listed(running) or 'none'}"
            )
        return jobs[name]

    def _of(self, ctx: ToolContext) -> dict[str, Job]:
        key = ctx.session.key.path
        jobs = self._sessions.setdefault(key, {})
        self._sessions.move_to_end(key)
        if len(self._sessions) > MOST_SESSIONS:
            self._forget_session(key)
        return jobs

    def _forget_session(self, but: Key) -> None:
        """Forget the session in which nothing runs and that was asked about least lately."""
        for key, jobs in self._sessions.items():
            if key != but and not any(job.is_running for job in jobs.values()):
                del self._sessions[key]
                return


def _new_name(jobs: dict[str, Job]) -> str:
    """A name that no command had before, also before a restart."""
    while (name := f"bash_{secrets.token_hex(2)}") in jobs:
        pass
    return name


def _forget_ended(jobs: dict[str, Job]) -> None:
    ended = [name for name, job in jobs.items() if not job.is_running]
    for name in ended[:-MOST_ENDED]:
        del jobs[name]


class BashOutput:
    """Returns what a command in the background has written since the last time."""

    def __init__(self, background: Background) -> None:
        self._background = background

    async def __call__(self, id: str, ctx: ToolContext) -> str:
        """Return new output, and whether it still runs."""
        return self._background.find(ctx, id).news()


class KillBash:
    """Ends a command in the background."""

    def __init__(self, background: Background) -> None:
        self._background = background

    async def __call__(self, id: str, ctx: ToolContext) -> str:
        """Return its last output."""
        job = self._background.find(ctx, id)
        await job.kill()
        return job.news()


def background_tools(background: Background, *, reaches_out: bool) -> tuple[Tool[..., Any], ...]:
    """Make BashOutput and KillBash."""
    parameters: dict[str, Any] = {
        "type": "object",
        "properties": {"id": {"type": "string", "description": "As Bash returned it."}},
        "required": ["id"],
        "additionalProperties": False,
    }
    output = Tool(
        "BashOutput",
        "Show what a command in the background has written since the last time, and whether it still runs.",
        parameters,
        BashOutput(background),
        group="code",
        side_effects=False,
        parallel=False,
        untrusted=reaches_out,
        breaker=False,
        source="builtin",
    )
    kill = Tool(
        "KillBash",
        "End a command in the background, with all that it started.",
        parameters,
        KillBash(background),
        group="code",
        idempotent=True,
        outside=False,
        untrusted=reaches_out,
        breaker=False,
        source="builtin",
    )
    return output, kill
