"""A whole release as a mechanism that can be drawn from many times."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.arrays import Floats, Integers
from holdfast.former.engines.stages import Stages, check_parameters
from holdfast.former.mechanism.grouped import GroupedMechanism, RowSampler
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.privatizers import Privatizer, measured_target
from holdfast.former.tables.histogram import histogram_of_counts, top_code


@dataclass(frozen=True, kw_only=True, eq=False)
class Repeated(ABC):
    """`privatize`, drawn `size` times: all targets, all counts, and all that stage 1 measured.

    Every count comes from the exact draw, as in a release. Only step 3 is remembered: the
    mechanism is a function of z alone, so equal z share one, and the counts of all draws with that
    z are drawn in one call. The first draw with a seed equals `privatize` with that seed.
    """

    epsilon: Any
    """The whole budget."""
    max_count: int
    """The highest count that is published."""
    split: Any = None
    """Stage 1's share; default as in `privatize`."""
    seed: Any = None
    """None for the operating system's entropy; anything else makes the draws a simulation."""
    stages: Stages = field(init=False, repr=False)
    """Both stages and their budget."""
    members: Integers | None = field(init=False, repr=False, default=None)
    """The number of each row's group, where rows are in groups."""
    mechanisms: dict[bytes, Any] = field(init=False, repr=False, default_factory=dict)
    """By target."""

    @abstractmethod
    def measured(self, counts: Integers, size: int) -> tuple[Floats, Integers]:
        """Stage 1: the targets of so many releases, and what was measured for each."""

    @abstractmethod
    def made(self, target: Floats) -> Mechanism | GroupedMechanism:
        """Stage 2, from z alone."""

    def __call__(self, counts: ArrayLike, size: int) -> tuple[Floats, Integers, Integers]:
        """Targets, released counts, and what was measured; a row for each release."""
        rows = np.asarray(counts, dtype=np.int64)
        targets, measured = self.measured(rows, size)
        released = np.empty((size, len(rows)), dtype=np.int64)
        capped, members = top_code(rows, self.max_count), self.members
        for key, places in equal_rows(targets):
            every = np.tile(capped, len(places))
            inside = None if members is None else np.tile(members, len(places))
            found = RowSampler(self.mechanism(key))(every, inside, self.stages.source)
            released[places] = found.reshape(len(places), len(rows))
        return targets, released, measured

    def mechanism(self, key: bytes) -> Any:
        """What counts are drawn with, for the target with these bytes."""
        if key not in self.mechanisms:
            self.mechanisms[key] = self.made(np.frombuffer(key, dtype=np.float64))
        return self.mechanisms[key]

    def stage_2_loss(
        self, table: ArrayLike, neighbour: ArrayLike
    ) -> Callable[[tuple[Any, ...]], Floats]:
        """A feature for `audit`: the log ratio, given z, of the released counts' two chances.

        Anybody who has a release can compute it: z, and so the mechanism, is published.
        """
        ours, theirs = (top_code(np.asarray(t), self.max_count) for t in (table, neighbour))

        def losses(outputs: tuple[Any, ...]) -> Floats:
            released, found = outputs[1].astype(np.int64), np.zeros(len(outputs[1]))
            for key, places in equal_rows(outputs[0]):
                for row in np.flatnonzero(ours != theirs):
                    mechanism = self.mechanism(key)
                    if self.members is not None:
                        mechanism = mechanism[int(self.members[row])]
                    weights = mechanism.weights.astype(np.float64)[:, released[places, row]]
                    found[places] += np.log(weights[ours[row]] / weights[theirs[row]])
            return found.round(6)

        return losses


@dataclass(frozen=True, kw_only=True, eq=False)
class RepeatedRelease(Repeated):
    """`privatize` without groups, drawn many times.

    A privatizer that publishes no measurement leaves the last part without columns.

    >>> repeated = RepeatedRelease(epsilon=1, max_count=4, rows=3, seed=1)
    >>> targets, counts, measured = repeated([0, 1, 4], 10)
    >>> targets.shape, counts.shape, measured.shape
    ((10, 5), (10, 3), (10, 4))
    """

    rows: int
    """N of the tables it is given: public, and what the default split depends on."""
    privatizer: Privatizer | None = None
    """Stage 1; default as in `privatize`."""
    constructor: Any = None
    """Stage 2; default as in `privatize`."""

    def __post_init__(self) -> None:
        asked = check_parameters(
            epsilon=self.epsilon,
            max_count=self.max_count,
            privatizer=self.privatizer,
            constructor=self.constructor,
            split=self.split,
            seed=self.seed,
        )
        object.__setattr__(self, "stages", asked.for_rows(self.rows))

    def measured(self, counts: Integers, size: int) -> tuple[Floats, Integers]:
        """Every target comes from the privatizer."""
        stages, histogram = self.stages, histogram_of_counts(counts, self.max_count)
        epsilon, source = stages.budget.unit_1, stages.source
        drawn = [
            measured_target(stages.privatizer, histogram, epsilon=epsilon, source=source)
            for _ in range(size)
        ]
        nothing = np.empty(0, dtype=np.int64)
        measured = [nothing if noisy is None else noisy for _, noisy in drawn]
        return np.array([target for target, _ in drawn]), np.array(measured)

    def made(self, target: Floats) -> Mechanism:
        """One mechanism for all rows."""
        construction = self.stages.constructor(target, epsilon=self.stages.budget.unit_2)
        return self.stages.checked(construction, len(target))[0]


def equal_rows(targets: Floats) -> list[tuple[bytes, NDArray[np.intp]]]:
    """Equal targets, by their bytes, and where they are."""
    where: dict[bytes, list[int]] = {}
    for place, target in enumerate(targets):
        where.setdefault(target.tobytes(), []).append(place)
    return [(key, np.array(places)) for key, places in where.items()]
