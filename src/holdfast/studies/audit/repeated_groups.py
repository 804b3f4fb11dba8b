"""A whole release by group as a mechanism that can be drawn from many times."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats, Integers
from holdfast.engines.by_group import mechanisms_of
from holdfast.engines.stages import Stages, check_parameters
from holdfast.engines.steps import histogram_by, totals_by
from holdfast.mechanism.grouped import GroupedMechanism, RowSampler
from holdfast.privatizers.joint import JointMeasurement, fit_measured, measure_groups
from holdfast.privatizers.totals import Totals, measure_totals
from holdfast.studies.audit.repeated import equal_rows
from holdfast.tables.group_rows import partition
from holdfast.tables.groups import Within
from holdfast.tables.histogram import top_code


@dataclass(frozen=True, kw_only=True, eq=False)
class RepeatedGroups:
    """`privatize(within=...)`, drawn `size` times: all that each release publishes.

    Every sum and total is measured afresh, and every count comes from the exact draw. What is a
    function of the measured integers alone is remembered: the targets, and their mechanisms. The
    first draw with a seed equals `privatize` with that seed.

    >>> repeated = RepeatedGroups(epsilon=1, max_count=2, labels=["a", "a", "b"], seed=1)
    >>> targets, counts, measured = repeated([0, 1, 2], 10)
    >>> targets.shape, counts.shape, measured.shape
    ((10, 6), (10, 3), (10, 4))
    """

    epsilon: Any
    """The whole budget."""
    max_count: int
    """The highest count that is published."""
    labels: Sequence[Any]
    """The group of each row."""
    split: Any = None
    """Stage 1's share; default as in `privatize`."""
    totals: Any = None
    """As in `privatize`."""
    seed: Any = None
    """None for the operating system's entropy; anything else makes the draws a simulation."""
    stages: Stages = field(init=False, repr=False)
    """Both stages and their budget."""
    members: Integers = field(init=False, repr=False)
    """The number of each row's group."""
    targets: dict[bytes, Floats] = field(init=False, repr=False, default_factory=dict)
    """By what was measured."""
    mechanisms: dict[bytes, GroupedMechanism] = field(init=False, repr=False, default_factory=dict)
    """By target."""

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

    def __call__(self, counts: ArrayLike, size: int) -> tuple[Floats, Integers, Integers]:
        """Targets of all groups, released counts, and what was measured, totals first; a row for
        each release."""
        rows = np.asarray(counts, dtype=np.int64)
        drawn = [self._measured(rows) for _ in range(size)]
        measured = np.array([_numbers(*one) for one in drawn])
        targets = np.array(
            [self._target(line, *one) for line, one in zip(measured, drawn, strict=True)]
        )
        released = np.empty((size, len(rows)), dtype=np.int64)
        capped, source = top_code(rows, self.max_count), self.stages.source
        for key, places in equal_rows(targets):
            members, every = np.tile(self.members, len(places)), np.tile(capped, len(places))
            found = RowSampler(self.mechanism(key))(every, members, source)
            released[places] = found.reshape(len(places), len(rows))
        return targets, released, measured

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

    def mechanism(self, key: bytes) -> GroupedMechanism:
        """The mechanisms for targets with these bytes."""
        if key not in self.mechanisms:
            z = np.frombuffer(key).reshape(-1, self.max_count + 1)
            stages = self.stages
            self.mechanisms[key] = mechanisms_of(z, stages.constructor, stages.budget)[0]
        return self.mechanisms[key]

    def stage_2_loss(
        self, table: ArrayLike, neighbour: ArrayLike
    ) -> Callable[[tuple[Any, ...]], Floats]:
        """A feature for `audit`: the log ratio, given z, of the released counts' two chances, as
        `RepeatedRelease.stage_2_loss`."""
        ours, theirs = (top_code(np.asarray(t), self.max_count) for t in (table, neighbour))

        def losses(outputs: tuple[Any, ...]) -> Floats:
            released, found = outputs[1].astype(np.int64), np.zeros(len(outputs[1]))
            for key, places in equal_rows(outputs[0]):
                for row in np.flatnonzero(ours != theirs):
                    mechanism = self.mechanism(key)[int(self.members[row])]
                    weights = mechanism.weights.astype(np.float64)[:, released[places, row]]
                    found[places] += np.log(weights[ours[row]] / weights[theirs[row]])
            return found.round(6)

        return losses


def _numbers(totals: Totals | None, sums: JointMeasurement) -> Integers:
    """All noisy integers of one release in a line."""
    found = [*sums.groups, *([] if sums.whole is None else [sums.whole])]
    if totals is not None:
        table = [] if totals.measured_whole is None else [totals.measured_whole]
        found = [np.array([*totals.measured, *table]), *found]
    return np.concatenate(found).astype(np.int64)
