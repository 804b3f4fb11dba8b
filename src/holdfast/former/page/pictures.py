"""The page's own pictures: what epsilon means in odds, and the errors to expect against it."""

import math
from collections.abc import Sequence
from html import escape
from typing import Any

from holdfast.errors import roughly
from holdfast.former.release.svg import BLUE, ORANGE, element, label

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 250, 80, 20, 14, 64
EPSILONS = (0.1, 0.2, 0.5, 1, 2, 5)
GRID: dict[str, Any] = {"stroke": "currentColor", "stroke_opacity": 0.15}
Curve = Sequence[tuple[float, float]]


def odds_picture(epsilon: float | None, words: str, below: str) -> str:
    """How far a guess of one half can be pushed, for each epsilon; the chosen one is marked."""
    from holdfast.former.studies.explain import explain

    steps = [0.05 * 1.2**k for k in range(30)]
    curve = [(step, explain(f"{step:.4f}").guess) for step in steps if step <= 10]
    mark = None if epsilon is None else (epsilon, explain(epsilon).guess)
    ticks = [(share, f"{share:.0%}") for share in (0.5, 0.75, 1.0)]
    return _chart(curve, mark, ticks, (0.45, 1.0), words, below)


def error_picture(curve: Curve, epsilon: float | None, unit: str, words: str, below: str) -> str:
    """An expected error against epsilon; `unit` follows the numbers."""
    highest = max([error for _, error in curve] + [1e-9]) * 1.1
    step = _round_step(highest / 3)
    ticks = [(k * step, f"{roughly(k * step, 6)}{unit}") for k in range(int(highest / step) + 1)]
    near = [point for point in curve if epsilon is not None and math.isclose(point[0], epsilon)]
    return _chart(curve, near[0] if near else None, ticks, (0.0, highest), words, below)


def _chart(
    curve: Curve,
    mark: tuple[float, float] | None,
    ticks: Sequence[tuple[float, str]],
    span: tuple[float, float],
    words: str,
    below: str,
) -> str:
    first, last = math.log(curve[0][0]), math.log(max(curve[-1][0], curve[0][0] * 1.01))

    def x(value: float) -> float:
        place = (math.log(value) - first) / (last - first)
        return LEFT + min(max(place, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        share = (value - span[0]) / (span[1] - span[0])
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)

    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = [element("path", d=f"M{LEFT} {y(v):.1f}H{right}", **GRID) for v, _ in ticks]
    parts += [label(name, LEFT - 8, f"{y(v) + 6:.1f}", "end") for v, name in ticks]
    shown = [value for value in EPSILONS if curve[0][0] <= value <= curve[-1][0]]
    parts += [label(f"{value:g}", f"{x(value):.1f}", bottom + 24) for value in shown]
    parts.append(label(below, (LEFT + right) / 2, HEIGHT - 6))
    line = "L".join(f"{x(e):.1f} {y(v):.1f}" for e, v in curve)
    parts.append(element("path", d=f"M{line}", fill="none", stroke=BLUE, stroke_width=3))
    parts += [
        element("circle", cx=f"{x(e):.1f}", cy=f"{y(v):.1f}", r=4, fill=BLUE)
        for e, v in curve
        if len(curve) < 12
    ]
    if mark is not None:
        at = {"cx": f"{x(mark[0]):.1f}", "cy": f"{y(mark[1]):.1f}"}
        parts.append(element("circle", **at, r=8, fill="none", stroke=ORANGE, stroke_width=4))
    return _framed(parts, words)


def _framed(parts: Sequence[str], words: str) -> str:
    axes = f"M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"
    inside = [*parts, element("path", d=axes, fill="none", stroke="currentColor")]
    return element(
        "svg", "".join(inside), viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img",
        aria_label=escape(words), font_family="sans-serif", font_size=16,
    )  # fmt: skip


def _round_step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least)
