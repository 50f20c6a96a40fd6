"""Faults, readiness, other origins, slow readers: the server under conditions that nobody wants."""

import asyncio

import pytest
from starlette.types import Message, Scope

from talaria import Runtime
from talaria.core.errors import ConfigurationError, JournalError, StoreClosed, TalariaError
from talaria.server import problems
from talaria.server.app import make_app
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Say, ScriptedModel
from tests.server.client import Client
from tests.server.serving import plain, serving
from tests.server.sse import text_of

PAGE = {"origin": "https://chat.example.com"}
PREFLIGHT = PAGE | {"access-control-request-method": "POST", "access-control-request-headers": "content-type"}


async def test_the_server_says_that_it_lives_and_that_it_is_ready() -> None:
    async with serving(ScriptedModel()) as served:
        alive, ready = await served.client.get("/healthz"), await served.client.get("/readyz")
        head = await served.client.request("HEAD", "/healthz")
    assert (alive.status, alive.json) == (200, {"status": "ok"})
    assert (ready.status, ready.json) == (200, {"status": "ready"})
    assert head.status == 200


async def test_a_server_that_stops_is_not_ready_takes_no_runs_and_ends_its_streams() -> None:
    model = ScriptedModel(Say("One two", chunk=4, gate=asyncio.Event()))
    async with serving(model) as served, served.client.chat() as stream:
        await stream.until("token")
        await served.app.stop(0.01)
        rest = await stream.rest()
        ready = await served.client.get("/readyz")
        refused = await served.client.post("/ai-api/chat/stream", {"query": "x"})
        alive = await served.client.get("/healthz")
    assert [event.type for event in rest] == []
    assert [ready.status, refused.status, alive.status] == [503, 503, 200]
    assert (refused.json["code"], int(refused.headers["retry-after"]) > 0) == ("overloaded", True)


async def test_runs_that_end_within_the_grace_are_told_to_the_end() -> None:
    gate = asyncio.Event()
    async with serving(ScriptedModel(Say("One two", chunk=4, gate=gate))) as served, served.client.chat() as stream:
        await stream.until("token")
        stopping = asyncio.create_task(served.app.stop(5))
        gate.set()
        assert (await stream.rest())[-1].type == "finish"
        await stopping


async def test_a_store_that_is_closed_is_a_fault_with_an_id_and_not_ready() -> None:
    async with serving(ScriptedModel()) as served:
        await served.runtime.parts.kit.store.close()
        ready = await served.client.get("/readyz")
        reply = await served.client.post("/ai-api/chat/stream", {"query": "x"})
    assert (ready.status, reply.status, reply.json["code"]) == (503, 500, "internal")
    assert plain(reply.json["detail"]) == "something went wrong inside the server; its log explains ERR"


async def test_a_store_that_takes_no_writes_for_now_is_not_ready_until_it_does() -> None:
    async with serving(ScriptedModel()) as served:
        store = served.runtime.parts.kit.store
        check = store.check

        async def refuse() -> None:
            raise JournalError("another program keeps the database locked; find it and end it")

        store.check = refuse
        locked = await served.client.get("/readyz")
        store.check = check
        free = await served.client.get("/readyz")
    assert (locked.status, free.status) == (503, 200)


def all_errors() -> list[type[TalariaError]]:
    found, todo = [TalariaError], [TalariaError]
    while todo:
        kinds = todo.pop().__subclasses__()
        found += kinds
        todo += kinds
    return found


@pytest.mark.parametrize("kind", all_errors(), ids=lambda kind: kind.__name__)
def test_every_error_has_a_problem_document(kind: type[TalariaError]) -> None:
    error = problems.Refused(418, "no") if kind is problems.Refused else kind("no")
    reply = problems.problem(error)
    assert 400 <= reply.status_code < 600
    assert (reply.status_code == 500) == (kind.code in ("internal", "configuration"))


def test_a_store_error_is_never_shown() -> None:
    assert problems.problem(StoreClosed("x")).status_code == 500


# Other origins


async def test_without_configuration_no_page_of_another_origin_may_read_an_answer() -> None:
    async with serving(ScriptedModel(Say("x"))) as served:
        reply = await served.client.post("/ai-api/chat/stream", {"query": "x"}, headers=PAGE)
        preflight = await served.client.request("OPTIONS", "/ai-api/chat/stream", headers=PREFLIGHT)
    assert not [name for name in (*reply.headers, *preflight.headers) if name.startswith("access-control")]
    assert preflight.status == 403


@pytest.mark.parametrize("origins", [["https://chat.example.com"], ["*"]], ids=["named", "any"])
async def test_a_configured_origin_may_talk_to_every_endpoint(origins: list[str]) -> None:
    async with serving(ScriptedModel(Say("x")), server={"cors": origins}) as served:
        stream = await served.client.post("/ai-api/chat/stream", {"query": "x"}, headers=PAGE)
        wrong = await served.client.post("/ai-api/chat/stream", {}, headers=PAGE)
        nowhere = await served.client.get("/nowhere", headers=PAGE)
        preflight = await served.client.request("OPTIONS", "/ai-api/chat/stream", headers=PREFLIGHT)
        other = await served.client.get("/healthz", headers={"origin": "https://evil.example.com"})
    allowed = [reply.headers["access-control-allow-origin"] for reply in (stream, wrong, nowhere, preflight)]
    assert set(allowed) <= {origins[0]}
    assert (preflight.status, "Last-Event-ID" in preflight.headers["access-control-allow-headers"]) == (204, True)
    assert "X-Run-Id" in stream.headers["access-control-expose-headers"]
    assert other.headers.get("access-control-allow-origin") == (None if origins != ["*"] else "*")


# Slow readers


async def test_slow_readers_hold_nobody_up_and_get_everything_in_the_end() -> None:
    gate = asyncio.Event()
    text = "".join(f"{number:07d} " for number in range(5_000))
    model = ScriptedModel(Say(text, chunk=8, gate=gate))
    async with serving(model) as served, served.client.chat() as quick:
        await quick.until("token")
        run_id = quick.headers["x-run-id"]
        slow = [served.client.events(run_id, unread=1) for _ in range(50)]
        streams = [await each.__aenter__() for each in slow]
        gate.set()
        await quick.rest()
        bodies = [text_of(await each.rest()) for each in streams]
        for each in slow:
            await each.__aexit__(None, None, None)
    assert [body == text for body in (text_of(quick.seen), *bodies)] == [True] * 51


async def test_what_is_written_at_once_is_bounded() -> None:
    text = "x" * 1_000_000
    async with serving(ScriptedModel(Say(text, chunk=1000))) as served:
        run = (await served.client.turn())[0].data["data"]
        sizes: list[int] = []
        async with served.client.events(run) as stream:
            while (data := await stream.bytes()) is not None:
                sizes.append(len(data))
    assert sum(sizes) > len(text)


async def test_a_websocket_is_refused() -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {"type": "websocket", "path": "/", "headers": []}
    async with serving(None) as served:
        await served.app(scope, receive, send)
    assert [message["type"] for message in sent] == ["websocket.close"]


async def test_under_a_server_with_lifespan_the_application_opens_and_closes_its_runtime() -> None:
    runtime = Runtime({"store": {"url": "memory://"}}, model=ScriptedModel(Say("x")), clock=FakeClock())
    app = make_app(runtime)
    asked: asyncio.Queue[Message] = asyncio.Queue()
    told: asyncio.Queue[Message] = asyncio.Queue()
    living = asyncio.create_task(app({"type": "lifespan"}, asked.get, told.put))
    await asked.put({"type": "lifespan.startup"})
    assert (await told.get())["type"] == "lifespan.startup.complete"
    assert text_of(await Client(app).turn()) == "x"
    await asked.put({"type": "lifespan.shutdown"})
    assert (await told.get())["type"] == "lifespan.shutdown.complete"
    await living


async def test_under_a_server_with_lifespan_a_wrong_configuration_is_told() -> None:
    told: asyncio.Queue[Message] = asyncio.Queue()
    asked: asyncio.Queue[Message] = asyncio.Queue()
    await asked.put({"type": "lifespan.startup"})
    app = make_app(Runtime({"store": {"url": "nothing://"}}, clock=FakeClock()))
    with pytest.raises(ConfigurationError):
        await app({"type": "lifespan"}, asked.get, told.put)
    message = await told.get()
    assert (message["type"], "store.url" in message["message"]) == ("lifespan.startup.failed", True)
