"""The output of one response: its items in the order in which they began, whatever a server does to indices and ids."""

from typing import Any

from talaria.core.messages import AssistantPart, Reasoning, Text
from talaria.models.responses.events import Event
from talaria.models.responses.items import CALL, KINDS, MESSAGE, REASONING, Item
from talaria.ports.model import Delta

_NO_EVENT = Event()
_NO_ITEM: dict[str, Any] = {}


class Output:
    """Finds the item that an event is about: by its index, by its id, or (without both) the last one."""

    __slots__ = ("_items", "_known", "_notes")

    def __init__(self, notes: list[str]) -> None:
        self._items: list[Item] = []
        self._known: dict[int | str, Item] = {}
        self._notes = notes

    def at(self, event: Event, kind: str) -> Item:
        """Return the item of this kind that an event goes on with, begun if there is none."""
        index = event.output_index
        item = self._known.get(index) if index is not None else None
        if item is None:
            item = self._find(event, _NO_ITEM, kind)
        return item if item is not None and item.kind == kind else self._new(kind, event, _NO_ITEM)

    def begin(self, event: Event, value: dict[str, Any]) -> None:
        """An item was announced."""
        kind = self._kind(value)
        if kind:
            item = self._find(event, value, kind)
            if item is None or item.kind != kind or item.is_whole or item.is_another_call(value):
                item = self._new(kind, event, value)
            item.begin(value)

    def finish(self, event: Event, value: dict[str, Any], out: list[Delta]) -> None:
        """An item is whole."""
        kind = self._kind(value)
        if kind:
            item = self._find(event, value, kind)
            if item is None or item.kind != kind or item.is_another_call(value):
                item = self._new(kind, event, value)
            self._take(item, value, out)

    def complete(self, values: list[dict[str, Any]], out: list[Delta]) -> None:
        """Take in the whole output; its n-th item of a kind is the n-th of that kind, whole already or not."""
        begun = {kind: [item for item in self._items if item.kind == kind] for kind in KINDS}
        for value in values:
            kind = self._kind(value)
            if kind:
                item = begun[kind].pop(0) if begun[kind] else self._new(kind, _NO_EVENT, value)
                self._take(item, value, out)

    def end(self, out: list[Delta]) -> None:
        """Nothing more will be said."""
        for item in self._items:
            item.end(out)

    @property
    def has_begun(self) -> bool:
        """Whether anything was said, or a call begun."""
        return any(item.kind == CALL or item.text for item in self._items)

    @property
    def is_only_refusal(self) -> bool:
        """Whether the model refused, and said nothing else."""
        messages = [item for item in self._items if item.kind == MESSAGE]
        return 0 < sum(len(item.text) for item in messages) <= sum(item.refused for item in messages)

    def parts(self, issuer: str, *, is_cut: bool) -> tuple[tuple[AssistantPart, ...], int]:
        """Return the parts of the message, and how many calls are left out: a limit cut them off (`is_cut`: it may)."""
        parts: list[AssistantPart] = []
        cut = 0
        for item in self._items:
            if item.kind == CALL and not (item.name.strip() and (item.is_runnable or not is_cut)):
                cut += bool(item.name.strip() or item.arguments.strip())
            elif (part := item.part(issuer)) is not None:
                parts.append(part)
        return tuple(parts), cut

    def said(self, issuer: str) -> tuple[AssistantPart, ...]:
        """Return what was said so far, and nothing that could go back to its issuer as its own."""
        return tuple(
            Reasoning(item.text, issuer) if item.kind == REASONING else Text(item.text)
            for item in self._items
            if item.text
        )

    def _find(self, event: Event, value: dict[str, Any], kind: str) -> Item | None:
        """Where there are indices, a new one is another item than a whole one: servers give one id to several calls."""
        index = event.output_index
        for key in _keys(event, value):
            item = self._known.get(key)
            if item is not None and (index is None or key == index or not item.is_whole):
                return item
        if index is not None:
            return None
        return next((item for item in reversed(self._items) if item.kind == kind and not item.is_whole), None)

    def _new(self, kind: str, event: Event, value: dict[str, Any]) -> Item:
        item = Item(kind)
        self._items.append(item)
        for key in _keys(event, value):
            self._known[key] = item
        return item

    def _kind(self, value: dict[str, Any]) -> str:
        kind = str(value.get("type"))
        if kind in KINDS:
            return kind
        note = f"an output item of type {kind[:100]!r} is not known; it is left out"
        if note not in self._notes:
            self._notes.append(note)
        return ""

    def _take(self, item: Item, value: dict[str, Any], out: list[Delta]) -> None:
        if not item.is_whole and not item.finish(value, out):
            self._notes.append(f"a finished {item.kind} is not what was streamed; what was streamed is kept")


def _keys(event: Event, value: dict[str, Any]) -> list[int | str]:
    """The names of the item that an event is about, the surest first: gateways change ids, llama.cpp has no indices."""
    names = (event.output_index, event.item_id, value.get("id"), value.get("call_id"))
    return [name for name in names if isinstance(name, int) or (isinstance(name, str) and name)]
