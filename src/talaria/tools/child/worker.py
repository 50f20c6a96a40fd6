"""The worker: runs one call of a tool in the child process, and says how it ended."""

import asyncio
import inspect
import os
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from talaria.core.errors import InvalidRequest, StopRun
from talaria.core.ids import SessionKey
from talaria.core.text import valid_text
from talaria.journal.state import SessionState
from talaria.tools.arguments import bind_with
from talaria.tools.binding import Binding
from talaria.tools.child.wire import Emits, Job, Message, Outputs, Raised, Returned, framed, read_job
from talaria.tools.context import ToolContext
from talaria.tools.errors import ResultInvalid
from talaria.tools.outlet import EventBudget
from talaria.tools.result import result_text
from talaria.tools.session import Session
from talaria.tools.signature import context_parameter
from talaria.tools.words import words_of


class PipeOutlet:
    """Sends the server what the tool says, from any thread."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()
        self._budget = EventBudget()

    def emit(self, name: str, data: Any) -> None:
        """Send an event."""
        self.send(Emits(valid_text(name), self._budget.check(name, data)))

    def output(self, text: str) -> None:
        """Send text."""
        self.send(Outputs(valid_text(text)))

    def send(self, message: Message) -> None:
        """Send a message whole."""
        data = memoryview(framed(message))
        with self._lock:
            while data:
                data = data[os.write(self._pipe, data) :]


def work(data: bytes) -> None:
    """Run the job, answer on what was the standard output, and end the process."""
    answers = os.dup(1)  # not inherited by what the tool starts; what it prints goes to the server's error output
    os.dup2(2, 1)
    outlet = PipeOutlet(answers)
    outlet.send(_answer(read_job(data), outlet))
    sys.stdout.flush()
    os._exit(0)


def _answer(job: Job, outlet: PipeOutlet) -> Message:
    try:
        value = _call(job, outlet)
        return Returned(result_text(value, says_nothing=job.says_nothing))
    except StopRun as stop:
        return Raised(valid_text(stop.message), is_stop=True)
    except ResultInvalid as error:
        return Raised(error.message, is_result=True)
    except Exception as error:  # noqa: BLE001 - a tool's body: the model is told
        return Raised(words_of(error), may_retry=not isinstance(error, InvalidRequest | _NotThere))
    except BaseException as error:  # noqa: BLE001 - the same: it must not leave silently
        return Raised(f"RuntimeError: the tool raised {type(error).__name__}")


class _NotThere(Exception):
    """The function cannot be found in this process."""


def _call(job: Job, outlet: PipeOutlet) -> Any:
    found = _find(job)
    fn: Callable[..., Any] = getattr(found, "fn", found)
    values = _values(job, found, fn) if job.is_bound else job.arguments
    name = context_parameter(fn)
    value = fn(**values) if name is None else fn(**{**values, name: _context(job, outlet)})
    return asyncio.run(_awaited(value)) if inspect.isawaitable(value) else value


async def _awaited(value: Any) -> Any:
    return await value


def _find(job: Job) -> Any:
    try:
        found: Any = import_module(job.module)
        for name in job.function.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError) as error:
        raise _NotThere(
            f"{job.tool}: its own process cannot find {job.function} in {job.module}: {error}. "
            "A tool with isolate='process' stands at the top level of a module that can be imported"
        ) from error
    return found


def _values(job: Job, found: Any, fn: Callable[..., Any]) -> dict[str, Any]:
    binding = getattr(found, "binding", None)
    if isinstance(binding, Binding):
        return bind_with(job.tool, binding, job.arguments)
    from talaria.tools.schema import describe  # noqa: PLC0415 - few need it, and it is slow to import

    return bind_with(job.tool, describe(fn, job.tool, job.description).binding, job.arguments)


def _context(job: Job, outlet: PipeOutlet) -> ToolContext:
    state = SessionState(SessionKey(job.principal.tenant, job.principal.user, "-", job.session))
    state.variables = job.variables
    return ToolContext(
        secrets=job.secrets,
        principal=job.principal,
        session=Session(state, job.principal),
        run_id=job.run_id,
        tool_call_id=job.tool_call_id,
        idempotency_key=job.idempotency_key,
        deadline=None if job.seconds is None else time.monotonic() + job.seconds,
        outlet=outlet,
    )
