"""Figures of the report: one look per method in all of them, the data's source on each.

The colours can be told apart with colour-vision deficiency (Okabe and Ito 2008; Tol 2021); in black
and white the markers and lines do it alone. Needs matplotlib, of the extra `paper`.
"""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.tables.formats import write_whole

Curve = Sequence[tuple[float, float, float]]
"""(x, mean, spread) along a curve."""

UNDATED = {".png": {"Software": None}, ".svg": {"Date": None}}
"""Metadata by suffix, without the day on which a figure was drawn."""


class Style(NamedTuple):
    """A method's name in legends and how it is drawn, in matplotlib's words."""

    label: str
    color: str
    marker: str
    linestyle: str | tuple[int, tuple[float, ...]]


_DASHED, _DOTTED, _MIXED = (0, (5, 1.6)), (0, (1, 1.2)), (0, (6, 1.4, 1, 1.4))
_WIDE, _TWICE = (0, (2.5, 2.5)), (0, (6, 1.2, 1, 1.2, 1, 1.2))

STYLES = {
    "cumulative": Style("cumulative sums, optimum", "#0072B2", "o", "-"),
    "paper": Style("fixed-point optimum", "#D55E00", "s", _DASHED),
    "heuristic-max": Style("heuristic, max", "#E69F00", "^", _MIXED),
    "heuristic-min": Style("heuristic, min", "#CC79A7", "v", _MIXED),
    "heuristic-sandwich": Style("heuristic, sandwich", "#009E73", "D", _TWICE),
    "truncated-geometric": Style("truncated geometric", "#000000", "x", "-"),
    "staircase": Style("staircase", "#7A7A7A", "+", _DOTTED),
    "discrete-gaussian": Style("discrete Gaussian", "#56B4E9", "P", _WIDE),
    "unfixed-optimum": Style("two-stage unfixed optimum", "#882255", "*", _DASHED),
    "cyclic Laplace": Style("cyclic Laplace", "#D55E00", "s", _DASHED),
    "classic Laplace": Style("classic Laplace", "#999933", ">", _WIDE),
    "Privelet": Style("Privelet", "#AA4499", "h", _MIXED),
    "hierarchical": Style("hierarchical (QYL)", "#661100", "p", _TWICE),
    "simplex": Style("simplex (HiGHS)", "#332288", "<", _DOTTED),
    "interior-point": Style("interior point (HiGHS)", "#117733", "d", _WIDE),
}


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
        """The figure as PNG and SVG, the same bytes whenever it is drawn."""
        matplotlib = require_matplotlib()
        folder.mkdir(parents=True, exist_ok=True)
        with matplotlib.rc_context({"svg.hashsalt": "holdfast", "svg.fonttype": "none"}):
            size = (self.width * len(self.panels) + 0.6, 4.6)
            figure = matplotlib.figure.Figure(figsize=size, layout="constrained")
            axes = figure.subplots(1, len(self.panels), squeeze=False)[0]
            figure.suptitle(spelled(self.title), fontsize=11)
            for axis, panel in zip(axes, self.panels, strict=True):
                panel(axis)
            if self.legend:
                legend_below(axes)
            return [_saved(figure, folder / f"{self.name}{suffix}") for suffix in UNDATED]


def _saved(figure: Any, place: Path) -> Path:
    data = io.BytesIO()
    figure.savefig(data, format=place.suffix[1:], dpi=150, metadata=UNDATED[place.suffix])
    figure.set_layout_engine("none")  # what was laid out once stays
    return write_whole(place, data.getvalue())


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
        named = {name: STYLES[name].label for name in series} | dict(labels or {})
        styles = [STYLES[name]._replace(label=named[name]) for name in series]
        draw_curves(axis, list(zip(styles, series.values(), strict=True)))
        scales = {f"{c}scale": "log" if c in log else "linear" for c in "xy"}
        axis.set(xlabel=spelled(x), ylabel=spelled(y), **scales)
        axis.set_title(title, fontsize=9)
        draw_grid(axis, ticks)

    return panel


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


def draw_curves(axis: Any, curves: Sequence[tuple[Style, Curve]]) -> None:
    """Each curve in its style with its bars, the first on top."""
    for index, (style, curve) in reversed(list(enumerate(curves))):
        x, mean, spread = np.array(curve, dtype=np.float64).T
        # curves that coincide stay visible: their markers take turns
        turn = slice(index % 2, None, 2) if len(x) > 8 else slice(None)
        kept = mean > 0
        axis.plot(
            x[kept], mean[kept], markevery=turn, markersize=6, linewidth=1.4, **style._asdict()
        )
        low = np.minimum(spread, 0.9 * mean)  # a bar below zero has no place on a logarithmic scale
        shown = kept & (spread > 0.02 * mean)
        axis.errorbar(
            x[shown], mean[shown], [low[shown], spread[shown]], fmt="none", ecolor=style.color,
            elinewidth=0.8, capsize=2,
        )  # fmt: skip


def draw_grid(axis: Any, ticks: Sequence[float] = ()) -> None:
    """Lines at round numbers, which are written out; `ticks` are those of the x axis."""
    if ticks:
        axis.set_xticks(ticks, labels=[f"{tick:g}" for tick in ticks])
        axis.set_xticks([], minor=True)
    axis.yaxis.set_major_formatter("{x:g}")
    axis.grid(True, which="major", linewidth=0.4, alpha=0.5)


def legend_below(axes: Sequence[Any]) -> None:
    """One legend for all panels, off the data."""
    handles, labels = axes[0].get_legend_handles_labels()
    handles, labels = handles[::-1], labels[::-1]  # drawn last, so on top: the first
    columns = len(labels) if len(labels) <= 4 else 3 if len(axes) < 3 else 5
    axes[0].figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, fontsize=9, handlelength=3.6
    )


def require_matplotlib() -> Any:
    """The library, or an error that says how to get it."""
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError:
        raise HoldfastError(
            "pictures need matplotlib. Hint: pip install 'holdfast[paper]'."
        ) from None
    return matplotlib
