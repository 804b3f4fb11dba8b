"""The most plausible distribution of a part's counts: the table's, tilted as the part asks for."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from holdfast.analysis.parts.profile import Drawn
from holdfast.arrays import Floats

SCALES = (0.03, 0.1, 0.3, 0.7, 1.5, 3.0)
"""How unlike the table a part may be: standard deviations of its tilts, each as likely."""
DEVIATIONS = np.array([1.0, 1.0, 1.0, 0.5, 0.3, 1.0])
"""Of each tilt, before it is scaled."""
ROUNDS = 50


@dataclass(frozen=True, kw_only=True, eq=False)
class Tilted:
    """One scale's fit."""

    weight: float
    """How plausible the scale is, from the released counts."""
    law: Floats = field(repr=False)
    """The distribution that the true counts seem to come from."""
    posterior: Floats = field(repr=False)
    """Of the true count (rows) given each released count that occurs (columns)."""
    covariance: Floats = field(repr=False)
    """Of the tilts."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    r"""Rows' true counts, estimated from their released ones by a model with few parameters.

    $p_i \propto z_i e^{(B\beta)_i}$ with z the table's distribution and B six columns: the zeros,
    log(1+i), its square and cube, a wave, the top. $\beta \sim N(0, (s \cdot \text{deviations})^2)$
    by Laplace's approximation, averaged over the scale s: a part that looks like the table
    stays near z, one that does not goes where its released counts point. The true counts are
    then those rows' own, $\sum_j y_j p_i T_{ij} / (pT)_j$, and not a sample of p. Used for the
    estimate and its standard error; the interval does without it.
    """

    drawn: Drawn
    prior: Floats = field(repr=False)
    """z."""

    @cached_property
    def fits(self) -> tuple[Tilted, ...]:
        """One for each scale, weights adding up to 1."""
        start = np.zeros(len(DEVIATIONS))
        found = []
        for scale in SCALES:
            start, evidence, covariance = self._fit(scale, start)
            law = self._law(start)
            found.append((evidence, law, covariance))
        weights = np.exp(np.array([fit[0] for fit in found]) - max(fit[0] for fit in found))
        return tuple(
            Tilted(
                weight=float(weight),
                law=law,
                posterior=law[:, None] * self.drawn.kernel / (law @ self.drawn.kernel),
                covariance=covariance,
            )
            for weight, (_, law, covariance) in zip(weights / weights.sum(), found, strict=True)
        )

    @cached_property
    def histogram(self) -> Floats:
        """Expected numbers of rows with each true count."""
        return np.asarray(sum(fit.weight * (fit.posterior @ self.drawn.seen) for fit in self.fits))

    @cached_property
    def law(self) -> Floats:
        """The distribution that the rows seem to come from: the prior of one of them."""
        return np.asarray(sum(fit.weight * fit.law for fit in self.fits))

    def variance(self, f: Floats) -> float:
        """Of f · h, h the true histogram: of the rows' counts given p, and of p itself."""
        found = [(fit.weight, *self._moments(fit, f)) for fit in self.fits]
        mean = sum(weight * value for weight, value, _ in found)
        return sum(weight * (spread + (value - mean) ** 2) for weight, value, spread in found)

    def _moments(self, fit: Tilted, f: Floats) -> tuple[float, float]:
        seen, tilts = self.drawn.seen, self._tilts
        means = f @ fit.posterior
        within = (f * f) @ fit.posterior - means * means
        slope = (fit.posterior @ seen * f) @ tilts - (means * seen) @ (fit.posterior.T @ tilts)
        return float(means @ seen), float(within @ seen + slope @ fit.covariance @ slope)

    @cached_property
    def _tilts(self) -> Floats:
        return tilts(len(self.prior))

    def _law(self, beta: Floats) -> Floats:
        logs = np.log(self.prior + 1e-6 / len(self.prior)) + self._tilts @ beta
        shares = np.exp(logs - logs.max())
        return np.asarray(shares / shares.sum())

    def _fit(self, scale: float, beta: Floats) -> tuple[Floats, float, Floats]:
        """The most plausible tilts at this scale, the log of its evidence, their covariance."""
        drawn, tilts, precision = self.drawn, self._tilts, 1 / (scale * DEVIATIONS) ** 2

        def objective(b: Floats) -> float:
            mixed = self._law(b) @ drawn.kernel
            return float(drawn.seen @ np.log(mixed) - precision @ (b * b) / 2)

        value = objective(beta)
        for _ in range(ROUNDS):
            law = self._law(beta)
            expected = law * (drawn.kernel @ (drawn.seen / (law @ drawn.kernel)))
            gradient = tilts.T @ (expected - drawn.rows * law) - precision * beta
            step = np.linalg.solve(self._information(law) + np.diag(precision), gradient)
            size, better = 1.0, objective(beta + step)
            while better < value and size > 1e-4:
                size /= 2
                better = objective(beta + size * step)
            gain, value, beta = better - value, better, beta + size * step
            if abs(gain) < 1e-7 * (1 + abs(value)):
                break
        hessian = self._information(self._law(beta)) + np.diag(precision)
        evidence = value + (np.log(precision).sum() - np.linalg.slogdet(hessian)[1]) / 2
        return beta, float(evidence), np.asarray(np.linalg.inv(hessian), dtype=np.float64)

    def _information(self, law: Floats) -> Floats:
        """Fisher's, of the tilts in the released counts."""
        change = self.drawn.kernel.T @ (law[:, None] * (self._tilts - law @ self._tilts))
        return np.asarray(
            (change / (law @ self.drawn.kernel)[:, None]).T @ change * self.drawn.rows
        )


def tilts(n: int) -> Floats:
    """B: what a tilt does to the log share of each count, a column for each tilt."""
    steps = np.arange(n)
    height = np.log1p(steps)
    t = height / height[-1] if height[-1] else height
    columns = [
        steps == 0,
        height - height.mean(),
        4 * (t - 0.5) ** 2,
        (2 * t - 1) ** 3,
        np.cos(2 * np.pi * t),
        steps == n - 1,
    ]
    return np.column_stack(columns).astype(np.float64)
