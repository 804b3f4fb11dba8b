"""Distributions of counts as a picture: zero as a bar of its own, then equal bins, with intervals.

Whiskers are 90 % intervals of what is true. The last bar stands for all counts above the others.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.errors import decimal_or_fraction, needed, numbered, one_line
from holdfast.fit.histogram import LEVEL, Histogram
from holdfast.release import escape
from holdfast.release.common import drawn
from holdfast.release.release import Column, Release

PICTURE = "distribution.svg"
LETTER, LINE = 6.6, 18  # how wide a letter is at most, on average; how tall a line
MOST_BARS = 20  # beside that of zero
REACH = 0.9  # of the rows that have one or more: what is above is one bar
COLUMN_PANELS, GROUP_PANELS = 4, 8  # that have a panel
WIDE, TALL, SMALL, LOW = 560, 220, 262, 110  # of panels: all rows, and a group
LEFT, RIGHT, ABOVE, BELOW = 58, 18, 30, 46
ZERO, OTHERS, WHISKER = "#1d3f70", "#5b8cc9", "#c2410c"
STEPS = tuple(int(step * 10**power) for power in range(18) for step in (1, 2, 5))
SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25)


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A bar: the share of rows that have these counts, and the interval of the true share."""

    label: str
    share: float
    low: float
    high: float


def bins(histogram: Histogram) -> list[int]:
    """Where bars begin: at 0, at 1, and at equal distances from there on; the last is open.

    >>> bins(Histogram(values=np.array([0, 1, 2]), rows=np.array([5, 2, 1])))
    [0, 1, 2]
    >>> bins(Histogram(values=np.arange(0, 100), rows=np.ones(100, int)))[:4]
    [0, 1, 6, 11]
    """
    values, rows = histogram.values[histogram.values > 0], histogram.rows[histogram.values > 0]
    if not len(values):
        return [0, 1]
    reach = int(values[np.searchsorted(np.cumsum(rows), REACH * rows.sum())])
    step = next(step for step in STEPS if reach <= step * MOST_BARS)
    number = -(-reach // step)
    return [0, *range(1, 2 + step * (number - (int(values[-1]) <= step * number)), step)]


def bars(release: Release, column: Column, group: int | None, starts: list[int]) -> list[Bar]:
    """The bars of all rows or of a group."""
    histogram, draws = release.histogram(column, group), drawn(release, column, group)
    size = max(histogram.size, 1)
    place = np.searchsorted(starts, histogram.values, side="right") - 1
    rows = np.bincount(place, weights=histogram.rows, minlength=len(starts))
    of_draw = np.searchsorted(starts, np.maximum(draws.support, 0), side="right") - 1
    sums = draws.rows @ (of_draw[:, None] == np.arange(len(starts)))
    shares = sums / np.maximum(draws.rows.sum(axis=1, keepdims=True), 1e-9)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(shares, [tail, 1 - tail], axis=0)
    released = rows / size
    low, high = np.minimum(low, released), np.maximum(high, released)
    ends = zip(labels(starts), released.tolist(), low.tolist(), high.tolist(), strict=True)
    return [Bar(label=name, share=share, low=a, high=b) for name, share, a, b in ends]


def labels(starts: list[int]) -> list[str]:
    """The counts of each bar in words."""
    ends = [end - 1 for end in starts[1:]]
    inner = [
        f"{first:,}" if first == last else f"{first:,}–{last:,}"
        for first, last in zip(starts[:-1], ends, strict=True)
    ]
    return [*inner, f"{starts[-1]:,}+"]


def distribution_picture(release: Release) -> str:
    """The picture of a release: a panel for each of a few columns of counts, and of one column for
    each of its few largest groups."""
    shown, panels, top = release.columns[:COLUMN_PANELS], list[str](), 46.0
    for column in shown:
        starts = bins(release.histogram(column))
        size = release.histogram(column).size
        name = f"{column.name}, {numbered(size, 'row')}"
        panels.append(moved(LEFT, top + ABOVE, panel(name, column.name, bars(
            release, column, None, starts), WIDE, TALL)))  # fmt: skip
        top += ABOVE + TALL + BELOW
    if len(shown) == 1 and len(release.group_names) > 1:
        drawn_groups, height = _groups(release, shown[0], bins(release.histogram(shown[0])))
        panels.append(moved(LEFT, top + 16, drawn_groups))
        top += height + 16
    elif len(release.group_names) > 1:
        panels.append(caption("Groups are in distribution.csv.", LEFT, top, "start"))
        top += LINE
    title = f"Distribution of {', '.join(column.name for column in shown)}"
    width = LEFT + WIDE + RIGHT
    head = [
        caption(shorter(title, width - 20), width / 2, 24, font_size=16, font_weight="bold"),
        caption(subtitle(release), width / 2, 24 + LINE),
    ]
    return picture(title, width, top + 10, [*head, *panels])


def subtitle(release: Release) -> str:
    """What a picture says of the release as a whole."""
    kind = "differential privacy"
    if release.promise.simulated:
        kind = "SIMULATION, protects nobody"
    left_out = len(release.columns) - COLUMN_PANELS
    more = f"; {numbered(left_out, 'further column')} in distribution.csv" if left_out > 0 else ""
    epsilon = decimal_or_fraction(release.promise.epsilon)
    shown = "shares of rows, 90 % intervals; last bar: all higher counts"
    return f"{kind}, epsilon = {epsilon}; {shown}{more}"


def _groups(release: Release, column: Column, starts: list[int]) -> tuple[list[str], float]:
    """Panels of the largest groups, two in a row, and their height; the others are named."""
    sizes = [release.histogram(column, k).size for k in range(len(release.group_names))]
    order = sorted(range(len(sizes)), key=lambda k: (-sizes[k], k))[:GROUP_PANELS]
    chosen = sorted(order)
    of_groups = [bars(release, column, k, starts) for k in chosen]
    highest = max(max(bar.share, bar.high) for some in of_groups for bar in some)
    rest = len(sizes) - len(chosen)
    head = f"By {release.partition.within}" + (
        f": the {len(chosen)} largest of {len(sizes):,} groups; distribution.csv has all"
        * bool(rest)
    )
    parts = [caption(shorter(head, WIDE), 0, 0, "start", font_weight="bold")]
    for place, (k, some) in enumerate(zip(chosen, of_groups, strict=True)):
        name = f"{release.group_names[k]}, {numbered(sizes[k], 'row')}"
        x, y = (place % 2) * (WIDE - SMALL), 16 + ABOVE + (place // 2) * (ABOVE + LOW + BELOW)
        parts.append(moved(x, y, panel(name, column.name, some, SMALL - 20, LOW, highest)))
    return parts, 16 + -(-len(chosen) // 2) * (ABOVE + LOW + BELOW)


def panel(
    name: str, axis: str, some: Sequence[Bar], width: float, height: float, highest: float = 0.0
) -> list[str]:
    """The bars of one distribution with its axes, its name above them."""
    highest = highest or max(max(bar.share, bar.high) for bar in some)
    place, gap = width / (len(some) + 0.5), 0.14  # zero stands half a bar apart
    parts = [caption(shorter(name, width), width / 2, -12, font_weight="bold")]
    step = next((step for step in SHARES if highest / step <= 5), 0.25)
    digits, ticks = int(step < 0.01), int(np.ceil(highest / step - 1e-9))
    highest = step * ticks
    for k in range(ticks + 1):
        y = height * (1 - k * step / highest)
        parts.append(_line(0, y, width, y, "#ddd"))
        parts.append(caption(f"{k * step:.{digits}%}", -6, round(y + 4, 1), "end"))
    for k, bar in enumerate(some):
        x = (k + 0.5 * (k > 0) + gap) * place
        parts += _bar(x, place * (1 - 2 * gap), height, bar, highest, OTHERS if k else ZERO)
    parts.append(element("path", d=f"M0 0V{height}H{width}", fill="none", stroke="black"))
    parts += _names(some, place, height)
    parts.append(caption(shorter(axis, width), width / 2, height + 36))
    return parts


def _bar(x: float, wide: float, tall: float, bar: Bar, highest: float, fill: str) -> list[str]:
    height, middle = bar.share / highest * tall, x + wide / 2
    low, high = (tall * (1 - end / highest) for end in (bar.low, bar.high))
    whisker = [_line(middle, low, middle, high, WHISKER)]
    whisker += [_line(middle - 3, end, middle + 3, end, WHISKER) for end in (low, high)]
    box = {"x": f"{x:.1f}", "y": f"{tall - height:.1f}", "width": f"{wide:.1f}"}
    rect = element("rect", **box, height=f"{height:.1f}", fill=fill)
    return [rect, *whisker] if bar.high > bar.low else [rect]


def _line(x1: float, y1: float, x2: float, y2: float, stroke: str) -> str:
    ends = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
    return element("line", **ends, stroke=stroke)


def _names(some: Sequence[Bar], place: float, height: float) -> list[str]:
    """The names of every second, third, … bar, as they fit; those of zero and the last always."""
    middles = [(k + 0.5 * (k > 0) + 0.5) * place for k in range(len(some))]
    halves = [len(bar.label) * LETTER / 2 + 3 for bar in some]
    last = len(some) - 1

    def fit(a: int, b: int) -> bool:
        return middles[a] + halves[a] <= middles[b] - halves[b]

    every = (range(0, last, step) for step in range(1, last + 1))
    regular = next(ks for ks in every if all(itertools.starmap(fit, itertools.pairwise(ks))))
    shown = [k for k in regular if not k or fit(k, last)] + [last]
    return [caption(some[k].label, round(middles[k], 1), height + 16) for k in shown]


def element(tag: str, inside: str | None = None, **attributes: Any) -> str:
    """An element with its attributes in this order; `_` in a name stands for `-`.

    >>> element("rect", width=3, fill_opacity=0.5)
    '<rect width="3" fill-opacity="0.5"/>'
    """
    named = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f"<{tag}{named}/>" if inside is None else f"<{tag}{named}>{inside}</{tag}>"


def caption(text: str, x: float, y: float, anchor: str = "middle", **attributes: Any) -> str:
    """A text at a place."""
    place = {"x": f"{x:g}", "y": f"{y:g}"}
    return element("text", escape.svg(text), **place, text_anchor=anchor, **attributes)


def shorter(text: str, room: float) -> str:
    """Words that fit into so much room.

    >>> shorter("a county with a long name", 100)
    'a county with …'
    """
    most = max(int(room / LETTER), 2)
    return text if len(text) <= most else text[: most - 1] + "…"


def moved(x: float, y: float, parts: Sequence[str]) -> str:
    """Parts moved to a place together."""
    return element("g", "\n".join(["", *parts, ""]), transform=f"translate({x:g},{y:g})")


def picture(title: str, width: float, height: float, parts: Sequence[str]) -> str:
    """A whole file: these parts on white.

    >>> picture("two bars", 10, 10, []).count("<rect")
    1
    """
    white = element("rect", width=f"{width:g}", height=f"{height:g}", fill="white")
    inside = "\n".join(["", element("title", escape.svg(title)), white, *parts, ""])
    size = {"width": f"{width:g}", "height": f"{height:g}", "viewBox": f"0 0 {width:g} {height:g}"}
    return element(
        "svg", inside, xmlns="http://www.w3.org/2000/svg", **size, role="img",
        font_family="sans-serif", font_size=12, fill="#222",
    )  # fmt: skip


def plot(release: Release, *, of: str | None = None, group: str | None = None) -> Any:
    """A figure of one column of counts, of all rows or of a group."""
    with needed(f"`plot` needs matplotlib; a saved release has a picture, {PICTURE}", "plots"):
        from matplotlib.figure import Figure
    column = release[of]
    number = None if group is None else release.groups[group].number
    some = bars(release, column, number, bins(release.histogram(column)))
    places = [k + 0.5 * (k > 0) for k in range(len(some))]
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    axes.bar(places, [b.share for b in some], color=[ZERO, *[OTHERS] * (len(some) - 1)], width=0.72)
    axes.vlines(places, [b.low for b in some], [b.high for b in some], color=WHISKER)
    axes.set_xticks(places, [bar.label for bar in some])
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
    axes.set_ylabel("share of rows")
    axes.set_xlabel(_plain(column.name))
    axes.set_title(_plain(f"{group or 'all rows'}: {subtitle(release)}"), fontsize=10)
    return figure


def _plain(text: str) -> str:
    """Text in which a dollar sign begins no formula."""
    return one_line(text).replace("$", r"\$")
