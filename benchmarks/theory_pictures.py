"""Pictures of scales and of a decomposition, as SVG; no library needed.

`python benchmarks/theory_pictures.py docs` draws those of docs/theory.md.
"""

import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.paper.theory.decomposition import decompose_column
from holdfast.paper.theory.epsilon import Array, log, show
from holdfast.paper.theory.scales import Pattern, patterns, scale, single_peaked

BLUE = "#3b6fb6"
BAR, HEIGHT, GAP = 22, 110, 26
COLOURS = (BLUE, "#e0a030", "#4d9078", "#b5534f", "#7d6fb0", "#8a8a8a", "#26456e", "#a67c2e")
ARROWS = {1: "↗", -1: "↘"}


def scales_picture(n: int, epsilon: Any) -> str:
    """All ε-scales for one n, a panel of bars for each; the single-peaked ones are darker.

    >>> scales_picture(3, 1).count("<rect") == 4 * 3 + 1
    True
    """
    peaked = {single_peaked(n, peak) for peak in range(n)}
    panels = []
    for pattern in patterns(n):
        colour = COLOURS[0] if pattern in peaked else "#b9c7dc"
        panels.append((_arrows(pattern), [(scale(pattern, epsilon), colour)]))
    return _picture(panels, columns=4)


def decomposition_picture(column: Any, epsilon: Any, *, peak: int = 0) -> str:
    """A column as a stack of its pieces, and each piece beside it.

    >>> decomposition_picture([1.0, 1.0], 1).count("<rect") == 2 * 2 + 2 + 2 + 1
    True
    """
    pieces = [
        (
            f"{show(amount)} × {_arrows(pattern)}",
            amount * scale(pattern, epsilon),
            COLOURS[k % len(COLOURS)],
        )
        for k, (pattern, amount) in enumerate(decompose_column(column, epsilon, peak=peak))
    ]
    stack = ("the column", [(part, colour) for _, part, colour in pieces])
    return _picture([stack, *((name, [(part, colour)]) for name, part, colour in pieces)])


def element(tag: str, inside: str | None = None, **attributes: Any) -> str:
    """An element with its attributes in this order; `_` in a name stands for `-`."""
    named = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f"<{tag}{named}/>" if inside is None else f"<{tag}{named}>{inside}</{tag}>"


def label(words: str, x: Any, y: Any, anchor: str = "middle", **attributes: Any) -> str:
    """Words at a place."""
    return element("text", escape(words), x=x, y=y, text_anchor=anchor, **attributes)


def picture(width: float, height: float, parts: Sequence[str]) -> str:
    """A whole file: these parts on white."""
    inside = "\n".join(["", element("rect", width=width, height=height, fill="white"), *parts, ""])
    return element(
        "svg", inside, xmlns="http://www.w3.org/2000/svg", width=width, height=height,
        viewBox=f"0 0 {width} {height}", font_family="sans-serif", font_size=12,
    )  # fmt: skip


def group(x: Any, y: Any, parts: Sequence[str]) -> str:
    """Parts moved to a place together."""
    return element("g", "\n".join(["", *parts, ""]), transform=f"translate({x},{y})")


def _picture(
    panels: Sequence[tuple[str, Sequence[tuple[Array, str]]]], columns: int | None = None
) -> str:
    across = columns or len(panels)
    n = len(panels[0][1][0][0])
    highest = max(float(sum(part for part, _ in stack).max()) for _, stack in panels)  # type: ignore[union-attr]
    down = -(-len(panels) // across)
    width, height = across * (n * BAR + GAP) + GAP, down * (HEIGHT + 2 * GAP) + GAP
    groups = [
        group(
            GAP + index % across * (n * BAR + GAP),
            f"{1.5 * GAP + index // across * (HEIGHT + 2 * GAP):g}",
            _panel(name, stack, highest),
        )
        for index, (name, stack) in enumerate(panels)
    ]
    return picture(width, height, groups) + "\n"


def _panel(name: str, stack: Sequence[tuple[Array, str]], highest: float) -> list[str]:
    n = len(stack[0][0])
    parts = [label(name, f"{n * BAR / 2:g}", -8)]
    base = np.zeros(n)
    for part, colour in stack:
        tops = base + part.astype(float) / highest * HEIGHT
        parts += [
            element(
                "rect", x=i * BAR + 2, y=f"{HEIGHT - tops[i]:.2f}", width=BAR - 4,
                height=f"{tops[i] - base[i]:.2f}", fill=colour,
            )
            for i in range(n)
        ]  # fmt: skip
        base = tops
    parts.append(element("path", d=f"M0 {HEIGHT}H{n * BAR}", stroke="black"))
    return parts + [label(str(i), f"{(i + 0.5) * BAR:g}", HEIGHT + 14) for i in range(n)]


def _arrows(pattern: Pattern) -> str:
    return " ".join(ARROWS[step] for step in pattern)


def documentation() -> dict[str, str]:
    """The pictures of docs/theory.md, by file name."""
    return {
        "theory-scales.svg": scales_picture(4, log(2)),
        "theory-decomposition.svg": decomposition_picture([4, 6, 5, 5, 3], log(2), peak=1),
    }


def main(folder: str) -> None:
    """Write the pictures of docs/theory.md into a folder."""
    for name, svg in documentation().items():
        (Path(folder) / name).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
