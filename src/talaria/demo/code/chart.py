"""`talaria demo chart`: a table with Chinese headings becomes a line chart, and the picture is looked at."""

from collections.abc import Sequence

from talaria.demo.checks import Check
from talaria.demo.code.labels import Label, is_drawn, is_painted, read_labels, width_in_points
from talaria.demo.code.lines import Fit, extent, fit, frame, heights, ticks
from talaria.demo.code.options import CodeOptions
from talaria.demo.code.picture import BadPicture, Picture, read_png
from talaria.demo.code.turn import Download, Turn, Visitor
from talaria.demo.screen import Screen

ABOUT = "an attached table becomes a line chart"
TABLE = "销售.csv"
QUERY = "请把附件里的销售数据画成折线图，标题写“各月销售额”，导出 chart.png 和 chart.svg。"
MONTHS = [f"{number}月" for number in range(1, 13)]
SALES = {
    "线上销售额": [128, 96, 142, 155, 171, 233, 190, 184, 207, 226, 312, 268],
    "门店销售额": [210, 188, 205, 199, 186, 178, 169, 172, 181, 195, 204, 221],
}
COLOURS = {"线上销售额": (31, 119, 180), "门店销售额": (255, 127, 14)}
"""The first two colours of matplotlib's cycle."""
SIZE = (1200, 660)
TEXTS = [*MONTHS, "月份", "销售额（万元）", "各月销售额", *SALES]
NEAR = 6.0
"""Pixels that a line may be off: a mark is ten wide."""


def table() -> bytes:
    """The attached file, as a spreadsheet program writes it."""
    lines = [["月份", *SALES], *([month, *map(str, row)] for month, *row in zip(MONTHS, *SALES.values(), strict=True))]
    return "".join(",".join(line) + "\r\n" for line in lines).encode("utf-8-sig")


async def visit(visitor: Visitor, screen: Screen, options: CodeOptions) -> list[Check]:
    """Attach the table, ask, and look at what comes down."""
    file = await visitor.upload(TABLE, table())
    screen.title(f"You: {QUERY}  [{TABLE}]")
    turn = await visitor.ask(QUERY, {TABLE: file})
    for name, download in turn.downloads.items():
        if name in ("chart.png", "chart.svg"):
            (options.out / name).write_bytes(download.data)
            screen.note(f"{name}: {options.out / name}")
    return check_chart(turn)


def check_chart(turn: Turn) -> list[Check]:
    """Return the whole check list."""
    png, svg = turn.downloads.get("chart.png"), turn.downloads.get("chart.svg")
    first = [
        Check("the run ended with an answer", turn.outcome == "finish/stop", turn.outcome),
        Check("Write and Bash asked first", {"Write", "Bash"} <= set(turn.consents), ", ".join(turn.consents)),
        Check("the script ran", any("[exit code 0" in each for each in turn.results("Bash")), _last_words(turn)),
        Check("both files were handed over", png is not None and svg is not None, ", ".join(turn.downloads)),
    ]
    return [*first, *(_picture_checks(png, svg) if png is not None and svg is not None else [])]


def _last_words(turn: Turn) -> str:
    said = "\n".join(turn.results("Bash"))
    return "run `talaria sandbox build` first" if "No module named" in said else said.strip().rpartition("\n")[2]


def _picture_checks(png: Download, svg: Download) -> list[Check]:
    kind = png.headers.get("content-type", "")
    try:
        picture = read_png(png.data)
    except BadPicture as error:
        return [Check("chart.png is a real PNG", passed=False, detail=str(error))]
    right = (picture.width, picture.height) == SIZE and kind == "image/png"
    return [
        Check("chart.png is a real PNG", right, f"{picture.width} × {picture.height}, {kind}"),
        *line_checks(picture),
        *label_checks(picture, svg.data),
    ]


def line_checks(picture: Picture) -> list[Check]:
    """Do the lines run where the numbers say, and do the marks of the axis stand at round numbers?"""
    left, right = frame(picture)
    first, last = extent(picture, list(COLOURS.values()), range(left + 3, max(left + 3, right - 2)))
    places = {name: heights(picture, COLOURS[name], len(MONTHS), first, last) for name in SALES}
    if not all(places.values()):
        return [Check("both lines run where the numbers say", passed=False, detail="they are not to be seen")]
    found = fit(places, SALES)
    return [
        Check("both lines run where the numbers say", found.worst <= NEAR, f"at most {found.worst:.1f} pixels off"),
        _axis_check(ticks(picture, left), found),
    ]


def _axis_check(marks: Sequence[float], found: Fit) -> Check:
    values = [(found.zero - mark) / found.scale for mark in marks]
    rounded = [round(value / 50) * 50 for value in values]
    is_right = len(values) >= 3 and all(abs(a - b) < 3 for a, b in zip(values, rounded, strict=True))
    said = ", ".join(f"{value:.1f}" for value in reversed(values))
    return Check("the marks of the axis stand at round numbers", is_right, said)


def label_checks(picture: Picture, svg: bytes) -> list[Check]:
    """Are all texts there, and does every character look like itself?"""
    labels: dict[str, Label] = {each.text: each for each in read_labels(svg)}
    missing = [text for text in TEXTS if text not in labels]
    there = [labels[text] for text in TEXTS if text in labels]
    boxes = [each.text for each in there if not is_drawn(each)]
    pale = [each.text for each in there if not is_painted(each, picture, width_in_points(svg) or 1.0)]
    return [
        Check("every label is there", not missing, f"{len(there)} of {len(TEXTS)}"),
        Check("every Chinese character has its own shape", bool(there) and not boxes, ", ".join(boxes) or "no boxes"),
        Check("and is in the picture", bool(there) and not pale, ", ".join(pale) or f"{len(there)} labels"),
    ]
