"""How a method looks in every picture: one colour, marker and line each.

The colours can be told apart with colour-vision deficiency (Okabe and Ito 2008; Tol 2021); in black
and white the markers and lines do it alone.
"""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Style:
    """A method's name in legends and how it is drawn, in matplotlib's words."""

    label: str
    colour: str
    marker: str
    line: str | tuple[int, tuple[float, ...]]

    def renamed(self, label: str) -> "Style":
        """The same look under another name."""
        return replace(self, label=label)

    @property
    def curve(self) -> dict[str, object]:
        """Keywords for a line."""
        return {
            "label": self.label,
            "color": self.colour,
            "marker": self.marker,
            "linestyle": self.line,
        }


_DASHED, _DOTTED, _MIXED = (0, (5, 1.6)), (0, (1, 1.2)), (0, (6, 1.4, 1, 1.4))
_WIDE, _TWICE = (0, (2.5, 2.5)), (0, (6, 1.2, 1, 1.2, 1, 1.2))

STYLES = {
    "default": Style("default", "#0072B2", "o", "-"),
    "paper": Style("paper", "#D55E00", "s", _DASHED),
    "heuristic-max": Style("heuristic-max", "#E69F00", "^", _MIXED),
    "heuristic-min": Style("heuristic-min", "#CC79A7", "v", _MIXED),
    "heuristic-sandwich": Style("heuristic-sandwich", "#009E73", "D", _TWICE),
    "truncated-geometric": Style("truncated-geometric", "#000000", "x", "-"),
    "staircase": Style("staircase", "#7A7A7A", "+", _DOTTED),
    "discrete-gaussian": Style("discrete-gaussian", "#56B4E9", "P", _WIDE),
    "unfixed-optimum": Style("unfixed-optimum", "#882255", "*", _DASHED),
}
PARTS = {
    "cyclic Laplace": Style("cyclic Laplace", "#D55E00", "s", _DASHED),
    "classic Laplace": Style("classic Laplace", "#999933", ">", _WIDE),
    "Privelet": Style("Privelet", "#AA4499", "h", _MIXED),
    "hierarchical": Style("hierarchical (QYL)", "#661100", "p", _TWICE),
    "simplex": Style("simplex (HiGHS)", "#332288", "<", _DOTTED),
    "oracle": Style("told the truth", "#6A8F00", "H", _DOTTED),
    "interior-point": Style("interior point (HiGHS)", "#117733", "d", _WIDE),
}
"""Privatizers and solvers, where these are what is compared."""
TRUTH = Style("true (NOT PRIVATE)", "#BBBBBB", "", "-")
_SPARE = (
    ("#332288", "<", _DOTTED),
    ("#117733", ">", _WIDE),
    ("#AA4499", "h", _MIXED),
    ("#999933", "p", _TWICE),
)


def style_of(name: str, others: tuple[str, ...] = ()) -> Style:
    """The fixed style of a method; one that has none takes its turn among `others` like it.

    >>> style_of("default").colour, style_of("mine").label
    ('#0072B2', 'mine')
    """
    if name in STYLES or name in PARTS:
        return (STYLES | PARTS)[name]
    strangers = [other for other in others if other not in STYLES]
    turn = strangers.index(name) if name in strangers else 0
    return Style(name, *_SPARE[turn % len(_SPARE)])
