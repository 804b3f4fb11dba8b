r"""`release.regress`: coefficients by estimating equations that the noise leaves unbiased.

With regressors x and counts as they truly are, coefficients solve $\sum_r \psi(d_r) = 0$ with
$\psi = x\,w(\mu)(z - \mu)$, $\mu = g(x \beta)$: least squares for $g$ the identity, quasi-Poisson
for the exponential, and w = 1/(1 + a μ) for counts more spread than that (negative binomial).

The outcome enters linearly, so a noisy count does as well as a true one. A private count among the
regressors does not: $\psi$ is replaced by

    U psi(y) = psi(y) - v/2 (psi(y + 1) - 2 psi(y) + psi(y - 1)),   v the variance of the noise,

whose mean over discrete Laplace noise is psi(d), for every function (NOTES 14; corrected scores,
Nakamura 1990). For least squares it is the classical correction that takes n v off the regressor's
sum of squares; of the staircase noise of larger contributions it is exact for quadratics, and close
for what is nearly so. Errors are robust: $A^{-1} B A^{-T}$, B from the contributions as they are,
noise included, so nothing about the law of the counts is assumed but their mean.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from holdfast.answers.answer import SIMULATED, check_level
from holdfast.answers.coefficients import Regression
from holdfast.answers.formula import Design, Formula, design, numbers_of, parse_formula
from holdfast.answers.labels import published
from holdfast.answers.selection import chosen_rows, picked_notes
from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError, listed_names, numbered
from holdfast.fit.histogram import LEVEL
from holdfast.release.release import Column, Release

FAMILIES = {
    "poisson": "poisson", "quasipoisson": "poisson", "negative binomial": "negative binomial",
    "nb": "negative binomial", "gaussian": "gaussian", "ols": "gaussian", "linear": "gaussian",
}  # fmt: skip
ROUNDS, LONGEST_STEP, TOLERANCE = 100, 2.0, 1e-9
HIDDEN, NEARLY_HIDDEN = 2.0, 4.0  # information, in standard deviations of what noise makes of it
DISPERSIONS = 3  # rounds in which the overdispersion is found anew
LARGEST_PREDICTOR = 50.0
SAME = (
    1e-13  # eigenvalue of regressors' correlations, beside the highest, of which one is superfluous
)

NEARLY = (
    "noise nearly hides what this regression rests on: with noise a little less lucky it would "
    "have been refused, and what is answered is bent by being answered"
)

Point = tuple[Floats, Any]
"""Weights of rows, and their regressors: sparse, as those of a column of names are."""


def regress(
    release: Release, text: str, *, family: str | None = None, where: Any = None,
    level: float = LEVEL,
) -> Regression:  # fmt: skip
    """The regression that a formula asks for, of all rows or of some; see `Release.regress`."""
    formula = parse_formula(text)
    private = [column.name for column in release.columns]
    columns = {name: release[name] for name in private}
    used = _used_counts(formula, private)
    outcome_is_count = formula.outcome.column in private
    family = str(family or ("poisson" if outcome_is_count else "gaussian"))
    if family.lower() not in FAMILIES:
        raise HoldfastError(f"`family` must be one of {', '.join(FAMILIES)}, got {family!r:.40}.")
    rows, notes = _rows(release, columns, used, where)

    def cells(column: str) -> Sequence[Any]:
        every = published(release, column, "formula")
        return [every[row] for row in rows.tolist()]

    if outcome_is_count:
        outcome = columns[formula.outcome.column].noisy[rows].astype(np.float64)
    else:
        outcome = numbers_of(formula.outcome, cells(formula.outcome.column))
        rows, outcome = rows[np.isfinite(outcome)], outcome[np.isfinite(outcome)]
    regressors = design(formula, cells, private, len(rows))
    left, rows = int((~regressors.used).sum()), rows[regressors.used]
    variances = {name: _variance(columns[name], rows) for name in used}
    equations = _Equations(
        design=regressors,
        outcome=outcome[regressors.used],
        noisy={name: columns[name].noisy[rows] for name in used},
        variances=variances,
        outcome_variance=variances.get(formula.outcome.column, np.zeros(len(rows))),
        family=FAMILIES[family.lower()],
    )
    values, covariance, alpha, hold = equations.solve()
    if hold < NEARLY_HIDDEN:
        notes.append(NEARLY)
    if left:
        notes.append(f"{numbered(left, 'row')} with empty cells left out")
    if release.promise.simulated:
        notes.append(SIMULATED)
    return Regression(
        formula=formula.text, family=equations.family, rows=len(rows),
        names=regressors.names, values=values, covariance=covariance, alpha=alpha,
        notes=tuple(notes), level=check_level(level),
    )  # fmt: skip


def _used_counts(formula: Formula, private: list[str]) -> list[str]:
    """The columns of counts that a formula uses; raises where it cannot be fitted to them."""
    used = [name for name in (formula.outcome.column, *formula.columns) if name in private]
    if not used:
        raise HoldfastError(
            f"the formula uses none of the counts ({listed_names(private)}). Hint: what is "
            "published unchanged can be regressed with any other software."
        )
    if formula.outcome.column in private and formula.outcome.function:
        raise HoldfastError(
            "the outcome must be the count itself. Hint: the families poisson and nb have the "
            "logarithm inside."
        )
    if formula.outcome.column in private and formula.outcome.column in formula.columns:
        raise HoldfastError("the count cannot be its own regressor.")
    return used


def _rows(
    release: Release, columns: dict[str, Column], used: list[str], where: Any
) -> tuple[Integers, list[str]]:
    """The rows that have the counts, and what to say of others."""
    inside = chosen_rows(release, where)
    complete = inside & ~np.any([columns[name].missing for name in used], axis=0)
    without = int(inside.sum() - complete.sum())
    notes = [f"{numbered(without, 'row')} without a count left out"] if without else []
    notes += [note for name in used for note in picked_notes(columns[name], complete)]
    return np.flatnonzero(complete), notes


def _variance(column: Column, rows: Integers) -> Floats:
    """Of the noise in each of these rows: none in those publicly known to be zero."""
    return np.where(column.measured[rows], column.measurement.noise.variance, 0.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Equations:
    """Estimating equations of some rows."""

    design: Design
    outcome: Floats
    noisy: dict[str, Integers]
    """Noisy counts of each column that is used."""
    variances: dict[str, Floats]
    """Of their noise."""
    outcome_variance: Floats
    family: str

    def solve(self) -> tuple[Floats, Floats, float | None, float]:
        """The coefficients, their covariance, the overdispersion where it is found, and what holds
        the coefficients: the least information, in standard deviations of what noise makes of it.
        """
        points = list(self._points())
        self._check(points[0][1])
        beta, alpha = self._start(points), 0.0
        rounds = DISPERSIONS if self.family == "negative binomial" else 0
        for _ in range(rounds + 1):
            beta = self._solved(points, beta, alpha)
            if rounds:
                alpha = self._dispersion(points, beta)
        each = self._residuals(points, beta, alpha)
        contributions = sum(_weighted(matrix, rest) for matrix, rest, _ in each)
        rows, size = contributions.shape
        slope = self._psi(points, beta, alpha)[1]
        of_regressors, hold = self._hold(points, beta, alpha, slope)
        if of_regressors < HIDDEN:
            raise _hidden(self.family)
        bread = np.linalg.inv(slope)
        meat = (contributions.T @ contributions).toarray() * rows / max(rows - size, 1)
        return beta, bread @ meat @ bread.T, alpha if rounds else None, hold

    def _points(self) -> Iterator[Point]:
        """The matrices at which equations are evaluated, the noisy counts themselves first, and
        the weight of each row there; their weighted sum has no bias from noise."""
        from scipy.sparse import csr_array

        used = {f.column for block in self.design.blocks for f in block.counts}
        private = [name for name in self.noisy if name in used]
        for steps in product((0, 1, -1), repeat=len(private)):
            step_of = dict(zip(private, steps, strict=True))
            weight = np.ones(len(self.outcome))
            for name, step in step_of.items():
                v = self.variances[name]
                weight = weight * (-v / 2 if step else 1 + v)
            matrix = self.design.at(lambda name, at=step_of: self.noisy[name] + at[name])  # type: ignore[misc]
            yield weight, csr_array(matrix)

    def _check(self, matrix: Any) -> None:
        rows, size = matrix.shape
        if not size or rows <= size:
            raise HoldfastError(f"the regression has {rows:,} rows for {size:,} coefficients.")
        products = (matrix.T @ matrix).toarray()
        lengths = np.sqrt(np.maximum(np.diag(products), 1e-300))
        values = np.linalg.eigvalsh(products / np.outer(lengths, lengths))
        if values[0] < SAME * values[-1]:
            raise HoldfastError(
                f"the regressors ({', '.join(self.design.names)[:200]}) say the same thing twice. "
                "Hint: leave one out."
            )

    def _start(self, points: list[Point]) -> Floats:
        matrix, goal = points[0][1], self.outcome
        if self.family != "gaussian":
            goal = np.log(np.maximum(self.outcome, 0) + 0.5)
        products = (matrix.T @ matrix).toarray()
        return np.linalg.solve(products, matrix.T @ (goal - self.design.offset))

    def _solved(self, points: list[Point], beta: Floats, alpha: float) -> Floats:
        """By Newton's steps, none of them long."""
        for _ in range(ROUNDS):
            sums, slope = self._psi(points, beta, alpha)
            try:
                step = np.linalg.solve(slope, sums)
            except np.linalg.LinAlgError:
                break
            far = float(np.abs(points[0][1] @ step).max())
            if self.family != "gaussian" and far > LONGEST_STEP:
                step *= LONGEST_STEP / far
            beta = beta + step
            if self.family == "gaussian" or far < TOLERANCE:
                return beta
        raise _hidden(self.family)

    def _hold(
        self, points: list[Point], beta: Floats, alpha: float, slope: Floats
    ) -> tuple[float, float]:
        r"""The least information of any direction, in standard deviations of what the noise of
        regressors makes of it, and of what all noise does.

        In direction e the information is a sum over rows of $U f(y)$, with
        $f = \mu' (x e)^2$. Its variance over the noise has the unbiased estimate
        $(U f)^2 - U f^2$ in each row. Where the mean is not linear, the noise of the outcome enters
        by way of $\mu$ with $v (x e)^4$; it bends less, and intervals cover whatever it is.
        """
        scale = 1 / np.sqrt(np.maximum(points[0][1].power(2).sum(axis=0), 1e-300))
        information, ways = np.linalg.eigh(slope * np.outer(scale, scale))
        mean, square, outcome = np.zeros((3, len(self.outcome), len(scale)))
        for weight, matrix in points:
            fitted, steep = self._mean(matrix @ beta + self.design.offset)
            along = (
                np.asarray(matrix @ (scale[:, None] * ways)) ** 2 / (1 + alpha * fitted)[:, None]
            )
            each = along * steep[:, None]
            mean, square = mean + weight[:, None] * each, square + weight[:, None] * each**2
            if self.family != "gaussian":
                outcome += (weight * self.outcome_variance)[:, None] * along**2
        of_regressors = (mean**2 - square).sum(axis=0)
        noise = np.array([of_regressors, of_regressors + outcome.sum(axis=0)])
        least = (information / np.sqrt(np.maximum(noise, SAME**2))).min(axis=1)
        return float(least[0]), float(least[1])

    def _residuals(
        self, points: list[Point], beta: Floats, alpha: float
    ) -> Iterator[tuple[Any, Floats, Floats]]:
        """At each point the matrix, what is left of each outcome, and its slope, sign turned."""
        for weight, matrix in points:
            mean, steep = self._mean(matrix @ beta + self.design.offset)
            inverse = weight / (1 + alpha * mean) if alpha else weight
            yield matrix, inverse * (self.outcome - mean), inverse * steep

    def _psi(self, points: list[Point], beta: Floats, alpha: float) -> tuple[Floats, Floats]:
        """The equations, and their slope with its sign turned."""
        sums, slope = np.zeros(len(beta)), np.zeros((len(beta), len(beta)))
        for matrix, rest, steep in self._residuals(points, beta, alpha):
            sums += matrix.T @ rest
            slope += (matrix.T @ _weighted(matrix, steep)).toarray()
        return sums, slope

    def _mean(self, eta: Floats) -> tuple[Floats, Floats]:
        """The mean outcome and its slope."""
        if self.family == "gaussian":
            return eta, np.ones_like(eta)
        mean = np.exp(np.clip(eta, -LARGEST_PREDICTOR, LARGEST_PREDICTOR))
        return mean, mean

    def _dispersion(self, points: list[Point], beta: Floats) -> float:
        """a in Var = mean + a mean^2, by moments, with the noise of the outcome taken off."""
        above, below = 0.0, 0.0
        for weight, matrix in points:
            mean, _ = self._mean(matrix @ beta + self.design.offset)
            rest = (self.outcome - mean) ** 2 - self.outcome_variance - mean
            above, below = above + float(weight @ rest), below + float(weight @ mean**2)
        return max(above / max(below, 1e-300), 0.0)


def _hidden(family: str) -> HoldfastError:
    line = "" if family == "gaussian" else ", or a line, by family='gaussian' or 'ols' before it"
    return HoldfastError(
        "the noise hides how much the counts differ from row to row, or that they are above 0, so "
        f"the regression has no hold here. Hint: more rows, fewer regressors{line}."
    )


def _weighted(matrix: Any, weights: Floats) -> Any:
    """The matrix with each of its rows times a weight."""
    from scipy.sparse import diags_array

    return diags_array(weights) @ matrix
