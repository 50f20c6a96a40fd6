"""The table of endpoints: all that this server answers, and all that its OpenAPI document says."""

import asyncio
from functools import cache

import msgspec
from starlette.responses import Response

from talaria.runtime.previews import MARK, PATH
from talaria.runtime.request import ChatRequest
from talaria.server import (
    answers,
    audit,
    chat,
    decide_page,
    files,
    health,
    memory,
    metrics,
    offers,
    preview,
    runs,
    sessions,
    usage,
)
from talaria.server.call import Call
from talaria.server.endpoint import Endpoint
from talaria.server.openapi import openapi
from talaria.server.requests import ApprovalRequest, CancelRequest, ToolResultRequest

USER = {"userId": "only what belongs to this user"}
ASSISTANT = {"assistantId": "the session of this assistant"}
PAGE = {
    "cursor": "`next` of the page before",
    "limit": "sessions in a page, 1 to 200",
    "search": "only sessions with all of these words in their ids or the beginning of their first message",
}
DECISIONS = {
    "cursor": "`next` of the page before",
    "limit": "decisions in a page, 1 to 200",
    "format": "`json` or `jsonl`, instead of an Accept header",
    "action": "only about this, such as `agent.permission`",
    "outcome": "only with this outcome, such as `deny`",
    "user": "only what concerns this user; others than yourself need the role `audit:read`",
    "from": "only since this time, ISO 8601",
    "to": "only before this time, ISO 8601",
}
USAGE = {
    "by": "what to group by, commas between: tenant, user, agent, model, day, label:NAME",
    "from": "the first day, such as 2026-11-01; by default 29 days before the last",
    "to": "the last day; by default today",
}
FORGET = {
    "assistantId": "the memory of this assistant; left out, that of sessions without one",
    "path": "only this file or folder, such as /memories/people",
}
AFTER = {"after": "as Last-Event-ID, where a header cannot be sent"}


async def document(call: Call) -> Response:
    """This table, for machines."""
    login = call.parts.kit.settings.auth.kind != "none"
    content = await asyncio.to_thread(_document, login=login)  # reads the package's version
    return Response(content, media_type="application/json")


@cache
def _document(*, login: bool) -> bytes:
    return msgspec.json.encode(openapi(ENDPOINTS, login=login))


ENDPOINTS = (
    Endpoint(
        "POST",
        "/ai-api/chat/stream",
        chat.chat_stream,
        "Run one turn of a session and stream what happens",
        body=ChatRequest,
        is_stream=True,
        query=USER,
        problems=("invalid_request", "forbidden", "conflict", "quota_exceeded", "overloaded"),
    ),
    Endpoint(
        "POST",
        "/ai-api/chat/approval",
        chat.decide,
        "Decide about an open question; the first decision wins",
        body=ApprovalRequest,
        answer=answers.DecisionInForce,
        query=USER,
        problems=("invalid_request", "forbidden", "not_found", "conflict"),
    ),
    Endpoint(
        "POST",
        "/ai-api/chat/tool-result",
        chat.tool_result,
        "Say what came of a call of a client tool; the first result wins",
        body=ToolResultRequest,
        answer=answers.DecisionInForce,
        query=USER,
        problems=("invalid_request", "forbidden", "not_found", "conflict"),
    ),
    Endpoint(
        "GET",
        "/ai-api/approvals",
        chat.approvals,
        "List the open questions that you may decide",
        answer=answers.ApprovalList,
        query=USER,
    ),
    Endpoint(
        "GET",
        "/ai-api/decide/{token}",
        decide_page.decide_page,
        "The page of a link that decides",
        text="text/html",
        is_public=True,
        pages=(404, 410),
    ),
    Endpoint(
        "POST",
        "/ai-api/decide/{token}",
        decide_page.decide_by_link,
        "Decide through a link, once",
        text="text/html",
        is_public=True,
        query={"decision": "approve or decline"},
        problems=("invalid_request",),
        pages=(404, 409, 410),
    ),
    Endpoint(
        "POST",
        "/ai-api/chat/cancel",
        chat.cancel,
        "Ask a run to end",
        body=CancelRequest,
        answer=answers.Cancelling,
        query=USER,
        problems=("invalid_request", "not_found"),
    ),
    Endpoint(
        "GET",
        "/ai-api/runs/{runId}",
        runs.run,
        "How a run stands",
        answer=answers.RunView,
        query=USER,
        problems=("not_found",),
    ),
    Endpoint(
        "GET",
        "/ai-api/runs/{runId}/events",
        runs.events,
        "Stream a run's events after the last one you have, else from the start",
        is_stream=True,
        resumes=True,
        query=AFTER | USER,
        problems=("not_found",),
    ),
    Endpoint(
        "GET",
        "/ai-api/sessions",
        sessions.sessions,
        "List sessions, newest first",
        answer=answers.SessionPage,
        query=PAGE | USER,
        problems=("invalid_request",),
    ),
    Endpoint(
        "GET",
        "/ai-api/sessions/{sessionId}",
        sessions.session,
        "Show a session with its messages",
        answer=answers.SessionView,
        query=ASSISTANT | USER,
        problems=("invalid_request", "not_found"),
    ),
    Endpoint(
        "DELETE",
        "/ai-api/sessions/{sessionId}",
        sessions.delete,
        "Delete a session with all that hangs on it",
        status=204,
        query=ASSISTANT | USER,
        problems=("invalid_request", "not_found", "conflict"),
    ),
    Endpoint(
        "POST",
        PATH + "{sessionId}/{port}",
        preview.preview,
        "Get a link that shows a web server in the session's sandbox",
        answer=answers.PreviewLink,
        query=ASSISTANT | USER,
        problems=("invalid_request", "not_found", "sandbox_unavailable"),
    ),
    Endpoint(
        "POST",
        "/ai-api/files",
        files.upload,
        "Hand over a file, to be attached to a turn",
        answer=answers.FileView,
        status=201,
        takes_file=True,
        query=USER,
        problems=("invalid_request", "overloaded"),
    ),
    Endpoint(
        "GET",
        "/ai-api/download/{artifactId}",
        files.download,
        "Download a file; one range of it, where that is asked for",
        gives_file=True,
        query={"download": "1: to be saved, whatever it is"} | USER,
        problems=("not_found", "overloaded"),
    ),
    Endpoint(
        "GET",
        "/ai-api/memory",
        memory.memory,
        "List what agents remember of you from session to session",
        answer=answers.MemoryPage,
        query={"cursor": "`next` of the page before"} | USER,
        problems=("invalid_request",),
    ),
    Endpoint(
        "DELETE",
        "/ai-api/memory",
        memory.forget_memory,
        "Delete what an assistant remembers of you, or one file or folder of it",
        status=204,
        query=FORGET | USER,
        problems=("invalid_request", "not_found"),
    ),
    Endpoint("GET", "/ai-api/models", offers.models, "List the models that are named", answer=answers.ModelList),
    Endpoint(
        "GET", "/ai-api/tools", offers.tools, "List the tools that you may call", answer=answers.ToolList, query=USER
    ),
    Endpoint(
        "GET", "/ai-api/agents", offers.agents, "List the agents that you may use", answer=answers.AgentList, query=USER
    ),
    Endpoint(
        "GET",
        "/ai-api/audit",
        audit.audit,
        "List decisions that were made, newest first; as JSON lines all of them",
        answer=answers.AuditPage,
        text=audit.LINES,
        query=DECISIONS | USER,
        problems=("invalid_request", "forbidden"),
    ),
    Endpoint(
        "GET",
        "/ai-api/usage",
        usage.usage,
        "Sum up what was used",
        answer=answers.UsageList,
        query=USAGE | USER,
        problems=("invalid_request",),
    ),
    Endpoint("GET", "/healthz", health.healthz, "The process lives", answer=answers.Health, is_public=True),
    Endpoint(
        "GET",
        "/readyz",
        health.readyz,
        "The server can take runs",
        answer=answers.Health,
        is_public=True,
        problems=("overloaded",),
    ),
    Endpoint("GET", "/metrics", metrics.metrics, "Metrics in Prometheus' text format", text="text/plain"),
    Endpoint("GET", "/openapi.json", document, "This document"),
)

PREVIEWED = PATH + "{sessionId}/{port}/" + MARK + "{token}/{path:path}"
PASSED = (
    *(
        Endpoint(method, PREVIEWED, preview.preview_passed, "", is_public=True)
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
    ),
    Endpoint("GET", PATH + "{sessionId}/{port}/{path:path}", preview.preview_redirect, ""),
)
"""What lies below a preview. How that answers is up to what runs in the sandbox: the document says nothing of it."""
