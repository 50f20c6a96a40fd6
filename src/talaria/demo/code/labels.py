"""Texts in a chart that matplotlib wrote as SVG: what they say, and that each character is drawn as itself.

A font without a character draws a box for it, the same for all: so every character must have an outline of its own.
"""

import re
from xml.etree.ElementTree import Comment, Element, ParseError, TreeBuilder, XMLParser, fromstring

import msgspec

from talaria.demo.code.picture import Picture

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_PLACE = re.compile(r"translate\(([\d.]+) ([\d.]+)\) scale\(([\d.]+) -")
_POINTS = 72
_EM = 100
"""Units of an outline for one em, as matplotlib scales them."""


class Glyph(msgspec.Struct, frozen=True, gc=False):
    """A drawn character: its code point as its font knows it, its outline, and how far it is from the text's start."""

    code: int
    outline: str
    offset: float


class Label(msgspec.Struct, frozen=True, gc=False):
    """A text, and where it is drawn: its start in points from the left and the top, None where it is turned."""

    text: str
    glyphs: list[Glyph]
    place: tuple[float, float, float] | None


def read_labels(data: bytes) -> list[Label]:
    """Return the texts of a chart; [] if it is no SVG."""
    try:
        root = fromstring(data, XMLParser(target=TreeBuilder(insert_comments=True)))  # noqa: S314 - of our own script
    except ParseError:
        return []
    outlines = {each.get("id", ""): each.get("d", "") for each in root.iter(f"{_SVG}path")}
    groups = [each for each in root.iter(f"{_SVG}g") if each.get("id", "").startswith("text_")]
    return [label for each in groups if (label := _label(each, outlines)) is not None]


def _label(group: Element, outlines: dict[str, str]) -> Label | None:
    comment = next((each for each in group.iter() if each.tag is Comment), None)
    drawn = next((each for each in group.iter(f"{_SVG}g") if each.get("transform")), None)
    if comment is None or drawn is None:
        return None
    uses = [(each.get(_HREF, "").lstrip("#"), float(each.get("x", 0))) for each in drawn.iter(f"{_SVG}use")]
    glyphs = [Glyph(int(name.rpartition("-")[2], 16), outlines.get(name, ""), at) for name, at in uses]
    where = _PLACE.match(drawn.get("transform", ""))
    place = (float(where[1]), float(where[2]), float(where[3])) if where else None
    return Label((comment.text or "").strip(), glyphs, place)


def is_drawn(label: Label) -> bool:
    """Whether every character has its own glyph, and different ones look different."""
    characters = [each for each in label.text if not each.isspace()]
    glyphs = [each for each in label.glyphs if not chr(each.code).isspace()]
    if [ord(each) for each in characters] != [each.code for each in glyphs]:
        return False
    looks = {each.code: each.outline for each in glyphs}
    return all(looks.values()) and len(set(looks.values())) == len(looks)


def is_painted(label: Label, picture: Picture, width_in_points: float) -> bool:
    """Whether the picture has ink in the middle of most Chinese characters of this text, where a box has none."""
    if label.place is None:
        return True
    scale = picture.width / width_in_points
    left, base, size = (each * scale for each in label.place)
    wide = [each for each in label.glyphs if each.code > 0x2E80]
    inked = sum(_ink(picture, left + each.offset * size, base, size * _EM) for each in wide)
    return inked * 2 > len(wide)


def width_in_points(data: bytes) -> float:
    """How wide a chart is; 0 if that is not said."""
    found = re.search(rb'<svg[^>]* width="([\d.]+)pt"', data)
    return float(found[1]) if found else 0.0


def _ink(picture: Picture, left: float, base: float, em: float) -> bool:
    columns = range(round(left + em * 0.25), round(left + em * 0.75))
    rows = range(round(base - em * 0.65), round(base - em * 0.15))
    return sum(sum(picture.pixel(x, y)) < 384 for x in columns for y in rows) >= len(columns) * len(rows) * 0.08
