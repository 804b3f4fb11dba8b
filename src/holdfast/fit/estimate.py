"""From a measurement to the distribution of counts: of the whole table and of each group."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from holdfast.arrays import Floats, Integers, Marks
from holdfast.fit.cells import Cells, cells_for
from holdfast.fit.density import Densities, fit_densities
from holdfast.fit.draws import FEW, NUMBER, OF_ALL_GROUPS, SEED, draw_rows, with_readings, without
from holdfast.fit.histogram import (
    Draws,
    Histogram,
    Total,
    added,
    collected,
    raked,
    shared_out,
    steered,
    whole_rows,
)
from holdfast.fit.likelihood import Seen, by_counts, expected_rows
from holdfast.fit.parts import draws_of_part, laws_like
from holdfast.fit.tilts import BATCH, Tilts, fit_tilts
from holdfast.measure.measurement import Measurement, Sums
from holdfast.privacy.noise import VALUE_CAP


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """The distribution of counts in a table and its groups."""

    measurement: Measurement
    histograms: tuple[Histogram, ...]
    """By group: what released counts have, exactly."""
    cells: Cells
    seen: Seen
    """Measurements of the whole table."""
    densities: Densities
    """Of the whole table."""
    grouped: Seen
    """Measurements of each group."""
    tilts: Tilts | None
    """Laws of the groups, where there is more than one."""

    @cached_property
    def whole(self) -> Histogram:
        """The histogram of the whole table: the sum of its groups'."""
        return added(self.histograms)

    def draws(self, group: int | None = None) -> Draws:
        """Draws from the posterior of the histogram of a group, or of the whole table."""
        if group is None or self.tilts is None:
            return self._whole_draws
        rng = np.random.default_rng([SEED, group + 1])
        seen = self.grouped.of(slice(group, group + 1))
        number = min(NUMBER, max(FEW, OF_ALL_GROUPS // self.measurement.tally.groups))
        shares = self.tilts.shares[group]
        laws = laws_like(seen.without_sums(), shares, self.cells, number, rng)[1]
        total = next(iter(self._totals[1][group : group + 1]), None)
        value, rows = self.measurement.tally.of(group)
        return self._drawn(seen, laws, shares, value, rows, total, rng)

    def draws_of_part(self, value: Integers, rows: Integers) -> tuple[Draws, Draws]:
        """Draws of the histogram of any rows with this tally of noisy counts, for intervals and for
        estimates."""
        law, variance = self.densities.shares, self.measurement.noise.variance
        return draws_of_part(self.seen, law, self.cells, variance, value, rows)

    @cached_property
    def _totals(self) -> tuple[list[Total], list[Total]]:
        return _totals(self.measurement)

    @cached_property
    def _whole_draws(self) -> Draws:
        rng, tally = np.random.default_rng([SEED, 0]), self.measurement.tally.whole()
        laws, shares = self.densities.draws(self.seen, NUMBER, rng), self.densities.shares
        total = next(iter(self._totals[0]), None)
        return self._drawn(self.seen, laws, shares, tally.value, tally.rows, total, rng)

    def prior(self, group: int | None = None) -> tuple[Integers, Floats]:
        """Counts and their chances in a group, or in the whole table: the law of its rows."""
        law = self.densities.shares
        if group is not None and self.tilts is not None:
            law = self.tilts.shares[group]
        widths = self.cells.widths
        support = np.arange(int(self.cells.edges[0]), int(self.cells.edges[-1]) + 1)
        return support, np.repeat(law / widths, widths)

    def _drawn(
        self,
        seen: Seen,
        laws: Floats,
        shares: Floats,
        value: Integers,
        rows: Integers,
        total: Total | None,
        rng: np.random.Generator,
    ) -> Draws:
        found = draw_rows(seen, laws, shares, rng)
        low, high = value < self.cells.lowest, value > self.cells.highest
        found = without(without(found, int(rows[low].sum()), 0), int(rows[high].sum()), -1)
        variance = self.measurement.noise.variance
        return with_readings(found, self.cells, value, rows, variance, rng, total)


def fit(measurement: Measurement) -> Estimate:
    """The distribution of counts that a measurement speaks of, as a whole and in each group."""
    tally, variance = measurement.tally.whole(), measurement.noise.variance
    cells = cells_for(tally.value, tally.rows, measurement.noise)
    every = [(tally.value, tally.rows)]
    tallies = [measurement.tally.of(group) for group in range(measurement.tally.groups)]
    of_all, of_groups = _totals(measurement)
    grouped = measurements(cells, tallies, measurement.sums)
    seen = _joined(measurements(cells, every, (measurement.whole,)), grouped, measurement.sums)
    seen = _with_totals(seen, cells, every, of_all, variance)
    grouped = _with_totals(grouped, cells, tallies, of_groups, variance)
    densities = fit_densities(seen, cells)
    law = densities.shares
    expected = expected_rows(densities.effective(seen), law[None])[0]
    whole = whole_rows(expected, cells, *every[0])
    histograms = _steered((whole,), cells, every, of_all, variance)
    tilts = None
    if len(tallies) > 1:
        tilts = fit_tilts(grouped, law, cells)
        histograms = _groups(histograms[0], tilts.effective(grouped), tilts, cells, tallies)
        histograms = _steered(histograms, cells, tallies, of_groups, variance)
    return Estimate(
        measurement=measurement,
        histograms=histograms,
        cells=cells,
        seen=seen,
        densities=densities,
        grouped=grouped,
        tilts=tilts,
    )


def measurements(
    cells: Cells,
    tallies: list[tuple[Integers, Integers]],
    sums: tuple[Sums | None, ...],
) -> Seen:
    """Measurements of a stack of tables, in cells and bins; sums that are not there have no
    weights."""
    most = max([0, *(len(each.values) for each in sums if each is not None)])
    weights = np.zeros((len(tallies), most, len(cells.edges)))
    values, variance = np.zeros((len(tallies), most)), np.ones((len(tallies), most))
    for place, each in enumerate(sums):
        if each is not None:
            number = len(each.values)
            weights[place, :number] = cells.block_weights(each.edges)
            values[place, :number] = each.values
            variance[place, :number] = each.noise.variance
    rows = np.array([cells.binned(*tally) for tally in tallies])
    return Seen(rows=rows, kernel=cells.kernel, weights=weights, sums=values, variance=variance)


def _joined(seen: Seen, grouped: Seen, sums: tuple[Sums | None, ...]) -> Seen:
    """Measurements of the whole, with the groups' sums added up where all have the same blocks."""
    edges = [None if each is None else each.edges.tolist() for each in sums]
    if not edges or edges[0] is None or edges != edges[:1] * len(edges):
        return seen
    added_up = grouped.sums.sum(axis=0)[None], grouped.variance.sum(axis=0)[None]
    return seen.with_sums(grouped.weights[:1], *added_up)


def _totals(measurement: Measurement) -> tuple[list[Total], list[Total]]:
    """The total of the whole table, and those of each group; nothing where there are none. One
    that may have been cut at the largest number says next to nothing."""
    totals = measurement.totals
    if totals is None:
        return [], []
    every = [totals.of_all, *((total, totals.noise.variance) for total in totals.values.tolist())]
    every = [(t, v if abs(t) < VALUE_CAP // 2 else float(VALUE_CAP) ** 2) for t, v in every]
    return every[:1], every[1:]


def _steered(
    histograms: tuple[Histogram, ...],
    cells: Cells,
    tallies: list[tuple[Integers, Integers]],
    totals: list[Total],
    variance: float,
) -> tuple[Histogram, ...]:
    """Histograms whose highest rows give way to totals, where there are some."""
    if not totals:
        return histograms
    high = [int(rows[value > cells.highest].sum()) for value, rows in tallies]
    return tuple(steered(*each, variance) for each in zip(histograms, high, totals, strict=True))


def _with_totals(
    seen: Seen,
    cells: Cells,
    tallies: list[tuple[Integers, Integers]],
    totals: list[Total],
    variance: float,
) -> Seen:
    """The same with totals, and the variances of their noise, as one more sum of each table.

    A row adds the mean count of its cell. Rows of the open cell add what they have on average by
    their noisy counts, whose noise of this variance goes to that of the total. All is counted from
    where the first cell begins, which keeps large counts apart.
    """
    if not totals:
        return seen
    start, weights = int(cells.edges[0]), np.tile(cells.places, (len(tallies), 1))
    noise = np.array([each for _, each in totals])
    for table, (value, rows) in enumerate(tallies):
        above = value >= cells.edges[-1]
        if above.any():
            weights[table, -1] = np.average(value[above] - start, weights=rows[above])
            noise[table] += variance * rows[above].sum()
    sizes = [int(rows.sum()) for _, rows in tallies]
    sums = np.array([[total - start * n] for (total, _), n in zip(totals, sizes, strict=True)])
    return seen.with_sums(weights[:, None], sums, noise[:, None])


def _groups(
    whole: Histogram,
    grouped: Seen,
    tilts: Tilts,
    cells: Cells,
    tallies: list[tuple[Integers, Integers]],
) -> tuple[Histogram, ...]:
    """Histograms of groups that add up to the whole table's.

    Rows that are read by their noisy counts keep their reading, and so their group; the others are
    raked.
    """
    shares = tilts.shares
    outside = [~cells.inside(value) for value, _ in tallies]
    apart = np.array([cells.binned(v[o], r[o]) for (v, r), o in zip(tallies, outside, strict=True)])
    expected = np.concatenate(
        [
            expected_rows(grouped.of(some), shares[some])
            - by_counts(apart[some], shares[some], cells.kernel)[1]
            for some in (slice(i, i + BATCH) for i in range(0, len(shares), BATCH))
        ]
    )
    inside, own = _own_readings(whole, cells, tallies, outside)
    place = np.clip(np.searchsorted(cells.edges, inside.values, side="right") - 1, 0, None)
    target = np.bincount(place, inside.rows, len(cells.edges)).astype(np.float64)
    sizes = grouped.sizes - apart.sum(axis=1)
    found = shared_out(raked(expected, sizes, target), target.astype(np.int64))
    return tuple(
        added([histogram, readings])
        for histogram, readings in zip(_with_values(found, place, inside), own, strict=True)
    )


def _own_readings(
    whole: Histogram,
    cells: Cells,
    tallies: list[tuple[Integers, Integers]],
    outside: list[Marks],
) -> tuple[Histogram, list[Histogram]]:
    """The histogram of the rows that have a density, and those of the others of each group: the
    lowest and the highest counts of the whole, in the order of noisy counts."""
    alone = [(v[o], r[o]) for (v, r), o in zip(tallies, outside, strict=True)]
    value = np.concatenate([np.repeat(v, r) for v, r in alone])
    group = np.repeat(np.arange(len(alone)), [int(r.sum()) for _, r in alone])
    below = int((value < cells.lowest).sum())
    last = whole.size - (len(value) - below)
    upto = np.cumsum(whole.rows)
    lowest = np.diff(np.minimum(upto, below), prepend=0)
    inside: Integers = np.diff(np.clip(upto, below, last), prepend=below).astype(np.int64)
    highest = np.diff(np.maximum(upto, last), prepend=last)
    read = np.concatenate([np.repeat(whole.values, lowest), np.repeat(whole.values, highest)])
    own = group[np.argsort(value, kind="stable")]
    one = np.ones(len(read), dtype=np.int64)
    readings = [collected(read[own == g], one[own == g]) for g in range(len(tallies))]
    return collected(whole.values, inside), readings


def _with_values(found: Integers, place: Integers, whole: Histogram) -> tuple[Histogram, ...]:
    """Histograms of groups from their rows in each cell: each cell's counts are dealt in turn."""
    per_group: list[list[tuple[Integers, Integers]]] = [[] for _ in found]
    for cell in np.unique(place):
        values = np.repeat(whole.values[place == cell], whole.rows[place == cell])
        owners = np.repeat(np.arange(len(found)), found[:, cell])
        if values[0] == values[-1]:
            for group in np.unique(owners):
                per_group[group].append((values[:1], found[group, cell : cell + 1]))
            continue
        first = np.repeat(np.cumsum(found[:, cell]) - found[:, cell], found[:, cell])
        order = np.lexsort((owners, (np.arange(len(owners)) - first + 0.5) / found[owners, cell]))
        for value, group in zip(values, owners[order], strict=True):
            per_group[group].append((np.array([value]), np.array([1])))
    return tuple(
        collected(
            np.concatenate([v for v, _ in parts]) if parts else np.zeros(0, dtype=np.int64),
            np.concatenate([r for _, r in parts]) if parts else np.zeros(0, dtype=np.int64),
        )
        for parts in per_group
    )
