"""A whole release by group as a mechanism that can be drawn from many times."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.former.engines.by_group import mechanisms_of
from holdfast.former.engines.stages import check_parameters
from holdfast.former.engines.steps import histogram_by, totals_by
from holdfast.former.mechanism.grouped import GroupedMechanism
from holdfast.former.privatizers.joint import JointMeasurement, fit_measured, measure_groups
from holdfast.former.privatizers.totals import Totals, measure_totals
from holdfast.former.studies.audit.repeated import Repeated
from holdfast.former.tables.group_rows import partition
from holdfast.former.tables.groups import Within


@dataclass(frozen=True, kw_only=True, eq=False)
class RepeatedGroups(Repeated):
    """`privatize(within=...)`, drawn many times: targets of all groups, totals before sums.

    Every sum and total is measured afresh; the targets, which are a function of these integers
    alone, are remembered too.

    >>> repeated = RepeatedGroups(epsilon=1, max_count=2, labels=["a", "a", "b"], seed=1)
    >>> targets, counts, measured = repeated([0, 1, 2], 10)
    >>> targets.shape, counts.shape, measured.shape
    ((10, 6), (10, 3), (10, 4))
    """

    labels: Sequence[Any]
    """The group of each row."""
    totals: Any = None
    """As in `privatize`."""
    members: Integers = field(init=False, repr=False)
    targets: dict[bytes, Floats] = field(init=False, repr=False, default_factory=dict)
    """By what was measured."""

    def __post_init__(self) -> None:
        drawn = np.ones(len(self.labels), dtype=bool)
        groups, members = partition(Within(("group",)), [list(self.labels)], drawn)
        asked = check_parameters(
            epsilon=self.epsilon,
            max_count=self.max_count,
            split=self.split,
            seed=self.seed,
            totals=self.totals,
            within="group",
        )
        object.__setattr__(self, "stages", asked.for_rows(len(self.labels), groups))
        object.__setattr__(self, "members", members)

    def measured(self, counts: Integers, size: int) -> tuple[Floats, Integers]:
        """The targets of all groups in a line."""
        drawn = [self._measured(counts) for _ in range(size)]
        lines = np.array([_numbers(*one) for one in drawn])
        targets = [self._target(line, *one) for line, one in zip(lines, drawn, strict=True)]
        return np.array(targets), lines

    def histograms(self, counts: Integers) -> Integers:
        """How many rows of each group have each count, which is what stage 1 measures."""
        return histogram_by(self.members, counts, self.stages)

    def _measured(self, counts: Integers) -> tuple[Totals | None, JointMeasurement]:
        budget, source, totals = self.stages.budget, self.stages.source, None
        if budget.totals:
            sums = totals_by(self.members, counts, self.stages)
            totals = measure_totals(sums, budget, source)
        return totals, measure_groups(self.histograms(counts), budget.unit_1, source)

    def _target(self, line: Integers, totals: Totals | None, sums: JointMeasurement) -> Floats:
        """z of all groups in one line: a function of what was measured."""
        key = line.tobytes()
        if key not in self.targets:
            known = None if totals is None else (totals.measured, totals.unit)
            sizes, epsilon = np.bincount(self.members), self.stages.budget.unit_1
            z = fit_measured(
                sums, sizes, epsilon, bins=self.max_count + 1, ordered=False, totals=known
            )
            self.targets[key] = z.ravel()
        return self.targets[key]

    def made(self, target: Floats) -> GroupedMechanism:
        """A mechanism for each group."""
        z, stages = target.reshape(-1, self.max_count + 1), self.stages
        return mechanisms_of(z, stages.constructor, stages.budget)[0]


def _numbers(totals: Totals | None, sums: JointMeasurement) -> Integers:
    """All noisy integers of one release in a line."""
    found = [*sums.groups, *([] if sums.whole is None else [sums.whole])]
    if totals is not None:
        table = [] if totals.measured_whole is None else [totals.measured_whole]
        found = [np.array([*totals.measured, *table]), *found]
    return np.concatenate(found).astype(np.int64)
