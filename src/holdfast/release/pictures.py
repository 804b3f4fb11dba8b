"""Distributions of counts as an SVG picture: readable in black and white, no library needed."""

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

PANEL, HEIGHT, MARGIN = 300, 190, 44
Named = tuple[str, NDArray[np.float64]]


def distribution_picture(
    panels: Sequence[Named], *, title: str, outline: NDArray[np.float64] | None = None
) -> str:
    """One panel of bars a distribution, side by side on one scale; `outline` is drawn over all.

    >>> svg = distribution_picture([("released", np.array([0.5, 0.5]))], title="two bars")
    >>> svg.startswith("<svg"), svg.count("<rect")
    (True, 3)
    """
    highest = max(float(shares.max()) for _, shares in panels)
    if outline is not None:
        highest = max(highest, float(outline.max()))
    width = len(panels) * (PANEL + MARGIN) + MARGIN // 2
    total = HEIGHT + 92
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{total}" '
        f'viewBox="0 0 {width} {total}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{total}" fill="white"/>',
        f'<text x="{width / 2}" y="20" text-anchor="middle" font-size="14">{escape(title)}</text>',
    ]
    for index, (name, shares) in enumerate(panels):
        left = MARGIN + index * (PANEL + MARGIN)
        parts.append(f'<g transform="translate({left},52)">')
        parts += _panel(name, shares, highest, outline)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"])


def _panel(
    name: str, shares: NDArray[np.float64], highest: float, outline: NDArray[np.float64] | None
) -> list[str]:
    bar = PANEL / len(shares)
    heights = shares / highest * HEIGHT
    parts = [
        f'<text x="{PANEL / 2}" y="-10" text-anchor="middle" font-weight="bold">'
        f"{escape(name)}</text>"
    ]
    parts += [
        f'<rect x="{i * bar:.2f}" y="{HEIGHT - h:.2f}" width="{max(bar * 0.86, 0.4):.2f}" '
        f'height="{h:.2f}" fill="#3b6fb6"/>'
        for i, h in enumerate(heights)
        if h > 0
    ]
    if outline is not None:
        parts.append(_outline(outline / highest * HEIGHT, bar))
    parts.append(f'<path d="M0 0V{HEIGHT}H{PANEL}" fill="none" stroke="black"/>')
    parts += [
        f'<text x="{(i + 0.43) * bar:.1f}" y="{HEIGHT + 16}" text-anchor="middle">{i}</text>'
        for i in _ticks(len(shares))
    ]
    parts += [
        f'<text x="-5" y="{HEIGHT * (1 - share / highest) + 4:.1f}" text-anchor="end">'
        f"{share:.0%}</text>"
        for share in _share_ticks(highest)
    ]
    parts.append(f'<text x="{PANEL / 2}" y="{HEIGHT + 33}" text-anchor="middle">count</text>')
    return parts


def _outline(heights: NDArray[np.float64], bar: float) -> str:
    steps = "L".join(
        f"{i * bar:.2f} {HEIGHT - h:.2f}L{(i + 1) * bar:.2f} {HEIGHT - h:.2f}"
        for i, h in enumerate(heights)
    )
    return f'<path d="M{steps}" fill="none" stroke="#c2410c" stroke-width="1.6"/>'


def _ticks(n: int) -> range:
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000) if n / s <= 8)
    return range(0, n, step)


def _share_ticks(highest: float) -> list[float]:
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.25) if highest / s <= 5 or s == 0.25)
    return [k * step for k in range(int(highest / step + 1e-9) + 1)]
