"""The law of an answer's error, and the interval that follows from it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from holdfast.arrays import Floats

if TYPE_CHECKING:
    from holdfast.former.analysis.stage_one import StageOne

POINTS, REACH = 2048, 12.0


def error_density(
    first: "StageOne", loads: Floats, normal_variance: float, unit: float
) -> tuple[Floats, Floats]:
    r"""Density of $\sum_k a_k L_k + G + U$ on a grid, by its characteristic function.

    The L are stage 1's discrete Laplace draws, G is stage 2's sampling error, normal, and U is
    uniform over one `unit`: counts of rows are whole numbers, and U makes a density of their law.
    """
    spread = np.sqrt(first.variance * loads @ loads + normal_variance + unit**2 / 12)
    width = 2 * REACH * spread
    t = 2 * np.pi * np.arange(POINTS // 2 + 1) / width
    characteristic = np.exp(-normal_variance * t**2 / 2) * np.sinc(t * unit / (2 * np.pi))
    if first.decay is None:
        characteristic *= np.exp(-first.variance * (loads @ loads) * t**2 / 2)
    else:
        alpha = first.decay
        waves = np.cos(np.outer(loads[loads != 0], t))
        factors = (1 - alpha) ** 2 / (1 - 2 * alpha * waves + alpha**2)
        characteristic *= factors.prod(axis=0)
    density = np.fft.irfft(characteristic * (-1.0) ** np.arange(len(t)), POINTS)
    grid = (np.arange(POINTS) - POINTS // 2) * (width / POINTS)
    return grid, np.maximum(density, 0)


def shortest_interval(
    centre: float,
    law: tuple[Floats, Floats],
    level: float,
    limits: tuple[float, float],
    stretch: Callable[[Floats], Floats] | None = None,
) -> tuple[float, float]:
    """The shortest interval of this level for a quantity known to lie between `limits`.

    Away from the limits it is the usual interval around `centre`, of exact coverage if `law` is
    exact. At a limit it is the shortest part of the law inside the limits, never empty, and its
    coverage depends on where the truth lies: it may be some per cent above or below the level,
    and far below once the error is not small against the distance of the limits (answers with
    so few rows say so). `stretch(values)` says how much wider than `law` the error would be if
    those values were true.

    >>> steps = np.linspace(-4, 4, 801)
    >>> shortest_interval(0.5, (steps, np.exp(-steps**2 * 8)), 0.9, (0, 1))
    (0.125, 0.865...)
    """
    grid, density = law
    (low, high), step = limits, grid[1] - grid[0]
    centre = min(max(centre, low + grid[0] / 2), high - grid[0] / 2)
    values = centre + grid
    values = values[(values >= low - step / 2) & (values <= high + step / 2)]
    wider = np.ones(len(values)) if stretch is None else stretch(values)
    likelihood = np.interp((centre - values) / wider, grid, density) / wider
    order = np.argsort(-likelihood, kind="stable")
    total = np.cumsum(likelihood[order])
    kept = order[: int(np.searchsorted(total, level * total[-1])) + 1]
    ends = float(values[kept].min() - step / 2), float(values[kept].max() + step / 2)
    return max(ends[0], low), min(ends[1], high)
