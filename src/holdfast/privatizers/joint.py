"""Stage 1 of a release by group: what is measured of all groups at once, and the fit of it.

Every group's sums are measured with the whole of stage 1's epsilon, less the part that sums over
the table take where groups are many: one person changes one sum of one group, and one of the table.
Where counts run further than `MOST_BINS`, every group is measured and fitted by `LongRange` alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.privacy.randomness import Randomness, laplace_measurement
from holdfast.privatizers.groups import block_edges, fit_groups, group_sums, whole_share
from holdfast.privatizers.long_range import LongRange

METHOD = "JointSmooth()"
"""What a release calls this stage 1."""
WITH_TOTALS = "JointSmooth(sums_first=True)"
"""And with totals, since they steer z only after the sums: docs/groups-fit.md."""
OF_LONG_RANGES = "LongRangeByGroup()"
"""And where counts run further than groups are fitted together."""
MOST_BINS = 10_001


@dataclass(frozen=True, kw_only=True, eq=False)
class JointMeasurement:
    """Noisy integers: all that the fit sees of the counts."""

    groups: tuple[Integers, ...]
    """Sums of each group's cumulative histogram over blocks of counts, or count by count; of long
    ranges what `LongRange` measures."""
    whole: Integers | None
    """Sums over all groups, where they were measured."""

    def __len__(self) -> int:
        return sum(map(len, self.groups)) + (0 if self.whole is None else len(self.whole))


def measure_groups(histograms: Integers, epsilon: Fraction, source: Randomness) -> JointMeasurement:
    """Measure all groups; `histograms` has a row for each. Epsilon is for a change of one."""
    if histograms.shape[1] > MOST_BINS:
        each = (LongRange().measure(own, epsilon, source) for own in histograms)
        return JointMeasurement(groups=tuple(each), whole=None)
    share = whole_share(len(histograms))
    sums = group_sums(histograms, epsilon * (1 - share))
    noisy = source.add_laplace(np.concatenate(sums), epsilon * (1 - share))
    ends = accumulate((len(part) for part in sums), initial=0)
    whole = None
    if share:
        cumulative = np.cumsum(histograms.sum(axis=0))[:-1]
        blocks = np.add.reduceat(cumulative, block_edges(histograms.shape[1])[:-1])
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

    Post-processing: it costs no privacy. docs/groups-fit.md has the model. Groups of long ranges
    are fitted apart, and totals do not steer them.
    """
    if bins > MOST_BINS:
        pairs = zip(measured.groups, sizes.tolist(), strict=True)
        return np.array([LongRange().fit(noisy, bins, rows, epsilon) for noisy, rows in pairs])
    share = whole_share(len(sizes))
    whole = None if measured.whole is None else (measured.whole, epsilon * share)
    own = epsilon * (1 - share)
    z = fit_groups(
        measured.groups,
        sizes,
        own,
        bins=bins,
        ordered=ordered,
        whole=whole,
        totals=totals,
        sums_first=sums_first,
    )
    raised = np.maximum(z, 2.0**-38)  # stage 2 takes less for zero
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def joint_method(bins: int, *, totals: bool) -> str:
    """What a release calls this stage 1.

    >>> joint_method(101, totals=False), joint_method(100_001, totals=True)
    ('JointSmooth()', 'LongRangeByGroup()')
    """
    if bins > MOST_BINS:
        return OF_LONG_RANGES
    return WITH_TOTALS if totals else METHOD


def certified_joint(epsilon: Fraction, groups: int, bins: int) -> Fraction:
    """What OpenDP's map states for the noise, for a change of one in one count."""
    if bins > MOST_BINS:
        return LongRange().certified_epsilon(epsilon)
    share = whole_share(groups)
    parts = [part for part in (1 - share, share) if part]
    return sum((laplace_measurement(epsilon * part)[1] for part in parts), Fraction(0))
