r"""The histogram of any rows of a table, chosen later by something public, from their noisy counts.

Their law is that of the whole table bent by a walk over the logarithm of the count,

    log p_part(x) = log p(x) + s(log(1 + x)) - log Z,

with a step of its own at zero. Increments of s over an e-fold are normal with standard deviation
t, and so is a common slope; t is one of a few `SCALES`, from rows that are like the table to rows
that have nothing to do with it, and the rows say which. The posterior of everything is sampled by
importance from the normal approximations at each t, so that neither their tails nor their weights
are approximations. Draws of a declared group are of its own law, bent likewise.

Few rows at a small epsilon say little, and what is taken for likely beforehand shows: chances of
the scales that draw more towards the table have smaller errors for most rows, and cover less often
where rows are unlike it (benchmarks/interval_coverage.py has both). So estimates have those that
draw more, and the ends of intervals those that leave rows more to themselves.
"""

from dataclasses import replace

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.fit.cells import Cells
from holdfast.fit.draws import SEED, rows_of, widened, with_readings
from holdfast.fit.histogram import Draws
from holdfast.fit.likelihood import LEAST, Seen, expected_rows, said
from holdfast.fit.tilts import equally_likely, tilted

SCALES = (0.1, 0.4, 1.2, 3.0)  # of s over an e-fold
CHANCES = (0.1, 0.2, 0.4, 0.3)  # of each, beforehand
OF_ESTIMATES = (0.25, 0.35, 0.35, 0.05)  # the same, for estimates
WIDER = 1.4  # as WIDER of the table's draws; the law of the table is taken for known here
SPIKE = 2.0  # deviation of the step at zero, in scales
STEP = 0.7  # between knots, in e-folds
NUMBER = 125  # of draws
PROPOSED = 200  # for each scale
FREEDOM = 5.0  # of the t law that is proposed from
ROUNDS, LONGEST, TOLERANCE = 40, 2.0, 0.05


def draws_of_part(
    table: Seen, law: Floats, cells: Cells, variance: float, value: Integers, rows: Integers
) -> tuple[Draws, Draws]:
    """Draws of the histogram of rows with this tally of noisy counts for intervals; for estimates
    what is expected of it under each draw of their law, which is like this one of the table."""
    inside = cells.inside(value)
    seen = replace(table.without_sums(), rows=cells.binned(value, rows)[None])
    rng = np.random.default_rng([SEED, len(value), int(rows.sum())])
    of_ends, of_estimates = laws_like(seen, law, cells, NUMBER, rng)
    seen = replace(seen, rows=cells.binned(value[inside], rows[inside])[None])
    drawn = rows_of(seen.rows[0], widened(of_ends, WIDER), cells.kernel, rng)
    expected = expected_rows(seen, of_estimates)
    return (
        with_readings(drawn, cells, value, rows, variance, rng),
        with_readings(expected, cells, value, rows, variance, rng),
    )


def laws_like(
    seen: Seen, law: Floats, cells: Cells, number: int, rng: np.random.Generator
) -> list[Floats]:
    """So many equally likely laws of rows that are like this law, of shape (number, cells): for
    ends of intervals, and for estimates."""
    features = walk(cells)
    scales = np.array(SCALES)[:, None, None]
    covariances = scales**2 * covariance_of(cells)
    precisions = np.asarray(np.linalg.inv(covariances), dtype=np.float64)
    modes, spreads = _modes(seen, law, features, precisions)
    steps = rng.standard_normal((len(SCALES), PROPOSED, len(features)))
    stretch = np.sqrt(FREEDOM / rng.chisquare(FREEDOM, (len(SCALES), PROPOSED)))
    steps = np.einsum("tij,tsj->tsi", np.linalg.cholesky(spreads), steps * stretch[:, :, None])
    tilts = (modes[:, None] + steps).reshape(-1, len(features))
    laws = tilted(law, features, tilts)
    filled = seen.rows[0] > 0
    log = np.log(np.maximum(laws @ seen.kernel[:, filled], LEAST)) @ seen.rows[0, filled]
    log = log - _log_students(tilts, modes, spreads)
    log = log + _log_normals(tilts, np.zeros_like(modes), covariances)
    weights = log + np.log([CHANCES, OF_ESTIMATES])[:, :, None]
    return [equally_likely(laws, w, number, rng) for w in np.logaddexp.reduce(weights, axis=1)]


def walk(cells: Cells) -> Floats:
    """Features of cells by which a law is bent: zero, and ramps between knots."""
    place = np.log1p(cells.middles)
    zero = cells.edges == 0
    start = place[1] if zero[0] else place[0]
    knots = np.arange(start, max(place[-1], start + STEP), STEP)
    ramps = np.clip((place[None] - knots[:, None]) / STEP, 0.0, 1.0)
    return np.concatenate([zero[None].astype(float), ramps]) if zero[0] else ramps


def covariance_of(cells: Cells) -> Floats:
    """Of the weights of these features at scale 1."""
    size, zero = len(walk(cells)), int(cells.edges[0] == 0)
    covariance = SPIKE**2 * np.eye(size)
    covariance[zero:, zero:] = STEP * np.eye(size - zero) + STEP**2
    return covariance


def _modes(seen: Seen, law: Floats, features: Floats, precisions: Floats) -> tuple[Floats, Floats]:
    """The most probable weights of the features under each precision, and the covariances of their
    normal approximations, by Newton's method."""
    number = len(precisions)
    many = seen.of(np.zeros(number, dtype=np.int64))
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
