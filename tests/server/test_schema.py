"""The server keeps to its OpenAPI document: requests made of the document, valid and not, over HTTP, with a login."""

import asyncio
import os
from collections.abc import Generator
from threading import Thread
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis import checks as all_checks
from schemathesis.specs.openapi import checks as openapi_checks

from talaria.server.endpoint import Endpoint
from talaria.server.endpoints import ENDPOINTS
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.server.nginx import listening
from tests.server.serving import Shop, serving

KEY = "key-of-alice"
AUTH = {"kind": "keys", "keys": [{"key": KEY, "tenant": "acme", "user": "alice"}]}
HEADERS = {"Authorization": f"Bearer {KEY}"}
ANY: Any = all_checks
CHECK: Any = openapi_checks
EXAMPLES = int(os.environ.get("SCHEMA_EXAMPLES", "15"))
"""Requests of each kind to each endpoint."""


def fits_its_schema(ctx: Any, response: Any, case: Any) -> Any:
    """Streams aside: of them the document has a schema of its own for events, which test_openapi.py checks."""
    is_stream = response.headers["content-type"][0].startswith("text/event-stream")
    return None if is_stream else CHECK.response_schema_conformance(ctx, response, case)


SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
CHECKS = [
    ANY.not_a_server_error,
    CHECK.status_code_conformance,
    CHECK.content_type_conformance,
    CHECK.response_headers_conformance,
    fits_its_schema,
    CHECK.unsupported_method,
    CHECK.allow_header_conformance,
    CHECK.ignored_auth,
]


class Site:
    """A served runtime in a thread of its own, with a session `s` in it: one run is over, one waits for a person."""

    def __init__(self) -> None:
        self.url = ""
        self.run = ""
        self._loop = asyncio.new_event_loop()
        self._ready = asyncio.Event()
        self._over = asyncio.Event()
        self._thread = Thread(target=self._loop.run_until_complete, args=(self._serve(),), daemon=True)

    def __enter__(self) -> "Site":
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._ready.wait(), self._loop).result(20)
        for query in ("Hello", "Refund it"):
            with self._chat(query) as answer:
                self.run = self.run or answer.headers["X-Run-Id"]
                for line in answer.iter_lines():
                    if b"approval_request" in line:
                        break
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(20)
        self._loop.close()

    def _chat(self, query: str) -> requests.Response:
        body = {"query": query, "sessionId": "s"}
        url = f"{self.url}/ai-api/chat/stream"
        return requests.post(url, json=body, headers=HEADERS, stream=True, timeout=20)

    async def _serve(self) -> None:
        steps = [Say("Hi."), Call("refund", {"order_id": "1", "amount": 1})]
        model = ScriptedModel(script=lambda _: steps.pop(0) if steps else Say("Well."))
        async with serving(model, tools=Shop().tools(), auth=AUTH) as served, listening(served.app) as port:
            self.url = f"http://127.0.0.1:{port}"
            self._ready.set()
            await self._over.wait()


@pytest.fixture(scope="module")
def site() -> Generator[Site]:
    with Site() as site:
        yield site


@pytest.fixture(scope="module")
def document(site: Site) -> Any:
    answer = requests.get(f"{site.url}/openapi.json", headers=HEADERS, timeout=20)
    assert answer.status_code == 200
    return schemathesis.openapi.from_dict(answer.json())


def makes_sense(endpoint: Endpoint, kind: str) -> bool:
    """Whether there is something to get wrong, or something to name that is still there afterwards."""
    if kind == "of what is there":
        return "{" in endpoint.path and endpoint.method == "GET"
    return kind == "valid" or endpoint.body is not None or bool(endpoint.query)


KINDS = ("valid", "invalid", "of what is there")
CASES = [(endpoint, kind) for endpoint in ENDPOINTS for kind in KINDS if makes_sense(endpoint, kind)]


@pytest.mark.parametrize(("endpoint", "kind"), CASES, ids=lambda each: getattr(each, "name", each))
def test_every_answer_is_one_that_the_document_promises(
    site: Site, document: Any, endpoint: Endpoint, kind: str
) -> None:
    operation = document[endpoint.path][endpoint.method]
    there = {"runId": site.run, "sessionId": "s"}
    named = {name: value for name, value in there.items() if name in endpoint.path and kind == "of what is there"}
    mode = GenerationMode.NEGATIVE if kind == "invalid" else GenerationMode.POSITIVE

    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=SLOW)
    @given(case=operation.as_strategy(generation_mode=mode, path_parameters=named or None))
    def try_it(case: Any) -> None:
        case.call_and_validate(base_url=site.url, headers=HEADERS, checks=CHECKS, timeout=20)

    try_it()
