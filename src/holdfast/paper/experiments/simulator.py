"""Both stages of a method on a known table, run again and again: what every study draws with.

Studies of accuracy take stage 2's matrix as it is and draw the whole histogram at once. Against
`holdfast.privatize` that leaves out the rounding to certified integer weights, which moves an error
by less than 0.1 %. The audit takes the certified mechanism and the exact sampler instead.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.paper.constructors import Construction
from holdfast.paper.privatizers import Privatizer, measured_target
from holdfast.paper.privatizers.planning import MEASURES
from holdfast.paper.experiments.runner import Row
from holdfast.privacy.metrics import absolute_deviation, squared_error
from holdfast.privacy.randomness import Randomness

ERRORS = {"absolute": absolute_deviation, "squared": squared_error}


@dataclass(frozen=True, kw_only=True)
class Simulator:
    """The two stages, each with its part of the budget."""

    privatizer: Privatizer | None
    """Stage 1; without one, stage 2 is told the true distribution and has the whole budget."""
    constructor: Any
    """Stage 2."""
    epsilon_1: Fraction
    """What stage 1 spends."""
    epsilon_2: Fraction
    """What stage 2 spends."""

    @staticmethod
    def of(privatizer: Any, constructor: Any, epsilon: Fraction, share: Fraction) -> "Simulator":
        """Stage 1 gets this share of epsilon, stage 2 the rest."""
        return Simulator(
            privatizer=privatizer,
            constructor=constructor,
            epsilon_1=epsilon * share,
            epsilon_2=epsilon * (1 - share),
        )

    def target(self, histogram: Integers, source: Randomness) -> tuple[Floats, Integers | None]:
        """Stage 1: z, and the measurement behind it where the privatizer reveals it."""
        if self.privatizer is None:
            return histogram / histogram.sum(), None
        return measured_target(self.privatizer, histogram, epsilon=self.epsilon_1, source=source)

    def construct(self, target: Floats) -> Construction:
        """Stage 2, from z alone."""
        found: Construction = self.constructor(target, epsilon=self.epsilon_2)
        return found

    def releases(
        self, histogram: Integers, runs: int, source: Randomness, rng: np.random.Generator
    ) -> Iterator["SimulatedRelease"]:
        """Releases of one table; without a stage 1 all of them share one matrix."""
        matrix = None
        for _ in range(runs):
            if matrix is None or self.privatizer is not None:
                target, _ = self.target(histogram, source)
                matrix = self.construct(target).matrix
            released = draw_distribution(histogram, matrix, rng)
            truth = histogram / histogram.sum()
            yield SimulatedRelease(truth=truth, target=target, matrix=matrix, released=released)


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulatedRelease:
    """One simulated release beside the truth."""

    truth: Floats
    """The true distribution of counts."""
    target: Floats
    """z."""
    matrix: Floats
    """T."""
    released: Floats
    """The distribution of the released counts."""

    def errors(self) -> Row:
        """Errors of the distribution, as drawn; of the counts, as expected from the matrix."""
        distances = {name: d(self.truth, self.released) for name, d in MEASURES.items()}
        return distances | {name: e(self.matrix, self.truth) for name, e in ERRORS.items()}


def draw_distribution(histogram: Integers, matrix: Floats, rng: np.random.Generator) -> Floats:
    """The distribution of one released table.

    >>> draw_distribution(np.array([2, 3]), np.eye(2), np.random.default_rng(1)).tolist()
    [0.4, 0.6]
    """
    rows = matrix / matrix.sum(axis=1, keepdims=True)
    return np.asarray(rng.multinomial(histogram, rows).sum(axis=0) / histogram.sum())
