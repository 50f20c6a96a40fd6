"""Lines in a picture of a chart: where they run, and whether that is where the numbers say.

Nothing is known of the chart but the colours of its lines: if it is right, then the heights of all lines at evenly
spaced places are one straight function of all the numbers.
"""

from collections.abc import Mapping, Sequence

import msgspec

from talaria.demo.code.picture import Picture, Pixel

CLOSE = 40
"""How far from a line's colour, summed over red, green and blue, its pixels are."""
DARK = 200
"""Summed: what axes and letters are drawn in."""


class Fit(msgspec.Struct, frozen=True, gc=False):
    """How heights follow from numbers: y = zero - scale × number, in pixels; `worst`: the largest distance from it."""

    zero: float
    scale: float
    worst: float


def heights(picture: Picture, colour: Pixel, count: int, left: int, right: int) -> list[float]:
    """The height of a line at `count` places, evenly from `left` to `right`; [] where it is not to be seen."""
    found = list[float]()
    for n in range(count):
        x = round(left + n * (right - left) / (count - 1))
        rows = [y for y, pixel in enumerate(picture.column(x)) if _is_close(pixel, colour)]
        if not rows:
            return []
        found.append(sum(rows) / len(rows))
    return found


def extent(picture: Picture, colours: Sequence[Pixel], within: range) -> tuple[int, int]:
    """The first and the last of these columns in which all these colours are; (0, 0) if there is none."""

    def has_all(x: int) -> bool:
        column = picture.column(x)
        return all(any(_is_close(pixel, colour) for pixel in column) for colour in colours)

    return next(filter(has_all, within), 0), next(filter(has_all, reversed(within)), 0)


def fit(places: Mapping[str, Sequence[float]], numbers: Mapping[str, Sequence[float]]) -> Fit:
    """The straight function that fits all lines best, by least squares."""
    pairs = [pair for name, values in numbers.items() for pair in zip(values, places[name], strict=True)]
    mean_x, mean_y = (sum(each) / len(pairs) for each in zip(*pairs, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _ in pairs)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in pairs) / spread
    zero = mean_y - slope * mean_x
    return Fit(zero, -slope, max(abs(y - zero - slope * x) for x, y in pairs))


def ticks(picture: Picture, axis: int) -> list[float]:
    """The heights of the marks on the vertical axis whose line is at column `axis`: dark, and to the left of it."""
    rows = [y for y in range(picture.height) if all(is_dark(picture.pixel(axis - back, y)) for back in (3, 4, 5))]
    groups = list[list[int]]()
    for y in rows:
        if groups and y == groups[-1][-1] + 1:
            groups[-1].append(y)
        else:
            groups.append([y])
    return [sum(group) / len(group) for group in groups]


def frame(picture: Picture) -> tuple[int, int]:
    """The first and the last column that is dark over half of the height; (0, 0) if there is none."""

    def is_axis(x: int) -> bool:
        return sum(map(is_dark, picture.column(x))) > picture.height / 2

    columns = range(8, picture.width)
    return next(filter(is_axis, columns), 0), next(filter(is_axis, reversed(columns)), 0)


def is_dark(pixel: Pixel) -> bool:
    """Whether something is drawn here in black or nearly."""
    return sum(pixel) < DARK


def _is_close(pixel: Pixel, colour: Pixel) -> bool:
    return sum(abs(one - other) for one, other in zip(pixel, colour, strict=True)) < CLOSE
