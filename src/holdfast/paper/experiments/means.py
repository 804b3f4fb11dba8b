"""Means by data set, method and budget, from the rows of a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from holdfast.paper.experiments.claims import Estimate, clearly_below, estimate
from holdfast.paper.experiments.runner import Row

BASELINES = ("unfixed-optimum", "truncated-geometric", "staircase", "discrete-gaussian")
BEYOND = "cumulative"
"""Not the paper's: noise on the cumulative histogram, isotonic regression, the optimum."""
Cell = tuple[str, float]
"""A data set and a budget."""


@dataclass(frozen=True)
class Means:
    """The means of one measure by (data, method, budget)."""

    found: Mapping[tuple[str, str, float], Estimate]

    def __getitem__(self, key: tuple[str, str, float]) -> Estimate:
        return self.found[key]

    @property
    def cells(self) -> list[Cell]:
        """Every data set at every budget, in the order of the rows."""
        return list(dict.fromkeys((data, epsilon) for data, _, epsilon in self.found))

    def at(self, cell: Cell, method: str) -> float:
        """The mean of a method on a data set at a budget."""
        return self.found[cell[0], method, cell[1]].mean

    def best(self, cell: Cell, methods: Sequence[str] = BASELINES) -> str:
        """Which of the methods that were run has the least mean."""
        data, epsilon = cell
        run = [method for method in methods if (data, method, epsilon) in self.found]
        return min(run, key=lambda method: self.at(cell, method))

    def above(self, method: str, other: str) -> list[str]:
        """Where a method's mean is larger than another's, in words."""
        cells = [cell for cell in self.cells if self.at(cell, method) > self.at(cell, other)]
        return [f"{data} at {epsilon:g}" for data, epsilon in cells]

    def beaten(self, method: str) -> list[Cell]:
        """Where the mean of a baseline is below the method's."""
        return [c for c in self.cells if self.at(c, self.best(c)) < self.at(c, method)]

    def surely_beaten(self, method: str) -> list[Cell]:
        """Where it is below by more than sampling error."""
        return [
            (data, epsilon)
            for data, epsilon in self.beaten(method)
            if clearly_below(
                self[data, self.best((data, epsilon)), epsilon], self[data, method, epsilon]
            )
        ]


def sources(rows: Sequence[Row]) -> dict[str, str]:
    """Where each data set comes from, in the order of the rows."""
    return {row["data"]: row["source"] for row in rows if "data" in row}


def means_of(rows: Sequence[Row], measure: str) -> Means:
    """The mean of a measure by (data, method, budget)."""
    grouped: dict[tuple[str, str, float], list[float]] = {}
    for row in rows:
        grouped.setdefault((row["data"], row["method"], row["epsilon"]), []).append(row[measure])
    return Means({key: estimate(values) for key, values in grouped.items()})


def budgets_of(rows: Sequence[Row]) -> list[float]:
    """The budgets of the grid, ascending."""
    return sorted({row["epsilon"] for row in rows})


def nearest(rows: Sequence[Row], epsilon: float) -> float:
    """The budget of the grid nearest to one that the paper prints rounded."""
    return min(budgets_of(rows), key=lambda e: abs(e - epsilon))


def listing(items: Sequence[str], most: int = 6) -> str:
    """Names in a sentence; "none" for none."""
    shown = ", ".join(items[:most])
    return (shown + (f" and {len(items) - most} more" if len(items) > most else "")) or "none"
