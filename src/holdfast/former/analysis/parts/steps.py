"""Shares of some rows of a long range, whose counts may be unlike the table's.

A share has a step at a count or two, and only rows near it can be on either side. So the likelihood
of `profile` needs few true counts: all of them near a step, fewer further away, and one for all
beyond.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.former.analysis.parts.numbers import Average
from holdfast.former.analysis.parts.profile import Drawn, Profile
from holdfast.former.analysis.row_laws import shape_of
from holdfast.former.mechanism.grouped import source_of
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.mechanism.weights import TOTAL

CLOSE, FAR = 5.0, 16.0  # times 1/ε: from where counts stand for others, and one for all beyond
SURE = 1e-6  # of a likelihood: rows with so little on the other side of every step are on theirs
FINE, COARSE = 0.05, 0.5  # times 1/ε: how far true counts may lie apart, near a step and far away
BENT = 20  # times that z is bent towards what the rows show


@dataclass(frozen=True, kw_only=True, eq=False)
class NearSteps:
    """Rows of one mechanism, seen through what matters for a number with few steps."""

    asked: Average
    drawn: Drawn
    before: Floats = field(repr=False)
    """z, of the true counts that are looked at, each with those that it stands for."""

    @staticmethod
    def of(f: Floats, mechanism: Mechanism, counts: Integers, rows: Floats) -> "NearSteps":
        """For a number that is the sum of f over the rows."""
        true = _looked_at(f, float(mechanism.epsilon))
        turns = shape_of(mechanism)[0]
        near = np.searchsorted(turns, true)  # released counts that turn there
        edges = np.unique(np.clip(np.concatenate([near, near - 1, true]), 0, len(f) - 1))
        edges = edges if edges[-1] == len(f) - 1 else np.append(edges, len(f) - 1)
        shown = np.zeros(len(edges))
        np.add.at(shown, np.searchsorted(edges, counts), rows)
        matrix = np.diff(at_most(mechanism, true, edges), axis=1, prepend=0.0)
        middles = (true[1:] + true[:-1] + 1) // 2
        starts = np.concatenate([[0], middles])
        return NearSteps(
            asked=Average(f=f[true], scale=float(rows.sum())),
            drawn=Drawn.of(shown, np.maximum(matrix, 1e-300)),
            before=np.add.reduceat(source_of(mechanism), starts),
        )

    def interval(self, level: float) -> tuple[float, float]:
        """By the likelihood, with nothing assumed of the true counts."""
        if self._is_sure:
            return self.estimate, self.estimate
        return Profile(drawn=self.drawn, asked=self.asked).interval(level)

    @property
    def _is_sure(self) -> bool:
        """Whether every row shows a count that hardly comes from another side of a step."""
        f, kernel = self.asked.f, self.drawn.kernel
        best = np.sort([kernel[f == value].max(axis=0) for value in np.unique(f)], axis=0)
        return bool((best[-2] < SURE * best[-1]).all())

    @cached_property
    def estimate(self) -> float:
        """By z, bent a few times to what the rows show: as like the table as they are."""
        law = self.before + 1e-6 / len(self.before)
        kernel, seen = self.drawn.kernel, self.drawn.seen / self.drawn.rows
        for _ in range(BENT):
            law = law / law.sum()
            law = law * (kernel @ (seen / (law @ kernel)))
        return self.asked.value(law)


def _looked_at(f: Floats, epsilon: float) -> Integers:
    """The true counts for which all are taken: f's steps, and ever fewer away from them."""
    n = len(f)
    fine, coarse = max(int(FINE / epsilon), 1), max(int(COARSE / epsilon), 1)
    close, far = int(CLOSE / epsilon) + 2, int(FAR / epsilon) + 3
    away = np.unique(
        np.concatenate([np.arange(0, close, fine), np.arange(close, far, coarse), [far]])
    )
    steps = np.flatnonzero(np.diff(f))
    found = [side for step in steps.tolist() for side in (step - away, step + 1 + away)]
    return np.unique(np.clip(np.concatenate(found), 0, n - 1)).astype(np.int64)


def at_most(mechanism: Mechanism, true: Integers, edges: Integers) -> Floats:
    """For each of these true counts (rows), the probability of each of these or less."""
    turns, heights, floors, keep, _ = shape_of(mechanism)
    turn, x = turns[edges], heights[edges] / keep
    apart = (true[:, None] - turn[None, :]).astype(np.float64)
    fall = np.exp(-float(mechanism.epsilon) * np.abs(apart))
    curve = np.where(apart >= 0, x * fall, 1 - (1 - x) * fall)
    curve[:, edges == len(turns) - 1] = 1.0
    below = np.cumsum(floors, dtype=np.float64)[edges]
    return np.asarray((keep * curve + below) / TOTAL)
