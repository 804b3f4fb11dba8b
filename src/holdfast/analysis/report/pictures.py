"""The report's two pictures, as SVG that needs nothing from outside."""

from typing import Any

from holdfast.analysis.report.content import run_name, share_words

WIDTH, HEIGHT, LEFT, RIGHT, BOTTOM = 720, 310, 58, 14, 38
BAR, BAND, MARK = "#3b6fb6", "#1f2937", "#c2410c"


def band_picture(bars: list[dict[str, Any]]) -> str:
    """Released shares as bars, and over each the best estimate with its interval.

    >>> bar = {"first": 0, "last": 0, "released": 0.5, "estimate": 0.5, "interval": [0.4, 0.6]}
    >>> band_picture([bar, bar | {"first": 1, "last": 1}]).count("<rect")
    2
    """
    known = [b for b in bars if b["interval"] is not None]
    highest = max([*(b["released"] for b in bars), *(b["estimate"] for b in known), 1e-9])
    highest = min(max([highest, *(b["interval"][1] for b in known)]), 1.6 * highest)
    step = (WIDTH - LEFT - RIGHT) / len(bars)
    parts = []
    for i, bar in enumerate(bars):
        x, middle = LEFT + i * step, LEFT + (i + 0.5) * step
        top = _y(bar["released"], highest)
        name, shown, estimate, interval = share_words(bar)
        parts.append(
            f'<rect x="{x + step * 0.08:.1f}" y="{top:.1f}" width="{step * 0.84:.1f}" '
            f'height="{HEIGHT - BOTTOM - top:.1f}" fill="{BAR}" fill-opacity="0.55">'
            f"<title>{name}: {shown} released, {estimate} estimated, {interval}</title></rect>"
            + (_band(bar, middle, highest) if bar["interval"] is not None else "")
        )
    labels = [run_name(bar) for bar in bars]
    words = "Share of rows with each count: released, and estimated with intervals"
    return _frame(parts, labels, highest, words)


def _band(bar: dict[str, Any], middle: float, highest: float) -> str:
    low, high = (_y(value, highest) for value in bar["interval"])
    return (
        f'<path d="M{middle:.1f} {low:.1f}V{high:.1f}" stroke="{BAND}" stroke-width="2"/>'
        f'<circle cx="{middle:.1f}" cy="{_y(bar["estimate"], highest):.1f}" r="3" '
        f'fill="{BAND}"/>'
    )


def row_picture(row: dict[str, Any]) -> str:
    """One row of the mechanism: how probable each published count is for one true count."""
    probabilities, true = row["probabilities"], row["true_count"]
    reach = max([10, *(abs(j - true) for j, p in enumerate(probabilities) if p > 0.002)])
    first, last = max(0, true - reach), min(len(probabilities) - 1, true + reach)
    shown = probabilities[first : last + 1]
    highest, step = max(shown), (WIDTH - LEFT - RIGHT) / len(shown)
    parts = [
        f'<rect x="{LEFT + (i + 0.08) * step:.1f}" y="{_y(p, highest):.1f}" '
        f'width="{step * 0.84:.1f}" height="{HEIGHT - BOTTOM - _y(p, highest):.1f}" '
        f'fill="{MARK if first + i == true else BAR}"><title>{first + i}: {p:.2%}</title></rect>'
        for i, p in enumerate(shown)
    ]
    labels = [str(j) for j in range(first, last + 1)]
    return _frame(parts, labels, highest, f"What is published for a true count of {true}")


def _frame(parts: list[str], labels: list[str], highest: float, words: str) -> str:
    step = (WIDTH - LEFT - RIGHT) / len(labels)
    every = next(s for s in (1, 2, 5, 10, 20, 50, 100) if len(labels) / s <= 11 or s == 100)
    ticks = [
        f'<text x="{LEFT + (i + 0.5) * step:.1f}" y="{HEIGHT - BOTTOM + 26}" '
        f'text-anchor="middle">{label}</text>'
        for i, label in enumerate(labels)
        if i % every == 0
    ]
    ticks += [
        f'<text x="{LEFT - 6}" y="{_y(share, highest) + 7:.1f}" text-anchor="end">'
        f"{share:.0%}</text>"
        f'<path d="M{LEFT} {_y(share, highest):.1f}H{WIDTH - RIGHT}" stroke="#0002"/>'
        for share in _shares(highest)
    ]
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{words}" '
        f'font-family="sans-serif" font-size="19">{"".join(ticks)}{"".join(parts)}'
        f'<path d="M{LEFT} 8V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" '
        'stroke="currentColor"/></svg>'
    )


def _y(share: float, highest: float) -> float:
    return HEIGHT - BOTTOM - min(share / highest, 1.0) * (HEIGHT - BOTTOM - 10)


def _shares(highest: float) -> list[float]:
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if highest / s <= 5 or s == 0.5)
    return [k * step for k in range(int(highest / step + 1e-9) + 1)]
