"""Distributions of counts as an SVG picture: readable in black and white, no library needed.

Where counts run far, bars stand for more and more counts, so that the axis is one of logarithms.
"""

from collections.abc import Sequence
from math import inf

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.former.release.bins import LONG, wide_bins
from holdfast.former.release.svg import (
    BLUE,
    LINE,
    ORANGE,
    element,
    group,
    heading,
    label,
    picture,
    share_ticks,
    tick_step,
)

PANEL, HEIGHT, MARGIN = 300, 190, 44
LETTER, APART = 7.5, 4  # how wide a letter of a name is at most, on average; names stand apart
CLOSE = 24  # names nearer to each other ran together, in the first bundles
OUTSIDE = 20  # how far a name may reach beyond the axis
WIDENING = "count: bars stand for more and more counts"
Named = tuple[str, Floats]


def distribution_picture(
    panels: Sequence[Named],
    *,
    title: str,
    outline: Floats | None = None,
    open_end: bool = False,
    first: bool = False,
) -> str:
    """A panel of bars for each distribution, side by side on one scale, with `outline` over all;
    with `open_end` the last bar is named as that of all counts from there on. The `first`
    bundles had titles on one line, and less room between names.

    >>> import numpy as np
    >>> svg = distribution_picture([("released", np.array([0.5, 0.5]))], title="two bars")
    >>> svg.startswith("<svg"), svg.count("<rect")
    (True, 3)
    """
    starts = wide_bins(len(panels[0][1]))
    panels = [(name, np.add.reduceat(shares, starts)) for name, shares in panels]
    outline = None if outline is None else np.add.reduceat(outline, starts)
    shown = [shares for _, shares in panels] + ([] if outline is None else [outline])
    highest = max(float(shares.max()) for shares in shown)
    width = len(panels) * (PANEL + MARGIN) + MARGIN // 2
    titled = [label(title, width / 2, 20, font_size=14)] if first else heading(title, width)
    top = 52 + LINE * (len(titled) - 1)
    groups = [
        group(
            MARGIN + index * (PANEL + MARGIN),
            top,
            panel(name, shares, highest, outline, starts, open_end, first),
        )
        for index, (name, shares) in enumerate(panels)
    ]
    return picture(width, HEIGHT + 40 + top, [*titled, *groups])


def panel(
    name: str,
    shares: Floats,
    highest: float,
    outline: Floats | None,
    starts: Integers,
    open_end: bool = False,
    first: bool = False,
) -> list[str]:
    """The bars of one distribution, with an outline over them where there is one; `starts` are
    the lowest counts of the bars, the last of which may stand for all above it."""
    bar = PANEL / len(shares)
    parts = [label(name, PANEL / 2, -10, font_weight="bold")]
    parts += [
        element(
            "rect", x=f"{i * bar:.2f}", y=f"{HEIGHT - h:.2f}",
            width=f"{max(bar * 0.86, 0.4):.2f}", height=f"{h:.2f}", fill=BLUE,
        )
        for i, h in enumerate(shares / highest * HEIGHT)
        if h > 0
    ]  # fmt: skip
    if outline is not None:
        parts.append(_outline(outline / highest * HEIGHT, bar))
    parts.append(element("path", d=f"M0 0V{HEIGHT}H{PANEL}", fill="none", stroke="black"))
    parts += (_names_at_first if first else _names)(starts, bar, open_end)
    parts += [
        label(f"{share:.0%}", -5, f"{HEIGHT * (1 - share / highest) + 4:.1f}", "end")
        for share in share_ticks(highest)
    ]
    parts.append(label(WIDENING if starts[-1] > LONG else "count", PANEL / 2, HEIGHT + 33))
    return parts


def _names(starts: Integers, bar: float, open_end: bool) -> list[str]:
    """The names of bars, from the right, without those that would run into another."""
    named = {i: f"{starts[i]:,}" for i in _ticks(starts)}
    if open_end:
        named[len(starts) - 1] = f"{starts[-1]:,}+"
    names, limit = [], inf
    for i, text in sorted(named.items(), reverse=True):
        half, middle = LETTER * len(text) / 2, (i + 0.43) * bar
        middle = min(middle, PANEL + OUTSIDE - half)
        if middle + half + APART <= limit:
            names.append(label(text, f"{middle:.1f}", HEIGHT + 16))
            limit = middle - half
    return names[::-1]


def _names_at_first(starts: Integers, bar: float, open_end: bool) -> list[str]:
    """The names of bars in the first bundles, on short ranges."""
    named = {i: str(starts[i]) for i in _ticks(starts)}
    if open_end:
        named = {i: text for i, text in named.items() if (len(starts) - 1 - i) * bar > CLOSE}
        named[len(starts) - 1] = f"{starts[-1]}+"
    return [label(text, f"{(i + 0.43) * bar:.1f}", HEIGHT + 16) for i, text in named.items()]


def _ticks(starts: Integers) -> list[int]:
    """Bars that are named: every so many, or on a long range 0 and the powers of ten from 10 on."""
    if starts[-1] <= LONG:
        return list(range(0, len(starts), tick_step(len(starts), 8)))
    powers = [0, *(10**k for k in range(1, 7))]
    return [i for i, start in enumerate(starts[:-1].tolist()) if start in powers]


def _outline(heights: Floats, bar: float) -> str:
    steps = "L".join(
        f"{i * bar:.2f} {HEIGHT - h:.2f}L{(i + 1) * bar:.2f} {HEIGHT - h:.2f}"
        for i, h in enumerate(heights)
    )
    return element("path", d=f"M{steps}", fill="none", stroke=ORANGE, stroke_width=1.6)
