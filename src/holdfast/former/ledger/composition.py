r"""What several releases promise together: (epsilon, delta) below the sum of their epsilons.

Budgets of pure epsilon add up, and the ledger adds them exactly. Among many releases it is
unlikely that every privacy loss comes out at its highest, so at the price of a small delta less
than the sum can be stated. This module states it through dp_accounting's privacy-loss
distributions (the extra `accounting`), rounded towards more loss at every step.

Stage 2's matrix depends on what stage 1 drew. A loss computed from the one matrix that was drawn
is not a promise: another draw could have brought a worse one (docs/ledger.md has an example).
`Charge` is what holds for every matrix: whatever is (epsilon, delta)-private loses no more than
randomised response that is (Kairouz, Oh & Viswanath 2015), also when it is chosen by what came
before. A `Mechanism` stands for itself: give it where it was fixed before the data were touched.

All this is for parts whose number and budgets were settled without looking at what they drew. The
plain sum, and a limit on it, hold without that.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.former.constructors import Constructor
from holdfast.former.ledger.entries import Charge
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.privatizers import Privatizer, is_own
from holdfast.former.privacy.approximate import exact_delta
from holdfast.former.privacy.budget import Budget
from holdfast.former.privacy.delta import group_delta

GRID = 50_000  # steps of the loss axis from 0 to the sum of epsilons
NUMERICAL = 1e-11  # delta that is set aside for the errors of floats, far above what they are
SMALLEST_DELTA = Fraction(1, 10**10)  # ten times what is set aside
HIGHEST_EPSILON = 50  # of one part; beyond it there is nothing to gain, and floats overflow


def composed_epsilon(
    parts: Iterable[Charge | Mechanism], *, delta: Any, steps: int = 1
) -> Fraction:
    r"""An epsilon such that all parts together are (epsilon, delta)-private.

    It is never above the exact sum, where the deltas of the parts allow the sum. A `Mechanism` is
    taken at its exact privacy-loss distribution for a change of up to `steps` in one count, the
    worst over all counts. Needs the extra `accounting` where delta is positive.

    >>> twenty = [Charge(epsilon=Fraction(1, 10), times=20)]
    >>> float(composed_epsilon(twenty, delta=0))
    2.0
    >>> 1.78 < composed_epsilon(twenty, delta="1e-6") < 1.79
    True
    """
    counted = _count(parts)
    allowed = exact_delta(delta, least=SMALLEST_DELTA)
    total = sum((_epsilon(part, steps) * times for part, times in counted.items()), Fraction(0))
    spent = sum((_delta(part, steps) * times for part, times in counted.items()), Fraction(0))
    if allowed == 0 or total == 0:
        return _sum(total, spent, allowed)
    tight = _tight(counted, float(total) / GRID, float(allowed) - NUMERICAL, steps)
    if math.isinf(tight):
        return _sum(total, spent, allowed)
    composed = Fraction(math.nextafter(tight, math.inf))
    return min(composed, total) if spent <= allowed else composed


def hockey_stick(upper: Floats, lower: Floats, epsilons: Floats) -> Floats:
    r"""$\sum_j \max(0, P_j - e^\epsilon Q_j)$ at each epsilon, for two distributions P and Q."""
    seen = upper > 0
    with np.errstate(divide="ignore"):
        losses = np.log(upper[seen]) - np.log(lower[seen])
    order = np.argsort(losses)
    above = np.append(np.cumsum(upper[seen][order][::-1])[::-1], 0.0)
    below = np.append(np.cumsum(lower[seen][order][::-1])[::-1], 0.0)
    first = np.searchsorted(losses[order], epsilons, side="right")
    return np.asarray(np.clip(above[first] - np.exp(epsilons) * below[first], 0.0, 1.0))


def _tight(
    counted: Counter[Charge | Mechanism], interval: float, delta: float, steps: int
) -> float:
    if max(_epsilon(part, steps) for part in counted) > HIGHEST_EPSILON:
        return math.inf
    composed = None
    for part, times in counted.items():
        if _epsilon(part, steps) == 0 and _delta(part, steps) == 0:  # it tells nothing
            continue
        loss = _loss_distribution(part, interval, steps).self_compose(times)
        composed = loss if composed is None else composed.compose(loss)
    return float(composed.get_epsilon_for_delta(delta)) if composed is not None else 0.0


def _loss_distribution(part: Charge | Mechanism, interval: float, steps: int) -> Any:
    """dp_accounting's distribution that dominates every pair of neighbours, in both directions.

    The highest hockey-stick divergence over the pairs is itself convex in e^epsilon, so it is the
    curve of one pair of distributions; "connect the dots" (Doroshenko et al. 2022) is above it.
    """
    pld, pld_pmf = _accounting()
    pairs = list(_pairs(part, steps))
    rounding = len(pairs[0][0]) * 2.0**-50
    reach = math.ceil(float(_epsilon(part, steps)) / interval) + 1
    grid = np.asarray(np.arange(-reach, reach + 1) * interval, dtype=np.float64)
    sides = []
    for reverse in (False, True):
        curves = [
            hockey_stick(q, p, grid) if reverse else hockey_stick(p, q, grid) for p, q in pairs
        ]
        deltas = np.minimum(np.max(curves, axis=0) + rounding, 1.0)
        sides.append(
            pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(interval, -reach, reach, deltas)
        )
    return pld.PrivacyLossDistribution(*sides)


def _pairs(part: Charge | Mechanism, steps: int) -> Iterator[tuple[Floats, Floats]]:
    if isinstance(part, Mechanism):
        rows = part.matrix
        for step in range(1, min(steps, len(rows) - 1) + 1):
            yield from zip(rows[:-step], rows[step:], strict=True)
        return
    likely = (1 - float(part.delta)) / (1 + math.exp(-float(part.epsilon)))
    rest = 1 - float(part.delta) - likely
    one_sided = float(part.delta)
    yield np.array([one_sided, likely, rest, 0.0]), np.array([0.0, rest, likely, one_sided])


def _count(parts: Iterable[Charge | Mechanism]) -> Counter[Charge | Mechanism]:
    """How often each part occurs; equal mechanisms are one."""
    counted: Counter[Charge | Mechanism] = Counter()
    known: dict[str, Mechanism] = {}
    for part in parts:
        if isinstance(part, Mechanism):
            counted[known.setdefault(part.digest, part)] += 1
        else:
            counted[Charge(epsilon=part.epsilon, delta=part.delta)] += part.times
    return counted


def _epsilon(part: Charge | Mechanism, steps: int) -> Fraction:
    if isinstance(part, Mechanism):
        return part.certified_epsilon * min(steps, part.max_count)
    return part.epsilon


def _delta(part: Charge | Mechanism, steps: int) -> Fraction:
    if isinstance(part, Mechanism):
        farthest = min(steps, part.max_count)
        return group_delta(part.delta, part.epsilon, farthest)
    return part.delta


def _sum(total: Fraction, spent: Fraction, allowed: Fraction) -> Fraction:
    if spent > allowed:
        raise HoldfastError(
            f"`delta` must be above what the releases have spent of it, {float(spent):g}."
        )
    return total


def _accounting() -> Any:
    try:
        from dp_accounting.pld import pld_pmf, privacy_loss_distribution
    except ImportError:
        raise HoldfastError(
            "a bound below the plain sum needs dp-accounting. Hint: pip install "
            "'holdfast[accounting]', or ask for delta 0."
        ) from None
    return privacy_loss_distribution, pld_pmf


def charges_of(
    budget: Budget, privatizer: Privatizer, constructor: Constructor, *, grouped: bool = False
) -> tuple[Charge, ...]:
    """What a release costs step by step; known before it is drawn. Groups are disjoint, so they
    cost what one does; a person may change one sum of theirs several times.

    Where max_count is found from the data, the kind of stage 1 follows from what is found: then the
    two stages are one charge.
    """
    declared, promised = exact_delta(privatizer.delta, least=0), constructor.promised_delta
    totals = Charge(epsilon=budget.totals)
    if budget.quantile:
        rest = budget.stage_1 + budget.stage_2
        delta = group_delta(declared, rest / budget.steps, budget.steps)
        both = Charge(epsilon=rest, delta=delta + promised)
        return Charge(epsilon=budget.quantile), *[totals][: bool(budget.totals)], both
    delta = group_delta(declared, budget.unit_1, budget.steps)
    stage_1 = Charge(epsilon=budget.stage_1, delta=delta)
    shared = grouped or budget.person_rows > 1  # two rows of a person may move one sum twice
    if delta == 0 and is_own(privatizer) and privatizer.independent_steps and not shared:
        stage_1 = Charge(epsilon=budget.unit_1, times=budget.steps)
    charges = totals, stage_1, Charge(epsilon=budget.stage_2, delta=promised)
    return tuple(charge for charge in charges if charge.epsilon or charge.delta)
