"""Pictures by matplotlib: error against budget, distributions laid over each other, a mechanism.

Readable in black and white and with colour-vision deficiency; `studies.style` says how each
method looks. PNG and SVG, by the file's suffix. Needs `pip install 'holdfast[plots]'`.
"""

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.former.release.bins import wide_bins
from holdfast.paper.experiments.style import TRUTH, Style, style_of
from holdfast.tables.files import write_whole

Curve = Sequence[tuple[float, float, float]]
"""(x, mean, spread) along a curve."""

SUFFIXES = (".png", ".svg")
BARS = "Bars: one standard deviation over the releases"
BUDGET_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
LEAST = 1e-4  # probabilities below this share the palest shade


def check_picture(path: str | os.PathLike[str]) -> Path:
    """The path of a picture that can be written."""
    place = Path(path)
    if place.suffix not in SUFFIXES or not place.parent.is_dir():
        raise HoldfastError(
            f"a picture must be a .png or .svg file in a folder that exists, got {place}."
        )
    return place


def error_curves(
    panels: Mapping[str, Mapping[str, Curve]], path: str | os.PathLike[str], *, title: str
) -> Path:
    """Error against budget, both on logarithmic scales: a panel per error, a curve per method.

    A bar shows the spread (one standard deviation) where there is one, and the picture says so.
    """
    if any(
        point[2] > 0 for panel in panels.values() for curve in panel.values() for point in curve
    ):
        title += "\n" + BARS
    with canvas(path, len(panels), 4.6, 3.9, title) as (_, axes):
        methods = tuple(dict.fromkeys(name for panel in panels.values() for name in panel))
        for axis, (name, curves) in zip(axes, panels.items(), strict=True):
            draw_curves(axis, [(style_of(m, methods), curve) for m, curve in curves.items()])
            axis.set(xscale="log", yscale="log", xlabel="epsilon", ylabel=name)
            low, high = axis.get_xlim()
            draw_grid(axis, [epsilon for epsilon in BUDGET_TICKS if low <= epsilon <= high])
        legend_below(axes)
    return Path(path)


def distribution_overlay(
    truth: Floats | None,
    published: Mapping[str, Floats],
    path: str | os.PathLike[str],
    *,
    title: str,
) -> Path:
    """Distributions of counts laid over each other: grey bars are the truth, where it is given.
    Bins of a long range are wider and wider."""
    n = len(next(iter(published.values())))
    starts = wide_bins(n)
    with canvas(path, 1, 8.0, 4.2, title) as (_, axes):
        axis, places = axes[0], np.arange(len(starts))
        if truth is not None:
            shown = 100 * np.add.reduceat(truth, starts)
            axis.bar(places, shown, color=TRUTH.colour, label=TRUTH.label, width=0.9)
        for name, shares in reversed(list(published.items())):
            style, shown = style_of(name, tuple(published)), 100 * np.add.reduceat(shares, starts)
            axis.plot(places, shown, markersize=4.5, linewidth=1.2, **style.curve)
        if len(starts) < n:
            tens = np.flatnonzero(np.isin(starts, 10 ** np.arange(7)))
            axis.set_xticks(tens, labels=[f"{count:,}" for count in starts[tens].tolist()])
        axis.set_yscale("symlog", linthresh=1)
        axis.yaxis.set_major_formatter("{x:g}")
        axis.set(xlabel=f"count ({n - 1} means {n - 1} or more)", ylabel="percent of rows")
        axis.set_ylim(bottom=0)
        legend_below(axes)
    return Path(path)


def transition_heatmap(
    matrices: Mapping[str, Floats], path: str | os.PathLike[str], *, title: str
) -> Path:
    """Transition matrices side by side: the darker, the likelier; greys on a logarithmic scale."""
    with canvas(path, len(matrices), 4.0, 3.2, title) as (figure, axes):
        from matplotlib.colors import LogNorm  # here, where it is known to be installed

        for axis, (name, matrix) in zip(axes, matrices.items(), strict=True):
            image = axis.imshow(
                np.maximum(matrix, LEAST), cmap="Greys", norm=LogNorm(LEAST, 1), origin="upper"
            )
            axis.set(xlabel="published count", ylabel="true count")
            axis.set_title(style_of(name, tuple(matrices)).label, fontsize=10)
        bar = figure.colorbar(image, ax=list(axes), shrink=0.8, label="probability")
        bar.set_ticks(
            [LEAST, 1e-3, 1e-2, 1e-1, 1], labels=["≤ 0.0001", "0.001", "0.01", "0.1", "1"]
        )
    return Path(path)


def draw_curves(axis: Any, curves: Sequence[tuple[Style, Curve]]) -> None:
    """Each curve in its style with its bars, the first on top."""
    for index, (style, curve) in reversed(list(enumerate(curves))):
        x, mean, spread = np.array(curve, dtype=np.float64).T
        # curves that coincide stay visible: their markers take turns
        turn = slice(index % 2, None, 2) if len(x) > 8 else slice(None)
        kept = mean > 0
        axis.plot(x[kept], mean[kept], markevery=turn, markersize=6, linewidth=1.4, **style.curve)
        low = np.minimum(spread, 0.9 * mean)  # a bar below zero has no place on a logarithmic scale
        shown = kept & (spread > 0.02 * mean)
        axis.errorbar(
            x[shown], mean[shown], [low[shown], spread[shown]], fmt="none", ecolor=style.colour,
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


@contextmanager
def canvas(
    path: str | os.PathLike[str],
    panels: int,
    width: float,
    height: float,
    title: str,
    also: Sequence[Path] = (),
) -> Iterator[tuple[Any, Sequence[Any]]]:
    """A figure to draw on, written whole to its place at the end, and to others, laid out alike."""
    places = [check_picture(place) for place in (path, *also)]
    if not panels:
        raise HoldfastError("there is nothing to draw. Hint: give one method or more.")
    matplotlib = require_matplotlib()
    with matplotlib.rc_context({"svg.hashsalt": "holdfast", "svg.fonttype": "none"}):
        figure = matplotlib.figure.Figure(
            figsize=(width * panels + 0.6, height + 0.9), layout="constrained"
        )
        axes = figure.subplots(1, panels, squeeze=False)[0]
        figure.suptitle(title, fontsize=11)
        yield figure, axes
        for place in places:
            data = io.BytesIO()
            dated = {"Date": None} if place.suffix == ".svg" else {"Software": None}
            figure.savefig(data, format=place.suffix[1:], dpi=150, metadata=dated)
            write_whole(place, data.getvalue())
            figure.set_layout_engine("none")  # what was laid out once stays


def require_matplotlib() -> Any:
    """The library, or an error that says how to get it."""
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError:
        raise HoldfastError(
            "pictures need matplotlib. Hint: pip install 'holdfast[plots]'."
        ) from None
    return matplotlib
