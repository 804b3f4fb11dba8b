r"""What several measurements promise together: the sum of their epsilons, or less with a delta.

Budgets of pure epsilon add up, and a ledger adds them exactly. Among many measurements it is
unlikely that every privacy loss comes out at its highest, so at the price of a small delta less
than the sum can be stated.

Whatever is (epsilon, delta)-private loses no more than randomised response that is, also when it
is chosen by what came before (Kairouz, Oh & Viswanath 2015): with probability delta everything,
else $+\epsilon$ with probability $e^\epsilon / (1 + e^\epsilon)$ and $-\epsilon$ otherwise. For
discrete Laplace noise on an integer that changes by one this is no bound but exact. So the loss of
all together is a sum of such coins.

All this is for measurements whose number and budgets were settled without looking at what they
gave. The plain sum, and a limit on it, hold without that.
"""

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.privacy.budget import exact_delta
from holdfast.privacy.promise import Charge, sums_of

GRID = 50_000  # steps of the loss axis from 0 to the sum of epsilons: errors of 1 in 50,000
NUMERICAL = 1e-11  # delta that is set aside for the errors of floats, far above what they are
SMALLEST_DELTA = Fraction(1, 10**10)  # ten times what is set aside
UNLIKELY = 1e-40  # losses that are as good as impossible, far below what is set aside
HIGHEST_EPSILON = 50  # of one charge; beyond it there is nothing to gain, and floats overflow
MOST_TIMES = 10**7  # of one charge; beyond it the plain sum is stated


def composed_epsilon(
    charges: Iterable[Charge], *, delta: Any, sums: tuple[Fraction, Fraction] | None = None
) -> Fraction:
    r"""An epsilon such that all charges together are (epsilon, delta)-private.

    It is never above the exact sum, where the deltas of the charges allow the sum. Every step is
    rounded towards more loss. `sums` are epsilon and delta of all together where these are known to
    be less than those of the charges.

    >>> twenty = [Charge(epsilon=Fraction(1, 10), times=20)]
    >>> float(composed_epsilon(twenty, delta=0))
    2.0
    >>> 1.78 < composed_epsilon(twenty, delta="1e-6") < 1.79
    True
    """
    charges = tuple(charges)
    own, allowed = sums_of(charges), exact_delta(delta, least=SMALLEST_DELTA)
    total, spent = own if sums is None else sums
    if spent > allowed:
        raise HoldfastError(
            f"`delta` must be above what the releases have spent of it, {float(spent):g}."
        )
    # Unless some charge loses everything, which is as likely as the sum of their deltas at the
    # most, all of them are pure: lost + (1 - lost) D is their delta, D that of coins alone.
    lost = own[1]
    composed = _composed(charges, float((allowed - lost) / (1 - lost))) if lost < allowed else total
    return min(total, composed)


def _composed(charges: tuple[Charge, ...], delta: float) -> Fraction:
    """The same for charges that are pure."""
    times = Counter[Fraction]()
    for charge in charges:
        times[charge.epsilon] += charge.times
    total = sum((epsilon * number for epsilon, number in times.items()), Fraction(0))
    if not total or max(times) > HIGHEST_EPSILON or max(times.values()) > MOST_TIMES:
        return total
    step, masses, lowest = float(total) / GRID, np.ones(1), 0
    for epsilon, number in sorted(times.items()):
        losses, weights = _on_grid(*_losses(float(epsilon), number), step)
        wider = np.zeros(len(masses) + int(losses[-1] - losses[0]))
        for loss, weight in zip(losses - losses[0], weights, strict=True):
            wider[loss : loss + len(masses)] += weight * masses
        masses, lowest = wider, lowest + int(losses[0])
    place = lowest + _first_below(masses, delta - NUMERICAL, step)
    return max(Fraction(math.nextafter(place * step, math.inf)), Fraction(0))


def _losses(epsilon: float, number: int) -> tuple[Floats, Floats]:
    """The sums of so many coins of epsilon, with their probabilities; unlikely ones left out."""
    heads = np.arange(number + 1)
    factorials = np.append(0.0, np.cumsum(np.log(np.arange(1, number + 1))))
    ways = factorials[-1] - factorials - factorials[::-1]
    no_head = -np.logaddexp(0.0, epsilon)  # ln 1/(1 + e^epsilon)
    weights = np.exp(ways + number * no_head + heads * epsilon)
    likely = weights > UNLIKELY
    return (2.0 * heads[likely] - number) * epsilon, weights[likely]


def _on_grid(losses: Floats, weights: Floats, step: float) -> tuple[Integers, Floats]:
    r"""Losses as multiples of a step, for more loss at every epsilon.

    A loss l of weight p, between neighbours a < l < a + h, stands for outcomes that have
    probability p in one world and $p e^{-l}$ in the other. It is parted so that both are kept:
    $p (e^{a+h-l} - 1) / (e^h - 1)$ goes to a. The pair that was parted comes from the parts by
    joining them, so it loses no more ("connect the dots", Doroshenko et al. 2022).
    """
    below = np.floor(losses / step)
    share = np.expm1((below + 1) * step - losses) / math.expm1(step)
    low = weights * np.clip(share, 0.0, 1.0)
    places = np.append(below, below + 1).astype(np.int64)
    first = int(places.min())
    masses = np.bincount(places - first, weights=np.append(low, weights - low))
    held = np.flatnonzero(masses).astype(np.int64)
    return held + first, np.asarray(masses[held])


def _first_below(masses: Floats, delta: float, step: float) -> int:
    """The first place from which the delta of these losses is at most `delta`."""
    low, high = 0, len(masses) - 1
    while low < high:
        middle = (low + high) // 2
        beyond = masses[middle + 1 :]
        lost = -np.expm1(-step * np.arange(1, len(beyond) + 1))
        low, high = (low, middle) if beyond @ lost <= delta else (middle + 1, high)
    return low
