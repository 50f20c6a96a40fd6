"""Assembles tool calls from the fragments of a stream, whatever a server does to ids, indices, names and arguments."""

from typing import Any, cast

import msgspec

from talaria.core.messages import ToolCall
from talaria.core.text import loads_raw, valid_json, valid_text

_KNOWN = frozenset(("id", "index", "type", "function", "name", "arguments"))


class Draft:
    """A call that is being written. `sealed`: its arguments came as a value, so they are complete."""

    __slots__ = ("extra", "id", "index", "name", "pieces", "sealed")

    def __init__(self, id_: str, index: int | None) -> None:
        self.id = id_
        self.index = index
        self.name = ""
        self.pieces: list[str] = []
        self.sealed = False
        self.extra: dict[str, Any] = {}

    @property
    def arguments(self) -> str:
        """The argument text so far; none at all means no arguments."""
        text = "".join(self.pieces)
        return valid_text(text) if text.strip() else "{}"

    @property
    def is_empty(self) -> bool:
        """Whether no argument text came."""
        return not any(piece.strip() for piece in self.pieces)

    @property
    def is_whole(self) -> bool:
        """Whether the arguments are one complete JSON object."""
        if self.sealed:
            return True
        return bool(self.pieces) and self.pieces[-1].rstrip().endswith("}") and is_object(self.arguments)

    def call(self, issuer: str) -> ToolCall:
        """The call as decided; fields that only its issuer understands are kept under the issuer's name."""
        payload = {issuer: valid_json(self.extra)} if self.extra else None
        return ToolCall(valid_text(self.id), valid_text(self.name.strip()), self.arguments, payload=payload)


class Fragment(msgspec.Struct, frozen=True, gc=False):
    """One entry of `delta.tool_calls`, with every oddity of type taken out. `value`: arguments that were no text."""

    id: str
    index: int | None
    name: str
    text: str
    value: Any
    extra: dict[str, Any]


def is_object(text: str) -> bool:
    """Whether the text is exactly one JSON object."""
    try:
        return isinstance(loads_raw(text), dict)
    except ValueError:
        return False


def _same(one: str, other: str) -> bool:
    try:
        return one == other or loads_raw(one) == loads_raw(other)
    except ValueError:
        return False


def read_fragment(entry: dict[str, Any]) -> Fragment:
    """Return the fragment that an entry is."""
    id_, index, function = entry.get("id"), entry.get("index"), entry.get("function")
    body = cast("dict[str, Any]", function if isinstance(function, dict) else entry)
    name, arguments = body.get("name"), body.get("arguments")
    is_text = isinstance(arguments, str)
    return Fragment(
        id_ if isinstance(id_, str) else str(id_) if isinstance(id_, int) else "",
        index if type(index) is int else None,
        name if isinstance(name, str) else "",
        arguments if is_text else "",
        None if is_text else arguments,
        {} if entry.keys() <= _KNOWN else _extra(entry),
    )


def _extra(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key not in _KNOWN and value is not None}


class CallAssembly:
    """The calls of one answer, in order of first appearance."""

    __slots__ = ("_by_id", "_by_index", "drafts")

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self._by_id: dict[str, Draft] = {}
        self._by_index: dict[int, Draft] = {}

    def take(self, entries: object) -> None:
        """Take in the `tool_calls` of one delta: a list, or (some servers) a single entry."""
        many = cast("list[object]", entries) if isinstance(entries, list) else [entries]
        for entry in many:
            if isinstance(entry, dict):
                self._take(read_fragment(cast("dict[str, Any]", entry)))

    def finish(self, issuer: str, *, is_cut: bool) -> tuple[list[ToolCall], int]:
        """Return the calls, and how many were cut off.

        A nameless fragment is no call. Where a token limit ended the answer (`is_cut`), a call whose arguments are no
        complete object was cut off, and so was the last one when its arguments had not begun.
        """
        calls: list[ToolCall] = []
        cut = 0
        for draft in self.drafts:
            if not draft.name.strip():
                cut += not draft.is_empty
            elif is_cut and not self._is_complete(draft):
                cut += 1
            else:
                calls.append(draft.call(issuer))
        return calls, cut

    @property
    def has_open(self) -> bool:
        """Whether a call's arguments have begun and are no complete object."""
        return any(not draft.is_empty and not draft.is_whole for draft in self.drafts)

    def _is_complete(self, draft: Draft) -> bool:
        return draft.is_whole or (draft.is_empty and draft is not self.drafts[-1])

    def _take(self, fragment: Fragment) -> None:
        draft = self._find(fragment)
        if draft is None:
            draft = Draft(fragment.id, fragment.index)
            self.drafts.append(draft)
        self._register(draft, fragment)
        if fragment.name:
            draft.name = _named(draft.name, fragment.name, has_arguments=bool(fragment.text or fragment.value))
        draft.extra.update(fragment.extra)
        if fragment.value is not None:
            _seal(draft, fragment.value)
        elif fragment.text:
            _append(draft, fragment)

    def _register(self, draft: Draft, fragment: Fragment) -> None:
        if fragment.id:
            draft.id = draft.id or fragment.id
            self._by_id[fragment.id] = draft
        if fragment.index is not None:
            draft.index = fragment.index
            self._by_index[fragment.index] = draft

    def _find(self, fragment: Fragment) -> Draft | None:
        """The draft that a fragment goes on with: by known id, then by index, then the one opened last."""
        by_index = self._by_index.get(fragment.index) if fragment.index is not None else None
        if fragment.id:
            known = self._by_id.get(fragment.id)
            return self._known(known, by_index, fragment) if known else self._unknown(by_index, fragment)
        if by_index is not None:
            return None if _begins_another(by_index, fragment) else by_index
        if not self.drafts:
            return None
        last = self.drafts[-1]
        if fragment.index is not None:
            return last if last.index is None and not fragment.name else None
        return last if not fragment.name or _goes_on(last, fragment) else None

    def _known(self, known: Draft, by_index: Draft | None, fragment: Fragment) -> Draft | None:
        """An id seen before: the same call, unless a server gave two calls one id."""
        elsewhere = fragment.index is not None and known.index is not None and fragment.index != known.index
        if elsewhere and fragment.name:
            if by_index is not None:
                return by_index
            return known if _is_resent(known, fragment) else None
        return None if _begins_another(known, fragment) else known

    def _unknown(self, by_index: Draft | None, fragment: Fragment) -> Draft | None:
        """An id never seen: a new call, unless the server changes ids in the middle of one."""
        last = by_index or (self.drafts[-1] if self.drafts and fragment.index is None else None)
        if last is None:
            return None
        if not last.id and last.is_empty and (not fragment.name or not last.name):
            return last  # the id comes late
        is_rest = bool(fragment.text) and not fragment.name and (by_index is not None or not last.is_empty)
        is_same = fragment.name == last.name and not last.is_empty and by_index is not None
        return last if (is_rest or is_same) and not last.is_whole else None


def _is_resent(draft: Draft, fragment: Fragment) -> bool:
    return fragment.name == draft.name and draft.is_whole and _same(_arguments(fragment), draft.arguments)


def _arguments(fragment: Fragment) -> str:
    return fragment.text if fragment.value is None else msgspec.json.encode(fragment.value).decode()


def _begins_another(draft: Draft, fragment: Fragment) -> bool:
    """Whether a fragment that names the draft's id or index opens a new call all the same."""
    if not fragment.name or not draft.name or not draft.is_whole:
        return False
    if not _arguments(fragment).strip() or (fragment.value is None and not fragment.text):
        return fragment.name != draft.name
    if fragment.name == draft.name and _is_placeholder(draft):
        return False
    return not _is_resent(draft, fragment)


def _goes_on(last: Draft, fragment: Fragment) -> bool:
    """Whether a named fragment without id and index belongs to the last call: the name is said late, or again."""
    if not last.name:
        return True
    if fragment.name != last.name or not (fragment.text or fragment.value is not None):
        return False
    return not last.is_whole


def _is_placeholder(draft: Draft) -> bool:
    return not draft.sealed and "".join(draft.pieces).strip() == "{}"


def _named(before: str, name: str, *, has_arguments: bool) -> str:
    """The name after another piece of it: said again, said so far, or a real continuation."""
    if not before or name.startswith(before):
        return name
    return before if has_arguments or before.startswith(name) or before.endswith(name) else before + name


def _seal(draft: Draft, value: Any) -> None:
    if draft.sealed or value == {}:
        return
    draft.pieces = [msgspec.json.encode(valid_json(value)).decode()]
    draft.sealed = True


def _append(draft: Draft, fragment: Fragment) -> None:
    if draft.sealed:
        return
    if draft.pieces and fragment.text.lstrip().startswith("{") and draft.is_whole:
        if _same(fragment.text, draft.arguments):
            return  # the whole call, sent again
        if _is_placeholder(draft):
            draft.pieces.clear()
    draft.pieces.append(fragment.text)
