"""The release by group beside the others, and what is measured within the groups."""

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.former.engines.stages import check_parameters
from holdfast.former.engines.steps import five_steps
from holdfast.former.mechanism.grouped import GroupedMechanism
from holdfast.former.release.release import Release
from holdfast.former.studies.methods import AgencyMethod, Method
from holdfast.former.studies.runner import Row
from holdfast.former.tables.groups import Partition
from holdfast.former.tables.histogram import whole_histogram
from holdfast.former.tables.table import CountTable, read_table

BY_GROUP = "by-group"
MEASURES_WITHIN = ("w1 within", "total", "totals within")


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupedCounts:
    """True counts in the order of their rows, not capped, and the group of each."""

    counts: Integers
    members: Integers
    partition: Partition

    def histograms(self, counts: Integers, max_count: int) -> Integers:
        """A line for each group: how many of these counts, one per row, are 0, 1, ..."""
        found = np.zeros((len(self.partition), max_count + 1), dtype=np.int64)
        np.add.at(found, (self.members, np.minimum(counts, max_count)), 1)
        return found

    def totals(self, counts: Integers) -> Integers:
        """The sum of these counts, one per row, in each group."""
        found = np.zeros(len(self.partition), dtype=np.int64)
        np.add.at(found, self.members, counts)
        return found

    def expected_change(self, mechanism: GroupedMechanism, error: str) -> float:
        """Expected count error, each group by its own mechanism."""
        truth = self.histograms(self.counts, mechanism.max_count)
        errors = [
            mechanism[group].count_error(line / line.sum(), error)
            for group, line in enumerate(truth)
        ]
        return float(truth.sum(axis=1) @ np.array(errors) / len(self.counts))

    @property
    def digest(self) -> str:
        """What tells this table and its groups from any other."""
        content = np.stack([self.counts, self.members]).astype("<i8").tobytes()
        return hashlib.sha256(content + repr(self.partition.within).encode()).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True)
class ByGroup(Method):
    """The default with a mechanism for each group of one table."""

    name: str = BY_GROUP
    groups: GroupedCounts = field(repr=False)
    totals: Any = None
    """Whether totals are measured, or for which share of the budget."""

    def simulate(self, counts: Integers, *, epsilon: Any, max_count: int, seed: int) -> Release:
        """A seeded release of its own table, whichever counts are given."""
        groups = self.groups
        parameters = check_parameters(
            epsilon=epsilon,
            max_count=max_count,
            seed=seed,
            within=groups.partition.within,
            totals=self.totals,
        )
        stages = parameters.for_rows(len(groups.counts), groups.partition)
        return five_steps(read_table(groups.counts), stages, groups.members)[0]


def grouped_counts(table: CountTable, *, max_count: int, within: Any, totals: Any) -> GroupedCounts:
    """The rows of a table that are drawn, and their groups."""
    parameters = check_parameters(epsilon=1, max_count=max_count, within=within, totals=totals)
    partition, members = parameters.groups_for(int(table.drawn.sum()), table.groups)
    if partition is None or members is None:
        raise HoldfastError("`within` names no groups. Hint: a public column of the table.")
    return GroupedCounts(
        counts=table.counts[table.drawn], members=members[table.drawn], partition=partition
    )


def refuse_agencies(methods: tuple[Method, ...]) -> None:
    """Raise for methods of which only the whole distribution is simulated."""
    for method in methods:
        if isinstance(method, AgencyMethod):
            raise HoldfastError(
                f"`methods`: {method.name} is simulated for whole tables. "
                "Hint: leave out `within`, or this method."
            )


def measured_within(release: Release, groups: GroupedCounts, max_count: int) -> Row:
    """W1 within groups, their sizes as weights, and how far totals are off: that of the table, and
    those of the groups on average. Without measured totals they are sums of released counts."""
    truth = groups.histograms(groups.counts, max_count)
    gaps: Floats = np.cumsum(truth - groups.histograms(release.counts, max_count), axis=1)
    totals, published = groups.totals(groups.counts), groups.totals(release.counts)
    whole = int(published.sum())
    if release.totals is not None:
        whole = release.totals.whole.value
        published = np.array([total.value for total in release.totals.groups])
    return {
        "w1 within": float(np.abs(gaps).sum() / len(groups.counts)),
        "total": float(abs(whole - int(totals.sum()))),
        "totals within": float(np.abs(published - totals).mean()),
    }


def prior_groups(
    prior: Any, *, rows: int, max_count: int, count: str | None, within: Any, totals: Any
) -> GroupedCounts:
    """The groups of a prior, which must be a table, brought to this number of rows: each keeps its
    share of them and its distribution."""
    try:
        table = read_table(prior, count=count, within=within)
    except HoldfastError as error:
        raise HoldfastError(
            f"`within` needs a prior that is a table with these columns: {error}"
        ) from None
    found = grouped_counts(table, max_count=max_count, within=within, totals=totals)
    return found if len(found.counts) == rows else _resized(found, rows)


def _resized(groups: GroupedCounts, rows: int) -> GroupedCounts:
    known = groups.partition
    sizes = whole_histogram(known.sizes / known.sizes.sum(), rows)
    left = np.flatnonzero(sizes)
    counts = [_stretched(np.sort(groups.counts[groups.members == g]), int(sizes[g])) for g in left]
    return GroupedCounts(
        counts=np.concatenate(counts),
        members=np.repeat(np.arange(len(left)), sizes[left]),
        partition=Partition(
            within=known.within, labels=tuple(known.labels[g] for g in left), sizes=sizes[left]
        ),
    )


def _stretched(ordered: Integers, size: int) -> Integers:
    """As many counts, evenly from these."""
    return ordered[(2 * np.arange(size) + 1) * len(ordered) // (2 * size)]
