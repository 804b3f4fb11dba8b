"""Steps 1 and 4 on rows in memory, of the whole table or of one batch: what is counted of them, and
the draw for each; with groups and without."""

from collections.abc import Sequence

import numpy as np

from holdfast.arrays import Integers, exact_sum, halves, joined
from holdfast.engines.stages import Stages
from holdfast.errors import HoldfastError
from holdfast.mechanism.grouped import GroupedMechanism, GroupedSampler
from holdfast.mechanism.mechanism import Mechanism
from holdfast.mechanism.sampling import draw
from holdfast.privacy.randomness import Randomness
from holdfast.tables.histogram import histogram_of_counts, top_code


def histogram_by(members: Integers | None, counts: Integers, stages: Stages) -> Integers:
    """How many rows have each count; a line for each group, where rows are in groups."""
    top = stages.highest
    if members is None or stages.groups is None:
        return histogram_of_counts(counts, top)
    cells = members * (top + 1) + top_code(counts, top)
    number = len(stages.groups)
    return np.bincount(cells, minlength=number * (top + 1)).reshape(number, -1).astype(np.int64)


def totals_by(members: Integers | None, counts: Integers, stages: Stages) -> Sequence[int]:
    """The totals of uncapped counts, by group; none where none are to be measured."""
    if not stages.budget.totals:
        return ()
    if members is None or stages.groups is None:
        return [exact_sum(counts)]
    sums = np.zeros((2, len(stages.groups)), dtype=np.int64)
    for half, part in zip(sums, halves(counts), strict=True):
        np.add.at(half, members, part)
    return joined(*sums.tolist())


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
