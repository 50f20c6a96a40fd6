"""Dify apps that a request brings: workflows and chats, streamed and whole, what goes wrong, and where the key goes."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from talaria import ChatEvent
from talaria.core.errors import SecretsLost
from talaria.core.redaction import MASK
from talaria.fetch.exchange import AioHttpExchange
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from talaria.tools.sources.dify_answer import PAUSED
from tests.polling import eventually
from tests.runtime.world import World, end_of, world
from tests.tools.platforms import END, KEY, NODE, RUN, STARTED, TASK, Dify, Json, chunk, finished, said

LOADED = AioHttpExchange
"""What is imported when it is first used: not in a test's event loop."""
OPEN: dict[str, Any] = {"fetch": {"allowPrivate": ["127.0.0.1"]}}
TEXT: Json = {"type": "object", "properties": {"text": {"type": "string"}}}
LOST = "the connection ended before the app had answered"


def app(url: str, **fields: Any) -> list[Json]:
    return [{"platform": "dify", "name": "ask", "baseUrl": url, "apiKey": KEY, "inputSchema": TEXT} | fields]


def said_by(events: Sequence[ChatEvent]) -> str:
    """The call's result, less the fence around it."""
    (result,) = [each for event in events for each in event.tool_results or ()]
    lines = result.result.splitlines()
    return "\n".join(lines[2:-1]) if len(lines) > 2 else result.result


async def asked(dify: Dify, here: World, call: Call | None = None, **fields: Any) -> list[ChatEvent]:
    async with dify.serving() as url:
        return await here.ask(externalTools=app(url, **fields))


def model(**arguments: Any) -> ScriptedModel:
    return ScriptedModel(Call("ask", arguments), Say("So."))


async def test_a_workflow_streams_its_text_and_its_output_is_the_result() -> None:
    dify = Dify(events=[STARTED, NODE, chunk("Bon"), chunk("jour"), finished({"result": "Bonjour le monde"})])
    async with world(model(text="hello"), **OPEN) as here:
        events = await asked(dify, here)
    assert said_by(events) == "Bonjour le monde"
    assert "".join(str(event.data) for event in events if event.type == "tool_output") == "Bonjour"
    assert dify.asked == [{"inputs": {"text": "hello"}, "response_mode": "streaming", "user": "anonymous"}]
    assert end_of(events) == ("finish", "stop")


async def test_several_outputs_are_json_and_files_are_what_a_model_can_use_of_them() -> None:
    file = {
        "dify_model_identity": "__dify__file__",
        "id": None,
        "tenant_id": "t",
        "type": "image",
        "transfer_method": "tool_file",
        "filename": "a.png",
        "mime_type": "image/png",
        "size": 7,
        "url": "/files/tools/a.png?sign=1",
    }
    dify = Dify(events=[finished({"n": 1, "pictures": [file]})])
    async with world(model(), **OPEN) as here:
        text = said_by(await asked(dify, here))
    address = text.partition('"url": "')[2].partition("/files")[0]
    assert text.replace(address, "http://dify") == snapshot(
        '{"n": 1, "pictures": [{"type": "image", "filename": "a.png", "mime_type": "image/png", "size": 7, "url": "http://dify/files/tools/a.png?sign=1"}]}'
    )


async def test_a_chat_gets_its_question_and_files_beside_its_inputs() -> None:
    file = {"type": "image", "transfer_method": "remote_url", "url": "https://example.com/a.png"}
    dify = Dify(
        "chat", events=[said("I"), said(" see."), {"event": "message_file", "type": "image", "url": "/b.png"}, END]
    )
    schema: Json = {"type": "object", "properties": {"query": {}, "files": {}, "city": {}}}
    call = model(query="What is it?", files=[file], city="Rome")
    async with world(call, **OPEN) as here:
        text = said_by(await asked(dify, here, app="chat", inputSchema=schema))
    assert text.startswith('I see.\n[file: {"type": "image", "url": "http://127.0.0.1:')
    assert dify.asked == [
        {
            "query": "What is it?",
            "files": [file],
            "inputs": {"city": "Rome"},
            "response_mode": "streaming",
            "user": "anonymous",
        }
    ]


async def test_a_chat_without_a_schema_takes_a_question() -> None:
    script = model(query="Hi?")
    async with world(script, **OPEN) as here, Dify("chat", events=[said("Hi!"), END]).serving() as url:
        brought = [{"platform": "dify", "name": "ask", "baseUrl": f"{url}/", "apiKey": KEY, "app": "chat"}]
        assert said_by(await here.ask(externalTools=brought)) == "Hi!"
    (spec,) = [each for each in script.requests[0].prompt.tools if each.name == "ask"]
    assert spec.parameters["required"] == ["query"]


@pytest.mark.parametrize(
    ("events", "result"),
    [
        ([STARTED, said("Yes"), END, finished()], "Yes"),
        ([STARTED, said("Yes"), finished(), END], "Yes"),
        ([said("Ye", "agent_message"), said("s", "agent_message"), said("Yes"), END], "Yes"),
        ([said("Bad"), said("Good", "message_replace"), END], "Good"),
        ([said("Y"), {"event": "tts_message", "audio": "x"}, said("es"), END, {"event": "tts_message_end"}], "Yes"),
    ],
    ids=["chatflow", "older chatflow", "agent", "moderated", "speech"],
)
async def test_every_kind_of_chat_comes_to_its_answer(events: list[Json], result: str) -> None:
    async with world(model(), **OPEN) as here:
        assert said_by(await asked(Dify("chat", events), here, app="chat")) == result


@pytest.mark.parametrize("only_blocking", [True, False])
@pytest.mark.parametrize("kind", ["workflow", "chat"])
async def test_a_blocking_answer_is_read_whether_asked_for_or_not(kind: str, only_blocking: bool) -> None:
    whole = (
        finished({"result": "Oui"}) | {"task_id": TASK, "workflow_run_id": RUN} if kind == "workflow" else said("Oui")
    )
    dify = Dify(kind, document=whole, only_blocking=only_blocking)
    async with world(model(), **OPEN) as here:
        mode = "streaming" if only_blocking else "blocking"
        assert said_by(await asked(dify, here, app=kind, responseMode=mode)) == "Oui"
    assert dify.asked[0]["response_mode"] == mode


ENDS: list[tuple[Dify, str]] = [
    (
        Dify(events=[STARTED, finished(status="failed", error="node LLM: no credit")]),
        "ended as failed: node LLM: no credit",
    ),
    (Dify(events=[STARTED, finished(status="stopped")]), "was stopped in Dify"),
    (Dify(events=[STARTED, {"event": "human_input_required", "data": {"form_token": "t"}}]), PAUSED),
    (Dify(events=[STARTED, {"event": "workflow_paused", "data": {}}]), PAUSED),
    (
        Dify(
            events=[
                STARTED,
                {"event": "error", "status": 400, "code": "provider_quota_exceeded", "message": "No quota."},
            ]
        ),
        "Dify says: No quota. (provider_quota_exceeded)",
    ),
    (Dify(events=[STARTED, chunk("Bon")]), LOST),
    (Dify(refuses=(429, "too_many_requests", "Too many requests.")), "HTTP 429: Dify says: Too many requests."),
    (Dify(refuses=(500, "internal_server_error", "Oh.")), "HTTP 500: Dify says: Oh. (internal_server_error)"),
    (Dify("chat"), "(not_workflow_app)"),
    (Dify(only_blocking=True, document={"data": {"status": "paused"}}), PAUSED),
    (Dify(only_blocking=True), "is not JSON"),
]


@pytest.mark.parametrize(("dify", "words"), ENDS, ids=[f"{at} {words}" for at, (_, words) in enumerate(ENDS)])
async def test_an_app_that_comes_to_no_answer_is_an_error_in_difys_words(dify: Dify, words: str) -> None:
    async with world(model(), **OPEN) as here:
        events = await asked(dify, here)
    (result,) = [each for event in events for each in event.tool_results or ()]
    assert (result.is_error, words in result.result) == (True, True)
    assert end_of(events) == ("finish", "stop")


async def test_a_key_that_dify_refuses_is_told_and_not_shown() -> None:
    async with world(model(), **OPEN) as here:
        text = said_by(await asked(Dify(), here, apiKey="app-of-somebody-else"))
    assert text == "HTTP 401: Dify says: Access token is invalid (unauthorized)"


async def test_a_call_that_is_given_up_is_stopped_in_dify_too() -> None:
    dify = Dify(events=[STARTED, chunk("Bon" * 200)], hangs=True)
    async with world(ScriptedModel(Call("ask")), **OPEN) as here, dify.serving() as url:
        run_id = await here.send(externalTools=app(url))
        await here.until(run_id, "tool_output")
        await here.cancel(run_id)
        assert end_of(await here.events(run_id)) == ("finish", "cancelled")

        async def is_stopped() -> bool:
            return dify.stopped == [TASK]

        await eventually(is_stopped, "the task being stopped")


async def test_a_private_address_is_asked_only_where_the_operator_says_so() -> None:
    dify = Dify(events=[finished({"a": "b"})])
    async with world(model()) as here:
        assert "not public" in said_by(await asked(dify, here))
    assert dify.asked == []


# The key


async def test_the_key_is_on_no_record_and_masked_wherever_it_comes_back(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/x.db"
    dify = Dify(events=[finished({"said": f"your key is {KEY}"})])
    script = model()
    async with world(script, store=store, **OPEN) as here:
        events = await asked(dify, here)
        assert said_by(events) == f"your key is {MASK}"
        assert KEY not in str(await here.entries())
    assert KEY not in str(script.requests[-1].prompt.messages)
    found = await asyncio.to_thread(lambda: [each for each in tmp_path.iterdir() if KEY.encode() in each.read_bytes()])
    assert found == []


async def test_other_tools_are_not_handed_the_key() -> None:
    from talaria import ToolContext, tool  # noqa: PLC0415 - only here

    @tool
    def peek(ctx: ToolContext) -> str:
        """See what there is."""
        return " ".join(ctx.secrets)

    async with world(ScriptedModel(Call("peek"), Say("So.")), tools=[peek], **OPEN) as here:
        await here.ask(externalTools=app("https://dify.example/v1"), tool_context={"mine": "123456"})
        (said,) = [message["content"] for message in await here.messages() if message["role"] == "tool"]
    assert said == "mine"


@pytest.mark.parametrize("key", ["", "a-key-of-the-deployment"])
async def test_a_run_goes_on_after_a_restart_with_its_key_where_that_was_sealed(sqlite: str, key: str) -> None:
    dify = Dify(events=[finished({"said": "Oui"})])
    config: dict[str, Any] = {**OPEN, "policy": {"rules": [{"ask": "source:external"}]}, "secrets": {"key": key}}
    async with dify.serving() as url:
        async with world(ScriptedModel(Call("ask")), store=sqlite, **config) as here:
            run_id = await here.send(externalTools=app(url))
            request_id = await here.question(run_id)
            await here.stands(run_id, "waiting_approval")
        async with world(ScriptedModel(Say("So.")), store=sqlite, **config) as here:
            await here.decide(request_id)
            events = await here.events(run_id)
    if key:
        assert (said_by(events), end_of(events)) == ("Oui", ("finish", "stop"))
    else:
        assert end_of(events) == ("error", SecretsLost.code)
        assert "externalTools.ask.apiKey" in str(events[-1].data)
