"""What the paper says beside what was found here: a number or a sentence, and a verdict."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from holdfast.paper.experiments.datasets import is_stand_in
from holdfast.paper.experiments.runner import Row

BARS = 3.0  # standard errors of a difference that count as sampling error


class Verdict(Enum):
    """Whether two things agree; the value is how the report says it."""

    AGREES = "agrees"
    DIFFERS = "differs"
    UNDECIDED = "undecided"
    NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A line of the table "paper, here, ratio"."""

    what: str
    """What the number is, or what the sentence says."""
    paper: str
    """What the paper has."""
    here: str
    """What was found here, with its standard error where there is one."""
    ratio: str = ""
    """Here over paper, for numbers."""
    verdict: Verdict
    """Whether they agree."""
    limit: str = ""
    """Within what, where that is not sampling error."""
    why: str = ""
    """Why not, or how it was compared."""
    source: str = ""
    """Where the data come from, for a claim about one data set."""

    @property
    def stand_in(self) -> bool:
        """Whether it is about data that stand in for the paper's."""
        return is_stand_in(self.source)

    @property
    def counts_as(self) -> Verdict:
        """The verdict that is counted: of stand-in data there is none."""
        return Verdict.NOT_COMPARABLE if self.stand_in else self.verdict

    @property
    def verdict_words(self) -> str:
        """The verdict as the report says it."""
        parts = ("stand-in data" if self.stand_in else "", self.verdict.value, self.limit)
        return ": ".join(filter(None, parts))


@dataclass(frozen=True)
class RunMean:
    """A mean and its standard error; also the spread of one run, where known."""

    mean: float
    error: float = 0.0
    spread: float = 0.0

    def __str__(self) -> str:
        exact = not self.error and self.mean == round(self.mean)
        shown = f"{self.mean:.0f}" if exact else f"{self.mean:.3g}"
        return shown + (f" ± {self.error:.1g}" if self.error else "")


def estimate(values: Iterable[float]) -> RunMean:
    """The mean of independent runs.

    >>> str(estimate([1.0, 2.0, 3.0]))
    '2 ± 0.6'
    """
    numbers = [float(value) for value in values]
    mean = math.fsum(numbers) / len(numbers)
    if len(numbers) < 2:
        return RunMean(mean)
    spread = math.sqrt(math.fsum((x - mean) ** 2 for x in numbers) / (len(numbers) - 1))
    return RunMean(mean, spread / math.sqrt(len(numbers)), spread)


def number(
    what: str,
    paper: str,
    here: RunMean,
    *,
    runs: int | None = None,
    decimals: int | None = None,
    source: str = "",
    reason: str = "",
    always: str = "",
) -> Claim:
    """A printed number beside a mean.

    They agree if they differ by no more than the sampling error of both (the paper's mean has
    `runs` runs) and its rounding. `decimals` are those it was rounded to, where fewer are printed:
    a 0 beside 0.024. `reason` is said only where they differ, `always` in any case.

    >>> number("W1", "0.64", RunMean(0.641, 0.002, 0.006), runs=10).verdict.value
    'agrees'
    """
    printed = float(paper.rstrip("%"))
    if decimals is None:
        decimals = len(paper.rstrip("%").partition(".")[2])
    sampling = math.hypot(here.error, here.spread / math.sqrt(runs) if runs else 0.0)
    allowed = BARS * sampling + 0.5 * 10.0**-decimals
    fits = abs(here.mean - printed) <= allowed * (1 + 1e-9)
    verdict = Verdict.AGREES if fits else Verdict.DIFFERS
    low, high = printed - allowed, printed + allowed
    accepted = f"Accepted: {low:.3g} to {high:.3g}." if sampling else ""
    return Claim(
        what=what,
        paper=paper,
        here=str(here) + ("%" if paper.endswith("%") else ""),
        ratio=f"{here.mean / printed:.3g}" if printed else "",
        verdict=Verdict.NOT_COMPARABLE if is_stand_in(source) else verdict,
        source=source,
        why=" ".join(filter(None, (always or ("" if fits else reason), accepted))),
    )


def sentence(
    what: str,
    holds: bool | None,
    here: str,
    *,
    source: str = "",
    paper: str = "yes",
    reason: str = "",
) -> Claim:
    """A statement of the paper, and whether the numbers bear it out; None: they cannot tell."""
    verdict = Verdict.AGREES if holds else Verdict.DIFFERS
    return Claim(
        what=what,
        paper=paper,
        here=here,
        verdict=Verdict.UNDECIDED if holds is None else verdict,
        why="" if holds else reason,
        source=source,
    )


def clearly_below(one: RunMean, other: RunMean) -> bool:
    """Whether a mean lies below another by more than sampling error."""
    return other.mean - one.mean > BARS * math.hypot(one.error, other.error)


BASELINES = ("unfixed-optimum", "truncated-geometric", "staircase", "discrete-gaussian")
BEYOND = "cumulative"
"""Not the paper's: noise on the cumulative histogram, isotonic regression, the optimum."""
Cell = tuple[str, float]
"""A data set and a budget."""


@dataclass(frozen=True)
class Means:
    """The means of one measure by (data, method, budget)."""

    estimates: Mapping[tuple[str, str, float], RunMean]

    def __getitem__(self, key: tuple[str, str, float]) -> RunMean:
        return self.estimates[key]

    @property
    def cells(self) -> list[Cell]:
        """Every data set at every budget, in the order of the rows."""
        return list(dict.fromkeys((data, epsilon) for data, _, epsilon in self.estimates))

    def at(self, cell: Cell, method: str) -> float:
        """The mean of a method on a data set at a budget."""
        return self.estimates[cell[0], method, cell[1]].mean

    def best(self, cell: Cell, methods: Sequence[str] = BASELINES) -> str:
        """Which of the methods that were run has the least mean."""
        data, epsilon = cell
        run = [method for method in methods if (data, method, epsilon) in self.estimates]
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
