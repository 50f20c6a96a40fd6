"""Tool calls are put together right, whatever style a server writes its fragments in."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from talaria.models.calls import CallAssembly


class Style(NamedTuple):
    """How a server writes calls. Where it gives neither index nor id on later fragments, it cannot interleave them."""

    place: str = "own"  # the index: own · none · zero · sparse
    id: str = "first"  # first · every · none
    name: str = "first"  # first · every
    opens_empty: bool = True
    whole: bool = False
    interleaved: bool = False
    resent: bool = False


STYLES = [
    Style(),
    Style(interleaved=True),
    Style(place="sparse", interleaved=True),
    Style(name="every", id="every", interleaved=True),
    Style(place="none"),
    Style(place="none", opens_empty=False),
    Style(place="none", id="every", interleaved=True),
    Style(place="none", id="every", name="every", interleaved=True, opens_empty=False),
    Style(id="none", interleaved=True),
    Style(id="none", name="every", opens_empty=False),
    Style(place="zero", whole=True),
    Style(place="none", whole=True),
    Style(place="none", id="none", whole=True),
    Style(resent=True, interleaved=True),
    Style(place="none", id="every", resent=True),
]
values: list[Any] = [1, "x", "{}", '{"q":1}', {"n": [{}]}, "é🙂"]
calls: st.SearchStrategy[list[tuple[str, dict[str, Any]]]] = st.lists(
    st.tuples(
        st.sampled_from(["search", "read_file", "read_file_at"]),
        st.dictionaries(st.sampled_from(["q", "a}{b"]), st.sampled_from(values)),
    ),
    min_size=1,
    max_size=4,
)


def fragments(name: str, arguments: str, number: int, style: Style) -> list[dict[str, Any]]:
    """Write one call in a style, its arguments three characters a fragment."""
    size = len(arguments) if style.whole else 3
    texts = [arguments[start : start + size] for start in range(0, len(arguments), size)]
    if style.opens_empty and not style.whole:
        texts.insert(0, "")
    written: list[dict[str, Any]] = []
    for position, text in enumerate(texts):
        function: dict[str, Any] = {"arguments": text}
        entry: dict[str, Any] = {"function": function}
        if style.name == "every" or position == 0:
            function["name"] = name
        if style.id == "every" or (style.id == "first" and position == 0):
            entry["id"] = f"c{number}"
        if style.place != "none":
            entry["index"] = {"own": number, "sparse": 3 * number + 1, "zero": 0}[style.place]
        written.append(entry)
    return written


def deltas(decided: Sequence[tuple[str, str]], style: Style) -> list[dict[str, Any]]:
    """Write all calls; interleaved ones open in order and then take turns."""
    queues = [fragments(name, text, number, style) for number, (name, text) in enumerate(decided)]
    written: list[dict[str, Any]] = []
    if style.interleaved:
        written += [queue.pop(0) for queue in queues]
    while any(queues):
        for queue in queues:
            taken = 1 if style.interleaved else len(queue)
            written += queue[:taken]
            del queue[:taken]
    if style.resent:
        whole = style._replace(whole=True, id="every")
        written += [entry for number, call in enumerate(decided) for entry in fragments(*call, number, whole)]
    return written


@given(calls, st.sampled_from(STYLES), st.integers(1, 3))
def test_calls_are_put_together_whatever_the_style(
    decided: list[tuple[str, dict[str, Any]]], style: Style, many: int
) -> None:
    texts = [(name, json.dumps(arguments)) for name, arguments in decided]
    assembly = CallAssembly()
    written = deltas(texts, style)
    for start in range(0, len(written), many):
        assembly.take(written[start : start + many])
    found, cut = assembly.finish("test", is_cut=False)
    assert [(call.name, json.loads(call.arguments)) for call in found] == decided
    assert cut == 0
    assert not assembly.has_open
