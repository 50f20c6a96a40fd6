"""Events of a Messages stream: typed and fast where they are clean, tidied by hand where they are not."""

from typing import Any, cast

import msgspec

from talaria.models.loose_json import as_string, parse_object


class EventDelta(msgspec.Struct, gc=False):
    """What a `content_block_delta` adds to its block, or a `message_delta` to the message."""

    type: str = ""
    text: str = ""
    thinking: str = ""
    partial_json: str = ""
    signature: str = ""
    stop_reason: str | None = None
    stop_details: Any = None


class Event(msgspec.Struct, gc=False):
    """One payload of the stream. The rest is looked at where it is used."""

    type: str = ""
    index: int = 0
    delta: EventDelta | None = None
    content_block: Any = None
    message: Any = None
    usage: Any = None
    error: Any = None


_decode = msgspec.json.Decoder(Event).decode
_DELTA_TEXTS = tuple(name for name in EventDelta.__struct_fields__ if name != "stop_details")


def decode_event(payload: bytes) -> Event:
    """Return the event of a payload.

    Raises:
        ValueError: the payload is no JSON object.
    """
    try:
        return _decode(payload)
    except (msgspec.DecodeError, UnicodeError):
        return _tidy(parse_object(payload))


def _tidy(value: dict[str, Any]) -> Event:
    index, delta = value.get("index"), value.get("delta")
    return Event(
        as_string(value.get("type")),
        index if isinstance(index, int) else 0,
        _delta(cast("dict[str, Any]", delta)) if isinstance(delta, dict) else None,
        value.get("content_block"),
        value.get("message"),
        value.get("usage"),
        value.get("error"),
    )


def _delta(value: dict[str, Any]) -> EventDelta:
    texts = {name: value[name] for name in _DELTA_TEXTS if isinstance(value.get(name), str)}
    return EventDelta(**texts, stop_details=value.get("stop_details"))
