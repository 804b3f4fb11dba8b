"""The optimal f, its fit and the optimality gaps, beside the paper's."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.paper.experiments.claims import (
    BARS,
    Cell,
    Claim,
    RunMean,
    Verdict,
    budgets_of,
    number,
    sentence,
    sources,
)
from holdfast.paper.experiments.datasets import is_stand_in
from holdfast.paper.experiments.runner import Row

Optima = dict[Cell, float]

PRINTED_TABLE = {  # tenths, for the eleven budgets from the smallest up
    "uniform": (8, 8, 4, 3, 3, 2, 2, 1, 1, 1, 1),
    "left-skewed": (4, 3, 3, 3, 2, 2, 1, 1, 1, 1, 1),
    "right-skewed": (5, 4, 3, 2, 2, 2, 2, 1, 1, 1, 1),
    "bimodal": (7, 8, 5, 4, 3, 3, 1, 1, 1, 1, 1),
    "zero-inflated": (3, 3, 3, 2, 2, 2, 1, 1, 1, 1, 1),
    "top-inflated": (4, 3, 3, 3, 3, 2, 2, 1, 1, 1, 1),
}
PRINTED_FIT = {"A": "0.639", "B": "0.106", "K": "2.87"}
PRINTED_GAPS: dict[Cell, str] = {
    ("crime", 0.1): "0.024",
    ("crime", 0.5): "0.046",
    ("crime", 1.0): "0.017",
    ("crime", 5.0): "0",
    ("binomial", 0.1): "0.42",
}
FIT_WITHIN = 0.15
GAP_WITHIN = 0.05
GAP_RATIO = 2.0
GAP_DECIMALS = 3  # the paper's 0 stands beside 0.024, 0.046 and 0.017
PRINTED_RUNS = 20  # a point, of the printed table; the text says 100
TIED = 2.0  # standard errors between two objectives that nobody can tell apart


def rule(epsilon: Any) -> Any:
    """The paper's rule of thumb, unrounded.

    >>> round(float(rule(1.0)), 4)
    0.1362
    """
    return 0.106 + 0.533 * np.exp(-2.87 * np.asarray(epsilon))


@dataclass(frozen=True)
class Objective:
    """ln(count error) + ln(distribution error) at one share, and its standard error."""

    share: float
    value: float
    bar: float

    @property
    def by_rule(self) -> bool:
        """Whether the share is the rule's: all others are tenths."""
        return not math.isclose(10 * self.share, round(10 * self.share))


Objectives = dict[Cell, list[Objective]]


def objectives(
    rows: Sequence[Row], error: str = "absolute", distance: str = "wasserstein"
) -> Objectives:
    """The paper's combined error objective of every share, by data set and budget."""
    points: Objectives = {}
    for row in rows:
        relative = [row.get(f"{name}_se", 0.0) / row[name] for name in (error, distance)]
        value = math.log(row[error]) + math.log(row[distance])
        objective = Objective(float(row["share"]), value, math.hypot(*relative))
        points.setdefault((row["data"], row["epsilon"]), []).append(objective)
    return points


def best(points: Sequence[Objective]) -> Objective:
    """The least objective of the tenths."""
    return min((point for point in points if not point.by_rule), key=lambda point: point.value)


def optimal_table(rows: Sequence[Row], *measures: str) -> Optima:
    """The share with the least objective, by data set and budget."""
    return {cell: best(points).share for cell, points in objectives(rows, *measures).items()}


def fit(optima: Optima) -> tuple[float, float, float]:
    """A, B, K of f = B + (A - B) exp(-K ε), by least squares, as in the paper's appendix."""
    from scipy.optimize import curve_fit

    epsilon = np.array([epsilon for _, epsilon in optima])
    shares = np.array(list(optima.values()))

    def model(e: Any, a: float, b: float, k: float) -> Any:
        return b + (a - b) * np.exp(-k * e)

    bounds = ((0.0, 0.0, 0.0), (1.0, 1.0, 50.0))
    fitted, _ = curve_fit(model, epsilon, shares, p0=(0.6, 0.1, 3.0), bounds=bounds)
    a, b, k = (float(value) for value in fitted)
    return a, b, k


def printed_optima(rows: Sequence[Row]) -> Optima:
    """The paper's table, at the budgets of the rows."""
    return {
        (data, epsilon): tenths / 10
        for data, column in PRINTED_TABLE.items()
        for epsilon, tenths in zip(budgets_of(rows), column, strict=False)
    }


def optimal_claims(rows: Sequence[Row]) -> list[Claim]:
    """The table, the fit, its shape under every measure."""
    optima, printed = optimal_table(rows), printed_optima(rows)
    refitted = fit(printed)
    claims = [
        number(
            f"{name} of the rule of thumb, fitted to the paper's printed table",
            PRINTED_FIT[name],
            RunMean(value),
        )
        for name, value in zip("ABK", refitted, strict=True)
    ]
    here = fit(optima)
    claims += [_parameter(*pair, rows[0]["replications"]) for pair in zip("ABK", here, strict=True)]
    return [*claims, _agreement(rows, optima, printed), *_shapes(rows)]


def _parameter(name: str, here: float, runs: int) -> Claim:
    """Within 15 % or not; how far it is from another table's nobody can tell."""
    printed = float(PRINTED_FIT[name])
    near = abs(here / printed - 1) <= FIT_WITHIN
    return Claim(
        what=f"{name} of the rule of thumb, fitted to the table found here",
        paper=PRINTED_FIT[name],
        here=str(RunMean(here)),
        ratio=f"{here / printed:.3g}",
        verdict=Verdict.AGREES if near else Verdict.DIFFERS,
        limit=f"{'' if near else 'not '}within {FIT_WITHIN:.0%}",
        why=f"{runs} releases per point here; the printed table has {PRINTED_RUNS}, and from its "
        "own random numbers it comes out cell by cell (published-draws). Near its least value the "
        "objective is flat, so the best tenth at small ε_t jumps from run to run, and the fit with "
        f"it: of refits of such tables with {PRINTED_RUNS} releases about a third have A, B and K "
        "all within 15 % of the paper's.",
    )


def _agreement(rows: Sequence[Row], optima: Optima, printed: Optima) -> Claim:
    same = sum(math.isclose(optima[cell], printed[cell]) for cell in optima)
    near = sum(abs(optima[cell] - printed[cell]) < 0.15 for cell in optima)
    tied = sum(_is_tied(points, printed[cell]) for cell, points in objectives(rows).items())
    return sentence(
        "The table of optimal f, cell by cell",
        tied >= 0.9 * len(optima),
        f"{same} of {len(optima)} cells equal, {near} within 0.1; in {tied} the paper's f is best "
        f"or within {TIED:g} standard errors of the best",
        paper="66 cells",
    )


def _is_tied(points: Sequence[Objective], share: float) -> bool:
    least, theirs = best(points), next(o for o in points if math.isclose(o.share, share))
    return theirs.value - least.value <= TIED * math.hypot(least.bar, theirs.bar)


def _shapes(rows: Sequence[Row]) -> list[Claim]:
    words = {
        "wasserstein": "W1",
        "kolmogorov_smirnov": "KS",
        "total_variation": "total variation",
    }
    claims, budgets = [], budgets_of(rows)
    for error in ("absolute", "squared"):
        for distance, short in words.items():
            means = _means(optimal_table(rows, error, distance))
            rises = [
                f"{budget:g}"
                for budget, before, here in zip(budgets[1:], means, means[1:], strict=False)
                if here > before + 0.05
            ]
            claims.append(
                sentence(
                    f"The optimal f falls as ε_t grows ({error} error, {short})",
                    means[0] > means[-1] and not rises,
                    f"mean over the data sets from {means[0]:.2f} down to {means[-1]:.2f}"
                    + (f"; rises by more than 0.05 at ε_t = {', '.join(rises)}" if rises else ""),
                    reason="Sampling: the objective is flat near its least value.",
                )
            )
    return claims


def _means(optima: Optima) -> list[float]:
    """Over the data sets, by budget."""
    budgets = sorted({epsilon for _, epsilon in optima})
    return [
        float(np.mean([f for (_, e), f in optima.items() if e == epsilon])) for epsilon in budgets
    ]


def gap_claims(rows: Sequence[Row]) -> list[Claim]:
    """How far the rule's objective lies above the best."""
    where = sources(rows)
    gaps = optimality_gaps(rows)
    claims = [
        _gap(cell, printed, gaps[cell], where[cell[0]])
        for cell, printed in PRINTED_GAPS.items()
        if cell in gaps
    ]
    if ("binomial", 0.1) in gaps:
        worst = max(gaps, key=lambda cell: gaps[cell].mean)
        what = "The worst optimality gap is that of the binomial data at ε_t = 0.1"
        here = f"{worst[0]} at {worst[1]:g}: {gaps[worst]}"
        claims.append(sentence(what, worst == ("binomial", 0.1), here))
    for data in where:
        at = [gap.mean for (name, _), gap in gaps.items() if name == data]
        if len(at) > 1:
            shown = ", ".join(f"{value:.3f}" for value in at)
            pairs = list(itertools.combinations(at, 2))
            fall = sum(later < earlier for earlier, later in pairs)
            claims.append(
                sentence(
                    f"{data}: the optimality gap tends to fall as ε_t grows",
                    fall > len(pairs) / 2,
                    f"{shown}; it falls between {fall} of {len(pairs)} pairs of budgets; agrees "
                    "above half",
                    source=where[data],
                    reason="Gaps this small are the scatter of the objective near its least value.",
                )
            )
    return claims


def _gap(cell: Cell, printed: str, here: RunMean, source: str) -> Claim:
    """Within 0.05 of the printed gap and, where that is not 0, within a factor of two; what lies
    outside the factor by less than sampling error is undecided."""
    rounding = 0.5 * 10.0 ** -(GAP_DECIMALS if cell[0] == "crime" else 2)
    paper, sampling = float(printed), BARS * here.error
    low, high = paper / GAP_RATIO - rounding, paper * GAP_RATIO + rounding
    if not paper:
        high = GAP_WITHIN  # of nothing there is no ratio
    off = max(low - here.mean, here.mean - high, 0.0)
    verdict = Verdict.AGREES if off == 0 else Verdict.UNDECIDED
    if abs(here.mean - paper) > GAP_WITHIN + rounding or off > sampling:
        verdict = Verdict.DIFFERS
    return Claim(
        what=f"{cell[0]}, ε_t = {cell[1]:g}: optimality gap of the rule of thumb",
        paper=printed,
        here=str(here),
        ratio=f"{here.mean / paper:.3g}" if paper else "",
        verdict=Verdict.NOT_COMPARABLE if is_stand_in(source) else verdict,
        source=source,
        why=f"Accepted: {max(low, paper - GAP_WITHIN - rounding, 0):.3g} to "
        f"{min(high, paper + GAP_WITHIN + rounding):.3g}.",
    )


def optimality_gaps(rows: Sequence[Row]) -> dict[Cell, RunMean]:
    """How far the objective of the rule's share lies above the least, by data set and budget."""
    gaps = {}
    for cell, points in objectives(rows).items():
        least, chosen = best(points), next(point for point in points if point.by_rule)
        above = max(0.0, chosen.value - least.value)
        gaps[cell] = RunMean(above, math.hypot(least.bar, chosen.bar))
    return gaps
