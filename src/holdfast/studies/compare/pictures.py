"""The pictures of a comparison: errors against budget, distributions, mechanisms."""

import os
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.studies.plots import Curve, distribution_overlay, error_curves, transition_heatmap

if TYPE_CHECKING:
    from holdfast.studies.compare.comparison import Comparison

NOT_PRIVATE = "NOT PRIVATE: computed from the true counts"


def save_pictures(found: "Comparison", folder: str | os.PathLike[str], name: str) -> list[Path]:
    """Every picture of a comparison on the table of this name, as PNG and SVG, in `folder`."""
    middle = found.epsilons[len(found.epsilons) // 2]
    size = f"{found.non_private_histogram.sum():,} rows, {found.repetitions} releases each"
    panels = {
        "distance of distributions (W1)": _curves(found, "w1"),
        "expected change of a count": _curves(found, "absolute"),
    }
    distributions = {
        method: found.non_private_example(method, middle).distribution
        for method in _shown(found, "default", "paper", "truncated-geometric")
    }
    matrices = {
        method: found.non_private_example(method, middle).mechanism.matrix
        for method in _shown(found, "default", "unfixed-optimum", "truncated-geometric")
    }
    each = f"{name}, one release each at epsilon = {middle}. {NOT_PRIVATE}"
    drawn = f"{name}: probability of each published count, epsilon = {middle}. {NOT_PRIVATE}"
    truth, stem = found.non_private_distribution, str(Path(folder) / "non_private_")
    return [
        path
        for end in (".png", ".svg")
        for path in (
            error_curves(panels, f"{stem}errors{end}", title=f"{name}: {size}. {NOT_PRIVATE}"),
            distribution_overlay(truth, distributions, f"{stem}distributions{end}", title=each),
            transition_heatmap(matrices, f"{stem}mechanisms{end}", title=drawn),
        )
    ]


def _curves(found: "Comparison", measure: str) -> dict[str, Curve]:
    curves: dict[str, list[tuple[float, float, float]]] = {}
    for row in found.non_private_summary():
        spread = row[f"spread of {measure}"] or 0.0  # no bar where one release was made
        point = (float(Fraction(row["epsilon"])), row[measure], spread)
        curves.setdefault(row["method"], []).append(point)
    return {method: sorted(points) for method, points in curves.items()}


def _shown(found: "Comparison", *preferred: str) -> list[str]:
    names = [method.name for method in found.methods]
    return [name for name in preferred if name in names] or names[:3]
