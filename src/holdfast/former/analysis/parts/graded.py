"""The distribution of true counts as it changes with what is public of a row."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.former.analysis.parts.tilts import DEVIATIONS, tilts

CLASSES, ROUNDS = 24, 60
SLOPES = (1.0, 1.5, 0.5)
"""Standard deviations of the tilts' constant, slope and bend along the index, in `DEVIATIONS`."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Graded:
    r"""$p_i(s) \propto z_i e^{B_i (\theta_0 + s \theta_1 + (s^2 - 1) \theta_2)}$, s an index of the
    rows, fitted through the mechanism with Gaussian priors by Laplace's approximation.

    Rows are put into classes of the index, so that the cost does not grow with them.
    """

    seen: Floats = field(repr=False)
    """How many rows of each class show each count."""
    matrix: Floats = field(repr=False)
    """T."""
    prior: Floats = field(repr=False)
    """z."""
    index: Floats = field(repr=False)
    """s of each class."""

    @cached_property
    def fit(self) -> tuple[Floats, Floats]:
        """The most plausible parameters, and their covariance."""
        parameters = np.zeros(len(self._precision))
        value = self._objective(parameters)
        for _ in range(ROUNDS):
            gradient, information = self._slopes(parameters)
            step = np.linalg.solve(information + np.diag(self._precision), gradient)
            size, better = 1.0, self._objective(parameters + step)
            while not better >= value and size > 1e-4:
                size /= 2
                better = self._objective(parameters + size * step)
            gain, value, parameters = better - value, better, parameters + size * step
            if abs(gain) < 1e-8 * (1 + abs(value)):
                break
        information = self._slopes(parameters)[1] + np.diag(self._precision)
        return parameters, np.asarray(np.linalg.inv(information), dtype=np.float64)

    def laws(self, parameters: Floats) -> Floats:
        """p for every class."""
        logs = np.log(self.prior + 1e-6 / len(self.prior)) + self._features @ parameters
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    @cached_property
    def _precision(self) -> Floats:
        return np.concatenate([1 / (scale * DEVIATIONS) ** 2 for scale in SLOPES])

    @cached_property
    def _features(self) -> Floats:
        """Classes by counts by parameters."""
        powers = np.column_stack([np.ones_like(self.index), self.index, self.index**2 - 1])
        wide = np.einsum("kp,ib->kipb", powers, tilts(len(self.prior)))
        return np.asarray(wide.reshape(len(self.index), len(self.prior), -1))

    def _objective(self, parameters: Floats) -> float:
        mixed = np.maximum(self.laws(parameters) @ self.matrix, 1e-300)
        penalty = float(self._precision @ (parameters * parameters)) / 2
        return float((self.seen * np.log(mixed)).sum()) - penalty

    def _slopes(self, parameters: Floats) -> tuple[Floats, Floats]:
        laws, rows = self.laws(parameters), self.seen.sum(axis=1)
        mixed = np.maximum(laws @ self.matrix, 1e-300)
        expected = laws * ((self.seen / mixed) @ self.matrix.T)
        gradient = np.einsum("ki,kip->p", expected - rows[:, None] * laws, self._features)
        means = np.einsum("ki,kip->kp", laws, self._features)
        change = laws[:, :, None] * (self._features - means[:, None, :])
        seen = np.einsum("kip,ij->kjp", change, self.matrix)
        information = np.einsum("kjp,kjq->pq", seen * (rows[:, None] / mixed)[:, :, None], seen)
        return np.asarray(gradient - self._precision * parameters), np.asarray(information)


def classes_of(index: Floats) -> tuple[Integers, Floats]:
    """The class of every row, and the index of every class, standardised.

    >>> classes_of(np.array([5.0, 1.0, 5.0]))[0].tolist()
    [1, 0, 1]
    """
    values, codes = np.unique(index, return_inverse=True)
    if len(values) > CLASSES:
        ranks = np.argsort(np.argsort(index, kind="stable"), kind="stable")
        codes = ranks * CLASSES // len(index)
    means = np.bincount(codes, weights=index) / np.bincount(codes)
    spread = float(index.std()) or 1.0
    return codes.astype(np.int64), np.clip((means - index.mean()) / spread, -3.0, 3.0)
