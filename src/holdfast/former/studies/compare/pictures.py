"""The pictures of a comparison: errors against budget, distributions, mechanisms."""

import os
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

from holdfast.arrays import Floats
from holdfast.former.mechanism.curves import LARGEST_TABLE
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.release.release import Release
from holdfast.former.studies.plots import (
    Curve,
    distribution_overlay,
    error_curves,
    transition_heatmap,
)
from holdfast.former.studies.runner import Row

CORNER = 101  # counts of a mechanism that are drawn where all would be too many
NOT_PRIVATE = "NOT PRIVATE: computed from the true counts"


def save_pictures(
    folder: str | os.PathLike[str],
    *,
    about: tuple[str, str],
    budget: str,
    summary: Sequence[Row],
    truth: Floats,
    methods: Sequence[str],
    example: Callable[[str, str], Release],
) -> list[Path]:
    """Every picture of a comparison, as PNG and SVG, in `folder`.

    `about` is the table's name and its size in words; `example` makes the release by a method at
    a budget, and those at `budget` are drawn.
    """
    name, size = about
    panels = {
        "distance of distributions (W1)": _curves(summary, "w1"),
        "expected change of a count": _curves(summary, "absolute"),
    }
    distributions = {
        method: example(method, budget).distribution
        for method in _shown(methods, "default", "paper", "truncated-geometric")
    }
    matrices = {
        method: _corner(example(method, budget).mechanism)
        for method in _shown(methods, "default", "unfixed-optimum", "truncated-geometric")
    }
    each = f"{name}, one release each at epsilon = {budget}. {NOT_PRIVATE}"
    few = f" up to {CORNER - 1}" if len(truth) > LARGEST_TABLE else ""
    drawn = f"{name}: probability of each published count{few}, epsilon = {budget}. {NOT_PRIVATE}"
    stem = str(Path(folder) / "non_private_")
    return [
        path
        for end in (".png", ".svg")
        for path in (
            error_curves(panels, f"{stem}errors{end}", title=f"{name}: {size}. {NOT_PRIVATE}"),
            distribution_overlay(truth, distributions, f"{stem}distributions{end}", title=each),
            transition_heatmap(matrices, f"{stem}mechanisms{end}", title=drawn),
        )
    ]


def _corner(mechanism: Mechanism) -> Floats:
    """Its matrix, and of a long range that of the lowest counts."""
    if len(mechanism) <= LARGEST_TABLE:
        return mechanism.matrix
    return np.array([mechanism.row(i)[:CORNER] / float(mechanism.total) for i in range(CORNER)])


def _curves(summary: Sequence[Row], measure: str) -> dict[str, Curve]:
    curves: dict[str, list[tuple[float, float, float]]] = {}
    for row in summary:
        spread = row[f"spread of {measure}"] or 0.0  # no bar where one release was made
        point = (float(Fraction(row["epsilon"])), row[measure], spread)
        curves.setdefault(row["method"], []).append(point)
    return {method: sorted(points) for method, points in curves.items()}


def _shown(methods: Sequence[str], *preferred: str) -> Sequence[str]:
    return [name for name in preferred if name in methods] or methods[:3]
