"""A small writer of SVG: readable without a library, the same bytes every time."""

from collections.abc import Sequence
from typing import Any

from holdfast.release import escape

LETTER, LINE = 6.6, 18  # how wide a letter is at most, on average; how tall a line


def element(tag: str, inside: str | None = None, **attributes: Any) -> str:
    """An element with its attributes in this order; `_` in a name stands for `-`.

    >>> element("rect", width=3, fill_opacity=0.5)
    '<rect width="3" fill-opacity="0.5"/>'
    """
    named = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f"<{tag}{named}/>" if inside is None else f"<{tag}{named}>{inside}</{tag}>"


def words(text: str, x: float, y: float, anchor: str = "middle", **attributes: Any) -> str:
    """Words at a place."""
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
