"""Events of a Responses stream: typed and fast where they are clean, tidied by hand where they are not."""

from typing import Any

import msgspec

from talaria.core.text import loads, valid_json
from talaria.models.loose_json import as_object, as_string, parse_object


class Event(msgspec.Struct, gc=False):
    """One payload of the stream. Types are checked where they are used.

    `response` stays as it came until it is wanted, as it repeats the whole request. Without a `type` it is the one JSON
    document of a reply that is no stream.
    """

    type: str = ""
    delta: Any = None
    output_index: int | None = None
    item_id: str | None = None
    summary_index: Any = None
    content_index: Any = None
    item: Any = None
    response: msgspec.Raw | None = None
    error: Any = None
    code: Any = None
    message: Any = None


_decode = msgspec.json.Decoder(Event).decode
_AS_IT_IS = ("delta", "summary_index", "content_index", "item", "error", "code", "message")


def decode_event(payload: bytes) -> Event:
    """Return the event of a payload.

    Raises:
        ValueError: the payload is no JSON object.
    """
    try:
        event = _decode(payload)
    except (msgspec.DecodeError, UnicodeError):
        return _tidy(parse_object(payload))
    return event if event.type else _tidy(parse_object(payload))


def _tidy(value: dict[str, Any]) -> Event:
    if "output" in value or value.get("object") == "response":
        return Event(response=_raw(value))
    index, item_id = value.get("output_index"), value.get("item_id")
    return Event(
        as_string(value.get("type")),
        output_index=index if isinstance(index, int) else None,
        item_id=item_id if isinstance(item_id, str) else None,
        response=_raw(value.get("response")),
        **{name: value[name] for name in _AS_IT_IS if name in value},
    )


def _raw(value: Any) -> msgspec.Raw | None:
    return msgspec.Raw(msgspec.json.encode(valid_json(value))) if isinstance(value, dict) else None


def response_of(event: Event) -> dict[str, Any]:
    """Return the response object that an event has; empty when there is none."""
    return as_object(loads(bytes(event.response))) if event.response is not None else {}


def error_of(event: Event) -> Any:
    """Return the error that an `error` event is: its own fields, or (older servers) an object in it."""
    return event.error or {"code": event.code, "message": event.message}
