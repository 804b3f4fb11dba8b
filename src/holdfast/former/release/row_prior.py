"""What is known of a row's count before its released one is looked at."""

from typing import TYPE_CHECKING

import numpy as np

from holdfast.arrays import Floats
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.privatizers.groups import group_epsilon
from holdfast.former.privatizers.named import find_privatizer
from holdfast.former.release.usefulness import share_uncertainty

if TYPE_CHECKING:
    from holdfast.former.release.facts import ReleaseFacts

UNSURE = 0.02  # standard deviation of a share from which on z is not taken for the truth
FEW_FOR_ROWS = 0.05  # and from which on it does not say what rows are likely to have
MOST_MIXED = 0.5
LONG = 1501  # counts above which nothing n by n is held


def mixed_in(facts: "ReleaseFacts") -> float:
    """How much of every count is mixed into z, where z is unsure: as much as it is unsure."""
    spread = _spread(facts)
    return min(spread, MOST_MIXED) if spread >= UNSURE else 0.0


def does_without(facts: "ReleaseFacts") -> bool:
    """Whether z is too uncertain to say what rows are likely to have, so that intervals do
    without it."""
    return len(facts.target) <= LONG and _spread(facts) >= FEW_FOR_ROWS


def evened(target: Floats, mixed: float) -> Floats:
    """z with a little of every count.

    >>> evened(np.array([1.0, 0.0]), 0.5).tolist()
    [0.75, 0.25]
    """
    return np.asarray((1 - mixed) * target + mixed / len(target))


def row_prior(facts: "ReleaseFacts", group: int = 0) -> tuple[Floats, Mechanism]:
    """What is known of a row, of the group with this number where there are groups, and the
    mechanism that drew it."""
    if facts.groups is None:
        return evened(facts.target, mixed_in(facts)), facts.mechanism
    found = facts.groups.at(group)
    part = of_the_table(facts, found.rows)
    return (1 - part) * found.target + part * facts.target, found.mechanism


def of_the_table(facts: "ReleaseFacts", rows: int) -> float:
    """How much of the whole table's z is mixed into that of a group with so many rows: as much as
    the group's own measurement is unsure. Not in long ranges, where a highest row would seem to
    reach as far as that of any group."""
    if len(facts.target) > LONG:
        return 0.0
    groups = 1 if facts.groups is None else len(facts.groups)
    spent = group_epsilon(facts.privacy.budget.unit_1, groups, len(facts.target))
    noise = 2**0.5 / float(spent)  # of a sum, in rows
    return MOST_MIXED * noise / (noise + rows)


def _spread(facts: "ReleaseFacts") -> float:
    """The largest of stage 1's standard deviations of a share of rows; 0 where it is unknown."""
    if facts.groups is not None:
        return 0.0
    privatizer = find_privatizer(facts.methods[0])
    if privatizer is None:
        return 0.0
    return share_uncertainty(privatizer, facts.privacy.budget, facts.rows, len(facts.target))
