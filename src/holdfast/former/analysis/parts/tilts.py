"""The most plausible distribution of a part's counts: the table's, tilted as the part asks for."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from holdfast.arrays import Floats
from holdfast.former.analysis.parts.profile import Drawn

SCALES = (0.03, 0.1, 0.3, 0.7, 1.5, 3.0)
"""How unlike the table a part may be: standard deviations of its tilts, each as likely."""
DEVIATIONS = np.array([1.0, 1.0, 1.0, 0.5, 0.3, 1.0])
"""Of each tilt, before it is scaled."""
ROUNDS = 50


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Rows of one mechanism, and what is known of them before their counts are looked at."""

    drawn: Drawn
    prior: Floats = field(repr=False)
    """z."""

    def law(self, tilt: Floats) -> Floats:
        """z, tilted."""
        logs = np.log(self.prior + 1e-6 / len(self.prior)) + tilt
        shares = np.exp(logs - logs.max())
        return np.asarray(shares / shares.sum())

    def posterior(self, tilt: Floats) -> Floats:
        """Of the true count (rows) given each released count that occurs (columns)."""
        law = self.law(tilt)
        return law[:, None] * self.drawn.kernel / (law @ self.drawn.kernel)


@dataclass(frozen=True, kw_only=True, eq=False)
class Tilted:
    """One scale's fit."""

    weight: float
    """How plausible the scale is, from the released counts."""
    beta: Floats
    """The tilts."""
    covariance: Floats = field(repr=False)
    """Of the tilts."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    r"""Rows' true counts, estimated from their released ones by a model with few parameters.

    $p_i \propto z_i e^{(B\beta)_i}$ with z the distribution of the table (or of each row's group)
    and B six columns: the zeros, log(1+i), its square and cube, a wave, the top.
    $\beta \sim N(0, (s \cdot \text{deviations})^2)$ by Laplace's approximation, averaged over the
    scale s: a part that looks like the table stays near z, one that does not goes where its
    released counts point. The true counts are then those rows' own,
    $\sum_j y_j p_i T_{ij} / (pT)_j$, and not a sample of p. Used for the estimate and its standard
    error; the interval does without it.
    """

    rows: Sequence[Rows]
    """One for each mechanism."""

    @cached_property
    def fits(self) -> tuple[Tilted, ...]:
        """One for each scale, weights adding up to 1."""
        beta, found = np.zeros(len(DEVIATIONS)), []
        for scale in SCALES:
            beta, evidence, covariance = self._fit(scale, beta)
            found.append((evidence, beta, covariance))
        weights = np.exp(np.array([fit[0] for fit in found]) - max(fit[0] for fit in found))
        return tuple(
            Tilted(weight=float(weight), beta=beta, covariance=covariance)
            for weight, (_, beta, covariance) in zip(weights / weights.sum(), found, strict=True)
        )

    @cached_property
    def histogram(self) -> Floats:
        """Expected numbers of rows with each true count."""
        found = np.zeros(len(self._tilts))
        for fit in self.fits:
            tilt = self._tilts @ fit.beta
            found += fit.weight * sum(r.posterior(tilt) @ r.drawn.seen for r in self.rows)
        return found

    @cached_property
    def tilt(self) -> Floats:
        """The log of how many times as frequent each count is as in the table, on average."""
        return np.asarray(self._tilts @ sum(fit.weight * fit.beta for fit in self.fits))

    def variance(self, f: Floats) -> float:
        """Of f · h, h the true histogram: of the rows' counts given p, and of p itself."""
        found = [(fit.weight, *self._moments(fit, f)) for fit in self.fits]
        mean = sum(weight * value for weight, value, _ in found)
        return sum(weight * (spread + (value - mean) ** 2) for weight, value, spread in found)

    def _moments(self, fit: Tilted, f: Floats) -> tuple[float, float]:
        tilt, value, within = self._tilts @ fit.beta, 0.0, 0.0
        slope = np.zeros(len(DEVIATIONS))
        for rows in self.rows:
            posterior, seen = rows.posterior(tilt), rows.drawn.seen
            means = f @ posterior
            value += float(means @ seen)
            within += float(((f * f) @ posterior - means * means) @ seen)
            slope += (posterior @ seen * f) @ self._tilts
            slope -= (means * seen) @ (posterior.T @ self._tilts)
        return value, within + float(slope @ fit.covariance @ slope)

    @cached_property
    def _tilts(self) -> Floats:
        return tilts(len(self.rows[0].prior))

    def _fit(self, scale: float, beta: Floats) -> tuple[Floats, float, Floats]:
        """The most plausible tilts at this scale, the log of its evidence, their covariance."""
        precision = 1 / (scale * DEVIATIONS) ** 2

        def objective(b: Floats) -> float:
            tilt = self._tilts @ b
            logs = (r.drawn.seen @ np.log(r.law(tilt) @ r.drawn.kernel) for r in self.rows)
            return float(sum(logs) - precision @ (b * b) / 2)

        value = objective(beta)
        for _ in range(ROUNDS):
            gradient, information = self._slopes(beta)
            step = np.linalg.solve(information + np.diag(precision), gradient - precision * beta)
            size, better = 1.0, objective(beta + step)
            while better < value and size > 1e-4:
                size /= 2
                better = objective(beta + size * step)
            gain, value, beta = better - value, better, beta + size * step
            if abs(gain) < 1e-7 * (1 + abs(value)):
                break
        hessian = self._slopes(beta)[1] + np.diag(precision)
        evidence = value + (np.log(precision).sum() - np.linalg.slogdet(hessian)[1]) / 2
        return beta, float(evidence), np.asarray(np.linalg.inv(hessian), dtype=np.float64)

    def _slopes(self, beta: Floats) -> tuple[Floats, Floats]:
        """The gradient of the log likelihood in the tilts, and Fisher's information."""
        tilt, size = self._tilts @ beta, len(beta)
        gradient, information = np.zeros(size), np.zeros((size, size))
        for rows in self.rows:
            law, drawn = rows.law(tilt), rows.drawn
            mixed = law @ drawn.kernel
            expected = law * (drawn.kernel @ (drawn.seen / mixed))
            gradient += self._tilts.T @ (expected - drawn.rows * law)
            change = drawn.kernel.T @ (law[:, None] * (self._tilts - law @ self._tilts))
            information += (change / mixed[:, None]).T @ change * drawn.rows
        return gradient, information


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


def pooled(estimate: Estimate) -> Drawn:
    r"""Rows of several mechanisms as if one had drawn their counts and their groups.

    True histograms that are free in each of many groups would leave more to choose than the
    released counts tell: so the part is taken to be tilted alike in all its groups, by any tilt r
    whatever, $h_{gi} = m_g z_{gi} r_i / Z_g$. A row with true count i is then in group g and shows
    j with probability proportional to $m_g z_{gi} / Z_g \cdot T_{g,ij}$, with
    $Z_g = z_g \cdot r$ from the estimate's tilts, by which groups alone say nothing of the counts.
    """
    if len(estimate.rows) == 1:
        return estimate.rows[0].drawn
    factor = np.exp(estimate.tilt - estimate.tilt.max())
    weights = np.array(
        [r.drawn.rows * (r.prior + 1e-12) / float(r.prior @ factor) for r in estimate.rows]
    )
    weights /= weights.sum(axis=0)
    kernels = [w[:, None] * r.drawn.kernel for w, r in zip(weights, estimate.rows, strict=True)]
    return Drawn(
        seen=np.concatenate([r.drawn.seen for r in estimate.rows]),
        kernel=np.ascontiguousarray(np.concatenate(kernels, axis=1)),
    )
