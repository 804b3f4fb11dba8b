"""Stage 1 for groups: noisy sums of many cumulative histograms -> a target for each group.

Rows of different groups are different rows, so one person changes one C_i of one group by 1: all
groups are measured with the whole epsilon. docs/groups-fit.md has the model and what was measured.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.former.privatizers.group_measured import Measured
from holdfast.former.privatizers.group_solver import JointFit
from holdfast.former.privatizers.noisy import laplace_variance
from holdfast.former.privatizers.projection import Noise, isotonic
from holdfast.former.privatizers.smooth import LEAST, smooth_fit

GROWTH = 1.6  # of a block of counts over the one before
LEAST_BLOCKS = 4  # that the range of counts has at the least
FINE_NOISE, FINE_ROWS = (
    Fraction(7, 10),
    5,
)  # epsilon, and epsilon times the root of rows, see `is_fine`
SINGLE_COUNTS = 10_001  # bins up to which laws have a number for every count
CELLS = 40  # for counts that grow by e, beyond that
MANY_GROUPS, WHOLE_SHARE = 100, Fraction(1, 5)
MANY_OF_LONG_RANGES, WHOLE_OF_LONG_RANGES = 20, Fraction(1, 3)
RAISED = 2.0**-38  # of a share: stage 2 takes less for zero
ROUNDS = 20
NEXT_TO_NOTHING = 1e-12  # so that no cell is empty
BEYOND = 0.001  # rows of a group that may be above where z of a long range ends


def block_edges(bins: int) -> Integers:
    """Where blocks of counts begin and end: single counts first, then wider and wider.

    >>> block_edges(31).tolist()
    [0, 1, 2, 4, 8, 14, 21, 28, 30]
    """
    edges, width = [0], 1.0
    while edges[-1] < bins - 1:
        edges.append(min(edges[-1] + int(width), bins - 1))
        width = min(GROWTH * width, max((bins - 1) / LEAST_BLOCKS, 1.0))
    return np.array(edges)


def cell_edges(bins: int) -> Integers:
    """Where cells of counts begin and end over which laws are even: single counts or, in long
    ranges, single ones up to 2 `CELLS` and then wider and wider; blocks are made of whole ones."""
    if bins <= SINGLE_COUNTS:
        return np.arange(bins + 1)
    edges = [0]
    while edges[-1] < bins - 1:
        edges.append(edges[-1] + max(edges[-1] // CELLS, 1))
    return np.append(np.union1d(edges[:-1], block_edges(bins)), bins)


def is_fine(rows: int, epsilon: float | Fraction, bins: int) -> bool:
    """Whether a group is large enough at this noise to be measured count by count, and then
    fitted alone: what it says itself is more than what other groups say about it."""
    exact = Fraction(epsilon)
    large = exact >= FINE_NOISE or exact**2 * rows >= FINE_ROWS**2
    return bins <= SINGLE_COUNTS and large


def classes_rule(rows: int) -> int:
    """How many classes a table bears whose number was left open; N is public.

    About 300 rows per class, from 8 classes to 32, and 10 rows in each at the least. Measured by
    `benchmarks/groups.py classes` on 300 to 10,000 counties at ε = 0.1 to 3: fewer bend counts
    against the number that the classes are of, more make the whole table's distribution worse.
    Epsilon hardly matters: at 3 all numbers are alike, and below they have the same best.

    >>> [classes_rule(rows) for rows in (5, 60, 2197, 6000, 10**6)]
    [1, 6, 8, 16, 32]
    """
    number = 2 ** round(np.log2(max(rows, 1) / 300))
    return int(max(min(max(number, 8), 32, rows // 10), 1))


def group_sums(histograms: ArrayLike, epsilon: float | Fraction) -> list[Integers]:
    """The integers that noise is added to: sums of each group's cumulative histogram over blocks
    of counts, or the cumulative histogram itself where that is fine, or alone.

    One person changes one of all these integers by 1. Which are summed depends on sizes, bins
    and epsilon, which are public.

    >>> [sums.tolist() for sums in group_sums([[3, 1, 0, 0, 0, 2], [0, 1, 1, 0, 0, 0]], 0.1)]
    [[3, 4, 4, 4, 4], [0, 1, 2, 2, 2]]
    """
    tables = np.asarray(histograms, dtype=np.int64)
    bins = tables.shape[1]
    cumulative, edges = np.cumsum(tables, axis=1)[:, :-1], block_edges(bins)
    if bins == 1:
        return list(cumulative)
    sums = np.add.reduceat(cumulative, edges[:-1], axis=1)
    fine = fine_groups(tables.sum(axis=1), epsilon, bins)
    return [cumulative[g] if fine[g] else sums[g] for g in range(len(tables))]


def fine_groups(sizes: Integers, epsilon: float | Fraction, bins: int) -> list[bool]:
    """Which groups are measured count by count; one that is alone always is."""
    alone = len(sizes) == 1 and bins <= SINGLE_COUNTS
    return [alone or is_fine(rows, epsilon, bins) for rows in sizes.tolist()]


def whole_share(groups: int, bins: int) -> Fraction:
    """The part of stage 1's epsilon for sums over all groups; 0 where groups say enough.

    >>> whole_share(51, 101), whole_share(3000, 101), whole_share(51, 50_001)
    (Fraction(0, 1), Fraction(1, 5), Fraction(1, 3))
    """
    if bins <= SINGLE_COUNTS:
        return WHOLE_SHARE if groups > MANY_GROUPS else Fraction(0)
    return WHOLE_OF_LONG_RANGES if groups > MANY_OF_LONG_RANGES else Fraction(0)


def group_epsilon(unit_1: Fraction, groups: int, bins: int) -> Fraction:
    """What of stage 1's epsilon measures each group; the rest measures the whole table.

    >>> group_epsilon(Fraction(1), 3000, 101) == 1 - whole_share(3000, 101)
    True
    """
    return unit_1 * (1 - whole_share(groups, bins))


def fit_groups(
    noisy: Sequence[ArrayLike],
    sizes: ArrayLike,
    epsilon: float | Fraction,
    *,
    bins: int,
    ordered: bool = False,
    whole: tuple[ArrayLike, float | Fraction] | None = None,
    totals: tuple[ArrayLike, float | Fraction] | None = None,
    sums_first: bool = True,
) -> Floats:
    """The target distribution of each group, as rows.

    `noisy` holds, for each group, its `group_sums` or all n - 1 numbers of its cumulative
    histogram, with independent discrete Laplace noise of scale 1/epsilon; `sizes` are the public
    numbers of rows. `whole` are sums over all groups in the blocks of `block_edges` and the
    epsilon of their noise; `totals` are noisy totals of each group's counts before top-coding,
    and the epsilon of theirs. `ordered` groups vary smoothly from one to the next. Without
    `sums_first` totals steer from the first round on, as they did in early releases.

    Post-processing: it costs no privacy. One group with its cumulative histogram is fitted by
    `CumulativeSmooth`'s fit. Cost: O(G n), a millisecond or two a group at n = 101 and in cells of
    long ranges.
    """
    rows, numbers = np.asarray(sizes, dtype=np.int64), [np.asarray(sums) for sums in noisy]
    _check(numbers, rows, bins)
    if bins == 1:
        return np.ones((len(rows), 1))
    own = alone(numbers, rows, epsilon, bins)
    if len(own) == len(rows):
        return np.array([fit_alone(numbers[g], int(rows[g]), epsilon) for g in own])
    measured = measured_sums(numbers, rows, epsilon, bins, whole, totals)
    fit = JointFit(measured, ordered=ordered)
    fit = fit.from_sums_first() if totals is not None and sums_first else fit.run()
    z = followed(fit)
    if measured.whole is not None:
        z = _raked(z, measured)
    if bins > SINGLE_COUNTS:
        return _by_count(z, fit)
    for g in own:
        z[g] = fit_alone(numbers[g], int(rows[g]), epsilon)
    return z


def _by_count(z: Floats, fit: JointFit) -> Floats:
    """z of every count from that of cells. Above all but `BEYOND` of a row, by z and by the group's
    law, there is nothing, or a long empty tail would move the mean; by z alone, a single row that
    noise hides would be above its end."""
    measured, width = fit.measured, np.diff(fit.measured.cells)
    above = np.cumsum(np.maximum(z, fit.laws())[:, ::-1], axis=1)[:, ::-1]
    above *= np.maximum(measured.sizes, 1.0)[:, None]
    by_count = np.repeat(
        np.where(above > BEYOND, np.maximum(z / width, RAISED), 0.0), width, axis=1
    )
    return np.asarray(by_count / by_count.sum(axis=1, keepdims=True))


def alone(numbers: list[Floats], rows: Integers, epsilon: float | Fraction, bins: int) -> list[int]:
    """The groups that were measured count by count and are fitted alone."""
    return [
        g
        for g, sums in enumerate(numbers)
        if len(sums) == bins - 1 and (len(rows) == 1 or is_fine(int(rows[g]), epsilon, bins))
    ]


def _check(numbers: list[Floats], rows: Integers, bins: int) -> None:
    if len(numbers) != len(rows):
        raise HoldfastError(f"`noisy` has {len(numbers)} groups and `sizes` {len(rows)}.")
    right = {bins - 1, len(block_edges(bins)) - 1}
    wrong = [g for g, sums in enumerate(numbers) if sums.ndim != 1 or len(sums) not in right]
    if wrong:
        raise HoldfastError(
            f"`noisy` of group {wrong[0]} must hold {' or '.join(map(str, sorted(right)))} numbers "
            f"for {bins} bins. Hint: `group_sums` says which."
        )


def fit_alone(noisy: Floats, rows: int, epsilon: float | Fraction) -> Floats:
    """The target of a group from its noisy cumulative histogram, as of a table of its own."""
    histogram = np.diff(np.append(noisy, rows), prepend=0)
    variance = np.full(len(noisy), laplace_variance(Fraction(epsilon)))
    return smooth_fit(histogram, Noise(variance=variance, law="laplace"))


def measured_sums(
    numbers: list[Floats],
    rows: Integers,
    epsilon: float | Fraction,
    bins: int,
    whole: tuple[ArrayLike, float | Fraction] | None = None,
    totals: tuple[ArrayLike, float | Fraction] | None = None,
) -> Measured:
    """All that was measured, by blocks."""
    edges = block_edges(bins)
    fine = np.array([len(sums) > len(edges) - 1 for sums in numbers])
    blocks = [
        np.add.reduceat(sums, edges[:-1]) if fine[g] else sums for g, sums in enumerate(numbers)
    ]
    whole_sums, whole_epsilon = whole or (None, 1.0)
    totals_sums, totals_epsilon = totals or (None, 1.0)
    return Measured(
        sums=np.array(blocks, dtype=np.float64),
        sizes=rows.astype(np.float64),
        bins=bins,
        edges=edges,
        cells=cell_edges(bins),
        rate=_rate(epsilon),
        parts=np.where(fine[:, None], np.diff(edges), 1).astype(np.float64),
        totals=None if totals_sums is None else np.asarray(totals_sums, dtype=np.float64),
        totals_rate=_rate(totals_epsilon),
        whole=None if whole_sums is None else np.asarray(whole_sums, dtype=np.float64),
        whole_rate=_rate(whole_epsilon),
    )


def _rate(epsilon: float | Fraction) -> float:
    """Of the Laplace law with the variance of discrete noise of scale 1/epsilon."""
    return float(np.sqrt(2 / laplace_variance(Fraction(epsilon))))


def followed(fit: JointFit) -> Floats:
    """z of each group: where its cumulative histogram is expected, and its law if it is empty."""
    laws, sizes = fit.seen(fit.laws()), fit.measured.sizes
    even = 1 / fit.measured.bins if fit.measured.bins <= SINGLE_COUNTS else NEXT_TO_NOTHING
    z = laws.copy()
    for g, cumulative in enumerate(fit.cumulative()):
        if sizes[g] > 0:
            shares = isotonic(np.diff(cumulative, prepend=0.0)) * sizes[g]
            shares += LEAST * (laws[g] + even)
            z[g] = shares / shares.sum()
    return z


def _raked(z: Floats, measured: Measured) -> Floats:
    """Targets whose mean over all rows is what the sums over all groups say: each count's share
    is raised or lowered in all groups alike, in turns with making shares add up to 1."""
    rows = measured.sizes.sum()
    one = replace(
        measured,
        sums=np.asarray(measured.whole)[None, :],
        sizes=np.array([rows]),
        rate=measured.whole_rate,
        parts=np.ones((1, len(measured.widths))),
        totals=None,
        whole=None,
    )
    wanted = followed(JointFit(one, ordered=False).run())[0]
    for _ in range(ROUNDS):
        z = z * (wanted / (measured.sizes @ z / rows))
        z = z / z.sum(axis=1, keepdims=True)
    return z
