"""One turn with an agent that writes code: files go up, consents are given, artifacts come down, all over HTTP."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
from aiohttp import ClientResponse, ClientSession, ClientTimeout, FormData

from talaria.demo.client import AskError, read_events
from talaria.demo.transcript import Event, Transcript

_NO_LIMIT = ClientTimeout(total=None, sock_read=60)


class Download(msgspec.Struct, frozen=True, gc=False):
    """An artifact as it came down. `headers` have small names."""

    name: str
    url: str
    headers: dict[str, str]
    data: bytes


class Turn(msgspec.Struct, frozen=True, gc=False):
    """What came of a turn. `consents`: the tools that were asked about, in order."""

    transcript: Transcript
    consents: tuple[str, ...]
    downloads: dict[str, Download]

    @property
    def outcome(self) -> str:
        """How it ended, as type/reason."""
        end = self.transcript.end
        return "it never ended" if end is None else f"{end.type}/{end.body.get('reason', '')}"

    def results(self, tool: str) -> list[str]:
        """What a tool returned, in order."""
        events = [event.body.get("toolResults", ()) for event in self.transcript.events if event.type == "tool_result"]
        return [str(each.get("result", "")) for results in events for each in results if each.get("name") == tool]


class Visitor:
    """A person with a browser, as far as a server can tell. `show` is told of every event."""

    def __init__(self, http: ClientSession, base_url: str, session: str, show: Callable[[Event], None]) -> None:
        self._http = http
        self._base = base_url
        self._session = session
        self._show = show

    async def has_sandboxes(self) -> bool:
        """Whether the server has tools that work in a sandbox, and sandboxes for them."""
        async with self._http.get(f"{self._base}/ai-api/tools") as reply:
            names = [each["name"] for each in (await _json(reply))["tools"]]
        async with self._http.get(f"{self._base}/readyz") as reply:
            return "Bash" in names and "sandbox" not in (await _json(reply)).get("degraded", ())

    async def upload(self, name: str, data: bytes) -> str:
        """Hand a file over; return its id."""
        form = FormData()
        form.add_field("file", data, filename=name)
        async with self._http.post(f"{self._base}/ai-api/files", data=form) as reply:
            return str((await _json(reply))["artifactId"])

    async def ask(self, query: str, attached: dict[str, str]) -> Turn:
        """Run a turn to its end; every question for consent is answered with yes.

        Raises:
            AskError: the server refused something.
        """
        transcript, consents = Transcript(), list[str]()
        body: dict[str, Any] = {"query": query, "sessionId": self._session}
        body["attachments"] = [{"name": name, "artifactId": id_} for name, id_ in attached.items()]
        async with self._http.post(f"{self._base}/ai-api/chat/stream", json=body, timeout=_NO_LIMIT) as reply:
            async for event in read_events(reply):
                transcript.take(event)
                self._show(event)
                if event.type == "approval_request":
                    consents += [call["name"] for call in event.body.get("toolCalls", ())]
                    await self._consent(event.text)
        handed = [event for event in transcript.events if event.type == "artifact"]
        downloads = [await self._download(event.body) for event in handed]
        return Turn(transcript, tuple(consents), {each.name: each for each in downloads})

    async def preview(self, port: int) -> str:
        """Get the link that shows a port of the sandbox."""
        url = f"{self._base}/ai-api/preview/{self._session}/{port}"
        async with self._http.post(url) as reply:
            return self._base + str((await _json(reply))["url"])

    async def get(self, url: str) -> tuple[int, bytes]:
        """Ask for a page."""
        async with self._http.get(url) as reply:
            return reply.status, await reply.read()

    async def leave(self) -> None:
        """Delete the session, and with it its sandbox and its files."""
        await (await self._http.delete(f"{self._base}/ai-api/sessions/{self._session}")).read()

    async def _consent(self, request_id: str) -> None:
        body = {"requestId": request_id, "decision": "APPROVE"}
        async with self._http.post(f"{self._base}/ai-api/chat/approval", json=body) as reply:
            await _json(reply)

    async def _download(self, artifact: dict[str, Any]) -> Download:
        async with self._http.get(self._base + artifact["url"]) as reply:
            headers = {name.lower(): value for name, value in reply.headers.items()}
            return Download(artifact["name"], self._base + artifact["url"], headers, await reply.read())


async def _json(reply: ClientResponse) -> dict[str, Any]:
    text = await reply.text()
    if reply.status >= 300:
        raise AskError(f"{reply.method} {reply.url.path}: the server answered {reply.status}: {text[:500]}")
    value: dict[str, Any] = json.loads(text)
    return value
