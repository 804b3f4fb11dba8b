"""Rows of a long range: laws that are kept where they have probability, and who is on top."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.former.analysis.posterior import row_law
from holdfast.former.analysis.stage_one import SEED
from holdfast.former.release.row_marks import row_kinds

if TYPE_CHECKING:
    from holdfast.former.release.release import Release

DRAWS, REACH = 2000, 50.0
NOTHING = 1e-15  # a probability that no answer shows


@dataclass(frozen=True, eq=False)
class Standings:
    """Rows that may be on top."""

    rows: Integers  #: their numbers
    highest: Floats  #: the chance of each to be the highest
    chances: Floats  #: the chance of each to be among the k highest
    means: Floats  #: the expected true counts


def support(law: Floats) -> tuple[int, Floats]:
    """Where a law begins to have probability, and its probabilities as far as it has.

    >>> support(np.array([0, 0, 0.75, 0.25, 0]))
    (2, array([0.75, 0.25]))
    """
    there = np.flatnonzero(law > NOTHING)
    return int(there[0]), law[there[0] : there[-1] + 1].copy()


def long_standings(release: "Release", inside: Integers, k: int) -> Standings:
    """Rows within 50/ε2 of the k-th highest released count are drawn, 2,000 times; what is further
    off has next to no chance."""
    reach = REACH / float(release.privacy.budget.unit_2)
    counts = release.counts[inside]
    rows = inside[counts >= np.partition(counts, -k)[-k] - reach]
    seen, which = np.unique(row_kinds(release)[rows], return_inverse=True)
    laws = [support(row_law(release, kind).probabilities) for kind in seen]
    generator, drawn = np.random.default_rng(SEED), np.empty((len(rows), DRAWS))
    for row, kind in enumerate(which):
        start, shares = laws[kind]
        below = np.cumsum(shares) / shares.sum()
        drawn[row] = start + np.searchsorted(below, generator.random(DRAWS), side="right")
    drawn += generator.random(drawn.shape)  # ties are broken at random
    bars = np.sort(drawn, axis=0)[[-1, -k]]
    highest, chances = (np.mean(drawn >= bar, axis=1) for bar in bars)
    means = np.array([shares @ (start + np.arange(len(shares))) for start, shares in laws])
    return Standings(rows, highest, chances, means[which])
