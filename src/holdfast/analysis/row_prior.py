"""What is known of a row before its released count is looked at."""

from typing import TYPE_CHECKING

import numpy as np

from holdfast.arrays import Floats
from holdfast.mechanism.mechanism import Mechanism
from holdfast.privatizers.groups import group_epsilon

if TYPE_CHECKING:
    from holdfast.release.release import Release

UNSURE = 0.02  # standard deviation of a share from which on z is not taken for the truth
MOST_OF_THE_TABLE = 0.5


def averaged(target: Floats, draws: Floats) -> Floats:
    """The mean of what the distribution may be: z, and stage 1's fits when repeated on z.

    A row's law with the distribution uncertain is that with its mean as prior: each
    possible distribution weighs as much as it expects the row's released count.
    """
    return np.asarray((target + draws.sum(axis=0)) / (1 + len(draws)))


def group_prior(release: "Release", number: int) -> tuple[Floats, Mechanism]:
    """z of a group, with as much of the whole table's as the group's own measurement is unsure;
    and its mechanism."""
    groups = release.groups
    if groups is None:
        return release.target, release.mechanism
    group = groups.at(number)
    spent = float(group_epsilon(release.privacy.budget.unit_1, len(groups)))
    noise = 2**0.5 / spent  # of a cumulative sum, in rows
    part = MOST_OF_THE_TABLE * noise / (noise + group.rows)
    return (1 - part) * group.target + part * release.target, group.mechanism
