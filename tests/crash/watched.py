"""Points around what a server does to its store, its model and its clients."""

from asyncio import Future
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial
from typing import cast

from starlette.types import Message, Receive, Scope, Send

from talaria.journal.codec import decode_entry
from talaria.journal.entries import ApprovalRequested, Oversize, RunResumed, ToolFinished, ToolStarted
from talaria.ports.inbox import Letter
from talaria.ports.journal import Batch, IndexRow, Record
from talaria.ports.model import Answer, Model, ModelItem, ModelRequest
from talaria.ports.store import Store
from talaria.runtime.runtime import Runtime
from talaria.server.app import Application
from tests.crash.points import Points


def label(data: bytes) -> str:
    """What an entry is called in the names of points: `tool_started.charge`."""
    entry = decode_entry(data)
    if isinstance(entry, Oversize):
        return "oversize"
    name = cast("str", type(entry).__struct_config__.tag).split(".", maxsplit=1)[0]
    match entry:
        case ToolStarted() | ToolFinished() | ApprovalRequested():
            return f"{name}.{entry.name}"
        case RunResumed():
            return f"{name}.{entry.why}"
        case _:
            return name


def watch_store(store: Store, points: Points) -> Store:
    """Put points around every write, and around what is read when a session is taken up."""
    _watch_appends(store, points)
    _watch_letters(store, points)
    _watch_recovery(store, points)
    return store


def _watch_appends(store: Store, points: Points) -> None:
    append = store.journal.append

    def durable(names: list[str], done: "Future[int]") -> None:
        if done.cancelled() or done.exception() is not None:
            return
        for name in names:
            points.reach(f"append.durable.{name}")
        done.get_loop().call_soon(published, names)

    def published(names: list[str]) -> None:
        for name in names:
            points.reach(f"append.published.{name}")

    def watched(batch: Batch) -> "Future[int]":
        names = [label(data) for data in batch.entries] or ["letters"]
        for name in names:
            points.reach(f"append.before.{name}")
        future = append(batch)
        future.add_done_callback(partial(durable, names))
        return future

    store.journal.append = watched


def _watch_letters(store: Store, points: Points) -> None:
    put, waiting = store.inbox.put, store.inbox.waiting

    async def watched(letter: Letter, *, replace_before: int = 0, index: Sequence[IndexRow] = ()) -> Letter:
        points.reach(f"put.before.{letter.kind}")
        in_force = await put(letter, replace_before=replace_before, index=index)
        points.reach(f"put.after.{letter.kind}")
        return in_force

    async def watched_waiting() -> list[str]:
        sessions = await waiting()
        points.reach("start.waiting")
        return sessions

    store.inbox.put = watched
    store.inbox.waiting = watched_waiting


def _watch_recovery(store: Store, points: Points) -> None:
    acquire, read = store.leases.acquire, store.journal.read

    async def watched_acquire(session: str) -> int | None:
        epoch = await acquire(session)
        points.reach("lease.acquired")
        return epoch

    async def watched_read(session: str, after: int = 0, limit: int = 10_000) -> list[Record]:
        records = await read(session, after, limit)
        points.reach("journal.read")
        return records

    store.leases.acquire = watched_acquire
    store.journal.read = watched_read


class WatchedModel:
    """A model with points when it is asked, after each delta has been passed on, and before its answer is."""

    def __init__(self, model: Model, points: Points) -> None:
        self._model = model
        self._points = points

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[ModelItem], None]:
        """See the port."""
        self._points.reach("model.asked")
        async with aclosing(self._model.stream(request)) as stream:
            async for items in stream:
                if isinstance(items[-1], Answer):
                    self._points.reach("model.answered")
                yield items
                for _ in items:
                    self._points.reach("model.delta")


class WatchedApplication(Application):
    """The application with points around every write to a client. `torn`: the write that half of gets through."""

    def __init__(self, runtime: Runtime, points: Points) -> None:
        super().__init__(runtime)
        self._points = points

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as an ASGI application."""
        await super().__call__(scope, receive, partial(self._send, scope, send))

    async def _send(self, scope: Scope, send: Send, message: Message) -> None:
        last = str(scope["path"]).rpartition("/")[2]
        name = f"{'run' if last.startswith('run_') else last}.{message['type'].rpartition('.')[2]}"
        self._points.reach(f"http.before.{name}")
        body: bytes = message.get("body", b"")
        if len(body) > 1 and self._points.hits(f"http.torn.{name}"):
            await send({**message, "body": body[: len(body) // 2], "more_body": True})
            self._points.end()
            message = {**message, "body": body[len(body) // 2 :]}
        await send(message)
        self._points.reach(f"http.after.{name}")
