r"""Moments of two true counts from the released ones, through the mechanism.

For a mechanism T let f solve $T f = i$ and g solve $T g = i^2$. Then $f(j)$ of a released count j
has the true count as its mean, and $f(j) f'(l)$ of two columns has the product of both, because
they were drawn independently given the true ones. So means of these over rows are free of the
noise's bias, of any rows whatever, and so are variances and covariances made from them.

T may have no exact solution, or one that blows up: f is the least-squares solution under z with a
penalty on its own size so small that what it bends is little beside the noise of N rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.former.analysis.pairs.joint_law import Channel, Pairs, drawn_by
from holdfast.former.analysis.parts.unbiased import solved

if TYPE_CHECKING:
    from holdfast.former.release.release import Release


@dataclass(frozen=True, kw_only=True, eq=False)
class Powers:
    """For each kind of row, numbers whose means are its true count and that count squared."""

    count: Floats
    square: Floats

    def at(self, kinds: Integers) -> "Powers":
        """Of rows, or pairs, of these kinds."""
        return Powers(count=self.count[kinds], square=self.square[kinds])


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
    """Of pairs of kinds, from the means: first powers, products and squares; each has the true
    deviation as its mean."""

    one: Floats
    other: Floats
    product: Floats
    square: Floats
    other_square: Floats

    @staticmethod
    def of_powers(one: Powers, other: Powers, m: Moments) -> "Deviations":
        """From powers, of rows or of all pairs of kinds."""
        a, b = one.count - m.mean, other.count - m.other_mean
        return Deviations(
            one=a,
            other=b,
            product=a * b,
            square=one.square - 2 * m.mean * one.count + m.mean**2,
            other_square=other.square - 2 * m.other_mean * other.count + m.other_mean**2,
        )


def powers_of(release: "Release", channel: Channel) -> Powers:
    """Of every kind of row of a column of counts, whatever mechanisms drew it."""
    found = np.zeros((2, len(channel.shown)))
    for group in np.unique(channel.groups[channel.groups >= 0]).tolist():
        inside = channel.groups == group
        mechanism, prior = drawn_by(release, group)
        wanted = np.arange(len(prior), dtype=np.float64)[:, None] ** np.array([1, 2])
        values = solved(mechanism.matrix, prior, wanted, release.rows)
        found[:, inside] = values[channel.shown[inside]].T
    return Powers(count=found[0], square=found[1])


def noise_of(
    pairs: Pairs, law: Floats, contribution: Callable[[Integers, Integers], Floats]
) -> float:
    """The variance that the draws give to a row's contribution, on average over the law of true
    pairs. The first column's kind tells which mechanism drew the second one."""
    one, other = pairs.one, pairs.other
    beside = dict(zip(pairs.first.tolist(), other.groups[pairs.second].tolist(), strict=True))
    rows = np.bincount(one.groups[pairs.first] + 1, pairs.rows)
    found = 0.0
    for group in np.flatnonzero(rows[1:]).tolist():
        kinds = np.array([k for k in beside if one.groups[k] == group])
        sums = np.zeros((3, *law.shape))
        for second in {beside[k] for k in kinds.tolist()}:
            mine = np.array([k for k in kinds.tolist() if beside[k] == second])
            its = np.flatnonzero(other.groups == second)
            adds = contribution(mine, its)
            a, b = one.likelihood[:, mine], other.likelihood[:, its].T
            sums += np.array([a @ each @ b for each in (np.ones_like(adds), adds, adds**2)])
        sums[1:] /= np.maximum(sums[0], 1e-300)
        variance = float((law * np.maximum(sums[2] - sums[1] ** 2, 0.0)).sum())
        found += float(rows[group + 1] / pairs.rows.sum()) * variance
    return found


def moments_of(one: Powers, other: Powers) -> Moments:
    """Of two columns, from the powers of every row; a variance is never below a thousandth."""
    means = float(one.count.mean()), float(other.count.mean())
    return Moments(
        mean=means[0],
        other_mean=means[1],
        variance=max(float(one.square.mean()) - means[0] ** 2, 1e-3),
        other_variance=max(float(other.square.mean()) - means[1] ** 2, 1e-3),
        covariance=float(((one.count - means[0]) * (other.count - means[1])).mean()),
    )
