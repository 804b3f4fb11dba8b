"""A smooth density of counts with free ends, as stiff as the evidence has it."""

from dataclasses import dataclass

import numpy as np

from holdfast.arrays import Floats, Integers, Marks
from holdfast.fit.cells import Cells
from holdfast.fit.likelihood import Seen, said

LOOSENESS = tuple(10.0**k for k in range(-5, 3))  # variance of a change of slope
FREE = 30.0  # standard deviation of what has no other prior
ROUNDS, TOLERANCE = 30, 1e-3
LONGEST = 2.0  # step of a log share
SINGLE = 25  # counts that have a knot each
SPREAD = 0.05  # knots beyond are so far apart, relative to the count


@dataclass(frozen=True, kw_only=True, eq=False)
class Density:
    """One smooth density: its Gaussian posterior and what the evidence gives it."""

    log_evidence: float
    features: Floats
    """Log densities of the cells follow from theta by these, of shape (F, cells)."""
    theta: Floats
    precision: Floats
    """Of theta."""
    shares: Floats
    """Of the cells."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Densities:
    """Smooth densities of different stiffness, weighted by evidence."""

    weights: Floats
    densities: tuple[Density, ...]
    widths: Integers
    """Of the cells."""

    @property
    def shares(self) -> Floats:
        """The mean share of each cell."""
        return np.asarray(self.weights @ np.array([d.shares for d in self.densities]))

    def draws(self, number: int, rng: np.random.Generator) -> Floats:
        """Shares of cells from the posterior, of shape (number, cells)."""
        counts = rng.multinomial(number, self.weights / self.weights.sum())
        drawn = []
        for density, times in zip(self.densities, counts, strict=True):
            root = np.linalg.cholesky(density.precision)
            steps = np.linalg.solve(root.T, rng.standard_normal((len(root), times)))
            drawn.append(shares_of(density.theta + steps.T, density.features, self.widths))
        return np.concatenate(drawn)


def shares_of(theta: Floats, features: Floats, widths: Integers) -> Floats:
    """Shares of cells from log densities at the knots; any number of them at once."""
    log = theta @ features
    log -= log.max(axis=-1, keepdims=True)
    shares = np.exp(log) * widths
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


def fit_densities(seen: Seen, cells: Cells) -> Densities:
    """The density of one table (seen has one), over all stiffnesses and two scales of counts."""
    knots, between = knots_of(cells)
    middles = cells.middles - cells.edges[0]
    found = []
    for place in (np.log1p(middles[knots]), middles[knots] / max(middles[-1] / 5, 1.0)):
        bases, bent = coordinates(place)
        last: Floats | None = None
        for kappa in LOOSENESS:
            scale = np.where(bent, np.sqrt(kappa), FREE)
            features = scale[:, None] * (bases @ between)
            start = np.zeros(len(scale)) if last is None else last / scale
            density = _mode(seen, features, cells.widths, start)
            last = density.theta * scale
            found.append(density)
    evidence = np.array([density.log_evidence for density in found])
    weights = np.exp(evidence - evidence.max())
    keep = np.flatnonzero(weights > 1e-3 * weights.sum())
    return Densities(
        weights=weights[keep] / weights[keep].sum(),
        densities=tuple(found[place] for place in keep),
        widths=cells.widths,
    )


def knots_of(cells: Cells) -> tuple[Integers, Floats]:
    """Cells that are knots, and the weights with which log densities follow from theirs."""
    number = len(cells.edges)
    knots, at = [0], 0
    while at < number - 1:
        at = min(at + max(int((at + 1) * SPREAD), 1) if at >= SINGLE else at + 1, number - 1)
        if at == number - 1 and knots[-1] < number - 2:
            knots.append(number - 2)  # the last cell that is not open
        knots.append(at)
    chosen = np.array(knots)
    middles = cells.middles
    features = np.array([np.interp(middles, middles[chosen], row) for row in np.eye(len(chosen))])
    return chosen, features


def coordinates(place: Floats) -> tuple[Floats, Marks]:
    """Log densities at the knots for a unit of each coordinate, and which of these are bends.

    Coordinates are the second differences of log density at unequal places, per root of length,
    which are independent and of one variance under the prior; and what these leave free: a step
    at either end and the slope between. (The level is free, as shares add up to 1.)
    """
    number = len(place)
    bends = max(number - 4, 0)
    rows = np.zeros((number, number))
    each = np.arange(bends)
    inner = each + 1
    before, after = place[inner + 1] - place[inner], place[inner + 2] - place[inner + 1]
    root = np.sqrt((before + after) / 2)
    rows[each, inner] = 1 / before / root
    rows[each, inner + 1] = -(1 / before + 1 / after) / root
    rows[each, inner + 2] = 1 / after / root
    free = [(1, 0, 1.0), (number - 2, number - 1, 1.0)]
    if number >= 4:
        free.insert(1, (1, number - 2, float(place[-2] - place[1])))
    free = free[: number - 1]
    for row, (first, last, length) in enumerate(free, start=bends):
        rows[row, first], rows[row, last] = -1 / length, 1 / length
    rows[-1, min(1, number - 1)] = 1.0
    size = np.abs(rows).max(axis=1)
    inverse = np.linalg.inv(rows / size[:, None]) / size
    return inverse.T[:-1], np.arange(number - 1) < bends


def _mode(seen: Seen, features: Floats, widths: Integers, theta: Floats) -> Density:
    """The most probable density under a standard normal prior of theta, by Newton's method on
    Fisher's information, with the evidence of its Laplace approximation."""
    unit = np.eye(len(theta))
    for _ in range(ROUNDS):
        shares = shares_of(theta, features, widths)
        found = said(seen, shares[None], features[None])
        step = np.linalg.solve(found.information[0] + unit, found.gradient[0] - theta)
        longest = np.abs(step @ features).max()
        theta = theta + step * min(1.0, LONGEST / max(longest, 1e-300))
        if longest < TOLERANCE:
            break
    shares = shares_of(theta, features, widths)
    found = said(seen, shares[None], features[None])
    precision = found.information[0] + unit
    evidence = found.value[0] - 0.5 * theta @ theta - 0.5 * np.linalg.slogdet(precision)[1]
    return Density(
        log_evidence=float(evidence),
        features=features,
        theta=theta,
        precision=precision,
        shares=shares,
    )
