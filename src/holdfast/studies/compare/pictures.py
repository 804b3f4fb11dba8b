"""The pictures of a comparison: errors against budget, distributions, mechanisms."""

import os
from pathlib import Path

from holdfast.studies.compare.comparison import Comparison
from holdfast.studies.plots import Curve, distribution_overlay, error_curves, transition_heatmap

NOT_PRIVATE = "NOT PRIVATE: computed from the true counts"


def non_private_pictures(
    comparison: Comparison, folder: str | os.PathLike[str], *, name: str = "the table"
) -> list[Path]:
    """Every picture of a comparison, as PNG and SVG, in `folder`."""
    place = Path(folder)
    rows = int(comparison.non_private_histogram.sum())
    about = f"{name}: {rows:,} rows, {comparison.repetitions} releases each. {NOT_PRIVATE}"
    middle = comparison.epsilons[len(comparison.epsilons) // 2]
    paths = []
    for suffix in ("png", "svg"):
        paths += [
            error_curves(
                {
                    "distance of distributions (W1)": _curves(comparison, "w1"),
                    "expected change of a count": _curves(comparison, "absolute"),
                },
                place / f"non_private_errors.{suffix}",
                title=about,
            ),
            _overlay(comparison, middle, place / f"non_private_distributions.{suffix}", name),
            _heatmap(comparison, middle, place / f"non_private_mechanisms.{suffix}", name),
        ]
    return paths


def _curves(comparison: Comparison, measure: str) -> dict[str, Curve]:
    curves: dict[str, list[tuple[float, float, float]]] = {}
    for row in comparison.non_private_summary():
        spread = row[f"spread of {measure}"] or 0.0  # no bar where one release was made
        point = (_number(row["epsilon"]), row[measure], spread)
        curves.setdefault(row["method"], []).append(point)
    return {method: sorted(points) for method, points in curves.items()}


def _number(epsilon: str) -> float:
    from fractions import Fraction

    return float(Fraction(epsilon))


def _overlay(comparison: Comparison, epsilon: str, path: Path, name: str) -> Path:
    wanted = ("default", "paper", "truncated-geometric")
    shown = [m.name for m in comparison.methods if m.name in wanted] or [
        m.name for m in comparison.methods[:3]
    ]
    releases = {m: comparison.non_private_example(m, epsilon).distribution for m in shown}
    return distribution_overlay(
        comparison.non_private_distribution,
        releases,
        path,
        title=f"{name}, one release each at epsilon = {epsilon}. {NOT_PRIVATE}",
    )


def _heatmap(comparison: Comparison, epsilon: str, path: Path, name: str) -> Path:
    names = [method.name for method in comparison.methods]
    preferred = [m for m in ("default", "unfixed-optimum", "truncated-geometric") if m in names]
    shown = preferred or names[:3]
    matrices = {m: comparison.non_private_example(m, epsilon).mechanism.matrix for m in shown}
    about = f"{name}: probability of each published count, epsilon = {epsilon}. {NOT_PRIVATE}"
    return transition_heatmap(matrices, path, title=about)
