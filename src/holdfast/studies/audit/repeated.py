"""A whole release as a mechanism that can be drawn from many times."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.arrays import Floats, Integers
from holdfast.engines.stages import check_parameters
from holdfast.mechanism.mechanism import Mechanism, check_mechanism
from holdfast.mechanism.sampling import draw
from holdfast.privacy.budget import Budget
from holdfast.privacy.randomness import Randomness
from holdfast.privatizers import Privatizer
from holdfast.studies.simulator import Simulator
from holdfast.tables.histogram import histogram_of_counts, top_code


@dataclass(frozen=True, kw_only=True, eq=False)
class RepeatedRelease:
    """`privatize`, drawn `size` times: all targets, all counts, and all that stage 1 measured.

    These are the columns of what a release publishes; a privatizer that publishes no measurement
    leaves the last part without columns. Every target comes from the privatizer and every count
    from the exact draw, as in a release. Only step 3 is remembered: the mechanism is a function of
    z alone, so equal z share one, and the counts of all draws with that z are drawn in one call.
    The first draw with a seed equals `privatize` with that seed.

    >>> repeated = RepeatedRelease(epsilon=1, max_count=4, rows=3, seed=1)
    >>> targets, counts, measured = repeated([0, 1, 4], 10)
    >>> targets.shape, counts.shape, measured.shape
    ((10, 5), (10, 3), (10, 4))
    """

    epsilon: Any
    """The whole budget."""
    max_count: int
    """The highest count that is published."""
    rows: int
    """N of the tables it is given: public, and what the default split depends on."""
    split: Any = None
    """Stage 1's share; default as in `privatize`."""
    privatizer: Privatizer | None = None
    """Stage 1; default as in `privatize`."""
    constructor: Any = None
    """Stage 2; default as in `privatize`."""
    seed: Any = None
    """None for the operating system's entropy; anything else makes the draws a simulation."""
    budget: Budget = field(init=False)
    """Epsilon and its split."""
    source: Randomness = field(init=False, repr=False)
    """Where all draws come from."""
    simulator: Simulator = field(init=False, repr=False)
    """The two stages."""
    mechanisms: dict[bytes, Mechanism] = field(init=False, repr=False)
    """By target."""

    def __post_init__(self) -> None:
        asked = check_parameters(
            epsilon=self.epsilon,
            max_count=self.max_count,
            privatizer=self.privatizer,
            constructor=self.constructor,
            split=self.split,
            seed=self.seed,
        ).for_rows(self.rows)
        budget = asked.budget
        simulator = Simulator(
            privatizer=asked.privatizer,
            constructor=asked.constructor,
            epsilon_1=budget.unit_1,
            epsilon_2=budget.unit_2,
        )
        made = {"budget": budget, "source": asked.source, "simulator": simulator, "mechanisms": {}}
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def __call__(self, counts: ArrayLike, size: int) -> tuple[Floats, Integers, Integers]:
        """Targets, size x n; released counts, size x N; and what was measured."""
        rows = top_code(np.asarray(counts, dtype=np.int64), self.max_count)
        histogram = histogram_of_counts(rows, self.max_count)
        drawn = [self.simulator.target(histogram, self.source) for _ in range(size)]
        targets = np.array([target for target, _ in drawn])
        nothing = np.empty(0, dtype=np.int64)
        measured = np.array([nothing if noisy is None else noisy for _, noisy in drawn])
        released = np.empty((size, len(rows)), dtype=np.int64)
        for key, places in equal_rows(targets):
            found = draw(self.mechanism(key), np.tile(rows, len(places)), self.source)
            released[places] = found.reshape(len(places), len(rows))
        return targets, released, measured

    def mechanism(self, key: bytes) -> Mechanism:
        """The mechanism for the target with these bytes."""
        if key not in self.mechanisms:
            mechanism = self.simulator.construct(np.frombuffer(key, dtype=np.float64)).mechanism
            check_mechanism(mechanism, self.simulator.epsilon_2)
            self.mechanisms[key] = mechanism
        return self.mechanisms[key]

    def stage_2_loss(
        self, table: ArrayLike, neighbour: ArrayLike
    ) -> Callable[[tuple[Any, ...]], Floats]:
        """A feature for `audit`: the log ratio, given z, of the released counts' two chances.

        Anybody who has a release can compute it: z, and so the mechanism, is published.
        """
        ours, theirs = (top_code(np.asarray(t), self.max_count) for t in (table, neighbour))

        def losses(outputs: tuple[Any, ...]) -> Floats:
            targets, released = outputs[0], outputs[1].astype(np.int64)
            found = np.zeros(len(targets))
            for key, places in equal_rows(targets):
                weights = self.mechanism(key).weights.astype(np.float64)
                mine, other = weights[ours, released[places]], weights[theirs, released[places]]
                found[places] = np.log(mine / other).sum(axis=1)
            return found.round(6)

        return losses


def equal_rows(targets: Floats) -> list[tuple[bytes, NDArray[np.intp]]]:
    """Equal targets, by their bytes, and where they are."""
    where: dict[bytes, list[int]] = {}
    for place, target in enumerate(targets):
        where.setdefault(target.tobytes(), []).append(place)
    return [(key, np.array(places)) for key, places in where.items()]
