"""Every check of the chart can fail: a real chart passes them, and each of these spoils one thing.

The chart in `chart/` was drawn by the demo's own script in a sandbox.
"""

import struct
import zlib
from pathlib import Path

import msgspec
import pytest

from talaria.demo.code import chart
from talaria.demo.code.chart import check_chart, label_checks, line_checks, table
from talaria.demo.code.picture import SIGNATURE, BadPicture, Picture, read_png
from talaria.demo.code.turn import Download, Turn
from talaria.demo.transcript import Event, Transcript

HERE = Path(__file__).parent / "chart"
PNG = (HERE / "chart.png").read_bytes()
SVG = (HERE / "chart.svg").read_bytes()
WHITE = b"\xff" * 4


@pytest.fixture(scope="module")
def picture() -> Picture:
    return read_png(PNG)


def failed(checks: list[chart.Check]) -> list[str]:
    return [check.name for check in checks if not check.passed]


def turn(png: bytes = PNG, svg: bytes = SVG, result: str = "[exit code 0, 1.0 s]", kind: str = "image/png") -> Turn:
    made = Transcript()
    results = [{"id": "c", "name": "Bash", "result": result}]
    made.take(Event("r/1", "tool_result", {"type": "tool_result", "toolResults": results}))
    made.take(Event("r/2", "finish", {"type": "finish", "reason": "stop"}))
    files = {"chart.png": (png, kind), "chart.svg": (svg, "image/svg+xml")}
    downloads = {name: Download(name, "", {"content-type": kind}, data) for name, (data, kind) in files.items()}
    return Turn(made, ("Write", "Bash"), downloads)


def test_a_right_chart_passes_every_check() -> None:
    checks = check_chart(turn())
    assert failed(checks) == []
    assert len(checks) == 10


def test_the_table_is_as_spreadsheet_programs_write_it() -> None:
    assert table().startswith(b"\xef\xbb\xbf\xe6\x9c\x88")
    assert table().decode("utf-8-sig").splitlines()[11] == "11月,312,204"


def test_what_is_not_a_whole_png_is_noticed() -> None:
    for wrong in (
        b"",
        b"GIF89a",
        PNG[:-1],
        PNG[:20_000],
        PNG.replace(b"IDAT", b"iDAT", 1),
        PNG[:99] + b"\0" + PNG[100:],
    ):
        with pytest.raises(BadPicture):
            read_png(wrong)
    assert failed(check_chart(turn(png=SVG))) == ["chart.png is a real PNG"]
    assert failed(check_chart(turn(kind="text/plain"))) == ["chart.png is a real PNG"]


def test_every_filter_of_png_is_undone() -> None:
    rows = [bytes((x * y + x) & 255 for x in range(12)) for y in range(5)]
    head = struct.pack(">IIBBBBB", 4, 5, 8, 2, 0, 0, 0)
    body = b"".join(bytes([kind]) + filtered(kind, rows, kind) for kind in range(5))
    made = b"".join(chunk(*each) for each in ((b"IHDR", head), (b"IDAT", zlib.compress(body)), (b"IEND", b"")))
    assert read_png(SIGNATURE + made).rows == rows


def filtered(kind: int, rows: list[bytes], y: int) -> bytes:
    """A row as an encoder writes it with this filter."""
    row, above = rows[y], rows[y - 1] if y else bytes(12)
    left, corner = bytes(3) + row[:-3], bytes(3) + above[:-3]
    guesses = {0: bytes(12), 1: left, 2: above, 3: bytes((a + b) // 2 for a, b in zip(left, above, strict=True))}
    guesses[4] = bytes(nearest(*each) for each in zip(left, above, corner, strict=True))
    return bytes((a - b) & 255 for a, b in zip(row, guesses[kind], strict=True))


def nearest(left: int, above: int, corner: int) -> int:
    return min((left, above, corner), key=lambda each: abs(left + above - corner - each))


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


@pytest.mark.parametrize(
    ("name", "month", "value"), [("线上销售额", 10, 300), ("门店销售额", 0, 200), ("线上销售额", 5, 241)]
)
def test_a_line_that_runs_elsewhere_is_noticed(
    picture: Picture, name: str, month: int, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(chart.SALES, name, [*chart.SALES[name][:month], value, *chart.SALES[name][month + 1 :]])
    assert "both lines run where the numbers say" in failed(line_checks(picture))


def test_lines_that_are_exchanged_or_missing_are_noticed(picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    colours = dict(zip(chart.COLOURS, reversed(chart.COLOURS.values()), strict=True))
    with monkeypatch.context() as patch:
        patch.setattr(chart, "COLOURS", colours)
        assert "both lines run where the numbers say" in failed(line_checks(picture))
    assert failed(line_checks(erased(picture, 90, 1030, 0, 660))) == ["both lines run where the numbers say"]


def test_an_axis_without_its_marks_is_noticed(picture: Picture) -> None:
    assert failed(line_checks(erased(picture, 76, 84, 0, 660))) == ["the marks of the axis stand at round numbers"]


def test_boxes_instead_of_characters_are_noticed(picture: Picture) -> None:
    """What a font without them would draw, in the file and in the picture."""
    text = SVG.decode()
    boxes = "".join(boxed(line) for line in text.replace('<path id="WenQuan', '\0<path id="WenQuan').split("\0"))
    assert failed(label_checks(picture, boxes.encode())) == ["every Chinese character has its own shape"]
    assert failed(label_checks(erased(picture, 510, 606, 18, 36), SVG)) == ["and is in the picture"]


def boxed(piece: str) -> str:
    """A glyph with the outline of a box."""
    if not piece.startswith('<path id="WenQuan'):
        return piece
    head, _, rest = piece.partition(' d="')
    return f'{head} d="M 0 0 L 9 0 L 9 9 z"{rest.partition(chr(34))[2]}'


def test_labels_that_say_something_else_are_noticed(picture: Picture) -> None:
    for wrong in (SVG.replace("各月销售额".encode(), b"Sales"), b"", b"<svg>", PNG):
        assert "every label is there" in failed(label_checks(picture, wrong))


def test_a_script_that_failed_is_said_with_what_helps() -> None:
    lost = "ModuleNotFoundError: No module named 'matplotlib'\n\n[exit code 1, 0.1 s]"
    (check,) = [each for each in check_chart(turn(result=lost)) if not each.passed]
    assert (check.name, check.detail) == ("the script ran", "run `talaria sandbox build` first")


def erased(picture: Picture, left: int, right: int, top: int, bottom: int) -> Picture:
    """The picture with a white rectangle on it."""
    rows = list(picture.rows)
    for y in range(top, bottom):
        rows[y] = rows[y][: left * 4] + WHITE * (right - left) + rows[y][right * 4 :]
    return msgspec.structs.replace(picture, rows=rows)
