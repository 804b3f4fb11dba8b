"""The pictures of a comparison: errors against budget, distributions, mechanisms."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from holdfast.arrays import Floats
from holdfast.release.release import Release
from holdfast.studies.plots import Curve, distribution_overlay, error_curves, transition_heatmap
from holdfast.studies.runner import Row

NOT_PRIVATE = "NOT PRIVATE: computed from the true counts"


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparisonPictures:
    """What the pictures of a comparison show, and how they are drawn."""

    name: str
    """Of the table."""
    rows: int
    """N."""
    repetitions: int
    """Releases per method and budget."""
    epsilons: Sequence[str]
    """The budgets."""
    methods: Sequence[str]
    """Names, in order."""
    summary: Sequence[Row]
    """Means and spreads by method and budget."""
    truth: Floats
    """The true distribution of counts."""
    example: Callable[[str, str], Release]
    """A release by a method at a budget."""

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Every picture, as PNG and SVG, in `folder`."""
        stem = str(Path(folder) / "non_private_")
        return [
            path
            for suffix in (".png", ".svg")
            for path in (
                self._errors(f"{stem}errors{suffix}"),
                self._overlay(f"{stem}distributions{suffix}"),
                self._heatmap(f"{stem}mechanisms{suffix}"),
            )
        ]

    @property
    def _middle(self) -> str:
        return self.epsilons[len(self.epsilons) // 2]

    def _errors(self, path: str) -> Path:
        about = f"{self.name}: {self.rows:,} rows, {self.repetitions} releases each. {NOT_PRIVATE}"
        panels = {
            "distance of distributions (W1)": self._curves("w1"),
            "expected change of a count": self._curves("absolute"),
        }
        return error_curves(panels, path, title=about)

    def _curves(self, measure: str) -> dict[str, Curve]:
        curves: dict[str, list[tuple[float, float, float]]] = {}
        for row in self.summary:
            spread = row[f"spread of {measure}"] or 0.0  # no bar where one release was made
            point = (float(Fraction(row["epsilon"])), row[measure], spread)
            curves.setdefault(row["method"], []).append(point)
        return {method: sorted(points) for method, points in curves.items()}

    def _overlay(self, path: str) -> Path:
        shown = self._shown("default", "paper", "truncated-geometric")
        releases = {m: self.example(m, self._middle).distribution for m in shown}
        about = f"{self.name}, one release each at epsilon = {self._middle}. {NOT_PRIVATE}"
        return distribution_overlay(self.truth, releases, path, title=about)

    def _heatmap(self, path: str) -> Path:
        shown = self._shown("default", "unfixed-optimum", "truncated-geometric")
        matrices = {m: self.example(m, self._middle).mechanism.matrix for m in shown}
        what = f"probability of each published count, epsilon = {self._middle}"
        return transition_heatmap(matrices, path, title=f"{self.name}: {what}. {NOT_PRIVATE}")

    def _shown(self, *preferred: str) -> Sequence[str]:
        return [name for name in preferred if name in self.methods] or self.methods[:3]
