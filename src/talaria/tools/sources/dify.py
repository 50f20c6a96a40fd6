"""Apps of a Dify server as tools: workflows, and chats of which each call begins a new one."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, cast

from talaria.core.errors import FetchFailed
from talaria.core.external import ExternalTool
from talaria.fetch import Fetcher, Page, Reply
from talaria.models.sse import SseParser
from talaria.tools.context import ToolContext
from talaria.tools.declaration import Tool
from talaria.tools.errors import CallFailed
from talaria.tools.sources.dify_answer import DifyAnswer, problem
from talaria.tools.sources.page_text import page_text

RUN = {"workflow": "/workflows/run", "chat": "/chat-messages"}
STOP = {"workflow": "/workflows/tasks/{}/stop", "chat": "/chat-messages/{}/stop"}
LONGEST_STOP = 2.0
"""Seconds that a call which is given up spends on telling Dify so."""
OF_CHAT = ("query", "files", "conversation_id")
"""Arguments that a chat takes beside its app's inputs."""


def dify_tool(spec: ExternalTool, key: str, fetcher: Fetcher) -> Tool[..., Any]:
    """Return the tool; `key` is the app's."""
    headers = (("Authorization", f"Bearer {key}"), ("Content-Type", "application/json"))

    async def post(path: str, body: dict[str, Any]) -> AsyncIterator[Reply]:
        said = json.dumps(body, ensure_ascii=False).encode()
        async with fetcher.open(spec.url + path, method="POST", headers=headers, body=said) as reply:
            yield reply

    async def call(talaria_context: ToolContext, **arguments: Any) -> str:
        user = talaria_context.principal.user or "talaria"
        answer = DifyAnswer(spec.app, spec.url)
        mode = "streaming" if spec.streaming else "blocking"
        try:
            async for reply in post(RUN[spec.app], {**_body(spec, arguments), "response_mode": mode, "user": user}):
                await _read(reply, answer, talaria_context)
        except asyncio.CancelledError:
            if answer.task:
                with suppress(FetchFailed, TimeoutError):
                    async with asyncio.timeout(LONGEST_STOP):
                        async for _ in post(STOP[spec.app].format(answer.task), {"user": user}):
                            pass
            raise
        if answer.result is None:
            raise CallFailed("the connection ended before the app had answered; it is not known what it did")
        return answer.result

    return Tool(
        spec.name,
        spec.description,
        spec.parameters,
        call,
        outside=True,
        untrusted=True,
        breaker=False,
        source="external",
    )


def _body(spec: ExternalTool, arguments: dict[str, Any]) -> dict[str, Any]:
    if spec.app == "workflow":
        return {"inputs": arguments}
    beside = {name: arguments.pop(name) for name in OF_CHAT if name in arguments}
    return {"query": "", **beside, "inputs": arguments}


async def _read(reply: Reply, answer: DifyAnswer, context: ToolContext) -> None:
    is_stream = dict(reply.headers).get("content-type", "").startswith("text/event-stream")
    if reply.status >= 400 or not is_stream:
        page = Page(reply.url, reply.status, reply.headers, b"".join([chunk async for chunk in reply.chunks()]))
        document = _object(page.body)
        if page.status >= 400:
            raise CallFailed(f"HTTP {page.status}: {problem(document) if document else page_text(page)[:2000]}")
        if not document:
            raise CallFailed("Dify's answer is not JSON; check the tool's baseUrl")
        answer.take_whole(document)
        return
    parser = SseParser()
    async for chunk in reply.chunks():
        for payload in parser.feed(chunk):
            if text := answer.take(_object(payload)):
                context.output(text)
        if answer.result is not None:
            return
    for payload in parser.end():
        answer.take(_object(payload))


def _object(data: bytes) -> dict[str, Any]:
    """The JSON object in these bytes; an empty one where there is none."""
    with suppress(ValueError, RecursionError):
        value = json.loads(data)
        if isinstance(value, dict):
            return cast("dict[str, Any]", value)
    return {}
