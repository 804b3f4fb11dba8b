"""Figures of the report: panels side by side, one style per method, the data's source on each."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.arrays import Floats
from holdfast.paper.experiments.plots import Curve, canvas, draw_curves, draw_grid, legend_below
from holdfast.paper.experiments.style import Style, style_of

LEGEND = {
    "default": "holdfast (default)",
    "paper": "fixed-point optimum",
    "heuristic-max": "heuristic, max",
    "heuristic-min": "heuristic, min",
    "heuristic-sandwich": "heuristic, sandwich",
    "unfixed-optimum": "two-stage unfixed optimum",
    "truncated-geometric": "truncated geometric",
    "discrete-gaussian": "discrete Gaussian",
}
"""What the paper calls the methods; one that is not here goes by its name."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of the report: its file, its caption, and how its panels are drawn."""

    name: str
    """The files' stem."""
    caption: str
    """What it shows, for the report."""
    title: str
    """Printed on top."""
    panels: Sequence[Callable[[Any], None]]
    """Each draws on one pair of axes."""
    width: float = 4.2
    """Of a panel, in inches."""
    legend: bool = True
    """Whether there is one, below the panels."""

    def save(self, folder: Path) -> list[Path]:
        """The figure as PNG and SVG."""
        first, *others = (folder / f"{self.name}.{suffix}" for suffix in ("png", "svg"))
        size = len(self.panels), self.width, 3.7
        with canvas(first, *size, spelled(self.title), also=others) as (_, axes):
            for axis, panel in zip(axes, self.panels, strict=True):
                panel(axis)
            if self.legend:
                legend_below(axes)
        return [first, *others]


def curves(
    series: Mapping[str, Curve],
    *,
    x: str,
    y: str,
    title: str = "",
    ticks: Sequence[float] = (),
    labels: Mapping[str, str] | None = None,
    log: str = "xy",
) -> Callable[[Any], None]:
    """A panel of curves with error bars; `log` names the logarithmic axes."""

    def panel(axis: Any) -> None:
        draw_curves(axis, [(named_style(name, labels), curve) for name, curve in series.items()])
        scales = {f"{c}scale": "log" if c in log else "linear" for c in "xy"}
        axis.set(xlabel=spelled(x), ylabel=spelled(y), **scales)
        axis.set_title(title, fontsize=9)
        draw_grid(axis, ticks)

    return panel


def named_style(name: str, labels: Mapping[str, str] | None = None) -> Style:
    """A method's style with the name that legends have for it.

    >>> named_style("default").label, named_style("default", {"default": "ours"}).label
    ('holdfast (default)', 'ours')
    """
    style = style_of(name)
    return style.renamed((LEGEND | dict(labels or {})).get(name, style.label))


def bars(heights: Floats, *, title: str, y: str, top_coded: bool = False) -> Callable[[Any], None]:
    """A panel of grey bars: a distribution of counts 0, 1, ..."""

    def panel(axis: Any) -> None:
        top = len(heights) - 1
        axis.bar(range(top + 1), heights, width=0.9, color="#5A5A5A")
        axis.set(xlabel=f"count ({top} means {top} or more)" if top_coded else "count", ylabel=y)
        axis.set_xlim(-1, top + 1)
        axis.set_title(title, fontsize=9)
        axis.yaxis.set_major_formatter("{x:g}")

    return panel


def spelled(text: str) -> str:
    r"""The text with its ε_t set as mathematics.

    >>> spelled("total budget ε_t")
    'total budget $\\epsilon_{t}$'
    """
    return re.sub(r"ε_(\w)", r"$\\epsilon_{\1}$", text)


def titled(data: str, source: str, width: int = 44) -> str:
    """A panel's title: the data set, and under it where it comes from."""
    import textwrap

    return "\n".join([data, *textwrap.wrap(f"({source})", width)])
