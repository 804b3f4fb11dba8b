r"""Moments of two true counts from the released ones, through the mechanism.

For a mechanism T let f solve $T f = i$ and g solve $T g = i^2$. Then $f(j)$ of a released count j
has the true count as its mean, and $f(j) f'(l)$ of two columns has the product of both, because
they were drawn independently given the true ones. So means of these over rows are free of the
noise's bias, of any rows whatever, and so are variances and covariances made from them.

T may have no exact solution, or one that blows up: f is the least-squares solution under z with a
penalty on its own size so small that what it bends is little beside the noise of N rows.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holdfast.analysis.known_zeros import row_kinds
from holdfast.analysis.pairs.joint_law import drawn_by
from holdfast.arrays import Floats, Marks
from holdfast.mechanism.mechanism import Mechanism

if TYPE_CHECKING:
    from holdfast.release.release import Release

PENALTY = 0.3  # over N


@dataclass(frozen=True, kw_only=True, eq=False)
class Powers:
    """For each row, numbers whose means are its true count and that count squared."""

    count: Floats
    square: Floats

    def of(self, marks: Marks) -> "Powers":
        """Of some rows."""
        return Powers(count=self.count[marks], square=self.square[marks])


@dataclass(frozen=True, kw_only=True)
class Moments:
    """Means, variances and the covariance of two counts."""

    mean: float
    other_mean: float
    variance: float
    other_variance: float
    covariance: float

    @property
    def slope(self) -> float:
        """Of the least-squares line of the second count on the first."""
        return self.covariance / self.variance

    @property
    def correlation(self) -> float:
        """Pearson's."""
        return float(self.covariance / np.sqrt(self.variance * self.other_variance))

    @property
    def intercept(self) -> float:
        """Of the line."""
        return self.other_mean - self.slope * self.mean


@dataclass(frozen=True, kw_only=True, eq=False)
class Deviations:
    """Of rows, or of pairs of true counts, from the means: first powers, products and squares."""

    one: Floats
    other: Floats
    product: Floats
    square: Floats
    other_square: Floats

    @staticmethod
    def of_powers(one: Powers, other: Powers, m: Moments) -> "Deviations":
        """Of rows: each has the true deviation as its mean."""
        a, b = one.count - m.mean, other.count - m.other_mean
        return Deviations(
            one=a,
            other=b,
            product=a * b,
            square=one.square - 2 * m.mean * one.count + m.mean**2,
            other_square=other.square - 2 * m.other_mean * other.count + m.other_mean**2,
        )

    @staticmethod
    def of_pairs(shape: tuple[int, ...], m: Moments) -> "Deviations":
        """Of all pairs of true counts."""
        a = np.arange(shape[0], dtype=np.float64)[:, None] - m.mean
        b = np.arange(shape[1], dtype=np.float64)[None, :] - m.other_mean
        return Deviations(one=a, other=b, product=a * b, square=a**2, other_square=b**2)


def powers_of(release: "Release") -> Powers:
    """Of every row of a column of counts, whatever mechanisms drew it."""
    n = len(release.target)
    groups, counts = np.divmod(row_kinds(release), n + 1)
    found = np.zeros((2, len(counts)))
    for group in np.unique(groups[counts < n]).tolist():
        inside = (groups == group) & (counts < n)
        mechanism, prior = drawn_by(release, group)
        found[:, inside] = _solved(mechanism, prior, PENALTY / release.rows)[:, counts[inside]]
    return Powers(count=found[0], square=found[1])


def _solved(mechanism: Mechanism, prior: Floats, penalty: float) -> Floats:
    matrix, n = mechanism.matrix, len(prior)
    weights = np.maximum(prior, 0) + 1e-3 / n
    weights = weights / weights.sum()
    shown = weights @ matrix
    wanted = np.arange(n, dtype=np.float64)[:, None] ** np.array([1, 2])
    normal = matrix.T @ (weights[:, None] * matrix) + np.diag(penalty * shown + 1e-12)
    return np.asarray(np.linalg.solve(normal, matrix.T @ (weights[:, None] * wanted)).T)


def moments_of(one: Powers, other: Powers) -> Moments:
    """Of two columns of the same rows; a variance is never below a thousandth."""
    means = float(one.count.mean()), float(other.count.mean())
    return Moments(
        mean=means[0],
        other_mean=means[1],
        variance=max(float(one.square.mean()) - means[0] ** 2, 1e-3),
        other_variance=max(float(other.square.mean()) - means[1] ** 2, 1e-3),
        covariance=float(((one.count - means[0]) * (other.count - means[1])).mean()),
    )
