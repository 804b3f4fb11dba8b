"""Laws of groups as tilts of the whole table's law, shrunk as the groups themselves say.

    log p_g(x) = log p(x) + sum over k of b_gk T_k(x) - log Z_g,    b_gk ~ N(0, t_k^2),

with a spike at zero and polynomials of log(1 + x), orthonormal under p. The variances t_k^2 are
estimated from all groups (expectation and maximisation), so that groups which say nothing follow
the whole at no cost, whatever their number.
"""

from dataclasses import dataclass

import numpy as np

from holdfast.arrays import Floats
from holdfast.fit.cells import Cells
from holdfast.fit.likelihood import Seen, said

DEGREES = 3  # of the polynomials
ROUNDS = 12
LONGEST = 1.0  # step
START = 0.3  # variance
LEAST_VARIANCE = 1e-6
BATCH = 256  # groups at once


@dataclass(frozen=True, kw_only=True, eq=False)
class Tilts:
    """Laws of groups: each a tilt of one common law."""

    law: Floats
    """The common law's shares of cells."""
    features: Floats
    """Tilts, of shape (K, cells)."""
    variance: Floats
    """Of each tilt over groups."""
    mean: Floats
    """Of each group's tilts, of shape (G, K)."""
    covariance: Floats
    """Of the same, of shape (G, K, K)."""

    def shares(self, mean: Floats | None = None) -> Floats:
        """Shares of cells of each group."""
        return tilted(self.law, self.features, self.mean if mean is None else mean)

    def draws(self, group: int, number: int, rng: np.random.Generator) -> Floats:
        """Shares of a group's cells from the posterior, of shape (number, cells)."""
        root = np.linalg.cholesky(self.covariance[group])
        steps = rng.standard_normal((number, len(root))) @ root.T
        return tilted(self.law, self.features, self.mean[group] + steps)


def tilted(law: Floats, features: Floats, by: Floats) -> Floats:
    """Shares of cells under tilts, one row for each row of `by`."""
    log = by @ features
    shares = law * np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def features_of(law: Floats, cells: Cells) -> Floats:
    """Tilts that are orthonormal under a law: a spike at zero, then smooth ones."""
    middles = np.log1p(cells.middles)
    columns = [np.ones(len(law)), (cells.edges == 0).astype(float)]
    columns += [middles**degree for degree in range(1, DEGREES + 1)]
    basis: list[Floats] = []
    for column in columns:
        for _ in range(2):
            for earlier in basis:
                column = column - (law * column * earlier).sum() * earlier
        length = float(np.sqrt((law * column**2).sum()))
        if length > 1e-6:
            basis.append(column / length)
    return np.array(basis[1:]) if len(basis) > 1 else np.zeros((0, len(law)))


def fit_tilts(
    seen: Seen, law: Floats, cells: Cells, variance: Floats | None = None, rounds: int = ROUNDS
) -> Tilts:
    """Tilts of groups, with variances over groups unless these are known."""
    features = features_of(law, cells)
    groups, known = len(seen.rows), variance is not None
    spread = np.full(len(features), START) if variance is None else variance
    mean = np.zeros((groups, len(features)))
    covariance = np.zeros((groups, len(features), len(features)))
    for _ in range(rounds):
        for first in range(0, groups, BATCH):
            some = slice(first, first + BATCH)
            found = said(seen.of(some), tilted(law, features, mean[some]), features[None])
            precision = found.information + np.diag(1 / spread)
            covariance[some] = np.linalg.inv(precision)
            step = np.matmul(covariance[some], (found.gradient - mean[some] / spread)[:, :, None])
            mean[some] += np.clip(step[:, :, 0], -LONGEST, LONGEST)
        if not known:
            each = np.diagonal(covariance, axis1=1, axis2=2)
            spread = np.maximum((mean**2 + each).mean(axis=0), LEAST_VARIANCE)
    return Tilts(law=law, features=features, variance=spread, mean=mean, covariance=covariance)
