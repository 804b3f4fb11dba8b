r"""The histogram of any rows of a table, chosen later by something public, from their noisy counts.

Their law is that of the whole table bent by a walk over the logarithm of the count,

    log p_part(x) = log p(x) + s(log(1 + x)) - log Z,

with a step of its own at zero. Increments of s over an e-fold are normal with standard deviation
t, and so is a common slope; t is one of a few `SCALES`, from rows that are like the table to rows
that have nothing to do with it, and the rows say which. The posterior of everything is sampled by
importance from the normal approximations at each t, so that neither their tails nor their weights
are approximations.

Few rows at a small epsilon say little, and what is taken for likely beforehand shows. The estimate
takes it for likely that rows are like the table, which most are: its error is the least so. The
draws, of which intervals are made, do not: they hold for rows that are not (docs/answers.md has the
figures of both).
"""

from typing import TYPE_CHECKING

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.fit.cells import Cells
from holdfast.fit.draws import SEED, rows_of, with_readings
from holdfast.fit.histogram import Draws, Histogram
from holdfast.fit.likelihood import LEAST, Seen, said
from holdfast.fit.rounding import whole_rows
from holdfast.fit.tilts import tilted

if TYPE_CHECKING:
    from holdfast.fit.estimate import Estimate

SCALES = (0.1, 0.4, 1.2, 3.0)  # of s over an e-fold
CHANCES = {"estimate": (0.3, 0.3, 0.3, 0.1), "draws": (0.1, 0.2, 0.3, 0.4)}  # of each, beforehand
SPIKE = {"estimate": 1.0, "draws": 2.0}  # deviation of the step at zero, in scales
STEP = 0.7  # between knots, in e-folds
NUMBER = 200  # of draws
PROPOSED = 200  # for each scale
NEGLIGIBLE = 1e-3  # weight of a law, beside that of an average one
FREEDOM = 5.0  # of the t law that is proposed from
ROUNDS, LONGEST, TOLERANCE = 40, 2.0, 1e-3


def part_of(estimate: "Estimate", value: Integers, rows: Integers) -> tuple[Histogram, Draws]:
    """The histogram of rows with this tally of noisy counts, and draws of it."""
    cells, law = estimate.cells, estimate.densities.shares
    seen = Seen(
        rows=cells.binned(value, rows)[None],
        kernel=cells.kernel,
        weights=np.zeros((1, 0, len(cells.edges))),
        sums=np.zeros((1, 0)),
        variance=np.ones((1, 0)),
    )
    rng = np.random.default_rng([SEED, len(value), int(rows.sum())])
    found = _Posterior(seen, law, cells, rng)
    weights = found.weights("estimate")
    some = weights > NEGLIGIBLE / len(weights)
    weights, laws = weights[some], found.laws[some]
    likely = seen.rows / np.maximum(laws @ seen.kernel, LEAST)
    expected = weights @ (laws * (likely @ seen.kernel.T))
    drawn = rows_of(seen.rows[0], found.resampled(rng), seen.kernel, rng)
    variance = estimate.measurement.noise.variance
    draws = with_readings(drawn, cells, value, rows, variance, rng)
    return whole_rows(expected, cells, value, rows), draws


class _Posterior:
    """Laws of a part with the weights that make them a sample from their posterior."""

    def __init__(self, seen: Seen, law: Floats, cells: Cells, rng: np.random.Generator) -> None:
        self._scales, features = np.array(SCALES), walk(cells)
        self._covariances = {
            aim: covariance_of(cells, SPIKE[aim]) * self._scales[:, None, None] ** 2
            for aim in CHANCES
        }
        modes, spreads = _modes(seen, law, features, np.linalg.inv(self._covariances["draws"]))
        size = len(features)
        steps = rng.standard_normal((len(SCALES), PROPOSED, size))
        stretch = np.sqrt(FREEDOM / rng.chisquare(FREEDOM, (len(SCALES), PROPOSED)))
        steps = np.einsum("tij,tsj->tsi", np.linalg.cholesky(spreads), steps * stretch[:, :, None])
        self._tilts = (modes[:, None] + steps).reshape(-1, size)
        self.laws = tilted(law, features, self._tilts)
        likely = np.log(np.maximum(self.laws @ seen.kernel, LEAST)) @ seen.rows[0]
        self._log = likely - _log_students(self._tilts, modes, spreads)

    def weights(self, aim: str) -> Floats:
        """Of each law, adding up to 1."""
        nothing = np.zeros((len(SCALES), self._tilts.shape[1]))
        prior = _log_normals(self._tilts, nothing, self._covariances[aim])
        log = self._log + np.logaddexp.reduce(prior + np.log(CHANCES[aim])[:, None], axis=0)
        weights = np.exp(log - log.max())
        return np.asarray(weights / weights.sum())

    def resampled(self, rng: np.random.Generator) -> Floats:
        """Equally likely laws, of shape (draws, cells)."""
        levels = (np.arange(NUMBER) + rng.random()) / NUMBER
        places = np.searchsorted(np.cumsum(self.weights("draws")), levels)
        return np.asarray(self.laws[np.minimum(places, len(self.laws) - 1)])


def walk(cells: Cells) -> Floats:
    """Features of cells by which a law is bent: zero, and ramps between knots."""
    place = np.log1p(cells.middles)
    zero = cells.edges == 0
    start = place[1] if zero[0] else place[0]
    knots = np.arange(start, max(place[-1], start + STEP), STEP)
    ramps = np.clip((place[None] - knots[:, None]) / STEP, 0.0, 1.0)
    return np.concatenate([zero[None].astype(float), ramps]) if zero[0] else ramps


def covariance_of(cells: Cells, spike: float) -> Floats:
    """Of the weights of these features at scale 1."""
    size, zero = len(walk(cells)), int(cells.edges[0] == 0)
    covariance = spike**2 * np.eye(size)
    covariance[zero:, zero:] = STEP * np.eye(size - zero) + STEP**2
    return covariance


def _modes(seen: Seen, law: Floats, features: Floats, precisions: Floats) -> tuple[Floats, Floats]:
    """The most probable weights of the features under each precision, and the covariances of their
    normal approximations, by Newton's method."""
    number = len(precisions)
    many = Seen(
        rows=np.repeat(seen.rows, number, axis=0),
        kernel=seen.kernel,
        weights=np.repeat(seen.weights, number, axis=0),
        sums=np.repeat(seen.sums, number, axis=0),
        variance=np.repeat(seen.variance, number, axis=0),
    )
    at = np.zeros((number, len(features)))
    for _ in range(ROUNDS):
        found = said(many, tilted(law, features, at), features[None])
        information = found.information + precisions
        gradient = found.gradient - np.einsum("tij,tj->ti", precisions, at)
        step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        longest = np.abs(step @ features).max(axis=1)
        at += step * np.minimum(1.0, LONGEST / np.maximum(longest, LEAST))[:, None]
        if longest.max() < TOLERANCE:
            break
    return at, np.asarray(np.linalg.inv(information), dtype=np.float64)


def _log_normals(at: Floats, means: Floats, covariances: Floats) -> Floats:
    """Log densities of normal laws, of shape (laws, points); without a common constant."""
    away, log = _away(at, means, covariances)
    return -0.5 * away + log


def _log_students(at: Floats, means: Floats, covariances: Floats) -> Floats:
    """Log density of the mixture of t laws."""
    away, log = _away(at, means, covariances)
    each = log - 0.5 * (FREEDOM + at.shape[1]) * np.log1p(away / FREEDOM)
    return np.asarray(np.logaddexp.reduce(each, axis=0))


def _away(at: Floats, means: Floats, covariances: Floats) -> tuple[Floats, Floats]:
    """Squared distances (laws, points), and half the log determinants of the precisions."""
    roots = np.linalg.cholesky(covariances)
    steps = np.linalg.solve(roots, (at[None] - means[:, None]).transpose(0, 2, 1))
    log = -np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
    return (steps**2).sum(axis=1), log[:, None]
