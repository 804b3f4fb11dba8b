"""Draws of a table's histogram from its posterior.

Shares of cells are drawn first; then, for each, the counts of rows given their noisy counts; then
Matheron's update carries that table towards the noisy sums: h + Sigma A' S^-1 (m - A h - noise).
"""

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.fit.cells import Cells
from holdfast.fit.histogram import Draws
from holdfast.fit.likelihood import LEAST, Seen, gain

NUMBER = 400  # of draws
SEED = 20260  # public: everybody draws the same
OFFSETS = np.array([-10.0, -5.0, -2.5, -1.0, 0.0, 1.0, 2.5, 5.0, 10.0])  # of own readings, in sd
READINGS = 200  # groups of rows that are read by their noisy counts


def draw_rows(seen: Seen, laws: Floats, shares: Floats, rng: np.random.Generator) -> Floats:
    """Rows in each cell of one table in each draw, of shape (draws, cells).

    `laws` are drawn shares of cells, one for each draw; `shares` their mean.
    """
    filled = np.flatnonzero(seen.rows[0])
    numbers = np.rint(seen.rows[0][filled]).astype(np.int64)
    chances = laws[:, None, :] * seen.kernel.T[filled][None]
    chances /= np.maximum(chances.sum(axis=2, keepdims=True), LEAST)
    rows = rng.multinomial(numbers, chances).sum(axis=1).astype(float)
    if seen.sums.shape[1]:
        unit = np.eye(seen.sums.shape[1])
        each = Seen(
            rows=np.repeat(seen.rows, len(unit), axis=0),
            kernel=seen.kernel,
            weights=np.repeat(seen.weights, len(unit), axis=0),
            sums=np.repeat(seen.sums, len(unit), axis=0),
            variance=np.repeat(seen.variance, len(unit), axis=0),
        )
        gains = gain(each, np.repeat(shares[None], len(unit), axis=0), unit)
        scale = np.sqrt(seen.variance[0] / 2)
        noise = rng.laplace(size=(len(rows), len(scale))) * scale
        rows += (seen.sums[0] - rows @ seen.weights[0].T - noise) @ gains
    rows = np.maximum(rows, 0.0)
    return np.asarray(rows * (seen.rows.sum() / np.maximum(rows.sum(axis=1, keepdims=True), LEAST)))


def with_readings(
    rows: Floats,
    cells: Cells,
    value: Integers,
    number: Integers,
    variance: float,
    rng: np.random.Generator,
) -> Draws:
    """Draws with the rows that are read by their noisy counts, each with noise again."""
    support, columns = np.rint(cells.middles).astype(np.int64), [rows]
    supports = [support]
    for sign, chosen in ((-1, value < cells.lowest), (1, value > cells.highest)):
        if not chosen.any():
            continue
        own, many = value[chosen], number[chosen]
        place = 0 if sign < 0 else -1
        columns[0] = _without(columns[0], int(many.sum()), place)
        nodes, found = _readings(own, many, variance, len(rows), rng)
        supports.append(nodes)
        columns.append(found)
    values, place = np.unique(np.concatenate(supports), return_inverse=True)
    together = np.concatenate(columns, axis=1)
    order = np.argsort(place, kind="stable")
    firsts = np.searchsorted(place[order], np.arange(len(values)))
    return Draws(support=values, rows=np.add.reduceat(together[:, order], firsts, axis=1))


def _without(rows: Floats, number: int, place: int) -> Floats:
    """Draws without the `number` lowest (place 0) or highest (place -1) rows."""
    ordered = rows if place == 0 else rows[:, ::-1]
    kept = np.maximum(np.cumsum(ordered, axis=1) - number, 0.0)
    found = np.diff(kept, axis=1, prepend=0.0)
    return np.asarray(found if place == 0 else found[:, ::-1])


def _readings(
    value: Integers, number: Integers, variance: float, draws: int, rng: np.random.Generator
) -> tuple[Integers, Floats]:
    """Supports and rows of noisy counts less noise, neighbours together where there are many."""
    below = np.cumsum(number) - number
    part = np.minimum(below * READINGS // max(int(number.sum()), READINGS), READINGS - 1)
    starts = np.flatnonzero(np.diff(part, prepend=-1))
    rows = np.add.reduceat(number, starts)
    means = np.add.reduceat(number * value.astype(float), starts) / rows
    deviation = np.sqrt(variance / rows)
    shift = rng.laplace(size=(draws, len(rows))) * deviation / np.sqrt(2)
    nodes = np.rint(means[:, None] + deviation[:, None] * OFFSETS).astype(np.int64)
    nodes = np.maximum(nodes, 0)
    found = np.zeros((draws, len(rows), len(OFFSETS)))
    for group in range(len(rows)):
        at = np.clip(means[group] + shift[:, group], nodes[group, 0], nodes[group, -1])
        right = np.clip(np.searchsorted(nodes[group], at, side="right"), 1, len(OFFSETS) - 1)
        left, gap = nodes[group, right - 1], nodes[group, right] - nodes[group, right - 1]
        share = np.where(gap > 0, (at - left) / np.maximum(gap, 1), 0.0)
        each = np.arange(draws)
        found[each, group, right - 1] += (1 - share) * rows[group]
        found[each, group, right] += share * rows[group]
    return nodes.ravel(), found.reshape(draws, -1)
