"""Chunks of a chat-completions stream: typed and fast where they are clean, tidied by hand where they are not."""

from typing import Any, cast

import msgspec

from talaria.models.loose_json import as_list, as_string, parse_object


class ChunkDelta(msgspec.Struct, gc=False):
    """What a chunk adds to the message. Types are checked where they are used."""

    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_details: Any = None
    extra_content: Any = None
    refusal: Any = None
    tool_calls: Any = None
    function_call: Any = None


class Choice(msgspec.Struct, gc=False):
    """One of the parallel answers. `message` instead of `delta`: the whole answer at once."""

    delta: ChunkDelta | None = None
    message: ChunkDelta | None = None
    index: int | None = 0
    finish_reason: Any = None
    usage: Any = None


class Chunk(msgspec.Struct, gc=False):
    """One payload of the stream, or the one JSON document of a reply that is no stream."""

    choices: list[Choice] | None = None
    usage: Any = None
    error: Any = None
    x_groq: Any = None


def plain_text(chunk: Chunk) -> str | None:
    """Return the text of a chunk that has a piece of text and nothing else: what most chunks of most streams are."""
    choices = chunk.choices
    if choices is None or len(choices) != 1 or chunk.usage is not None or chunk.error is not None or chunk.x_groq:
        return None
    choice = choices[0]
    delta = choice.delta
    if delta is None or choice.finish_reason is not None or choice.index or choice.usage or choice.message is not None:
        return None
    text = delta.content
    return text if type(text) is str and _has_only_text(delta) else None


def _has_only_text(delta: ChunkDelta) -> bool:
    return (
        delta.tool_calls is None
        and delta.reasoning_content is None
        and delta.reasoning is None
        and delta.reasoning_details is None
        and delta.extra_content is None
        and delta.refusal is None
        and delta.function_call is None
    )


def said(content: Any) -> tuple[str, str]:
    """Return the text and the reasoning in a `content`, which some servers write as a list of parts."""
    if content is None:
        return "", ""
    if isinstance(content, str):
        return content, ""
    texts: list[str] = []
    thoughts: list[str] = []
    for part in as_list(content):
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            fields = cast("dict[str, Any]", part)
            texts.append(as_string(fields.get("text")))
            thoughts.append(said(fields.get("thinking"))[0])
    return "".join(texts), "".join(thoughts)


_decode = msgspec.json.Decoder(Chunk).decode
_FINE = (None, 0, 200, "0", "200", "")
_DELTA_FIELDS = ChunkDelta.__struct_fields__


def decode_chunk(payload: bytes) -> Chunk:
    """Return the chunk of a payload.

    Raises:
        ValueError: the payload is no JSON object.
    """
    try:
        chunk = _decode(payload)
    except (msgspec.DecodeError, UnicodeError):
        return _tidy(parse_object(payload))
    if chunk.choices is None and chunk.usage is None and chunk.error is None:
        return _tidy(parse_object(payload))
    return chunk


def _tidy(value: dict[str, Any]) -> Chunk:
    choices = value.get("choices")
    many = cast("list[Any]", choices) if isinstance(choices, list) else [choices]
    error = value.get("error")
    if error is None and "choices" not in value and _says_error(value):
        error = value
    usage = value.get("usage")
    return Chunk(
        [_choice(cast("dict[str, Any]", one)) for one in many if isinstance(one, dict)],
        usage,
        error,
        value.get("x_groq"),
    )


def _says_error(value: dict[str, Any]) -> bool:
    is_coded = "message" in value and value.get("code") not in _FINE
    return is_coded or "error" in (value.get("object"), value.get("type"))


def _choice(value: dict[str, Any]) -> Choice:
    index = value.get("index")
    return Choice(
        _delta(value.get("delta")),
        _delta(value.get("message")),
        index if isinstance(index, int) else 0,
        value.get("finish_reason"),
        value.get("usage"),
    )


def _delta(value: Any) -> ChunkDelta | None:
    if isinstance(value, str):
        return ChunkDelta(content=value)
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, Any]", value)
    return ChunkDelta(**{name: fields[name] for name in _DELTA_FIELDS if name in fields})
