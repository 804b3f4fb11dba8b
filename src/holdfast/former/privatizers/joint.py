"""Stage 1 of a release by group: what is measured of all groups at once, and the fit of it.

Every group's sums are measured with the whole of stage 1's epsilon, less the part that sums over
the table take where groups are many: one person changes one sum of one group, and one of the table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.former.privatizers.groups import (
    RAISED,
    SINGLE_COUNTS,
    block_edges,
    fit_groups,
    group_epsilon,
    group_sums,
    whole_share,
)
from holdfast.former.privacy.randomness import Randomness, laplace_measurement

METHOD = "JointSmooth()"
"""What a release calls this stage 1."""
WITH_TOTALS = "JointSmooth(sums_first=True)"
"""And with totals, since they steer z only after the sums: docs/groups-fit.md."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JointMeasurement:
    """Noisy integers: all that the fit sees of the counts."""

    groups: tuple[Integers, ...]
    """Sums of each group's cumulative histogram over blocks of counts, or count by count."""
    whole: Integers | None
    """Sums over all groups, where they were measured."""

    def __len__(self) -> int:
        return sum(map(len, self.groups)) + (0 if self.whole is None else len(self.whole))


def measure_groups(histograms: Integers, epsilon: Fraction, source: Randomness) -> JointMeasurement:
    """Measure all groups; `histograms` has a row for each. Epsilon is for a change of one."""
    groups, bins = histograms.shape
    share, own = whole_share(groups, bins), group_epsilon(epsilon, groups, bins)
    sums = group_sums(histograms, own)
    noisy = source.add_laplace(np.concatenate(sums), own)
    ends = accumulate((len(part) for part in sums), initial=0)
    whole = None
    if share:
        cumulative = np.cumsum(histograms.sum(axis=0))[:-1]
        blocks = np.add.reduceat(cumulative, block_edges(bins)[:-1])
        whole = source.add_laplace(blocks, epsilon * share)
    return JointMeasurement(groups=tuple(noisy[a:b] for a, b in pairwise(ends)), whole=whole)


def fit_measured(
    measured: JointMeasurement,
    sizes: Integers,
    epsilon: Fraction,
    *,
    bins: int,
    ordered: bool,
    totals: tuple[Sequence[int], Fraction] | None = None,
    sums_first: bool = True,
) -> Floats:
    """The target of each group, as rows; totals that were measured anyway, and the epsilon of
    their noise for a change of one, steer them.

    Post-processing: it costs no privacy. docs/groups-fit.md has the model.
    """
    share = whole_share(len(sizes), bins)
    whole = None if measured.whole is None else (measured.whole, epsilon * share)
    z = fit_groups(
        measured.groups,
        sizes,
        group_epsilon(epsilon, len(sizes), bins),
        bins=bins,
        ordered=ordered,
        whole=whole,
        totals=totals,
        sums_first=sums_first,
    )
    if bins > SINGLE_COUNTS:
        return z
    raised = np.maximum(z, RAISED)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def certified_joint(epsilon: Fraction, groups: int, bins: int) -> Fraction:
    """What OpenDP's map states for the noise, for a change of one in one count."""
    share = whole_share(groups, bins)
    parts = [part for part in (1 - share, share) if part]
    return sum((laplace_measurement(epsilon * part)[1] for part in parts), Fraction(0))
