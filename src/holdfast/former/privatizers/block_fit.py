"""From noisy sums over blocks to a distribution over a long range: docs/long-ranges.md.

Below the border C rises with the count; above it the counts rise with their rank, from below. Both
are rising sequences of which sums over blocks were measured, and both are fitted alike.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.former.privatizers.pooling import (
    nearest_rising,
    nearest_rising_weighted,
    running_mean,
)
from holdfast.former.privatizers.regions import Regions
from holdfast.former.privatizers.smooth import LOOSENESS, ROUNDS, TOLERANCE

LEAST_BLOCKS = 4  # for a smooth fit
LOOSE = 0.005  # of a row at either side of a block, spread over the gap beside it
SIDE = np.array([0.0, 0.1, 0.3, 0.6, 0.8, 0.9, 0.95, 0.98, 0.995])  # of a row, where it is drawn
NARROWEST = 1e-3  # stretch of counts
ASTRAY = 6.0  # noise scales that smoothness may move the mean of a block
SURE = 3.0  # noise scales above the border
AT_THE_TOP = 2.0  # noise scales below the top code that are taken for it
LOPSIDED = 3.0  # the most that one side of a block may spread over the other
KNOWN = 1e-4  # variance of what is known


@dataclass(frozen=True, kw_only=True, eq=False)
class Blocks:
    """Noisy sums of a rising sequence over blocks of its places."""

    edges: Floats
    """Where blocks begin and end."""
    sums: Floats
    epsilon: float
    """1/scale of the noise on a sum."""
    scale: Floats
    """A coordinate of the blocks in which the log of the rise is smooth."""
    exponential: bool
    """Whether single rises scatter as exponential ones do, as between sorted counts."""

    @property
    def widths(self) -> Floats:
        """How many places each block has."""
        return np.diff(self.edges)

    def nearest(self, highest: float) -> Floats:
        """Means of the blocks that never fall and lie in [0, highest], without smoothness."""
        means = nearest_rising_weighted(self.sums / self.widths, self.widths**2)
        return np.clip(means, 0.0, highest)

    def smoothed(self, highest: float, variance: float) -> Floats:
        """Means of the blocks under smooth rises that end at `highest`, known with `variance`."""
        nearest = self.nearest(highest)
        if len(nearest) < LEAST_BLOCKS or highest <= 0:
            return nearest
        fits = [fit for fit in self._fits(nearest, highest, variance) if np.isfinite(fit[1])]
        fits = [fit for fit in fits if np.isfinite(fit[0]).all()]
        if not fits:
            return nearest
        weights = np.exp([evidence - max(fit[1] for fit in fits) for _, evidence in fits])
        means = weights @ np.array([values for values, _ in fits]) / weights.sum()
        far = ASTRAY / (self.epsilon * self.widths)  # a fit that lost its way over a great jump
        means = np.clip(nearest_rising(means), nearest - far, nearest + far)
        return np.clip(nearest_rising(means), 0.0, highest)

    def _fits(self, nearest: Floats, highest: float, variance: float) -> list[tuple[Floats, float]]:
        from holdfast.former.privatizers.block_kernel import fit_blocks

        w, n = self.widths, len(nearest) + 1
        span = np.concatenate([[w[0] / 2], (w[:-1] + w[1:]) / 2, [w[-1] / 2]])
        rises = np.diff(np.append(nearest, highest), prepend=0.0)
        blurred = (running_mean(rises, max(1, n // 20)) + rises) / 2
        start = blurred + min(highest / (100 * n), 1.0) + 1e-3
        within = start[:-1] * w / span[:-1]
        scatter = within + within**2 / w if self.exponential else within
        inside = np.append(scatter * (1 - 1 / w**2) / 12, 0.0)
        rate = self.epsilon * np.append(w, w[-1])
        du: Floats = np.abs(np.diff(self.scale))
        model = (
            np.append(self.sums / w, highest),
            rate,
            inside,
            1 / np.maximum(span, 1.0) if self.exponential else np.zeros(n),
            np.log(span),
            np.concatenate([du[:1], du, [0.1]]),
        )
        theta, R = np.log(start / span), np.append(2 / rate[:-1] ** 2, variance) + inside
        fits = []
        for kappa in LOOSENESS:
            values, evidence = fit_blocks(*model, kappa, theta, R, ROUNDS, TOLERANCE)
            fits.append((values[:-1], evidence))
        return fits


def fit_regions(noisy: Integers, regions: Regions, bins: int, rows: int, epsilon: float) -> Floats:
    """The distribution of counts, from the noisy sums of the regions."""
    border, columns = regions.border, len(regions.columns) - 1
    below = np.full(bins, float(rows))
    if border > 0:
        edges = regions.columns.astype(np.float64)
        middle = np.log1p((edges[:-1] + edges[1:] - 1) / 2)
        blocks = _blocks(edges, noisy[:columns], epsilon, middle, exponential=False)
        path = _path_of_counts(edges, blocks.smoothed(rows, KNOWN), rows)
        below[:border] = path(np.arange(0.5, border))
    if border < bins - 1:
        edges = rows - regions.ranks[::-1].astype(np.float64)
        middle = np.log(rows + 0.5 - (edges[:-1] + edges[1:]) / 2)
        blocks = _blocks(edges, noisy[columns:][::-1], epsilon, middle, exponential=True)
        top = bins - 1.0 - border
        excess = blocks.smoothed(min(float(blocks.nearest(np.inf)[-1]), top), 2 / epsilon**2)
        excess[excess > top - AT_THE_TOP / epsilon] = top
        counts = np.arange(border, bins - 1) + 0.5 - border
        found = _rows_below(
            _stretches(edges, excess, epsilon, top), np.append(counts, SURE / epsilon)
        )
        below[border:-1] = edges[0] + found[:-1]
        # no row that is surely above the border may be taken for one below it
        below[:border] = np.minimum(below[:border], edges[0] + found[-1])
    below = np.maximum.accumulate(np.clip(below, 0.0, rows))
    return np.asarray(np.diff(below, prepend=0.0) / rows)


def _blocks(
    edges: Floats, sums: Integers, epsilon: float, scale: Floats, *, exponential: bool
) -> Blocks:
    return Blocks(
        edges=edges,
        sums=sums.astype(np.float64),
        epsilon=epsilon,
        scale=scale,
        exponential=exponential,
    )


def _path_of_counts(edges: Floats, means: Floats, rows: int) -> Callable[[Floats], Floats]:
    """C by the count, straight from the edge of a block to its middle and on to the next edge,
    with the right mean over whole numbers in each block."""
    w = np.diff(edges)
    between = means[:-1] + np.diff(means) * w[:-1] / (w[:-1] + w[1:])
    slope = (means[-1] - between[-1]) / w[-1] if len(between) else 0.0
    ends = np.concatenate([[0.0], between, [min(rows, means[-1] + slope * w[-1])]])
    part = (1 - (w % 2) / w**2) / 4  # of an edge in the mean over a block's whole numbers
    middle = (means - part * (ends[:-1] + ends[1:])) / (1 - 2 * part)
    knots = np.empty(2 * len(means) + 1)
    knots[::2], knots[1::2] = ends, np.clip(middle, ends[:-1], ends[1:])
    places = np.sort(np.concatenate([edges, (edges[:-1] + edges[1:]) / 2]))
    return lambda at: np.interp(at, places, knots)


def _stretches(
    edges: Floats, means: Floats, epsilon: float, highest: float
) -> tuple[Floats, Floats, Floats]:
    """Where stretches of counts begin and end, and how many rows lie evenly in each; blocks keep
    their means.

    A block reaches half-way to its neighbours. A row that is measured alone is spread as its noise
    is, past its neighbours if need be: stage 2 carries a row to where z is surer of it than of the
    counts around. A little is left to the gaps: a row may be there all the same.
    """
    w, gap = np.diff(edges), np.diff(means)
    loose = np.full(len(edges), LOOSE)
    loose[[0, -1]] = 0.0
    own, single = w - loose[:-1] - loose[1:], w == 1
    down = np.append(means[0] + 0.5, gap * w[1:] / (w[:-1] + w[1:]))
    up = np.append(gap * w[:-1] / (w[:-1] + w[1:]), np.inf)
    reach = np.maximum(1 / (epsilon * w), np.minimum(down, up))
    down, up = np.minimum(down, reach), np.minimum(up, reach)
    down, up = np.minimum(down, LOPSIDED * up), np.minimum(up, LOPSIDED * down)
    low, high = (means - down)[~single], (means + up)[~single]
    middle = 2 * means[~single] - (low + high) / 2
    alone = means[single]
    room = epsilon * np.minimum(alone + 0.5, highest - alone)
    steps = -np.log1p(SIDE[:, None] * np.expm1(-room)) / epsilon
    shares = np.diff(np.append(SIDE[:-1], 1.0))[:, None] * own[single] / 2
    inner, outer = steps[:-1], steps[1:]
    parts = [
        (low, middle, own[~single] / 2),
        (middle, high, own[~single] / 2),
        (means[:-1], means[1:], 2 * loose[1:-1]),
        (alone + inner, alone + outer, shares),
        (alone - outer, alone - inner, shares),
    ]
    starts, ends, rows = (
        np.concatenate([side.ravel() for side in part]) for part in zip(*parts, strict=True)
    )
    starts, ends = (np.clip(side, -0.5, highest + 0.499) for side in (starts, ends))
    return starts, np.maximum(ends, starts + NARROWEST), rows


def _rows_below(stretches: tuple[Floats, Floats, Floats], counts: Floats) -> Floats:
    """How many rows lie below each of these counts."""
    starts, ends, rows = stretches
    density = rows / (ends - starts)
    places = np.concatenate([starts, ends])
    order = np.argsort(places, kind="stable")
    places, density = places[order], np.cumsum(np.concatenate([density, -density])[order])
    below = np.concatenate([[0.0], np.cumsum(density[:-1] * np.diff(places))])
    below[-1] = np.rint(rows.sum())
    return np.asarray(np.interp(counts, places, below))
