"""Outside platforms on loopback: a server that speaks Dify's Service API as its documentation has it, and a plain one.

https://docs.dify.ai/en/api-reference: Run Workflow, Send Chat Message, Stop …, Consume Streaming Responses, Errors.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

KEY = "app-0123456789abcdef"
TASK, RUN = "c3800678-a077-43df-a102-53f23ed20b88", "fb47b2e6-5e43-4f90-be01-d5c5a088d156"
Handler = Callable[[web.Request], Coroutine[Any, Any, web.StreamResponse]]
Json = dict[str, Any]


@asynccontextmanager
async def listening(*routes: tuple[str, Handler]) -> AsyncGenerator[str]:
    """Serve on loopback; gives the server's address."""
    app = web.Application()
    for path, handler in routes:
        app.router.add_route("*", path, handler)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        host, port = runner.addresses[0][:2]
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()


def refusal(status: int, code: str, message: str) -> web.Response:
    """Dify's envelope for errors."""
    return web.json_response({"code": code, "message": message, "status": status}, status=status)


@dataclass
class Dify:
    """A Dify server with one app. `events` is what a call streams, `document` what a blocking one answers.

    `asked` has the bodies of calls, `stopped` the tasks that were stopped; `hangs`: it never comes to an end.
    """

    app: str = "workflow"
    events: list[Json] = field(default_factory=list[Json])
    document: Json = field(default_factory=dict[str, Any])
    refuses: tuple[int, str, str] | None = None
    hangs: bool = False
    only_blocking: bool = False
    asked: list[Json] = field(default_factory=list[Json])
    stopped: list[str] = field(default_factory=list[str])
    answer: Callable[[Json], tuple[list[Json], Json]] | None = None

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[str]:
        """Serve; gives the base URL as Dify shows it."""
        async with listening(
            ("/v1/workflows/run", self._workflow),
            ("/v1/chat-messages", self._chat),
            ("/v1/workflows/tasks/{task}/stop", self._stop),
            ("/v1/chat-messages/{task}/stop", self._stop),
        ) as address:
            yield f"{address}/v1"

    async def _workflow(self, request: web.Request) -> web.StreamResponse:
        if self.app != "workflow":
            return refusal(400, "not_workflow_app", "Please check if your app mode matches the right API route.")
        return await self._run(request)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        if self.app == "workflow":
            return refusal(400, "not_chat_app", "Please check if your app mode matches the right API route.")
        return await self._run(request)

    async def _run(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return refusal(401, "unauthorized", "Access token is invalid")
        body = await request.json()
        self.asked.append(body)
        for name in ("user", "inputs", *(("query",) if self.app == "chat" else ())):
            if name not in body:
                return refusal(400, "invalid_param", f"{name} is required in input payload")
        if self.refuses is not None:
            return refusal(*self.refuses)
        events, document = self.answer(body) if self.answer is not None else (self.events, self.document)
        if body.get("response_mode") != "streaming" or self.only_blocking:
            if self.hangs:
                await asyncio.sleep(60)
            return web.json_response(document)
        return await self._stream(request, events)

    async def _stream(self, request: web.Request, events: list[Json]) -> web.StreamResponse:
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        ids = {"task_id": TASK, "workflow_run_id": RUN}
        for event in events:
            mine = {} if event["event"] == "error" else ids
            await stream.write(f"data: {json.dumps(event | mine)}\n\nevent: ping\n\n".encode())
        if self.hangs:
            await asyncio.sleep(60)
        return stream

    async def _stop(self, request: web.Request) -> web.Response:
        assert (await request.json())["user"]
        self.stopped.append(request.match_info["task"])
        return web.json_response({"result": "success"})


STARTED: Json = {"event": "workflow_started", "data": {"id": RUN, "inputs": {}, "created_at": 1705407629}}
NODE: Json = {"event": "node_started", "data": {"node_id": "n1", "node_type": "llm", "title": "LLM", "index": 1}}


def chunk(text: str) -> Json:
    """A piece of what a workflow's model says."""
    return {"event": "text_chunk", "data": {"text": text, "from_variable_selector": ["n1", "text"]}}


def finished(outputs: Any = None, status: str = "succeeded", error: str | None = None) -> Json:
    """The end of a workflow."""
    data = {"id": RUN, "workflow_id": "w", "status": status, "outputs": outputs, "error": error, "elapsed_time": 1.2}
    return {"event": "workflow_finished", "data": data}


def said(text: str, event: str = "message") -> Json:
    """A piece of a chat's answer."""
    return {"event": event, "message_id": "m", "conversation_id": "c", "answer": text, "created_at": 1679586595}


END: Json = {"event": "message_end", "message_id": "m", "conversation_id": "c", "metadata": {"usage": {}}}
