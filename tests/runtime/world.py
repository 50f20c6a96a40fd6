"""An open runtime with a scripted model, and short ways to make it do things and to look at what it did."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

from talaria import ChatEvent, Principal, Runtime
from talaria.agents.agent import AgentSpec
from talaria.core.events import START, Position
from talaria.core.ids import SessionKey
from talaria.core.messages import AssistantMessage, Message, ToolMessage
from talaria.journal.entries import AnyEntry
from talaria.journal.session import load_entry
from talaria.live.frames import Frame
from talaria.ports.model import Model
from talaria.runtime.admission import Submitted
from talaria.runtime.desk import Decision
from talaria.runtime.request import ChatRequest
from talaria.runtime.runtime import Runtime as AnyRuntime
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import ScriptedModel
from talaria.tools.own_stages import OwnStage
from tests.polling import eventually

LIMIT = 10.0
"""Seconds within which everything must happen."""

ME = Principal()
SESSION = "s-1"


class World:
    """A runtime, its model and its clock."""

    def __init__(self, runtime: AnyRuntime, model: Model, clock: FakeClock) -> None:
        self.runtime = runtime
        self.model = model
        self.clock = clock
        self.parts = runtime.parts
        self.store = runtime.parts.kit.store

    # Doing

    async def send(self, query: str = "Go", **fields: Any) -> str:
        """Send a turn; return its run's id."""
        return (await self.submit(query, **fields)).run_id

    async def submit(self, query: str = "Go", principal: Principal = ME, **fields: Any) -> Submitted:
        named: dict[str, Any] = {"session_id": SESSION} | fields
        request = ChatRequest(query=query, **named)
        return await self.parts.admission.submit(request, principal)

    async def ask(self, query: str = "Go", **fields: Any) -> list[ChatEvent]:
        """Send a turn and return all its events."""
        return await self.events(await self.send(query, **fields))

    async def decide(self, request_id: str, *, approve: bool = True, **fields: Any) -> dict[str, Any]:
        return await self.parts.desk.decide(ME, Decision(request_id, approve, **fields))

    async def cancel(self, run_id: str) -> None:
        await self.parts.desk.cancel(ME, run_id)

    # Looking

    async def events(self, run_id: str, after: Position = START) -> list[ChatEvent]:
        """All events of a run, from its start or after a position, to its end."""
        async with asyncio.timeout(LIMIT):
            return [event async for event in self.follow(run_id, after)]

    async def frames(self, run_id: str, after: Position = START) -> list[Frame]:
        """All frames of a run, from its start or after a position, to its end."""
        key = await self.parts.lookup.place(ME, run_id)
        await self.parts.lookup.check_position(run_id, after)
        async with asyncio.timeout(LIMIT), aclosing(self.parts.lookup.follow(run_id, key, after)) as batches:
            return [frame async for frames in batches for frame in frames]

    async def follow(self, run_id: str, after: Position = START) -> AsyncIterator[ChatEvent]:
        key = await self.parts.lookup.place(ME, run_id)
        await self.parts.lookup.check_position(run_id, after)
        async with aclosing(self.parts.lookup.follow(run_id, key, after)) as batches:
            async for frames in batches:
                for frame in frames:
                    yield frame.event

    async def until(self, run_id: str, kind: str) -> ChatEvent:
        """The first event of this type."""
        async with asyncio.timeout(LIMIT):
            async for event in self.follow(run_id):
                if event.type == kind:
                    return event
        raise AssertionError(f"the run ended without {kind}")

    async def question(self, run_id: str) -> str:
        """The id of the run's first question."""
        return str((await self.until(run_id, "approval_request")).data)

    async def status(self, run_id: str) -> str:
        return (await self.parts.lookup.run(ME, run_id))["status"]

    async def stands(self, run_id: str, status: str) -> None:
        """Wait until the run stands so, and nothing of it is at work unless it is to run."""

        async def probe() -> bool:
            path = (await self.parts.lookup.place(ME, run_id)).path
            at_work = self.parts.engine.is_working(path)
            return await self.status(run_id) == status and (status == "running" or not at_work)

        await eventually(probe, f"the run being {status}")

    async def idle(self) -> None:
        """Wait until no session is at work."""

        async def probe() -> bool:
            return not self.parts.engine.running and not self.parts.engine.lined_up

        await eventually(probe, "no session being at work")

    async def messages(self, session: str = SESSION) -> list[dict[str, Any]]:
        """The session's messages as the wire shows them."""
        return (await self.parts.lookup.session(ME, session))["messages"]

    async def entries(self, session: str = SESSION) -> list[AnyEntry]:
        """Everything in the session's journal."""
        path = SessionKey("default", "anonymous", "-", session).path
        return [await load_entry(self.store.blobs, path, record) for record in await self.store.journal.read(path)]

    async def tales(self, session: str = SESSION) -> list[str]:
        """The names of the session's entries."""
        return [type(entry).__name__ for entry in await self.entries(session)]


@asynccontextmanager
async def world(
    model: Model | None = None,
    *,
    tools: Sequence[object] = (),
    stages: Sequence[OwnStage] = (),
    agents: Sequence[AgentSpec] = (),
    clock: FakeClock | None = None,
    store: str = "memory://",
    **config: Any,
) -> AsyncGenerator[World]:
    """Open a runtime; `config` has the sections of talaria.yaml. Without one that says so, there are no sandboxes."""
    model = model or ScriptedModel()
    clock = clock or FakeClock()
    settings = {"store": {"url": store}, "sandbox": {"kind": "none"}} | config
    parts: dict[str, Any] = {"tools": tools, "stages": stages, "agents": agents}
    made = await asyncio.to_thread(Runtime, settings, model=model, clock=clock, **parts)  # it reads files
    async with made as runtime:
        yield World(runtime, model, clock)


def told(events: Sequence[ChatEvent]) -> list[str]:
    """Events in short: what happened, without ids and times."""
    return [line for event in events if (line := _line(event))]


def _line(event: ChatEvent) -> str:
    match event.type:
        case "token" | "reasoning" | "error" | "notice" | "queued":
            return " ".join(str(part) for part in (event.type, event.reason, event.data) if part is not None)
        case "tool_call" | "approval_request" | "tool_started":
            return f"{event.type} {', '.join(call.name + (call.arguments or '') for call in event.tool_calls or ())}"
        case "tool_result":
            return f"tool_result {', '.join(f'{each.name}: {each.result}' for each in event.tool_results or ())}"
        case "finish" | "approval_resolved":
            return f"{event.type} {event.reason}"
        case _:
            return event.type


def kinds(events: Sequence[ChatEvent]) -> list[str]:
    return [event.type for event in events]


def text_of(events: Sequence[ChatEvent]) -> str:
    """The answer that a client has after these events; a rewind takes back what follows its target."""
    return "".join(str(event.data) for event in events if event.type == "token")


def end_of(events: Sequence[ChatEvent]) -> tuple[str, str | None]:
    """How the run ended: the last event's type and reason; there is exactly one."""
    ends = [event for event in events if event.type in ("finish", "error")]
    assert len(ends) == 1, ends
    assert ends[0] is events[-1]
    return ends[0].type, ends[0].reason


def assert_valid(messages: Sequence[Message]) -> None:
    """Every assistant call is followed, at once and in order, by exactly one tool message; there are no others."""
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            assert waiting, f"a result without a call: {message}"
            assert waiting.pop(0) == message.call_id
            continue
        assert not waiting, f"calls without a result: {waiting}"
        if isinstance(message, AssistantMessage):
            waiting = [call.id for call in message.calls]
    assert not waiting, f"calls without a result: {waiting}"


def assert_valid_wire(messages: Sequence[dict[str, Any]]) -> None:
    """The same of messages as the wire shows them."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert waiting
            assert waiting.pop(0) == message["toolCallId"]
            continue
        assert not waiting
        waiting = [call["id"] for call in message.get("toolCalls", ())]
    assert not waiting


async def soon(condition: Callable[[], bool], what: str) -> None:
    """Wait until something in this process has become so."""

    async def probe() -> bool:
        return condition()

    await eventually(probe, what)


async def bounded(awaitable: Awaitable[Any], seconds: float = LIMIT) -> Any:
    """What it gives, within the limit."""
    async with asyncio.timeout(seconds):
        return await awaitable
