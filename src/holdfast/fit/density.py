r"""A smooth density of counts with free ends, as stiff as the evidence has it.

The log density runs straight between knots. Its bends u_j, second differences at unequal places
per root of length, are independent and Laplace under the prior, with variance kappa: mostly small,
now and then large, as at the edge of a range. At zero there is a step beside the bend, which a
spike at zero needs. By the variational bound (for every w > 0, with b = sqrt(kappa / 2)),

    Laplace(u; b) >= N(u; 0, w) sqrt(2 pi w) / (2 b) exp(-w / (2 b^2)),   best at w = b sqrt(E u^2),

so that a Gaussian fit whose variances w follow the bends gives the mode and a bound of the
evidence. The stiffness kappa, the size of the step at zero, and the scale on which counts are
smooth (log or plain) are averaged by that evidence. The plain scale comes with two units: a fifth
of the range, and that of a geometric law of the table's mean, since the tail of rare events ends
long before noise lets one see it. Where noise hides which is right, the estimate takes the second
for less likely, and draws for likelier, so that intervals hold both. The noise of the sums is
Laplace too, and bound likewise: beside a good guess from the noisy counts, a sum says up to twice
what its variance does.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from holdfast.arrays import Floats, Integers, Marks
from holdfast.fit.cells import Cells
from holdfast.fit.likelihood import LEAST, Seen, said
from holdfast.fit.slices import SIZE, Density, candidate_breaks, drawn_shares, found_breaks
from holdfast.fit.tilts import tilted

LOOSENESS = (1e-4, 1e-2, 1e-1, 1.0, 10.0, 100.0)  # kappa; below the least, a power law or geometric
STEPS = (1.5, 0.15)  # standard deviation of the step at zero
SLOPE, SLOPES = -1.5, 2.0  # of a log density over its scale: mean and standard deviation
OPEN = 5.0  # standard deviation of the step at the open end
FIRST_ROUNDS, ROUNDS, TOLERANCE = 20, 6, 0.02  # in log shares
LONGEST = 2.0  # step of a log share
HARDLY = 1e-9  # share of a cell that may change by any factor in a step
WORSE = 8.0  # log evidence below the best at which to stop loosening
NEGLIGIBLE = 1e-3  # weight
MOST_TIMES = 2  # that breaks are looked for
LENGTH = 5.0  # of the range on the plain scale: about that of some hundreds on the log scale
LIGHT = (1e-3,)  # kappa where the unit is that of a geometric law
FOUND = 2.0  # log evidence that this unit costs the estimate: the counts themselves say it
LIKELIER = 1.5  # times that cost, which draws add again, by benchmarks/interval_coverage.py
FARTHEST = 450.0  # places of that scale: exp(-1.5 * 450) is still a number
SINGLE = 25  # counts that have a knot each
SPREAD = 0.05  # knots beyond are so far apart, relative to the count


@dataclass(frozen=True, kw_only=True, eq=False)
class Densities:
    """Smooth densities of different stiffness, weighted by evidence."""

    weights: Floats
    """Of each in the estimate."""
    chances: Floats
    """Of each in draws, where a geometric law is likelier than in the estimate."""
    densities: tuple[Density, ...]

    @property
    def shares(self) -> Floats:
        """The mean share of each cell."""
        return np.asarray(self.weights @ np.array([d.shares for d in self.densities]))

    def effective(self, seen: Seen) -> Seen:
        """The same measurements, with normal laws that stand for the Laplace noise of the sums."""
        variance = self.weights @ np.array([d.variance for d in self.densities])
        return replace(seen, variance=variance[None])

    def draws(self, seen: Seen, number: int, rng: np.random.Generator) -> Floats:
        """Shares of cells from the posterior, of shape (number, cells)."""
        counts = rng.multinomial(number, self.chances)
        return np.concatenate(
            [
                drawn_shares(seen, density, times, rng)
                for density, times in zip(self.densities, counts.tolist(), strict=True)
                if times
            ]
        )


def fit_densities(seen: Seen, cells: Cells) -> Densities:
    """The density of one table (seen has one), over all stiffnesses and two scales of counts."""
    knots, between = knots_of(cells)
    middles = cells.places
    scales = np.log1p(middles), middles / max(middles[-1] / LENGTH, 1.0)
    bends = [Bends.at(place, knots, between, cells.widths) for place in scales]
    found: list[Density] = []
    for each in bends:
        found += _fits(seen, each, found)
    best = max(found, key=lambda density: density.log_evidence)
    mean = max(float(best.shares @ middles), LEAST)
    fall = min(np.log1p(1 / mean) / -SLOPE, FARTHEST / max(middles[-1], 1.0))
    light = Bends.at(fall * middles, knots, between, cells.widths)
    bends.append(replace(light, looseness=LIGHT, dearer=FOUND))
    found += _fits(seen, bends[-1], found)
    candidates = candidate_breaks(cells)
    breaks = np.zeros((0, len(cells.edges)))
    for _ in range(MOST_TIMES):
        best = max(found, key=lambda density: density.log_evidence)
        more = found_breaks(seen, best.shares, best.features, best.precision, candidates)
        if not len(more):
            break
        breaks = np.concatenate([breaks, more])
        cost = len(breaks) * float(np.log(len(candidates)))
        for each in bends:
            found += _fits(seen, each.with_breaks(breaks, cost), found)
    evidence = np.array([density.log_evidence for density in found])
    dearer = np.array([density.dearer for density in found])
    keep = np.flatnonzero(evidence > evidence.max() + np.log(NEGLIGIBLE))
    log = (evidence + np.outer([0.0, LIKELIER], dearer))[:, keep]
    weights = np.exp(log - log.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return Densities(
        weights=weights[0],
        chances=weights[1],
        densities=tuple(found[place] for place in keep),
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
    middles = cells.places
    features = np.array([np.interp(middles, middles[chosen], row) for row in np.eye(len(chosen))])
    return chosen, features


@dataclass(frozen=True, kw_only=True, eq=False)
class Bends:
    """Coordinates of a log density: its bends, and what these leave free."""

    features: Floats
    """Log density of the cells for a unit of each coordinate."""
    bent: Marks
    """Which coordinates are bends; the others are the slope, a step at the open end, and breaks."""
    free: Floats
    """Prior variance of each that is not."""
    at_zero: float
    """The first bend for a step of 1 at zero."""
    base: Floats
    """Shares of the cells, but for a factor, where all coordinates are 0."""
    looseness: tuple[float, ...] = LOOSENESS
    """Every kappa that is tried."""
    dearer: float = 0.0
    """What the unit of a geometric law costs in the log evidence; draws add it back, and more."""
    cost: float = 0.0
    """What breaks cost in the log evidence."""

    @staticmethod
    def at(places: Floats, knots: Integers, between: Floats, widths: Integers) -> "Bends":
        """Bends of a density of cells at these places, some of which are knots.

        Row j of B maps log densities at the knots to coordinate j: bends, the slope, the step of
        the open cell, and last the level, which is left out since shares add up to 1. The inverse
        of B gives the log densities for a unit of each coordinate.
        """
        place = places[knots]
        number = len(place)
        bends = max(number - 3, 0)
        rows = np.zeros((number, number))
        each = np.arange(bends)
        before, after = place[each + 1] - place[each], place[each + 2] - place[each + 1]
        root = np.sqrt((before + after) / 2)
        rows[each, each] = 1 / before / root
        rows[each, each + 1] = -(1 / before + 1 / after) / root
        rows[each, each + 2] = 1 / after / root
        free = [(number - 2, number - 1, 1.0)]
        if number > 2:
            free.insert(0, (0, number - 2, float(place[-2] - place[0])))
        for row, (first, last, length) in enumerate(free, start=bends):
            rows[row, first], rows[row, last] = -1 / length, 1 / length
        rows[-1, 0] = 1.0
        size = np.abs(rows).max(axis=1)
        inverse = np.linalg.inv(rows / size[:, None]) / size
        return Bends(
            features=inverse.T[:-1] @ between,
            bent=np.arange(number - 1) < bends,
            free=np.append(np.full(number - 2, SLOPES**2), OPEN**2),
            at_zero=float(rows[0, 0]),
            base=np.asarray(widths * np.exp(SLOPE * places), dtype=np.float64),
        )

    def with_breaks(self, breaks: Floats, cost: float) -> "Bends":
        """The same and breaks, each a feature of the cells."""
        return replace(
            self,
            features=np.concatenate([self.features, breaks]),
            bent=np.append(self.bent, np.zeros(len(breaks), dtype=bool)),
            free=np.append(self.free, np.full(len(breaks), SIZE**2)),
            cost=self.cost + cost,
        )


def _fits(seen: Seen, bends: Bends, others: list[Density]) -> Iterator[Density]:
    """Fits of rising looseness, as long as they get no worse; steps at zero at those that do well
    beside each other and the others."""
    well = bends.looseness
    best = max([-np.inf, *(density.log_evidence for density in others)])
    for step in STEPS:
        fit = _Fit(seen, bends, (step * bends.at_zero) ** 2)
        evidence: list[float] = []
        for kappa in well:
            density = fit.loosened(kappa)
            yield density
            evidence.append(density.log_evidence)
            if density.log_evidence < max(evidence) - WORSE:
                break
        least = max([best, *evidence]) - WORSE
        well = tuple(k for k, e in zip(well, evidence, strict=False) if e > least)


class _Fit:
    """A density on its way from stiff to loose: coordinates u and the variances of their priors."""

    def __init__(self, seen: Seen, bends: Bends, step: float) -> None:
        self._seen, self._bends = seen, bends
        self._noise = seen.variance
        self._step = np.zeros(len(bends.bent))
        self._step[:1] = step * bends.bent[:1]  # variance that a step at zero adds
        self._u = np.zeros(len(bends.bent))
        self._w = np.where(bends.bent, 0.0, bends.free)
        self._kappa = 0.0

    def loosened(self, kappa: float) -> Density:
        """The most probable density of this stiffness, by Newton's method on Fisher's information,
        while the variances of the bends follow these."""
        bent, free = self._bends.bent, self._bends.free
        rounds = ROUNDS if self._kappa else FIRST_ROUNDS
        wider = np.sqrt(kappa / self._kappa) if self._kappa else 1.0
        least = 1e-4 * kappa if self._kappa else kappa
        self._w = np.where(bent, np.maximum(self._w * wider, least), free)
        self._kappa = kappa
        for round in range(rounds):
            variance = self._w + self._step
            features = np.sqrt(variance)[:, None] * self._bends.features
            theta = self._u / np.sqrt(variance)
            shares = tilted(self._bends.base, features, theta)
            found = said(self._seen, shares[None], features[None])
            precision = found.information[0] + np.eye(len(theta))
            covariance = np.linalg.inv(precision)
            step = covariance @ (found.gradient[0] - theta)
            moved = step @ features
            longest = np.abs(moved[shares * np.exp(np.clip(moved, 0, 50)) > HARDLY]).max()
            if round == rounds - 1 or (longest < TOLERANCE and round > 2):
                break
            theta = theta + step * min(1.0, LONGEST / max(longest, 1e-300))
            self._u = theta * np.sqrt(variance)
            part = self._w / variance  # of a coordinate that is bend, and no step at zero
            square = (theta**2 + np.diag(covariance)) * variance * part**2 + self._w * (1 - part)
            self._w = np.where(bent, np.sqrt(kappa / 2 * square), free)
            noise = found.noise_variance(self._noise, self._seen.variance, covariance[None])
            self._seen = replace(self._seen, variance=noise)
        evidence = float(
            found.value[0] - 0.5 * theta @ theta - 0.5 * np.linalg.slogdet(precision)[1]
        )
        return Density(
            log_evidence=evidence + self._bound() - self._bends.cost - self._bends.dearer,
            dearer=self._bends.dearer,
            features=features,
            theta=theta,
            precision=precision,
            base=self._bends.base,
            shares=shares,
            variance=self._seen.variance[0],
        )

    def _bound(self) -> float:
        """What the bounds of the Laplace laws have beside their Gaussians."""
        bends = self._w[self._bends.bent] / self._kappa
        noise = self._seen.variance / self._noise
        return float(sum((0.5 * np.log(np.pi * w) - w).sum() for w in (bends, noise)))
