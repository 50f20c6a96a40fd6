"""What providers refuse with HTTP 400: one strict check of requests for each dialect, by the rules of the documents."""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, cast

Body = dict[str, Any]
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def _check_text(text: object, where: str) -> None:
    assert isinstance(text, str), f"{where}: no text: {text!r}"
    assert text.strip(), f"{where}: blank text"


def _check_name(name: object) -> None:
    assert isinstance(name, str), name
    assert _NAME.fullmatch(name), f"a tool's name: {name!r}"


def _check_arguments(text: object) -> None:
    assert isinstance(text, str), text
    assert isinstance(json.loads(text), dict), f"arguments: {text!r}"


def _check_names(names: Iterable[str]) -> None:
    every = list(names)
    assert len(set(every)) == len(every), f"tools of one name: {every}"
    for name in every:
        _check_name(name)


def check_chat(body: Body, *, fill: bool = False, alternates: bool = False, id_length: int = 0) -> None:
    """Chat completions. `fill`: DeepSeek's rule for reasoning; `alternates` and `id_length`: Mistral's rules."""
    if "tools" in body:
        assert body["tools"]
        _check_names(tool["function"]["name"] for tool in body["tools"])
    else:
        assert "tool_choice" not in body
    open_ids: list[str] = []
    last = ""
    for message in body["messages"]:
        role = message["role"]
        assert role in {"system", "developer", "user", "assistant", "tool"}
        assert role == "tool" or not open_ids, f"calls without results: {open_ids}"
        assert not (alternates and last == "tool" and role == "user")
        if role == "tool":
            assert message["tool_call_id"] in open_ids, f"a result without a call: {message['tool_call_id']!r}"
            open_ids.remove(message["tool_call_id"])
            assert isinstance(message["content"], str)
        elif role == "assistant":
            open_ids = _chat_calls(message, fill=fill, id_length=id_length)
        elif isinstance(message["content"], list):
            assert message["content"]
        else:
            assert isinstance(message["content"], str)
            assert message["content"]
        last = role
    assert not open_ids
    assert last in {"user", "tool"}, f"the last message is of role {last!r}"


def _chat_calls(message: Body, *, fill: bool, id_length: int) -> list[str]:
    calls = message.get("tool_calls", [])
    assert "tool_calls" not in message or calls
    content = message.get("content")
    assert content or calls, "an assistant message with nothing in it"
    assert content is None or isinstance(content, (str, list))
    for call in calls:
        assert call["type"] == "function"
        _check_name(call["function"]["name"])
        _check_arguments(call["function"]["arguments"])
    ids = [call["id"] for call in calls]
    assert len(set(ids)) == len(ids), f"calls of one id: {ids}"
    for each in ids:
        assert isinstance(each, str)
        assert 1 <= len(each) <= 40, f"an id of {len(each)} characters"
        assert not id_length or (len(each) == id_length and each.isalnum()), each
    if fill and calls:
        assert isinstance(message.get("reasoning_content"), str), "a call without reasoning_content"
    return ids


def check_messages(body: Body) -> None:
    """Anthropic's Messages."""
    assert body["max_tokens"] > 0
    if "tools" in body:
        assert body["tools"]
        _check_names(tool["name"] for tool in body["tools"])
        assert all(tool["input_schema"]["type"] == "object" for tool in body["tools"])
    else:
        assert "tool_choice" not in body
    for block in body.get("system", []):
        _check_text(block["text"], "system")
    assert json.dumps(body).count('"cache_control"') <= 4
    expected = "user"
    seen: set[str] = set()
    open_ids: list[str] = []
    for message in body["messages"]:
        assert message["role"] == expected, "roles take turns, and a user begins"
        assert message["content"], "a message with nothing in it"
        if expected == "user":
            _check_results(message["content"], open_ids)
            open_ids = []
        else:
            open_ids = _check_answer(message["content"], seen)
        expected = "assistant" if expected == "user" else "user"
    assert not open_ids
    assert expected == "assistant", "the last message is the assistant's"
    budget = body.get("thinking", {}).get("budget_tokens", 0)
    assert not budget or 1024 <= budget < body["max_tokens"]


def _check_results(blocks: list[Body], open_ids: list[str]) -> None:
    kinds = [block["type"] for block in blocks]
    assert set(kinds) <= {"text", "image", "tool_result"}
    results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    assert kinds[: len(results)] == ["tool_result"] * len(results), f"results come first: {kinds}"
    assert sorted(results) == sorted(open_ids), f"calls {open_ids}, results {results}"
    for block in blocks:
        if block["type"] == "text":
            _check_text(block["text"], "user")
        elif block["type"] == "tool_result":
            _check_result(block["content"])


def _check_result(content: str | list[Body]) -> None:
    for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
        assert block["type"] in {"text", "image"}
        if block["type"] == "text":
            _check_text(block["text"], "tool_result")


def _check_answer(blocks: list[Body], seen: set[str]) -> list[str]:
    ids: list[str] = []
    assert any(block["type"] in {"text", "tool_use"} for block in blocks), "nothing but thinking"
    for block in blocks:
        match block["type"]:
            case "text":
                _check_text(block["text"], "assistant")
            case "thinking":
                assert block["signature"]
                assert "cache_control" not in block
            case "redacted_thinking":
                assert block["data"]
            case "tool_use":
                assert _ID.fullmatch(block["id"]), f"an id: {block['id']!r}"
                assert block["id"] not in seen, f"an id twice: {block['id']!r}"
                seen.add(block["id"])
                ids.append(block["id"])
                _check_name(block["name"])
                assert isinstance(block["input"], dict)
            case other:
                raise AssertionError(other)
    return ids


def check_responses(body: Body) -> None:
    """OpenAI's Responses."""
    if "tools" in body:
        assert body["tools"]
        _check_names(tool["name"] for tool in body["tools"])
    else:
        assert "tool_choice" not in body
    items: list[Body] = body["input"]
    assert items
    ids = [item["id"] for item in items if "id" in item]
    assert len(set(ids)) == len(ids), f"items of one id: {ids}"
    called: list[str] = []
    answered: list[str] = []
    for item, after in zip(items, [*items[1:], Body()], strict=True):
        match item.get("type", "message"):
            case "message":
                assert not set(called) - set(answered), "something between a call and its result"
                if isinstance(item["content"], str):
                    assert item["content"], f"empty content: {item}"
                else:
                    assert item["content"]
            case "function_call":
                assert item["call_id"] not in called, f"an id twice: {item['call_id']!r}"
                assert 1 <= len(item["call_id"]) <= 64, f"an id of {len(item['call_id'])} characters"
                called.append(item["call_id"])
                _check_name(item["name"])
                _check_arguments(item["arguments"])
            case "function_call_output":
                assert item["call_id"] in called, "a result without a call"
                assert item["call_id"] not in answered, "two results of one call"
                answered.append(item["call_id"])
                output = item["output"]
                parts = cast("list[dict[str, Any]]", output) if isinstance(output, list) else []
                kinds = {part["type"] for part in parts}
                assert isinstance(output, str) or (kinds and kinds <= {"input_text", "input_image"})
            case "reasoning":
                assert item.get("encrypted_content"), "reasoning that nobody can find"
                follows = after.get("type", "message" if after.get("role") == "assistant" else "")
                assert follows in {"message", "function_call", "reasoning"}, f"reasoning, then {after}"
            case other:
                raise AssertionError(other)
    assert sorted(called) == sorted(answered)
    assert items[-1].get("role", "") != "assistant"
    assert items[-1].get("type", "message") in {"message", "function_call_output"}


CHECKS: dict[str, Callable[[Body], None]] = {
    "openai": check_chat,
    "deepseek": lambda body: check_chat(body, fill=True),
    "mistral": lambda body: check_chat(body, alternates=True, id_length=9),
    "anthropic": check_messages,
    "responses": check_responses,
    "mapped": check_chat,
}
