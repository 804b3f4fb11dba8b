"""The distributions of groups as an SVG picture: small ones side by side, or strips where many."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from holdfast.arrays import Floats
from holdfast.errors import numbered, one_line
from holdfast.former.release.bins import LONG, wide_bins
from holdfast.former.release.pictures import HEIGHT, MARGIN, PANEL, panel
from holdfast.former.release.svg import BLUE, element, group, heading, label, picture

MOST_SMALL, IN_A_ROW, MOST_STRIPS = 24, 6, 120
SMALL, TALL, GAP = 110, 62, 34
LONGEST_NAME = 20
SHADES = ("#e8eef7", "#b7cbe6", "#7fa3d1", "#3b6fb6", "#1d3f70")
STEPS, NAMES = (0, 1, 3, 7), ("0", "1", "2-3", "4-7", "8+")
LONG_STEPS = (9, 99, 999, 9999)
LONG_NAMES = ("0-9", "10-99", "100-999", "1,000-9,999", "10,000+")
WIDTH = IN_A_ROW * (SMALL + 22) + MARGIN


class Shown(NamedTuple):
    """A group in a picture."""

    name: str
    rows: int
    target: Floats


def group_picture(
    name: str,
    shares: Floats,
    groups: Sequence[Shown],
    *,
    title: str,
    open_end: bool = False,
    first: bool = False,
) -> str:
    """The released distribution of the whole table, and below it that of each group by its z;
    `first` is that of `distribution_picture`.

    >>> law = np.array([0.75, 0.25])
    >>> few = group_picture("n", law, [Shown("a", 3, law), Shown("b", 1, law)], title="two")
    >>> few.count("<rect"), few.count("rows") + few.count(" row<")
    (7, 2)
    """
    starts = wide_bins(len(shares))
    shares = np.add.reduceat(shares, starts)
    bars = panel(name, shares, float(shares.max()), None, starts, open_end, first)
    whole = group((WIDTH - PANEL) / 2, 52, bars)
    many = len(groups) > MOST_SMALL
    parts, height = _strips(groups) if many else _small(groups)
    below = group(MARGIN, 52 + HEIGHT + 74, parts)
    words = [*heading(title, WIDTH), whole, below]
    return picture(WIDTH, 52 + HEIGHT + 74 + height, words)


def _small(groups: Sequence[Shown]) -> tuple[list[str], float]:
    parts = [label("within groups, by the private distribution", 0, -28, "start")]
    for number, shown in enumerate(groups):
        line, place = divmod(number, IN_A_ROW)
        inside = _bars(np.add.reduceat(shown.target, wide_bins(len(shown.target))))
        words = f"{shorter(shown.name)}: {numbered(shown.rows, 'row')}"
        inside.append(label(words, 0, -5, "start", font_size=9))
        parts.append(group(place * (SMALL + 22), line * (TALL + GAP), inside))
    return parts, (1 + (len(groups) - 1) // IN_A_ROW) * (TALL + GAP) + 12


def shorter(name: str) -> str:
    """A name that fits above a small picture.

    >>> shorter("a county with a long name")
    'a county with a lon…'
    """
    flat = one_line(name)
    return flat if len(flat) <= LONGEST_NAME else flat[: LONGEST_NAME - 1] + "…"


def _bars(shares: Floats) -> list[str]:
    bar, highest = SMALL / len(shares), float(shares.max())
    heights = shares / highest * TALL
    parts = [
        element(
            "rect", x=f"{k * bar:.1f}", y=f"{TALL - h:.1f}", width=f"{max(bar * 0.86, 0.4):.2f}",
            height=f"{h:.1f}", fill=BLUE,
        )
        for k, h in enumerate(heights)
        if h >= 0.05
    ]  # fmt: skip
    return [*parts, element("path", d=f"M0 {TALL}H{SMALL}", fill="none", stroke="black")]


def _strips(groups: Sequence[Shown]) -> tuple[list[str], float]:
    """A strip for each group, or for several that follow each other: shares of rows with 0, 1, 2
    to 3, 4 to 7, and more; on a long range by the digits that counts have."""
    strips = min(len(groups), MOST_STRIPS)
    width, tall = (WIDTH - 2 * MARGIN) / strips, 120
    words = f"shares of rows in {len(groups):,} groups, in their order, by the private distribution"
    parts = [label(words, 0, -28, "start")]
    for number, members in enumerate(np.array_split(np.arange(len(groups)), strips)):
        up = 0.0
        for share, shade in zip(_shares([groups[k] for k in members]), SHADES, strict=True):
            parts.append(
                element(
                    "rect", x=f"{number * width:.2f}", y=f"{tall * (1 - up - share):.2f}",
                    width=f"{width:.2f}", height=f"{tall * share:.2f}", fill=shade,
                )
            )  # fmt: skip
            up += share
    long = len(groups[0].target) > LONG + 1
    names, apart = (LONG_NAMES, 100) if long else (NAMES, 60)
    for number, (shade, words) in enumerate(zip(SHADES, names, strict=True)):
        place = number * apart
        parts.append(element("rect", x=place, y=tall + 12, width=12, height=12, fill=shade))
        parts.append(label(words, place + 17, tall + 22, "start", font_size=11))
    return parts, tall + 44


def _shares(groups: Sequence[Shown]) -> list[float]:
    """Of rows with so many, in some groups together."""
    rows = np.array([shown.rows for shown in groups], dtype=np.float64)
    law = rows @ np.array([shown.target for shown in groups]) / rows.sum()
    steps = LONG_STEPS if len(law) > LONG + 1 else STEPS
    ends = [min(step + 1, len(law)) for step in steps]
    return [float(part.sum()) for part in np.split(law, ends)]
