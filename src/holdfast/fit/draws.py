"""Draws of a table's histogram from its posterior.

Shares of cells are drawn first; then, for each, the counts of rows given their noisy counts; then
Matheron's update carries that table towards the noisy sums: h + Sigma A' S^-1 (m - A h - noise),
where the variance of the noise, which is Laplace, is drawn by turns with the table.
"""

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.fit.cells import Cells
from holdfast.fit.histogram import Draws, Total
from holdfast.fit.likelihood import LEAST, Seen, by_counts, sums_spread

NUMBER, FEW = 400, 100  # draws of the whole table; of one of very many groups
OF_ALL_GROUPS = 12_000  # draws
SEED = 20260  # public: everybody draws the same
TURNS = 4  # of Gibbs' sampler
LEAST_GAP = 1e-3  # of a sum, in scales of its noise
FINENESS = 4  # steps of the grid of own readings within one sd of the noise
WIDER = 1.7
"""Times as far from each other as laws of a posterior are: they are smooth, and the law of a table
may have bumps; by benchmarks/interval_coverage.py."""
WIDEST = 1.2  # in logarithms
READINGS = 1000  # groups of rows that are read by their noisy counts: one count a group
AT_ONCE = 10  # draws; fewer at once stay in the cache
MANY = 30  # rows of a bin, from which on they are drawn together
JITTER = 1e-6  # of each variance: the sum of all cells has none
NEGLIGIBLE = 1e-9  # chance of a cell beside the likeliest one, given a row's bin
LEAST_VARIANCE = 1e-9  # of a cell, for each row: well above what rounding makes of none


def draw_rows(seen: Seen, laws: Floats, shares: Floats, rng: np.random.Generator) -> Floats:
    """Rows in each cell of one table in each draw, of shape (draws, cells).

    `laws` are drawn shares of cells, one for each draw; `shares` their mean. The noise of a sum is
    Laplace of scale b: normal with a variance v that is exponential. Given the gap u between a sum
    and that of the drawn rows, 1 / v has an inverse Gaussian law with mean 1 / (b |u|) and shape
    1 / b^2, so that a few turns of Gibbs' sampler draw v and the rows by turns.
    """
    rows = rows_of(seen.rows[0], widened(laws, WIDER), seen.kernel, rng)
    if not seen.sums.shape[1]:
        return not_below_zero(rows)
    alone, (spread, along) = rows, sums_spread(seen, shares)
    scale, noise = np.sqrt(seen.variance[0] / 2), seen.variance[:1]  # at first one for all draws
    each = np.arange(len(scale))
    for _ in range(TURNS):
        alone = alone[rng.permutation(len(alone))]
        gap = seen.sums[0] - alone @ seen.weights[0].T
        gap -= rng.standard_normal(gap.shape) * np.sqrt(noise)
        middle = np.repeat(spread[None], len(noise), axis=0)
        middle[:, each, each] += noise
        sides = gap.reshape(len(noise), -1, len(scale)).swapaxes(1, 2)  # draws with one noise
        found = np.linalg.solve(middle, sides).swapaxes(1, 2).reshape(gap.shape)
        rows = alone + found @ along
        away = np.maximum(np.abs(seen.sums[0] - rows @ seen.weights[0].T), LEAST_GAP * scale)
        noise = 1 / rng.wald(1 / (scale * away), 1 / scale**2)
    return not_below_zero(rows)


def widened(laws: Floats, times: float) -> Floats:
    """Laws so many times as far from their middle, on the scale of logarithms; no more than
    `WIDEST` is added for what lies farther, as the tail of one law beside that of another."""
    log = np.log(np.maximum(laws, LEAST))
    log += np.clip((times - 1) * (log - np.median(log, axis=0)), -WIDEST, WIDEST)
    shares = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def not_below_zero(rows: Floats) -> Floats:
    """Draws whose cumulative rows rise, as near as the envelopes of those that may fall.

    To take negative rows for 0 would add to cells that hardly any row has, and so to every total.
    """
    upto = np.cumsum(rows, axis=1)
    above = np.maximum.accumulate(upto, axis=1)
    below = np.minimum.accumulate(upto[:, ::-1], axis=1)[:, ::-1]
    rising = np.clip((above + below) / 2, 0.0, upto[:, -1:])
    return np.asarray(np.diff(rising, axis=1, prepend=0.0))


def rows_of(rows: Floats, laws: Floats, kernel: Floats, rng: np.random.Generator) -> Floats:
    """Rows in each cell in each draw: every row's cell given its bin and the law of the draw.

    Rows of bins that have many are drawn together, from the normal law of their sum.
    """
    many = rows >= MANY
    drawn = np.zeros(laws.shape)
    if many.any():
        drawn += _of_full_bins(rows[many], laws, kernel[:, many], rng)
    if rows[~many].any():
        drawn += _of_single_rows(np.where(many, 0, rows), laws, kernel, rng)
    return drawn


def _of_full_bins(rows: Floats, laws: Floats, kernel: Floats, rng: np.random.Generator) -> Floats:
    """The same by the mean of each draw and the covariance of their mean law."""
    _, mean = by_counts(rows, laws, kernel)
    law = laws.mean(axis=0)
    chances = law * kernel.T / np.maximum(law @ kernel, LEAST)[:, None]
    covariance = np.diag(rows @ chances) - (chances * rows[:, None]).T @ chances
    scale = np.sqrt(np.maximum(np.diag(covariance), LEAST_VARIANCE * rows.sum()))
    related = covariance / np.outer(scale, scale) + JITTER * np.eye(len(law))
    drawn = mean + rng.standard_normal(mean.shape) @ np.linalg.cholesky(related).T * scale
    return np.asarray(drawn + (rows.sum() - drawn.sum(axis=1))[:, None] * law / law.sum())


def _of_single_rows(rows: Floats, laws: Floats, kernel: Floats, rng: np.random.Generator) -> Floats:
    """The same row by row."""
    filled = np.flatnonzero(rows)
    numbers = np.rint(rows[filled]).astype(np.int64)
    bin_of_row, size = np.repeat(np.arange(len(filled)), numbers), laws.shape[1]
    chances = kernel.T[filled] / np.maximum(laws.mean(axis=0) @ kernel[:, filled], LEAST)[:, None]
    likely = chances * laws.max(axis=0)
    near = likely > NEGLIGIBLE * likely.max(axis=1, keepdims=True)
    first = near.argmax(axis=1)  # of the cells that rows of a bin may be in, `width` for each bin
    width = int((size - near[:, ::-1].argmax(axis=1) - first).max())
    first = np.minimum(first, size - width)
    cells = first[:, None] + np.arange(width)
    chances, found = np.take_along_axis(chances, cells, axis=1), []
    for start in range(0, len(laws), AT_ONCE):
        some = laws[start : start + AT_ONCE]
        upto = (some.take(cells, axis=1) * chances).ravel()  # a line for each draw and bin
        np.cumsum(upto, out=upto)
        ends = np.concatenate([[0.0], upto[width - 1 :: width]])
        draw = np.arange(len(some))[:, None]
        line = draw * len(filled) + bin_of_row
        levels = ends[line] + rng.random(line.shape) * (ends[line + 1] - ends[line])
        place = np.searchsorted(upto, levels) - line * width
        cell = np.clip(place, 0, width - 1) + first[bin_of_row] + draw * size
        many = np.bincount(cell.ravel(), minlength=len(some) * size)
        found.append(many.reshape(len(some), size))
    return np.concatenate(found).astype(np.float64)


def with_readings(
    rows: Floats,
    cells: Cells,
    value: Integers,
    number: Integers,
    variance: float,
    rng: np.random.Generator,
    total: Total | None = None,
) -> Draws:
    """Draws of the rows in cells, and of those that are read by their noisy counts: each with
    noise again, which gives way to a noisy total of all."""
    supports, columns = [np.rint(cells.middles).astype(np.int64)], [rows]
    for sign, chosen in ((-1, value < cells.lowest), (1, value > cells.highest)):
        if not chosen.any():
            continue
        others = None if total is None or sign < 0 else rows @ supports[0]
        nodes, found = _readings(
            value[chosen], number[chosen], variance, others, total, len(rows), rng
        )
        supports.append(nodes)
        columns.append(found)
    values, place = np.unique(np.concatenate(supports), return_inverse=True)
    together = np.concatenate(columns, axis=1)
    order = np.argsort(place, kind="stable")
    firsts = np.searchsorted(place[order], np.arange(len(values)))
    return Draws(support=values, rows=np.add.reduceat(together[:, order], firsts, axis=1))


def without(rows: Floats, number: int, place: int) -> Floats:
    """Draws without the `number` lowest (place 0) or highest (place -1) rows."""
    ordered = rows if place == 0 else rows[:, ::-1]
    kept = np.maximum(np.cumsum(ordered, axis=1) - number, 0.0)
    found = np.diff(kept, axis=1, prepend=0.0)
    return np.asarray(found if place == 0 else found[:, ::-1])


def _readings(
    value: Integers,
    number: Integers,
    variance: float,
    others: Floats | None,
    total: Total | None,
    draws: int,
    rng: np.random.Generator,
) -> tuple[Integers, Floats]:
    """Supports and rows of noisy counts less noise, neighbours together where there are many.

    Counts are rounded at random to a grid that is fine beside the noise, so that their mean is
    kept: rows that were split between two counts instead would hardly scatter over a threshold.
    """
    below = np.cumsum(number) - number
    part = np.minimum(below * READINGS // max(int(number.sum()), READINGS), READINGS - 1)
    starts = np.flatnonzero(np.diff(part, prepend=-1))
    rows = np.add.reduceat(number, starts)
    means = np.add.reduceat(number * value.astype(float), starts) / rows
    deviation = np.sqrt(variance / rows)
    step = max(int(np.sqrt(variance) / FINENESS), 1)
    at = means + rng.laplace(size=(draws, len(rows))) * deviation / np.sqrt(2)
    if total is not None and others is not None:
        high = int(rows.sum())
        noise = rng.laplace(size=draws) * np.sqrt(total[1] / 2)
        away = total[0] + noise - others - at @ rows
        at += (away * variance / (high * variance + total[1]))[:, None]
    found = np.maximum(np.floor(at / step + rng.random(at.shape)).astype(np.int64), 0) * step
    support, place = np.unique(found, return_inverse=True)
    places = place.reshape(at.shape) + len(support) * np.arange(draws)[:, None]
    weights = np.broadcast_to(rows, at.shape)
    sums = np.bincount(places.ravel(), weights.ravel(), minlength=draws * len(support))
    return support, np.asarray(sums, dtype=np.float64).reshape(draws, len(support))
