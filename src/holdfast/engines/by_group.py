"""What differs in the five steps where rows are in groups: a line for each group."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.constructors import Constructor, Optimal
from holdfast.errors import HoldfastError
from holdfast.mechanism.grouped import GroupedMechanism, GroupedSampler
from holdfast.mechanism.mechanism import Mechanism
from holdfast.mechanism.sampling import draw
from holdfast.privacy.budget import Budget
from holdfast.privacy.randomness import Randomness
from holdfast.privatizers import CumulativeSmooth
from holdfast.privatizers.joint import fit_measured, measure_groups
from holdfast.privatizers.totals import Totals
from holdfast.release.groups import Groups
from holdfast.tables.groups import Partition
from holdfast.tables.histogram import histogram_of_counts, top_code

MOST_CELLS = 20_000_000  # groups times counts


def check_stages_by_group(privatizer: Any, constructor: Constructor) -> None:
    """Refuse other stages than those that know groups."""
    usual = privatizer is None or privatizer == CumulativeSmooth()
    optimum = type(constructor) is Optimal and constructor.target is None
    if not usual or not optimum or constructor.promised_delta:
        raise HoldfastError(
            "`within` goes with the default stages alone. Hint: leave `privatizer`, `constructor` "
            "and delta out."
        )


def check_room_for_groups(groups: int, bins: int) -> None:
    """Refuse more groups than memory holds."""
    if groups * bins > MOST_CELLS:
        raise HoldfastError(
            f"`within` makes {groups:,} groups, and each has {bins:,} counts: that is more than "
            f"{MOST_CELLS:,} in all. Hint: fewer groups, or a smaller max_count."
        )


def by_group(
    groups: Partition,
    histograms: Integers,
    totals: Totals | None,
    budget: Budget,
    constructor: Constructor,
    source: Randomness,
) -> tuple[Groups, str]:
    """Steps 2 and 3: one measurement of all groups, z of each, T of each from its z alone."""
    measured = measure_groups(histograms, budget.unit_1, source)
    bins, ordered = histograms.shape[1], groups.within.ordered
    known = None if totals is None else (totals.measured, totals.unit)
    z = fit_measured(
        measured, groups.sizes, budget.unit_1, bins=bins, ordered=ordered, totals=known
    )
    mechanism, method = _mechanisms(z, constructor, budget)
    found = Groups(partition=groups, mechanism=mechanism, measurement=measured, totals=totals)
    return found, method


def _mechanisms(z: Floats, constructor: Constructor, budget: Budget) -> tuple[Any, str]:
    """Groups with the same target share a mechanism."""
    index: dict[bytes, int] = {}
    which = [index.setdefault(row.tobytes(), len(index)) for row in z]
    targets = [np.frombuffer(key) for key in index]
    made = [constructor(target, epsilon=budget.unit_2) for target in targets]
    grouped = GroupedMechanism([one.mechanism for one in made], which)
    if grouped.epsilon > budget.unit_2:
        raise HoldfastError("a mechanism was made for more than its epsilon.")
    return grouped, made[0].description


def histogram_by(members: Integers | None, counts: Integers, stages: Any) -> Integers:
    """How many rows have each count; a line for each group, where rows are in groups."""
    top = stages.highest
    if members is None:
        return histogram_of_counts(counts, top)
    cells = members * (top + 1) + top_code(counts, top)
    number = len(stages.groups)
    return np.bincount(cells, minlength=number * (top + 1)).reshape(number, -1).astype(np.int64)


def totals_by(members: Integers | None, counts: Integers, stages: Any) -> Sequence[int]:
    """The totals of uncapped counts, by group; none where none are to be measured."""
    if not stages.budget.totals:
        return ()
    if members is None:
        return [whole_sum(counts)]
    halves = []
    for part in _halves(counts):
        sums = np.zeros(len(stages.groups), dtype=np.int64)
        np.add.at(sums, members, part)
        halves.append(sums.tolist())
    return [(high << 32) + low for high, low in zip(*halves, strict=True)]


def whole_sum(counts: Integers) -> int:
    """The sum of counts, exactly.

    >>> whole_sum(np.full(4, 2**62))
    18446744073709551616
    """
    high, low = _halves(counts)
    return (int(high.sum()) << 32) + int(low.sum())


def _halves(counts: Integers) -> tuple[Integers, Integers]:
    """The sum of many large counts does not fit into 64 bits; those of their halves do."""
    return counts >> 32, counts & 0xFFFFFFFF


def draw_by(
    members: Integers | None,
    mechanism: Mechanism | GroupedMechanism,
    counts: Integers,
    source: Randomness,
) -> Integers:
    """One draw per count, by the mechanism of its group."""
    if isinstance(mechanism, GroupedMechanism):
        if members is None:
            raise HoldfastError("which group a row is in is not known.")
        return GroupedSampler(mechanism)(counts, members, source)
    return draw(mechanism, counts, source)
