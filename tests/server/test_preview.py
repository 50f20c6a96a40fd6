"""Previews: a web server in a sandbox is shown through a link with a ticket; what it serves is nobody's page."""

import asyncio
import hashlib
import io
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from urllib.parse import urljoin

import pytest
from aiohttp import ClientError, ClientSession, WSMsgType, WSServerHandshakeError, web
from yarl import URL

from talaria.core.ids import SessionKey
from talaria.runtime.previews import LASTS
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Say, ScriptedModel
from tests.polling import eventually
from tests.server.inside import Inside, site, told
from tests.server.nginx import free_port, listening
from tests.server.serving import serving
from tests.server.test_ownership import AUTH, OWNER, STRANGERS

ALICE = {"Authorization": f"Bearer {OWNER}"}
KEY = SessionKey("acme", "alice", "-", "s").path


class Shown(NamedTuple):
    """A server with a session whose sandbox has a web server, and a link to that."""

    http: ClientSession
    base: str
    port: int
    inside: Inside
    clock: FakeClock
    link: str
    app: Any

    async def link_of(self, port: int | str, query: str = "", **headers: str) -> tuple[int, Any]:
        url = f"{self.base}/ai-api/preview/s/{port}{query}"
        status, _, body = await told(self.http, "POST", url, headers=headers or ALICE)
        return status, json.loads(body)

    async def get(self, path: str, **options: Any) -> tuple[int, dict[str, str], bytes]:
        return await told(self.http, "GET", self.link + path, **options)


@asynccontextmanager
async def shown(*routes: web.RouteDef) -> AsyncGenerator[Shown]:
    clock, inside = FakeClock(), Inside(KEY)
    model = ScriptedModel(script=lambda _: Say("Hi."))
    async with (
        site(*routes) as port,
        serving(model, clock=clock, auth=AUTH) as served,
        listening(served.app) as public,
        ClientSession() as http,
    ):
        served.runtime.parts.previews.hold = inside.hold
        base = f"http://127.0.0.1:{public}"
        await told(http, "POST", f"{base}/ai-api/chat/stream", json={"query": "Hi", "sessionId": "s"}, headers=ALICE)
        it = Shown(http, base, port, inside, clock, "", served.app)
        status, made = await it.link_of(port)
        assert status == 200, made
        yield it._replace(link=base + made["url"])


async def hello(_: web.Request) -> web.Response:
    return web.Response(text="<h1>Hello</h1>", content_type="text/html")


async def echo(request: web.Request) -> web.Response:
    """What came in, as JSON."""
    body = await request.read()
    headers = {name.lower(): value for name, value in request.headers.items()}
    seen = {"method": request.method, "target": request.raw_path, "headers": headers, "body": body.decode()}
    return web.json_response(seen)


async def test_the_link_shows_what_the_server_inside_answers() -> None:
    async with shown(web.get("/", hello)) as it:
        status, headers, body = await it.get("")
        assert (status, body, headers["content-type"]) == (200, b"<h1>Hello</h1>", "text/html; charset=utf-8")
        assert f"/ai-api/preview/s/{it.port}/~" in it.link


async def test_a_page_is_nobodys_page() -> None:
    async with shown(web.get("/", hello)) as it:
        _, headers, _ = await it.get("")
        policy = headers["content-security-policy"]
        assert policy.startswith("sandbox ")
        assert "allow-scripts" in policy
        assert "allow-same-origin" not in policy
        assert "allow-top-navigation" not in policy
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
        assert headers["cache-control"] == "no-store"


async def test_no_credential_goes_in_and_nothing_comes_out_that_acts_on_more_than_the_page() -> None:
    acting = {
        "Set-Cookie": "talaria=stolen",
        "Clear-Site-Data": '"*"',
        "Service-Worker-Allowed": "/",
        "Strict-Transport-Security": "max-age=1",
        "X-Accel-Redirect": "/etc/passwd",
        "WWW-Authenticate": "Basic",
        "Access-Control-Allow-Credentials": "true",
        "Alt-Svc": 'h3=":1"',
        "Refresh": "0",
        "X-Frame-Options": "DENY",
    }

    async def answer(request: web.Request) -> web.Response:
        return web.json_response(dict(request.headers), headers=acting)

    async with shown(web.get("/", answer)) as it:
        given = {"Cookie": "login=1", "X-Forwarded-User": "alice", "Cf-Access-Jwt-Assertion": "jwt", "Referer": it.link}
        _, headers, body = await it.get("", headers=ALICE | given)
        seen = {name.lower() for name in json.loads(body)}
        assert seen <= {"host", "accept", "accept-encoding", "user-agent", "connection"}
        assert json.loads(body)["Host"] == f"localhost:{it.port}"
        assert [name for name in acting if name.lower() in headers] == []


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_every_method_passes_with_its_path_and_query_as_they_were_written(method: str) -> None:
    async with shown(web.route("*", "/{tail:.*}", echo)) as it:
        status, headers, body = await told(
            it.http, method, URL(f"{it.link}a%20b/%E4%BD%A0;x?q=1&q=%2F", encoded=True), data=b"data"
        )
        assert status == 200
        if method == "HEAD":
            assert (body, int(headers["content-length"]) > 0) == (b"", True)
        else:
            seen = json.loads(body)
            assert (seen["method"], seen["target"]) == (method, "/a%20b/%E4%BD%A0;x?q=1&q=%2F")
            assert seen["body"] == "data"


async def test_large_bodies_pass_whole_in_both_directions_at_once() -> None:
    """A server that answers while it still reads; with and without a length."""
    piece, pieces = b"x" * 60_000, 100

    async def pieces_of() -> AsyncIterator[bytes]:
        for _ in range(pieces):
            yield piece

    async def mirror(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        async for data in request.content.iter_any():
            await answer.write(data)
        return answer

    async with shown(web.post("/", mirror)) as it:
        for data in (pieces_of(), io.BytesIO(piece * pieces)):
            status, _, body = await told(it.http, "POST", it.link, data=data)
            assert status == 200
            assert hashlib.sha256(body).digest() == hashlib.sha256(piece * pieces).digest()


async def test_a_stream_comes_as_it_is_written_and_ends_inside_when_the_client_goes() -> None:
    left = asyncio.Event()

    async def stream(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await answer.prepare(request)
        try:
            while True:
                await answer.write(b"data: tick\n\n")
                await asyncio.sleep(0.01)
        except (OSError, ClientError, asyncio.CancelledError):
            left.set()
            raise

    async with shown(web.get("/", stream)) as it:
        async with it.http.get(it.link) as answer:
            assert await answer.content.readexactly(12) == b"data: tick\n\n"
            assert it.inside.holders == 1
        await asyncio.wait_for(left.wait(), 10)
        await eventually(nobody_in(it.inside), "the sandbox let go of")


def nobody_in(inside: Inside) -> Any:
    async def is_free() -> bool:
        return inside.holders == 0

    return is_free


async def test_redirects_stay_below_the_link() -> None:
    async def away(request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": request.query["to"]})

    async with shown(web.get("/{tail:.*}", away)) as it:
        for to, there in {
            "/login?next=%2F#top": "login?next=%2F#top",
            f"http://localhost:{it.port}/x": "x",
            "http://127.0.0.1:9999/y": "y",
            "sibling": "a/sibling",
            "//inside.example/x": None,
            "https://elsewhere.example/": None,
        }.items():
            status, headers, _ = await told(it.http, "GET", f"{it.link}a/b", params={"to": to})
            assert status == 302
            lands = urljoin(f"{it.link}a/b", headers["location"])
            assert lands == (it.link + there if there is not None else urljoin(it.link, to))


async def test_pages_may_read_their_own_server_although_they_have_no_origin() -> None:
    async with shown(web.route("*", "/{tail:.*}", echo)) as it:
        asked = {"Origin": "null", "Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "x-a"}
        status, headers, body = await told(it.http, "OPTIONS", f"{it.link}api", headers=asked)
        assert (status, body) == (204, b"")
        assert headers["access-control-allow-origin"] == headers["access-control-allow-methods"] == "*"
        _, headers, _ = await it.get("api", headers={"Origin": "null"})
        assert headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in headers


async def test_another_users_session_is_not_shown(subtests: pytest.Subtests) -> None:
    async with shown(web.get("/", hello)) as it:
        for name, stranger in STRANGERS.items():
            with subtests.test(name):
                theirs = {"Authorization": f"Bearer {stranger['key']}"}
                status, said = await it.link_of(it.port, **theirs)
                assert (status, said["code"]) == (404, "not_found")
                status, _, _ = await told(it.http, "GET", f"{it.base}/ai-api/preview/s/{it.port}/", headers=theirs)
                assert status == 404
        status, _, _ = await told(it.http, "GET", f"{it.base}/ai-api/preview/s/{it.port}/")
        assert status == 401
        status, _, _ = await told(it.http, "POST", f"{it.base}/ai-api/preview/s/{it.port}")
        assert status == 401


async def test_the_address_without_a_ticket_leads_its_owner_to_the_one_with() -> None:
    async with shown(web.route("*", "/{tail:.*}", echo)) as it:
        url = f"{it.base}/ai-api/preview/s/{it.port}/a/b"
        status, headers, _ = await told(it.http, "GET", url, headers=ALICE)
        assert status == 307
        _, _, body = await told(it.http, "GET", urljoin(url, headers["location"]))
        assert json.loads(body)["target"] == "/a/b"
        assert (await told(it.http, "POST", url, headers=ALICE))[0] == 405


async def test_a_ticket_is_good_for_one_port_of_one_session_and_for_a_time() -> None:
    async with shown(web.get("/", hello)) as it:
        for wrong in (
            it.link.replace(f"/{it.port}/", f"/{it.port + 1}/"),
            it.link.replace("/preview/s/", "/preview/t/"),
            it.link[:-2] + "/",
            it.link.replace("~", "~~"),
        ):
            status, _, body = await told(it.http, "GET", wrong)
            assert (status, json.loads(body)["code"]) == (404, "not_found"), wrong
        it.clock.move(LASTS / 1000)
        status, _, body = await it.get("")
        assert status == 404
        assert "not any more" in json.loads(body)["detail"]


async def test_a_session_without_a_sandbox_gets_none() -> None:
    async with shown(web.get("/", hello)) as it:
        it.inside.sessions.clear()
        status, said = await it.link_of(it.port)
        assert (status, said["code"]) == (404, "not_found")
        assert "it gets one when it runs code" in said["detail"]
        assert (await it.get(""))[0] == 404


async def test_what_cannot_be_shown_is_said() -> None:
    async def chat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"SSH-2.0-Dropbear\r\n")
        writer.close()

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000)
        writer.close()

    async with shown() as it, it.http:
        for port in ("80", "0", "70000", "http", "１２３４"):
            status, said = await it.link_of(port)
            assert (status, said["code"]) == (422, "invalid_request"), port
        status, made = await it.link_of(free_port())
        status, _, body = await told(it.http, "GET", it.base + made["url"])
        assert (status, b"nothing listens" in body) == (404, True)
        for talk in (chat, endless):
            async with await asyncio.start_server(talk, "127.0.0.1", 0) as other:
                _, made = await it.link_of(other.sockets[0].getsockname()[1])
                status, _, body = await told(it.http, "GET", it.base + made["url"])
                assert (status, b"no HTTP server" in body) == (502, True)


async def test_an_answer_that_breaks_off_is_not_taken_for_a_whole_one() -> None:
    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        writer.close()

    async with shown() as it, await asyncio.start_server(half, "127.0.0.1", 0) as other:
        _, made = await it.link_of(other.sockets[0].getsockname()[1])
        with pytest.raises(ClientError):
            await told(it.http, "GET", it.base + made["url"])


async def test_a_server_that_ends_ends_its_previews() -> None:
    begun = asyncio.Event()

    async def wait(_: web.Request) -> web.Response:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with shown(web.get("/", wait)) as it:
        asking = asyncio.create_task(it.get(""))
        await asyncio.wait_for(begun.wait(), 10)
        it.app.streams.end_all()
        status, _, _ = await asking
        assert status == 404
        assert it.inside.holders == 0


async def talk(request: web.Request) -> web.WebSocketResponse:
    """Says everything back; ends at `bye`."""
    socket = web.WebSocketResponse(protocols=["chat"], max_msg_size=20_000_000)
    await socket.prepare(request)
    async for message in socket:
        if message.data == "bye":
            await socket.close(code=4001, message=b"until soon")
        elif message.type is WSMsgType.TEXT:
            await socket.send_str(f"{request.query['name']}: {message.data}")
        else:
            await socket.send_bytes(message.data)
    return socket


async def test_web_sockets_pass_in_both_directions() -> None:
    async with shown(web.get("/ws", talk)) as it:
        async with it.http.ws_connect(f"{it.link}ws?name=ann", protocols=["other", "chat"]) as socket:
            assert socket.protocol == "chat"
            for text in ("hi", "", "你好" * 100_000):
                await socket.send_str(text)
                assert await socket.receive_str() == f"ann: {text}"
            await socket.send_bytes(bytes(range(256)) * 4_000)
            assert await socket.receive_bytes() == bytes(range(256)) * 4_000
            assert it.inside.holders == 1
            await socket.send_str("bye")
            last = await socket.receive()
            assert (last.type, last.data, last.extra) == (WSMsgType.CLOSE, 4001, "until soon")
        await eventually(nobody_in(it.inside), "the sandbox let go of")


async def test_a_web_socket_that_its_client_leaves_ends_inside() -> None:
    ended = asyncio.Event()

    async def wait(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for _ in socket:
            pass
        ended.set()
        return socket

    async with shown(web.get("/ws", wait)) as it:
        async with it.http.ws_connect(f"{it.link}ws"):
            pass
        await asyncio.wait_for(ended.wait(), 10)
        await eventually(nobody_in(it.inside), "the sandbox let go of")


async def test_a_web_socket_needs_a_ticket_and_a_server_that_takes_it() -> None:
    async with shown(web.get("/", hello)) as it:
        for url in (it.link, it.link.replace("~", "~~"), f"{it.base}/ai-api/sessions", f"{it.base}/nowhere"):
            with pytest.raises(WSServerHandshakeError):
                await it.http.ws_connect(url)
        assert it.inside.holders == 0


async def test_a_server_that_ends_ends_its_web_sockets() -> None:
    async with shown(web.get("/ws", talk)) as it, it.http.ws_connect(f"{it.link}ws?name=x") as socket:
        it.app.streams.end_all()
        assert (await socket.receive()).data == 1001
        await eventually(nobody_in(it.inside), "the sandbox let go of")
