"""The model of many groups at once: log-densities, how they vary, what was measured.

docs/groups-fit.md has the model and the letters. Arrays are over groups g first, then blocks b of
counts or functions k of the count; `softmax` of `log_density` is a group's law.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from holdfast.arrays import Floats, Integers

FUNCTIONS = 12  # of the count: a spike at zero, one at the top, a slope, and bends
GRID = 400
TRENDS = 6  # functions of the class, for ordered groups
ZERO, TOP, SLOPE, BEND = range(4)
LEVEL, TILT, CURVE, OWN, GROUP = range(5)
GUESS = np.array(
    [  # variances of coefficients by ZERO, TOP, SLOPE, BEND, each worth one observation
        [1.0, 1.0, 2.0, 0.3],
        [0.5, 0.5, 1.0, 0.1],
        [0.01, 0.01, 0.03, 0.003],
        [0.05, 0.05, 0.1, 0.01],
        [0.05, 0.05, 0.1, 0.01],
    ]
)
OWN_IF_ORDERED = 0.05  # of an unordered group's own variances: the trend says the rest


@dataclass(frozen=True, kw_only=True, eq=False)
class Shapes:
    """Functions of the count that log-densities are made of, as columns, and the kind of each."""

    values: Floats
    kinds: Integers


@dataclass(frozen=True, kw_only=True, eq=False)
class Trends:
    """Functions of the class, as columns of mean square 1, with the kind and the relative
    variance of each; one constant where groups have no order."""

    values: Floats
    kinds: Integers
    decay: Floats


def shapes(bins: int, counts: Floats) -> Shapes:
    """Spikes at both ends, a slope in ln(1 + i), and the largest bends that a random walk of the
    slope makes, on the logarithmic and on the plain scale; at these counts of a range."""
    logarithmic = np.log1p(np.arange(bins)) / np.log(bins)
    slope = (np.log1p(counts) / np.log(bins) - logarithmic.mean()) / logarithmic.std()
    bends = _bends(bins, counts, min(FUNCTIONS - 3, bins - 2))
    ends = np.arange(len(counts))[:, None] == [0, len(counts) - 1]
    values = np.column_stack([ends, slope, bends])
    return Shapes(values=values, kinds=np.array([ZERO, TOP, SLOPE] + [BEND] * bends.shape[1]))


def _bends(bins: int, counts: Floats, number: int) -> Floats:
    """Principal functions of the random walk, from at most `GRID` counts and lines between."""
    near = np.geomspace(1, bins, GRID // 2) - 1
    far = np.linspace(0, bins - 1, GRID // 2)
    grid = np.unique(np.round(np.concatenate([near, far]))) if bins > GRID else np.arange(bins)
    logarithmic, plain = np.log1p(grid) / np.log(bins), grid / (bins - 1)
    line = np.column_stack([np.ones(len(grid)), logarithmic])
    rest = np.eye(len(grid)) - line @ np.linalg.pinv(line)
    walk = rest @ (_integrated_walk(logarithmic) + _integrated_walk(plain)) @ rest
    variances, bends = np.linalg.eigh(walk)
    largest = (bends * np.sqrt(np.maximum(variances, 0.0)))[:, ::-1][:, :number]
    largest /= largest[:, :1].std() if number else 1.0
    at = np.array([np.interp(counts, grid, bend) for bend in largest.T])
    return at.T.reshape(len(counts), -1)


def _integrated_walk(u: Floats) -> Floats:
    """The covariance of an integrated random walk that starts at 0, flat."""
    less, more = np.minimum.outer(u, u), np.maximum.outer(u, u)
    return np.asarray(less**2 * (more / 2 - less / 6))


def trends(groups: int, *, ordered: bool) -> Trends:
    """A constant; for ordered groups also a line and the smoothest curves, by the eigenvalues of
    squared second differences."""
    if not ordered or groups < 2:
        return Trends(values=np.ones((groups, 1)), kinds=np.array([LEVEL]), decay=np.ones(1))
    u = (np.arange(groups) + 0.5) / groups
    line = np.sqrt(12.0) * (u - 0.5) / np.sqrt(1 - 1 / groups**2)
    number = np.arange(2, min(TRENDS, groups))
    curves = np.sqrt(2.0) * np.cos(np.pi * u[:, None] * number)
    fixed = np.column_stack([np.ones(groups), line])
    curves -= fixed @ (fixed.T @ curves) / groups
    return Trends(
        values=np.column_stack([fixed, curves]),
        kinds=np.array([LEVEL, TILT] + [CURVE] * len(number)),
        decay=np.concatenate([np.ones(2), (2.0 / number) ** 4]),
    )


def apart(groups: int) -> Trends:
    """A constant, and one more for each of several groups without an order."""
    return Trends(
        values=np.column_stack(
            [np.ones(groups), np.eye(groups) if groups > 1 else np.empty((1, 0))]
        ),
        kinds=np.array([LEVEL] + [GROUP] * (groups if groups > 1 else 0)),
        decay=np.ones(1 + (groups if groups > 1 else 0)),
    )


def of_cells(cells: Integers) -> Trends:
    """Trends over cells, each of which is of a group without an order, the first number, and of
    a class of each of several columns."""
    most = cells.max(axis=0) + 1
    columns = [trends(int(classes), ordered=True) for classes in most[1:]]
    return crossed([apart(int(most[0])), *columns], cells.T)


def crossed(parts: Sequence[Trends], index: Integers | None = None) -> Trends:
    """Trends over classes of several columns: those of each column, and the products of the lines
    of those that have an order. `index` has the classes of each cell, a line for each column;
    without it all are crossed, the last running fastest."""
    if index is None:
        sizes = [len(part.values) for part in parts]
        index = np.indices(sizes).reshape(len(sizes), -1)
    spread = [part.values[at] for part, at in zip(parts, index, strict=True)]
    values, kinds, decay = [spread[0]], [parts[0].kinds], [parts[0].decay]
    for part, own in zip(parts[1:], spread[1:], strict=True):
        values.append(own[:, 1:])
        kinds.append(part.kinds[1:])
        decay.append(part.decay[1:])
    lines = [own for part, own in zip(parts, spread, strict=True) if TILT in part.kinds]
    for one, other in combinations(lines, 2):
        values.append(one[:, 1:2] * other[:, 1:2])
        kinds.append(np.array([CURVE]))
        decay.append(np.ones(1))
    return Trends(
        values=np.concatenate(values, axis=1),
        kinds=np.concatenate(kinds),
        decay=np.concatenate(decay),
    )
