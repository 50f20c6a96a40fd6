"""Streams on record: OpenAI's own, and what compatible servers and gateways are known to send."""

import json
from collections.abc import Sequence
from typing import Any

from tests.models.responses_wire import (
    USAGE,
    Event,
    Stream,
    added,
    call,
    calling,
    created,
    done,
    ended,
    message,
    reasoning,
    response,
    saying,
    sse,
    thinking,
)

COUNTS = [75, 20, 32, 12]
MINE = {"id": "msg_1", "status": "completed"}
A, B = call("a", '{"q":1}'), call("b", '{"q":2}')
CALL_A = ("call", "a", "search", '{"q":1}', {"id": "fc_a", "status": "completed"})
CALL_B = ("call", "b", "search", '{"q":2}', {"id": "fc_b", "status": "completed"})


def _clean(name: str, events: Sequence[Event], parts: Sequence[Any], finish: str = "stop", **more: Any) -> Stream:
    return Stream(name, sse(events), {"parts": list(parts), "finish": finish, "usage": COUNTS, **more})


def _turn() -> Stream:
    """Reasoning before each thing that is done: the order is part of what goes back."""
    thoughts = reasoning("**Plan**\n\nFirst, look.", "Then say."), reasoning(id_="rs_2")
    note = message("Looking.", phase="commentary")
    output = [thoughts[0], note, thoughts[1], A, B]
    events = [
        *created(),
        *thinking(thoughts[0], ["**Plan**", "\n\nFirst, look."], ["Then ", "say."]),
        *saying(note, "Look", "ing.", at=1),
        *thinking(thoughts[1], at=2),
        *calling(A, '{"q"', ":1}", at=3),
        *calling(B, '{"q":2}', at=4),
        ended("completed", output),
    ]
    parts = [
        ("reasoning", "**Plan**\n\nFirst, look.\n\nThen say.", thoughts[0]),
        ("text", "Looking.", {**MINE, "phase": "commentary"}),
        ("reasoning", "", thoughts[1]),
        CALL_A,
        CALL_B,
    ]
    return _clean("reasoning_and_calls", events, parts, "tool_calls")


def _refusal() -> Stream:
    item = message("", content=[{"type": "refusal", "refusal": "I cannot."}])
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    events = [
        added({**item, "content": []}, 0),
        {"type": "response.content_part.added", **place, "part": {"type": "refusal", "refusal": ""}},
        {"type": "response.refusal.delta", **place, "delta": "I can"},
        {"type": "response.refusal.delta", **place, "delta": "not."},
        {"type": "response.refusal.done", **place, "refusal": "I cannot."},
        done(item, 0),
        ended("completed", [item]),
    ]
    return _clean("refusal", [*created(), *events], [("text", "I cannot.", MINE)], "content_filter")


def _limits() -> list[Stream]:
    cut, limit = call("b", '{"q":', status="incomplete"), {"incomplete_details": {"reason": "max_output_tokens"}}
    filtered = {"incomplete_details": {"reason": "content_filter"}}
    half = message("Hal", status="incomplete")
    return [
        _clean(
            "token_limit_in_a_call",
            [*created(), *calling(A, '{"q":1}'), *calling(cut, '{"q":', at=1), ended("incomplete", [A, cut], **limit)],
            [CALL_A],
            "tool_calls",
            cut_calls=1,
        ),
        _clean(
            "token_limit_before_the_first_argument",
            [*created(), *calling(B, ends=False), ended("incomplete", [], **limit)],
            [],
            "length",
            cut_calls=1,
        ),
        _clean(
            "token_limit_while_thinking",
            [*created(), *thinking(reasoning("Hm."), ["Hm."])[:-1], ended("incomplete", [], **limit)],
            [("reasoning", "Hm.", None)],
            "length",
        ),
        _clean(
            "content_filter",
            [*created(), *saying(half, "Hal"), ended("incomplete", [half], **filtered)],
            [("text", "Hal", None)],
            "content_filter",
        ),
    ]


def openai_streams() -> list[Stream]:
    """Streams as OpenAI sends them: its own library reads them too."""
    hello = message("Hello, 世界 👋")
    text = [*created(), *saying(hello, "Hel", "lo, ", "世界", " 👋"), ended("completed", [hello])]
    return [_clean("text", text, [("text", "Hello, 世界 👋", MINE)]), _turn(), _refusal(), *_limits()]


def _errors() -> list[Stream]:
    said = saying(message("Hel"), "Hel")[:3]
    failed: Event = {"usage": None, "error": {"code": "rate_limit_exceeded", "message": "Slow down."}}
    prompt: Event = {"usage": None, "error": {"code": "invalid_prompt", "message": "Not this."}}
    policy: Event = {"usage": None, "error": {"code": "bio_policy", "message": "Not this."}}
    encrypted = {"type": "error", "code": "invalid_encrypted_content", "message": "No.", "param": None}
    nested = {"type": "error", "error": {"type": "server_error", "code": None, "message": "Oops"}}
    cases: list[tuple[str, list[Event], str, bool]] = [
        ("failed_busy", [*said, ended("failed", **failed)], "model_unavailable", True),
        ("failed_refused", [*said, ended("failed", **prompt)], "model_rejected", False),
        ("failed_policy", [*said, ended("failed", **policy)], "model_rejected", False),
        (
            "cancelled",
            [*said, {"type": "response.cancelled", "response": response("cancelled")}],
            "model_unavailable",
            True,
        ),
        ("error", [*said, encrypted], "model_rejected", False),
        ("nested_error", [*said, nested], "model_unavailable", True),
        ("cut_in_text", said, "stream_truncated", True),
        ("cut_after_a_whole_item", [*saying(message("Hel"), "Hel")], "stream_truncated", True),
    ]
    return [
        Stream(name, sse([*created(), *events]), {"error": code, "retryable": again, "parts": [("text", "Hel", None)]})
        for name, events, code, again in cases
    ]


def _without_index(event: Event) -> Event:
    return {key: value for key, value in event.items() if key not in {"output_index", "content_index"}}


def _strangers() -> list[Stream]:
    unknown = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    note = "an output item of type 'web_search_call' is not known; it is left out"
    hello = message("Hello")
    raw: Event = {"id": "rs_1", "type": "reasoning", "summary": []}
    raw_done = {**raw, "content": [{"type": "reasoning_text", "text": "Hm, so."}], "status": None}
    place = {"item_id": "rs_1", "output_index": 0, "content_index": 0}
    raw_thought = [
        added(raw, 0),
        {"type": "response.reasoning_text.delta", **place, "delta": "Hm, "},
        {"type": "response.reasoning_text.delta", **place, "delta": "so."},
        done(raw_done, 0),
    ]
    without_index = [
        _without_index(event)
        for event in [*saying(hello, "Hel", "lo"), *calling(A, '{"q":1}'), *calling(B, '{"q":', "2}")]
    ]
    for event in without_index:  # a call that has an id only in the names of its deltas
        if event.get("item", {}).get("id") == "fc_b":
            event["item"] = {**event["item"], "call_id": "fc_b"}
            del event["item"]["id"]
    one_index = [{**event, "output_index": 0} for event in [*calling(A, '{"q":1}')[:2], *calling(B, '{"q":2}')[:2]]]
    other_ids = [
        {**event, "item_id": f"other_{number}"} if "item_id" in event else event
        for number, event in enumerate([*saying(hello, "Hel", "lo"), *calling(A, '{"q":1}', at=1)])
    ]
    announced = {"type": "response.web_search_call.searching", "item_id": "ws_1", "output_index": 0}
    fc_b = ("call", "fc_b", "search", '{"q":2}', {"status": "completed"})
    text = ("text", "Hello", MINE)
    own = {key: value for key, value in raw_done.items() if key != "status"}
    return [
        _clean(
            "unknown_items_and_events",
            [
                *created(),
                added(unknown, 0),
                announced,
                done(unknown, 0),
                {"type": "keepalive"},
                *saying(hello, "Hello", at=1),
                ended("completed", [unknown, hello]),
            ],
            [text],
            notes=[note],
        ),
        _clean(
            "reasoning_text",
            [*raw_thought, *saying(hello, "Hello", at=1), ended("completed")],
            [("reasoning", "Hm, so.", own), text],
        ),
        _clean("no_indices", [*without_index, ended("completed")], [text, CALL_A, fc_b], "tool_calls"),
        _clean("one_index_for_all", [*one_index, ended("completed", [A, B])], [CALL_A, CALL_B], "tool_calls"),
        _clean(
            "ids_that_change_without_indices",
            [*(_without_index(event) for event in other_ids), ended("completed", [hello, A])],
            [text, CALL_A],
            "tool_calls",
        ),
        _clean("ids_that_change", [*other_ids, ended("completed", [hello, A])], [text, CALL_A], "tool_calls"),
        _clean(
            "only_the_end",
            [ended("completed", [reasoning("Hm."), hello, A])],
            [("reasoning", "Hm.", reasoning("Hm.")), text, CALL_A],
            "tool_calls",
        ),
        _clean("no_deltas", [added(hello, 0), done(hello, 0), ended("completed")], [text]),
        _clean(
            "items_that_are_not_finished",
            [*saying(hello, "Hel")[:3], *calling(A, '{"q"', at=1, ends=False), ended("completed", [hello, A])],
            [text, CALL_A],
            "tool_calls",
        ),
        _clean(
            "arguments_as_an_object",
            [done({**A, "arguments": {"q": 1}}, 0), ended("completed")],
            [CALL_A],
            "tool_calls",
        ),
        _clean(
            "no_arguments",
            [done({**A, "arguments": None}, 0), ended("completed")],
            [(*CALL_A[:3], "{}", CALL_A[4])],
            "tool_calls",
        ),
        _clean(
            "a_call_without_a_name",
            [done(call("a", '{"q":1}', name=""), 0), ended("completed")],
            [],
            "length",
            cut_calls=1,
        ),
        _clean(
            "an_item_that_ends_otherwise",
            [*saying(hello, "Bye")[:3], done(hello, 0), ended("completed")],
            [("text", "Bye", MINE)],
            notes=["a finished message is not what was streamed; what was streamed is kept"],
        ),
        _clean(
            "reasoning_taken_out",
            [
                *saying(hello, "Hello"),
                ended(
                    "completed",
                    [hello],
                    input_transformations=[
                        {"id": "rs_0", "type": "reasoning", "action": "removed", "reason": "model_mismatch"}
                    ],
                ),
            ],
            [text],
            notes=["the provider changed its input: removed model_mismatch"],
        ),
    ]


def _bytes() -> list[Stream]:
    hello = message("Hello")
    good = {"parts": [("text", "Hello", MINE)], "finish": "stop", "usage": COUNTS}
    document = json.dumps(response("completed", [hello], usage=USAGE), indent=1).encode()
    pair = sse([*saying(message("a👋b"), "a\ud83d", "\udc4bb"), ended("completed")])
    lone = sse([*saying(message("\ud83d"), "a\ud83d", "b\x00")[:-1], ended("completed")])
    spoken = sse([*saying(hello, "Hello"), ended("completed", [hello])])
    unnamed = b"\n".join(line for line in spoken.split(b"\n") if not line.startswith(b"event:"))
    return [
        Stream("document", document, good),
        Stream("end_mark", spoken + b"data: [DONE]\n\n", good),
        Stream("comments", b": PROCESSING\n\n" + spoken.replace(b"\n\nevent", b"\n\n: ping\n\nevent", 3), good),
        Stream("no_event_names", b"\xef\xbb\xbf" + unnamed, good),
        Stream("no_last_blank_line", spoken[:-2], good),
        Stream("surrogates_in_two_deltas", pair, {**good, "parts": [("text", "a👋b", MINE)]}),
        Stream("half_a_character", lone, {**good, "parts": [("text", "a\ufffdb\ufffd", None)]}),
        Stream(
            "damaged",
            spoken[:-40] + b"\n\n",
            {"error": "stream_truncated", "retryable": True, "parts": [("text", "Hello", None)]},
        ),
        Stream("nothing", b"", {"error": "stream_truncated", "retryable": True, "parts": []}),
        Stream(
            "error_document",
            b'{"error":{"code":"server_error","message":"x"}}',
            {"error": "model_unavailable", "retryable": True, "parts": []},
        ),
        Stream("page", b"<html>", {"error": "model_unavailable", "retryable": True, "parts": []}),
    ]


def streams() -> list[Stream]:
    return [*openai_streams(), *_errors(), *_strangers(), *_bytes()]
