"""The optimal f, its fit and the optimality gaps, beside the paper's."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.studies.reproduce.claims import Claim, Estimate, Verdict, number, sentence
from holdfast.studies.reproduce.means import sources
from holdfast.studies.runner import Row

Optima = dict[tuple[str, float], float]

PRINTED_TABLE = {  # tenths, for the eleven budgets from the smallest up
    "uniform": (8, 8, 4, 3, 3, 2, 2, 1, 1, 1, 1),
    "left-skewed": (4, 3, 3, 3, 2, 2, 1, 1, 1, 1, 1),
    "right-skewed": (5, 4, 3, 2, 2, 2, 2, 1, 1, 1, 1),
    "bimodal": (7, 8, 5, 4, 3, 3, 1, 1, 1, 1, 1),
    "zero-inflated": (3, 3, 3, 2, 2, 2, 1, 1, 1, 1, 1),
    "top-inflated": (4, 3, 3, 3, 3, 2, 2, 1, 1, 1, 1),
}
PRINTED_FIT = {"A": "0.639", "B": "0.106", "K": "2.87"}
PRINTED_GAPS = ((0.1, "0.024"), (0.5, "0.046"), (1.0, "0.017"), (5.0, "0"))
FIT_WITHIN = 0.15
GAP_WITHIN = 0.05
GAP_DECIMALS = 3  # the paper's 0 stands beside 0.024, 0.046 and 0.017
AGAIN = 200
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
    by_rule: bool


def objective(row: Row, error: str, distance: str) -> Objective:
    """The paper's combined error objective of a row of means."""
    relative = [row[f"{name}_se"] / row[name] for name in (error, distance)]
    return Objective(
        share=float(row["share"]),
        value=math.log(row[error]) + math.log(row[distance]),
        bar=math.hypot(*relative),
        by_rule=row.get("by_rule") == "yes",
    )


def objectives(
    rows: Sequence[Row], data: str, epsilon: float, error: str = "absolute",
    distance: str = "wasserstein",
) -> list[Objective]:  # fmt: skip
    """All shares of one data set and budget."""
    chosen = [row for row in rows if row["data"] == data and row["epsilon"] == epsilon]
    return [objective(row, error, distance) for row in chosen]


def optimal_table(rows: Sequence[Row], error: str, distance: str) -> Optima:
    """The share with the least objective, by data set and budget."""
    cells = dict.fromkeys((row["data"], row["epsilon"]) for row in rows)
    return {
        cell: min(objectives(rows, *cell, error, distance), key=lambda o: o.value).share
        for cell in cells
    }


def fit(optima: Optima) -> tuple[float, float, float]:
    """A, B, K of f = B + (A - B) exp(-K ε), by least squares, as in the paper's appendix."""
    from scipy.optimize import curve_fit

    epsilon = np.array([epsilon for _, epsilon in optima])
    shares = np.array(list(optima.values()))

    def model(e: Any, a: float, b: float, k: float) -> Any:
        return b + (a - b) * np.exp(-k * e)

    bounds = ((0.0, 0.0, 0.0), (1.0, 1.0, 50.0))
    found, _ = curve_fit(model, epsilon, shares, p0=(0.6, 0.1, 3.0), bounds=bounds)
    a, b, k = (float(value) for value in found)
    return a, b, k


@dataclass(frozen=True, kw_only=True)
class Refits:
    """A, B, K of the table found, and of tables that might as well have been found."""

    found: tuple[float, float, float]
    again: Any
    """A, B, K by refit, with as many releases per point as here."""
    printed: Any
    """The same with as many as the printed table has."""

    def interval(self, index: int) -> tuple[float, float]:
        """Where 95 % of the refits lie that have the printed table's releases."""
        low, high = np.quantile(self.printed[:, index], (0.025, 0.975))
        return float(low), float(high)

    def all_near(self) -> float:
        """The share of those refits with A, B and K all within 15 % of the paper's."""
        off = np.abs(self.printed / [float(PRINTED_FIT[name]) for name in "ABK"] - 1)
        return float((off <= FIT_WITHIN).all(axis=1).mean())


def refits(rows: Sequence[Row]) -> Refits:
    """The scatter of the fit: objectives moved by their standard errors, the best tenths and the
    fit found again."""
    rng = np.random.default_rng(2025)
    cells = dict.fromkeys((row["data"], row["epsilon"]) for row in rows)
    points = {cell: objectives(rows, *cell) for cell in cells}
    fewer = math.sqrt(rows[0]["replications"] / PRINTED_RUNS)

    def again(wider: float) -> tuple[float, float, float]:
        best = {
            c: min(p, key=lambda o: rng.normal(o.value, wider * o.bar)).share
            for c, p in points.items()
        }
        return fit(best)

    return Refits(
        found=fit(optimal_table(rows, "absolute", "wasserstein")),
        again=np.array([again(1.0) for _ in range(AGAIN)]),
        printed=np.array([again(fewer) for _ in range(AGAIN)]),
    )


def printed_optima(rows: Sequence[Row]) -> Optima:
    """The paper's table, at the budgets of the rows."""
    budgets = sorted({row["epsilon"] for row in rows})
    return {
        (data, epsilon): tenths / 10
        for data, column in PRINTED_TABLE.items()
        for epsilon, tenths in zip(budgets, column, strict=False)
    }


def optimal_claims(rows: Sequence[Row]) -> list[Claim]:
    """The table, the fit, its shape under every measure."""
    found, printed = optimal_table(rows, "absolute", "wasserstein"), printed_optima(rows)
    refitted = fit(printed)
    claims = [
        number(
            f"{name} of the rule of thumb, fitted to the paper's printed table",
            PRINTED_FIT[name],
            Estimate(value),
        )
        for name, value in zip("ABK", refitted, strict=True)
    ]
    scatter = refits(rows)
    claims += [_parameter(scatter, index, rows[0]["replications"]) for index in range(3)]
    return [*claims, _agreement(rows, found, printed), *_shapes(rows)]


def _parameter(scatter: Refits, index: int, runs: int) -> Claim:
    """Within 15 % or not, and whether the scatter of the printed table would explain it."""
    name = "ABK"[index]
    printed, here = float(PRINTED_FIT[name]), scatter.found[index]
    off, (low, high) = here / printed - 1, scatter.interval(index)
    error = float(np.std(scatter.again[:, index], ddof=1))
    near = abs(off) <= FIT_WITHIN
    return Claim(
        what=f"{name} of the rule of thumb, fitted to the table found here",
        paper=PRINTED_FIT[name],
        here=str(Estimate(here, error)),
        ratio=f"{1 + off:.3g}",
        verdict=Verdict.AGREES if near else Verdict.DIFFERS,
        limit=f"{'' if near else 'not '}within {FIT_WITHIN:.0%}",
        why=f"{runs} releases per point here; the printed table has {PRINTED_RUNS}, and from its "
        "own random numbers it comes out cell by cell (published-draws). Near its least value the "
        "objective is flat, so the best tenth at small ε_t jumps from run to run: of refits with "
        f"{PRINTED_RUNS} releases 95 % lie in {low:.3g} to {high:.3g}, and the paper's "
        f"{PRINTED_FIT[name]} is {'inside' if low <= printed <= high else 'outside'}; "
        f"{scatter.all_near():.0%} have A, B and K all within {FIT_WITHIN:.0%} of the paper's.",
    )


def _agreement(rows: Sequence[Row], found: Optima, printed: Optima) -> Claim:
    same = sum(math.isclose(found[cell], printed[cell]) for cell in found)
    near = sum(abs(found[cell] - printed[cell]) < 0.15 for cell in found)
    tied = sum(_is_tied(rows, cell, printed[cell]) for cell in found)
    return sentence(
        "The table of optimal f, cell by cell",
        tied >= 0.9 * len(found),
        f"{same} of {len(found)} cells equal, {near} within 0.1; in {tied} the paper's f is best "
        f"or within {TIED:g} standard errors of the best",
        paper="66 cells",
    )


def _is_tied(rows: Sequence[Row], cell: tuple[str, float], share: float) -> bool:
    points = {round(o.share, 3): o for o in objectives(rows, *cell)}
    best, theirs = min(points.values(), key=lambda o: o.value), points[round(share, 3)]
    return theirs.value - best.value <= TIED * math.hypot(best.bar, theirs.bar)


def _shapes(rows: Sequence[Row]) -> list[Claim]:
    words = {
        "wasserstein": "W1",
        "kolmogorov_smirnov": "KS",
        "total_variation": "total variation",
    }
    claims = []
    for error in ("absolute", "squared"):
        for distance, short in words.items():
            optima = optimal_table(rows, error, distance)
            rises = _rises(optima)
            means = _means(optima)
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
    budgets = sorted({epsilon for _, epsilon in optima})
    return [
        float(np.mean([f for (_, e), f in optima.items() if e == epsilon])) for epsilon in budgets
    ]


def _rises(optima: Optima) -> list[str]:
    """Budgets at which the mean over the data sets rises clearly against the one before."""
    budgets, means = sorted({epsilon for _, epsilon in optima}), _means(optima)
    return [f"{budgets[k]:g}" for k in range(1, len(means)) if means[k] > means[k - 1] + 0.05]


def gap_claims(rows: Sequence[Row]) -> list[Claim]:
    """How far the rule's objective lies above the best."""
    where = sources(rows)
    gaps = {
        (data, epsilon): _gap(rows, data, epsilon)
        for data in where
        for epsilon in sorted({row["epsilon"] for row in rows})
    }
    claims = [
        number(
            f"crime, ε_t = {epsilon:g}: optimality gap of the rule of thumb",
            printed,
            gaps["crime", epsilon],
            margin=GAP_WITHIN,
            flat=True,
            decimals=GAP_DECIMALS,
            source=where["crime"],
        )
        for epsilon, printed in PRINTED_GAPS
        if ("crime", epsilon) in gaps
    ]
    if ("binomial", 0.1) in gaps:
        worst = max(gaps, key=lambda cell: gaps[cell].mean)
        claims += [
            number(
                "binomial, ε_t = 0.1: optimality gap of the rule of thumb",
                "0.42",
                gaps["binomial", 0.1],
                margin=GAP_WITHIN,
                source=where["binomial"],
            ),
            sentence(
                "The worst optimality gap is that of the binomial data at ε_t = 0.1",
                worst == ("binomial", 0.1),
                f"{worst[0]} at {worst[1]:g}: {gaps[worst]}",
            ),
        ]
    for data in where:
        at = [gap.mean for (name, _), gap in gaps.items() if name == data]
        if len(at) > 1:
            shown = ", ".join(f"{value:.3f}" for value in at)
            falls, source = at[-1] < at[0], where[data]
            what = f"{data}: the optimality gap tends to fall as ε_t grows"
            here = f"{shown}; agrees if the last is below the first"
            claims.append(sentence(what, falls, here, source=source))
    return claims


def _gap(rows: Sequence[Row], data: str, epsilon: float) -> Estimate:
    points = objectives(rows, data, epsilon)
    best = min((p for p in points if not p.by_rule), key=lambda o: o.value)
    chosen = next(p for p in points if p.by_rule)
    difference = chosen.value - best.value
    return Estimate(max(0.0, difference), math.hypot(best.bar, chosen.bar))
