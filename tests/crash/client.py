"""A client that is told nothing of crashes: it retries, comes back with the last id it has, and decides questions."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import msgspec

from tests.crash.scenario import AGENTS, ASKS, EDITED
from tests.crash.site import Site
from tests.crash.transcript import Transcript
from tests.server.sse import Parser

BROKEN = (aiohttp.ClientError, ConnectionError)
FIRST_ROUNDS = 8
"""Calls of the first turn: when all have their results, only its answer is left."""

Read = Callable[[aiohttp.ClientResponse], Awaitable[Any]]


async def _json(response: aiohttp.ClientResponse) -> Any:
    return await response.json(content_type=None)


class Manners(msgspec.Struct, frozen=True):
    """How a client behaves.

    `edits` the refund's arguments; `patient`: decides only once the run is parked; `kills_parked`: and has the server
    killed before it decides; `reruns`: says yes to a call whose outcome is unknown; `queues` its second turn while the
    first one answers; `leaves`: after so many events, and comes back; `repeats` its request although it was answered.
    """

    edits: bool = False
    patient: bool = True
    kills_parked: bool = False
    reruns: bool = False
    queues: bool = False
    leaves: tuple[int, ...] = ()
    repeats: bool = False


class Client:
    """One person with one session. `decided`: acknowledged decisions by question."""

    def __init__(self, site: Site, manners: Manners, trial: str) -> None:
        self._site = site
        self._manners = manners
        self._trial = trial
        self._http = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None))
        self._events = 0
        self.answering = asyncio.Event()
        self.decided: dict[str, str] = {}
        self.transcripts: dict[str, Transcript] = {}

    async def close(self) -> None:
        """Close what is open."""
        await self._http.close()

    async def turn(self, name: str) -> Transcript:
        """Send a turn and read it to its end, whatever happens in between."""
        transcript = self.transcripts[name] = Transcript()
        async with asyncio.TaskGroup() as group:
            while transcript.end is None:
                life, base = await self._site.up()
                try:
                    stays = await self._read(base, name, transcript, group)
                except BROKEN:
                    stays = True
                if stays and transcript.end is None:
                    await self._site.after(life)
        return transcript

    async def replay(self, name: str) -> Transcript:
        """Read a turn that is over once more, from its start."""
        run_id = self.transcripts[name].run_id
        data = await self._call("GET", f"/ai-api/runs/{run_id}/events", aiohttp.ClientResponse.read)
        again = Transcript()
        again.acknowledge(run_id)
        for event in Parser().feed(data):
            again.take(event)
        return again

    # The stream

    async def _read(self, base: str, name: str, transcript: Transcript, group: asyncio.TaskGroup) -> bool:
        """Read one connection to its end; False if it is left before, on purpose."""
        parser = Parser()
        async with self._open(base, name, transcript) as response:
            if response.status == 503:
                return True
            assert response.status == 200, f"{response.status} {await response.text()}"
            transcript.acknowledge(response.headers["X-Run-Id"])
            async for data in response.content.iter_any():
                for event in parser.feed(data):
                    transcript.take(event)
                    self._events += 1
                    if event.type == "approval_request":
                        group.create_task(self._decide(transcript.run_id, event.data))
                    if self._events in self._manners.leaves:
                        return False
                self._look(transcript)
        return True

    def _look(self, transcript: Transcript) -> None:
        is_answering = len(transcript.of("tool_result")) >= FIRST_ROUNDS and transcript.events[-1].type == "token"
        if is_answering or transcript.end is not None:
            self.answering.set()

    @asynccontextmanager
    async def _open(self, base: str, name: str, transcript: Transcript) -> AsyncGenerator[aiohttp.ClientResponse]:
        if transcript.last_id is not None or (transcript.run_id and not self._manners.repeats):
            url = f"{base}/ai-api/runs/{transcript.run_id}/events"
            headers = {} if transcript.last_id is None else {"Last-Event-ID": transcript.last_id}
            async with self._http.get(url, headers=headers) as response:
                yield response
        else:
            body = {
                "query": f"{name} {self._trial}",
                "sessionId": self._trial,
                "idempotencyKey": f"{self._trial}/{name}",
            } | ({"agent": AGENTS[name]} if name in AGENTS else {})
            async with self._http.post(f"{base}/ai-api/chat/stream", json=body) as response:
                yield response

    # Questions

    async def _decide(self, run_id: str, asked: dict[str, Any]) -> None:
        """Decide until the decision is acknowledged."""
        request_id, tool = asked["data"], asked["toolCalls"][0]["name"]
        if self._manners.patient or self._manners.kills_parked:
            await self._ask(f"/ai-api/runs/{run_id}", "waiting_approval")
        if self._manners.kills_parked and tool not in ASKS:
            await self._site.kill()
        yes = self._manners.reruns or tool not in ASKS
        body: dict[str, Any] = {"requestId": request_id, "decision": "APPROVE" if yes else "DECLINE"}
        if self._manners.edits and tool not in ASKS:
            body["arguments"] = EDITED
        answer = await self._call("POST", "/ai-api/chat/approval", json=body)
        self.decided[request_id] = answer["decision"]

    async def _ask(self, path: str, status: str) -> None:
        """Look until a run stands so."""
        while (await self._call("GET", path))["status"] != status:  # noqa: ASYNC110 - parking is no event
            await asyncio.sleep(0.01)

    async def _call(self, method: str, path: str, read: Read = _json, **options: Any) -> Any:
        """Call until there is an answer, and return what is read of it."""
        while True:
            life, base = await self._site.up()
            try:
                async with self._http.request(method, base + path, **options) as response:
                    answer = await read(response)
            except BROKEN:
                await self._site.after(life)
                continue
            if response.status == 503:
                await self._site.after(life)
                continue
            assert response.status == 200, f"{method} {path} {options}: {response.status} {answer}"
            return answer
