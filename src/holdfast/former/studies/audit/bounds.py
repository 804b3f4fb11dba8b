"""Exact confidence bounds on frequencies and on their ratio."""

import math

import numpy as np

from holdfast.arrays import Floats, Integers

CAUTION = 3.0  # standard errors taken off an estimate while events are compared


def clopper_pearson(hits: int, draws: int, miss: float) -> tuple[float, float]:
    """Bounds on a probability, each of which is wrong with probability at most `miss`.

    >>> low, high = clopper_pearson(0, 100, 0.025)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    from scipy.special import betaincinv

    low = float(betaincinv(hits, draws - hits + 1, miss)) if hits else 0.0
    high = float(betaincinv(hits + 1, draws - hits, 1 - miss)) if hits < draws else 1.0
    return low, high


def loss_bound(hits: int, others: int, draws: int, *, delta: float, miss: float) -> float:
    r"""A lower bound on ε that is wrong with probability at most 2 `miss`; at least 0.

    If P(E) <= e^ε Q(E) + δ then ε >= ln((P(E) - δ) / Q(E)): the lower Clopper-Pearson bound
    for P(E), the upper one for Q(E).

    >>> round(loss_bound(5000, 1000, 10_000, delta=0, miss=0.005), 3)
    1.507
    """
    low = clopper_pearson(hits, draws, miss)[0] - delta
    high = clopper_pearson(others, draws, miss)[1]
    return max(0.0, math.log(low / high)) if low > 0 else 0.0


def cautious_loss(hits: Integers, others: Integers, draws: int, delta: float) -> Floats:
    """Estimated ln((P - δ)/Q) less three standard errors: fast, to compare many events."""
    mass = np.maximum(hits - delta * draws, 0.0)
    with np.errstate(divide="ignore"):
        ratio = np.log(mass) - np.log(others + 1.0)
        spread = np.sqrt(1.0 / np.maximum(hits, 1) + 1.0 / (others + 1.0))
    return np.asarray(np.where(mass > 0, ratio - CAUTION * spread, -np.inf))
