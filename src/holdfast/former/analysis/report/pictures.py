"""The report's two pictures, as SVG that needs nothing from outside."""

from html import escape
from typing import Any

from holdfast.former.analysis.report.content import run_name, share_words
from holdfast.former.release.svg import BLUE, ORANGE, element, label, share_ticks, tick_step

WIDTH, HEIGHT, LEFT, RIGHT, BOTTOM = 720, 310, 72, 14, 38
BAND = "#1f2937"
TOO_LOW_TO_SEE = 0.05  # of the highest bar
WORTH_ENLARGING = 5  # bars at the end that are as low, or more
LONG_NAME, POWERS = 4, (0, *(10**k for k in range(7)))
LETTER, GAP = 15, 12  # wide, as large as letters are on a telephone
WORDS = "Share of rows with each count: released, and estimated with intervals"


def tail_of(bars: list[dict[str, Any]]) -> int:
    """From which bar on all are so low that the picture does not show them; 0 where none are, or
    too few for a picture of their own."""
    heights = [max(bar["released"], bar["estimate"] or 0.0) for bar in bars]
    seen = [i for i, height in enumerate(heights) if height >= TOO_LOW_TO_SEE * max(heights)]
    start = seen[-1] + 1
    return start if len(bars) - start >= WORTH_ENLARGING and max(heights[start:]) > 0 else 0


def band_picture(bars: list[dict[str, Any]], words: str = WORDS) -> str:
    """Released shares as bars, and over each the best estimate with its interval.

    >>> bar = {"first": 0, "last": 0, "released": 0.5, "estimate": 0.5, "interval": [0.4, 0.6]}
    >>> band_picture([bar, bar | {"first": 1, "last": 1}]).count("<rect")
    2
    """
    known = [b for b in bars if b["interval"] is not None]
    highest = max([*(b["released"] for b in bars), *(b["estimate"] for b in known), 1e-9])
    highest = min(max([highest, *(b["interval"][1] for b in known)]), 1.6 * highest)
    step, parts = _step(len(bars)), []
    for i, bar in enumerate(bars):
        name, shown, estimate, interval = share_words(bar)
        title = f"{name}: {shown} released, {estimate} estimated, {interval}"
        parts.append(_bar(i, step, bar["released"], highest, title, fill=BLUE, fill_opacity=0.55))
        if bar["interval"] is not None:
            parts.append(_band(bar, LEFT + (i + 0.5) * step, highest))
    return _frame(parts, _names(bars), highest, words)


def widens(bars: list[dict[str, Any]]) -> bool:
    """Whether later bars stand for more counts than the first ones."""
    wide = [bar["last"] - bar["first"] for bar in bars]
    return len(bars) > 1 and bool(wide[-2] > 2 * wide[1])


def _names(bars: list[dict[str, Any]]) -> dict[int, str]:
    """Bars that are named, by their first count: every so many; where they widen the powers of ten,
    so that the axis is one of logarithms; and the last, which stands for all above it."""
    last, starts = len(bars) - 1, [bar["first"] for bar in bars]
    if not widens(bars):
        named = [*(f"{first:,}" for first in starts[:-1]), run_name(bars[last])]
        return {i: named[i] for i in _named(named)}
    step = _step(len(bars))
    names = {i: f"{first:,}" for i, first in enumerate(starts) if first in POWERS}
    near = 14 * len(f"{starts[-1]:,}+") / step  # the last name ends where the axis does
    names = {i: name for i, name in names.items() if last - i > near}
    return names | {last: f"{starts[-1]:,}+"}


def _band(bar: dict[str, Any], middle: float, highest: float) -> str:
    low, high = (_y(value, highest) for value in bar["interval"])
    estimate = f"{_y(bar['estimate'], highest):.1f}"
    line = f"M{middle:.1f} {low:.1f}V{high:.1f}"
    return element("path", d=line, stroke=BAND, stroke_width=2) + element(
        "circle", cx=f"{middle:.1f}", cy=estimate, r=3, fill=BAND
    )


def row_picture(row: dict[str, Any]) -> str:
    """One row of the mechanism: how probable each published count is for one true count."""
    probabilities, true = row["probabilities"], row["true_count"]
    reach = max([10, *(abs(j - true) for j, p in enumerate(probabilities) if p > 0.002)])
    span = max(0, true - reach), min(len(probabilities) - 1, true + reach)
    words = f"What is published for a true count of {true:,}"
    return _law(probabilities, span, (true, true), words)


def law_picture(probabilities: list[float], ends: tuple[int, int], words: str) -> str:
    """How probable each true count of a row is; those of its interval are marked."""
    held = [i for i, p in enumerate(probabilities) if p > 0.002] or [0]
    span = max(held[0] - 1, 0), min(held[-1] + 1, len(probabilities) - 1)
    return _law(probabilities, span, ends, words)


def _law(
    probabilities: list[float], span: tuple[int, int], marked: tuple[int, int], words: str
) -> str:
    """The probabilities of the counts of a span, both ends of it in; some of them are marked."""
    shown = list(enumerate(probabilities))[span[0] : span[1] + 1]
    highest, step = max(p for _, p in shown), _step(len(shown))
    fills = [ORANGE if marked[0] <= j <= marked[1] else BLUE for j, _ in shown]
    parts = [
        _bar(i, step, p, highest, f"{j:,}: {p:.2%}", fill=fills[i])
        for i, (j, p) in enumerate(shown)
    ]
    names = [f"{j:,}+" if j == len(probabilities) - 1 else f"{j:,}" for j, _ in shown]
    return _frame(parts, {i: names[i] for i in _named(names)}, highest, words)


def _bar(
    place: int, step: float, share: float, highest: float, title: str, **attributes: Any
) -> str:
    top = _y(share, highest)
    return element(
        "rect", element("title", title), x=f"{LEFT + (place + 0.08) * step:.1f}", y=f"{top:.1f}",
        width=f"{step * 0.84:.1f}", height=f"{HEIGHT - BOTTOM - top:.1f}", **attributes,
    )  # fmt: skip


def _frame(parts: list[str], names: dict[int, str], highest: float, words: str) -> str:
    """`names` are those of bars by their place, the last one's among them."""
    step, right, bottom = _step(max(names) + 1), WIDTH - RIGHT, HEIGHT - BOTTOM
    ticks = [
        label(name, WIDTH - 2, bottom + 26, "end")
        if len(name) > LONG_NAME and i == max(names)
        else label(name, f"{LEFT + (i + 0.5) * step:.1f}", bottom + 26)
        for i, name in names.items()
    ]
    for share in _shares(highest):
        y = _y(share, highest)
        places = 0 if highest >= 0.05 else 1 if highest >= 0.005 else 2
        ticks.append(label(f"{share:.{places}%}", LEFT - 6, f"{y + 7:.1f}", "end"))
        ticks.append(element("path", d=f"M{LEFT} {y:.1f}H{right}", stroke="#0002"))
    axes = element("path", d=f"M{LEFT} 8V{bottom}H{right}", fill="none", stroke="currentColor")
    return element(
        "svg", "".join([*ticks, *parts, axes]), xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", aria_label=escape(words),
        font_family="sans-serif", font_size=19,
    )  # fmt: skip


def _shares(highest: float) -> list[float]:
    """Round shares up to the highest, also where that is small."""
    smaller = 0.01 if highest < 0.02 else 0.1 if highest < 0.05 else 1.0
    return [share * smaller for share in share_ticks(min(highest / smaller, 1.0))]


def _named(names: list[str]) -> list[int]:
    """Bars that are named: every so many, so that names have room in large letters too, and the
    last, which stands for all above it."""
    places, longest = len(names), max(map(len, names))
    room = (WIDTH - LEFT - RIGHT) // (LETTER * longest + GAP)
    step = tick_step(places, max(min(room, 11), 2))
    return [i for i in range(0, places - 1, step) if places - 1 - i > step / 2] + [places - 1]


def _step(places: int) -> float:
    return (WIDTH - LEFT - RIGHT) / places


def _y(share: float, highest: float) -> float:
    return HEIGHT - BOTTOM - min(share / highest, 1.0) * (HEIGHT - BOTTOM - 10)
