"""A small writer of SVG: readable without a library, the same bytes every time."""

from collections.abc import Sequence
from html import escape
from typing import Any

BLUE, ORANGE = "#3b6fb6", "#c2410c"
TITLE_LETTER, LINE = 7.6, 18  # how wide a letter of a title is at most, on average; how tall a line
STEPS = tuple(int(step * 10**power) for power in range(6) for step in (1, 2, 5))


def element(tag: str, inside: str | None = None, **attributes: Any) -> str:
    """An element with its attributes in this order; `_` in a name stands for `-`.

    >>> element("rect", width=3, fill_opacity=0.5)
    '<rect width="3" fill-opacity="0.5"/>'
    """
    named = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f"<{tag}{named}/>" if inside is None else f"<{tag}{named}>{inside}</{tag}>"


def label(words: str, x: Any, y: Any, anchor: str = "middle", **attributes: Any) -> str:
    """Words at a place."""
    return element("text", escape(words), x=x, y=y, text_anchor=anchor, **attributes)


def heading(words: str, room: float) -> list[str]:
    """A title in the middle of so much room, on as many lines as it needs, parted at its commas.

    >>> len(heading("3,136 rows, epsilon = 1", 366)), len(heading("rows, epsilon", 60))
    (1, 2)
    """
    lines: list[str] = []
    for part in words.split(", "):
        longer = f"{lines[-1]}, {part}" if lines else part
        if lines and len(longer) * TITLE_LETTER <= room:
            lines[-1] = longer
        else:
            lines.append(part)
    places = enumerate(lines)
    return [label(line, room / 2, 20 + LINE * i, font_size=14) for i, line in places]


def picture(width: float, height: float, parts: Sequence[str]) -> str:
    """A whole file: these parts on white.

    >>> picture(10, 10, []).count("<rect")
    1
    """
    inside = "\n".join(["", element("rect", width=width, height=height, fill="white"), *parts, ""])
    return element(
        "svg", inside, xmlns="http://www.w3.org/2000/svg", width=width, height=height,
        viewBox=f"0 0 {width} {height}", font_family="sans-serif", font_size=12,
    )  # fmt: skip


def group(x: Any, y: Any, parts: Sequence[str]) -> str:
    """Parts moved to a place together."""
    return element("g", "\n".join(["", *parts, ""]), transform=f"translate({x},{y})")


def tick_step(n: int, most: int) -> int:
    """The smallest round step that puts at most so many ticks on n places.

    >>> tick_step(8, 8), tick_step(51, 8)
    (1, 10)
    """
    return next((step for step in STEPS if n / step <= most), STEPS[-1])


def share_ticks(highest: float) -> list[float]:
    """Round shares from 0 up to the highest, about five."""
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.25) if highest / s <= 5 or s == 0.25)
    return [k * step for k in range(int(highest / step + 1e-9) + 1)]
