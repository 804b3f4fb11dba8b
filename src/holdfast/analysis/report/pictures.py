"""The report's two pictures, as SVG that needs nothing from outside."""

from typing import Any

from holdfast.analysis.report.content import run_name, share_words
from holdfast.release.svg import BLUE, ORANGE, element, label, share_ticks, tick_step

WIDTH, HEIGHT, LEFT, RIGHT, BOTTOM = 720, 310, 58, 14, 38
BAND = "#1f2937"


def band_picture(bars: list[dict[str, Any]]) -> str:
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
    words = "Share of rows with each count: released, and estimated with intervals"
    return _frame(parts, [run_name(bar) for bar in bars], highest, words)


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
    first, last = max(0, true - reach), min(len(probabilities) - 1, true + reach)
    shown = list(enumerate(probabilities))[first : last + 1]
    highest, step = max(p for _, p in shown), _step(len(shown))
    parts = [
        _bar(i, step, p, highest, f"{j}: {p:.2%}", fill=ORANGE if j == true else BLUE)
        for i, (j, p) in enumerate(shown)
    ]
    words = f"What is published for a true count of {true}"
    return _frame(parts, [str(j) for j, _ in shown], highest, words)


def _bar(
    place: int, step: float, share: float, highest: float, title: str, **attributes: Any
) -> str:
    top = _y(share, highest)
    return element(
        "rect", element("title", title), x=f"{LEFT + (place + 0.08) * step:.1f}", y=f"{top:.1f}",
        width=f"{step * 0.84:.1f}", height=f"{HEIGHT - BOTTOM - top:.1f}", **attributes,
    )  # fmt: skip


def _frame(parts: list[str], names: list[str], highest: float, words: str) -> str:
    step, right, bottom = _step(len(names)), WIDTH - RIGHT, HEIGHT - BOTTOM
    ticks = [
        label(names[i], f"{LEFT + (i + 0.5) * step:.1f}", bottom + 26)
        for i in range(0, len(names), tick_step(len(names), 11))
    ]
    for share in share_ticks(highest):
        y = _y(share, highest)
        ticks.append(label(f"{share:.0%}", LEFT - 6, f"{y + 7:.1f}", "end"))
        ticks.append(element("path", d=f"M{LEFT} {y:.1f}H{right}", stroke="#0002"))
    axes = element("path", d=f"M{LEFT} 8V{bottom}H{right}", fill="none", stroke="currentColor")
    return element(
        "svg", "".join([*ticks, *parts, axes]), viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img",
        aria_label=words, font_family="sans-serif", font_size=19,
    )  # fmt: skip


def _step(places: int) -> float:
    return (WIDTH - LEFT - RIGHT) / places


def _y(share: float, highest: float) -> float:
    return HEIGHT - BOTTOM - min(share / highest, 1.0) * (HEIGHT - BOTTOM - 10)
