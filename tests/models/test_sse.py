"""The event-stream parser: what the standard says, whatever the cuts."""

from hypothesis import given
from hypothesis import strategies as st

from talaria.models.sse import SseParser
from tests.models.field_cases import splits

LINES = [
    b"data: a",
    b"data:b",
    b"data:  c",
    b"data",
    b"data:",
    b": comment",
    b":",
    b"event: x",
    b"id: 3",
    b"",
    b"dat",
    b"x",
]
bodies = st.tuples(
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from([b"\n", b"\r\n", b"\r"])), max_size=12),
    st.sampled_from([b"", b"data: tail"]),
).map(lambda body: body[0] + b"".join(line + end for line, end in body[1]) + body[2])


def parsed(parts: list[bytes]) -> list[bytes]:
    parser = SseParser()
    return [payload for part in parts for payload in parser.feed(part)] + parser.end()


def by_the_standard(body: bytes) -> list[bytes]:
    """Read the whole body at once, line by line."""
    text = body.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    payloads: list[bytes] = []
    lines: list[bytes] = []
    for line in [*text.split(b"\n"), b""]:
        if line.startswith(b"data:"):
            lines.append(line[5:].removeprefix(b" "))
        elif line == b"data":
            lines.append(b"")
        elif not line and lines:
            payloads.append(b"\n".join(lines))
            lines = []
    return payloads


@given(bodies.flatmap(lambda body: st.tuples(st.just(body), splits(body))))
def test_any_split_is_read_as_the_standard_says(case: tuple[bytes, list[bytes]]) -> None:
    body, parts = case
    assert parsed(parts) == by_the_standard(body)
    assert parsed([bytes([byte]) for byte in body]) == by_the_standard(body)


def test_a_payload_comes_with_the_read_that_ends_its_event() -> None:
    parser = SseParser()
    assert parser.feed(b"data: 1\n\ndata: 2\n\nda") == [b"1", b"2"]
    assert parser.feed(b"ta: 3\n") == []
    assert parser.feed(b"\ndata: 4\n\n") == [b"3", b"4"]
    assert parser.feed(b"data: 5\r\n\r") == [b"5"]
    assert parser.feed(b"\n") == []
    assert parser.end() == []


def test_a_giant_event_in_small_reads_takes_linear_time() -> None:
    parser = SseParser()
    parser.feed(b"data: ")
    for _ in range(20_000):
        assert parser.feed(b"x" * 400) == []
    assert [len(payload) for payload in parser.feed(b"\n\n")] == [8_000_000]
