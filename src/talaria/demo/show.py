"""Shows a run as it happens: reasoning, one card for every tool call, text, and what befalls the connection."""

import json
from typing import Any

from talaria.demo.screen import Screen
from talaria.demo.transcript import Event


class Show:
    """Puts the events of one run on a screen."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._heads: dict[str, str] = {}

    def connection(self, what: str) -> None:
        """Say what befell the connection."""
        self._screen.event(what)

    def event(self, event: Event) -> None:
        """Show one event."""
        match event.type:
            case "reasoning" | "token":
                self._screen.flow(event.type, event.text)
            case "tool_call":
                self._announce(event.body.get("toolCalls", []))
            case "tool_result":
                for result in event.body.get("toolResults", []):
                    self._card(result)
            case "rewind":
                self._screen.event("rewind: the text since the last event of record is said again")
            case "error":
                self._screen.event(f"error ({event.body.get('reason', '')}): {event.text}")
            case "approval_request":
                calls = [str(call["name"]) for call in event.body.get("toolCalls", [])]
                self._screen.event(f"may {', '.join(calls)} run? You say yes")
            case "artifact":
                self._screen.event(f"artifact: {event.body.get('name')}, {event.body.get('size')} bytes")
            case "notice":
                self._screen.event(event.text)
            case _:
                pass

    def _announce(self, calls: list[dict[str, Any]]) -> None:
        self._heads |= {call["id"]: _head(call["name"], call.get("arguments", "")) for call in calls}
        self._screen.note(f"{len(calls)} tool call{'s' if len(calls) > 1 else ''} at once" if calls else "")

    def _card(self, result: dict[str, Any]) -> None:
        head = self._heads.get(result["id"], str(result["name"]))
        text, took = str(result.get("result", "")), result.get("durationMs", 0)
        self._screen.card(head, f"{took} ms · {_brief(text)}", failed=bool(result.get("isError")))


def _head(name: str, arguments: str) -> str:
    try:
        given = json.loads(arguments or "{}")
    except ValueError:
        return f"{name}({arguments})"
    return f"{name}({', '.join(f'{key}={value}' for key, value in given.items())})"


def _brief(text: str) -> str:
    """A page by its numbers, anything else by how it begins."""
    try:
        page = json.loads(text)
        return f"page {page['page']} of {page['pages']}, {len(page['items'])} records: {_first(page['items'])}"
    except (ValueError, KeyError, TypeError):
        return text


def _first(items: list[dict[str, Any]]) -> str:
    return " ".join(str(items[0].get(name, "")) for name in ("severity", "level", "title", "message")) if items else "–"
