"""Reading one event of a private protocol: what its mapping says stands where."""

from collections.abc import Mapping
from typing import Any, cast

from talaria.core.usage import Usage
from talaria.models.accounting import read_usage
from talaria.models.finish import FINISH
from talaria.models.mapped.mapping import CallsMapping, ErrorMapping, ProtocolMapping, UsageMapping
from talaria.models.mapped.paths import Getter, getter
from talaria.ports.model import Finish

_UNFINISHED = (None, False, 0, "", "null", "None")
_NO_ERROR = (None, False, "")


class Reading:
    """A mapping, compiled. One serves every reply of its route."""

    def __init__(self, mapping: ProtocolMapping) -> None:
        self.text = getter(mapping.text)
        self.reasoning = _getter(mapping.reasoning)
        self.calls = None if mapping.tool_calls is None else CallsReading(mapping.tool_calls)
        self.usage = None if mapping.usage is None else UsageReading(mapping.usage)
        self.error = None if mapping.error is None else ErrorReading(mapping.error)
        self.finish = _getter(mapping.finish)
        self.end = None if mapping.end is None else mapping.end.encode()
        self.cumulative = mapping.cumulative
        self.says_its_end = mapping.stream is not None and (mapping.end is not None or mapping.finish is not None)
        self.where = mapping.text
        own: dict[str, Finish] = {word.lower(): reason for word, reason in mapping.finish_reasons.items()}
        self._finishes: Mapping[str, Finish] = {**FINISH, **own}

    def finish_of(self, event: Any) -> tuple[Finish | None, str]:
        """Return why the answer ended, and the provider's own word for it; None where it goes on."""
        value = None if self.finish is None else self.finish(event)
        if value in _UNFINISHED:
            return None, ""
        word = str(value)
        return ("stop" if value is True else self._finishes.get(word.lower())) or "stop", word

    def knows(self, word: str) -> bool:
        """Whether it is known what a provider means by this end."""
        return word == "True" or word.lower() in self._finishes


class CallsReading:
    """Where tool calls are."""

    def __init__(self, mapping: CallsMapping) -> None:
        self._path = getter(mapping.path)
        self._id, self._name = getter(mapping.id), _getter(mapping.name)
        self._arguments = getter(mapping.arguments)

    def of(self, event: Any) -> list[dict[str, Any]]:
        """Return the calls of an event, whole or in fragments, as chat completions have them."""
        found = self._path(event)
        if found is None:
            return []
        many = cast("list[Any]", found) if isinstance(found, list) else [found]
        return [self._entry(cast("dict[str, Any]", each)) for each in many if isinstance(each, dict)]

    def _entry(self, call: dict[str, Any]) -> dict[str, Any]:
        if self._name is None:
            return call
        entry = {"id": self._id(call), "name": self._name(call), "arguments": self._arguments(call)}
        return entry | {"index": call["index"]} if "index" in call else entry


class UsageReading:
    """Where the usage is."""

    def __init__(self, mapping: UsageMapping) -> None:
        self._path = getter(mapping.path)
        names = ("input", "output", "cached", "reasoning")
        self._counts = [_getter(getattr(mapping, name)) for name in names] if mapping.input is not None else None

    def of(self, event: Any, before: Usage) -> Usage:
        """Return the usage so far."""
        found = self._path(event)
        if self._counts is None or found is None:
            return read_usage(found, before)
        given, said, cached, thought = (None if path is None else path(found) for path in self._counts)
        if given is None and said is None:
            return before
        report = {"input_tokens": given, "output_tokens": said, "cached_tokens": cached}
        return read_usage(report | {"output_tokens_details": {"reasoning_tokens": thought}}, before)


class ErrorReading:
    """Where an error is told of."""

    def __init__(self, mapping: ErrorMapping) -> None:
        self._path, self._message = getter(mapping.path), _getter(mapping.message)
        self._fine = frozenset(map(str, mapping.fine))

    def of(self, event: Any) -> Any:
        """Return the error of an event, or None."""
        found = self._path(event)
        if found in _NO_ERROR or (isinstance(found, str | int) and str(found) in self._fine):
            return None
        if self._message is None:
            return found
        return {"code": found, "message": self._message(event)}


def _getter(path: str | None) -> Getter | None:
    return None if path is None else getter(path)
