"""What noisy counts and noisy sums say of the shares of cells.

Rows are independent draws from the shares p of the cells; a row in cell x is seen in bin y with
chance K_xy. Let h be the table's own histogram, n_y the rows seen in bin y, and q = pK. Given the
noisy counts, h has mean mu = p * K(n/q) and covariance

    Sigma = diag(mu) - R diag(n) R',   R_xy = p_x K_xy / q_y,

and the noisy sums are m = A h + noise, so that with S = A Sigma A' + diag(v)

    E[h | y, m] = mu + Sigma A' S^-1 (m - A mu).

With theta = log p, the gradient of the log-likelihood is E[h | y, m] - N p (Fisher's identity) and
its information (Louis), with n replaced by its mean N q in the part of the noisy counts,

    N (R diag(q) R' - p p') + Sigma A' S^-1 A Sigma.

Both are needed only along a few features F of the cells (F theta-coordinates: the knots of a
density, the tilts of a group), so nothing of size cells x cells is formed: with M = (F * p) K / q,
F Sigma G' = F diag(mu) G' - M_F diag(n) M_G'.
Every function takes a stack of tables (groups) on its first axis.
"""

from dataclasses import dataclass, replace

import numpy as np

from holdfast.arrays import Floats, Integers

LEAST = 1e-300  # share of a bin
LEAST_NOISE = 1e-3  # of the variance of a sum's noise


@dataclass(frozen=True, kw_only=True, eq=False)
class Seen:
    """Measurements of a stack of T tables: noisy counts in bins and noisy sums of blocks."""

    rows: Floats
    """Rows in each bin, of shape (T, bins)."""
    kernel: Floats
    """P(bin | cell)."""
    weights: Floats
    """What a row in each cell adds to each sum, of shape (T, sums, cells); zeros where none."""
    sums: Floats
    """Noisy sums, of shape (T, sums)."""
    variance: Floats
    """Of the noise on each sum, of shape (T, sums)."""

    @property
    def sizes(self) -> Floats:
        """Number of rows of each table."""
        return np.asarray(self.rows.sum(axis=1))

    def of(self, tables: slice | Integers) -> "Seen":
        """The same of some tables."""
        return replace(
            self,
            rows=self.rows[tables],
            weights=self.weights[tables],
            sums=self.sums[tables],
            variance=self.variance[tables],
        )

    def without_sums(self) -> "Seen":
        """The noisy counts alone."""
        none = slice(0)
        weights, sums = self.weights[:, none], self.sums[:, none]
        return replace(self, weights=weights, sums=sums, variance=self.variance[:, none])

    def with_sums(self, weights: Floats, sums: Floats, variance: Floats) -> "Seen":
        """The same with more sums of each table."""
        return replace(
            self,
            weights=np.concatenate([self.weights, weights], axis=1),
            sums=np.concatenate([self.sums, sums], axis=1),
            variance=np.concatenate([self.variance, variance], axis=1),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Said:
    """Log-likelihood of shares, and its derivatives along features, for a stack of tables."""

    value: Floats
    gradient: Floats
    information: Floats
    gap: Floats
    """S^-1 (m - A mu), of shape (T, sums)."""
    cross: Floats
    """S^-1 A Sigma F', of shape (T, sums, F)."""
    inverse: Floats
    """The diagonal of S^-1."""

    def noise_variance(self, laplace: Floats, variance: Floats, covariance: Floats) -> Floats:
        """The variance of the normal law that stands next for the Laplace noise of each sum, whose
        own is `laplace`; `variance` has stood for it, and the coordinates of the features have this
        covariance.

        With b = sqrt(laplace / 2) it is b sqrt(E[(m - A h)^2 | y, m]). Given theta, m - A h has
        mean V S^-1 (m - A mu) and covariance V - V S^-1 V.
        """
        known = variance * self.gap
        of_theta = (np.matmul(self.cross, covariance) * self.cross).sum(axis=2)
        squares = known**2 + variance + variance**2 * (of_theta - self.inverse)
        found = np.sqrt(laplace / 2 * np.maximum(squares, 0.0))
        return np.asarray(np.maximum(found, LEAST_NOISE * laplace))


def by_counts(rows: Floats, shares: Floats, kernel: Floats) -> tuple[Floats, Floats]:
    """Shares q of bins, and mu: the rows of each cell by the noisy counts alone."""
    q = np.maximum(shares @ kernel, LEAST)
    return q, np.asarray(shares * ((rows / q) @ kernel.T))


def said(seen: Seen, shares: Floats, features: Floats) -> Said:
    """Log-likelihood of `shares` (T, cells), derivatives along `features` (T or 1, F, cells)."""
    q, mean = by_counts(seen.rows, shares, seen.kernel)
    size = seen.sizes[:, None]
    plain = np.matmul(features, shares[:, :, None])[:, :, 0]
    moments = _expected(features, shares, seen.kernel, q)
    of_sums = _expected(seen.weights, shares, seen.kernel, q)
    middle = _covariance(seen, seen.weights, of_sums, mean)
    weights, many = seen.weights.transpose(0, 2, 1), of_sums.transpose(0, 2, 1)
    cross = np.matmul(features * mean[:, None], weights)
    cross = cross - np.matmul(moments * seen.rows[:, None], many)
    inverse = np.linalg.inv(middle)
    gap = seen.sums - np.einsum("tsx,tx->ts", seen.weights, mean)
    gap_solved = np.matmul(inverse, gap[:, :, None])[:, :, 0]
    cross_solved = np.matmul(inverse, cross.transpose(0, 2, 1))
    value = (seen.rows * np.log(q)).sum(axis=1) - 0.5 * (gap * gap_solved).sum(axis=1)
    of_counts = np.matmul(moments * q[:, None], moments.transpose(0, 2, 1))
    of_counts -= plain[:, :, None] * plain[:, None, :]
    gradient = np.matmul(features, mean[:, :, None])[:, :, 0] - size * plain
    return Said(
        value=value - 0.5 * np.linalg.slogdet(middle)[1],
        gradient=gradient + np.matmul(cross, gap_solved[:, :, None])[:, :, 0],
        information=size[:, :, None] * of_counts + np.matmul(cross, cross_solved),
        gap=gap_solved,
        cross=cross_solved,
        inverse=np.diagonal(inverse, axis1=1, axis2=2),
    )


def expected_rows(seen: Seen, shares: Floats) -> Floats:
    """E[h | y, m], of shape (T, cells): rows in each cell of the tables at hand."""
    q, mean = by_counts(seen.rows, shares, seen.kernel)
    if not seen.sums.shape[1]:
        return mean
    gap = seen.sums - np.einsum("tsx,tx->ts", seen.weights, mean)
    of_sums = _expected(seen.weights, shares, seen.kernel, q)
    middle = _covariance(seen, seen.weights, of_sums, mean)
    solved = np.linalg.solve(middle, gap[:, :, None])[:, :, 0]
    along = np.einsum("tsx,ts->tx", seen.weights, solved)
    seen_as = np.einsum("tsy,ts->ty", of_sums, solved)
    moved = mean * along - shares * ((seen.rows / q * seen_as) @ seen.kernel.T)
    return np.asarray(mean + moved)


def sums_precision(seen: Seen, shares: Floats) -> Floats:
    """S^-1, of shape (T, sums, sums)."""
    q, mean = by_counts(seen.rows, shares, seen.kernel)
    of_sums = _expected(seen.weights, shares, seen.kernel, q)
    return np.asarray(np.linalg.inv(_covariance(seen, seen.weights, of_sums, mean)))


def sums_spread(seen: Seen, shares: Floats) -> tuple[Floats, Floats]:
    """A Sigma A' and A Sigma of one table: (sums, sums) and (sums, cells)."""
    q, mean = by_counts(seen.rows[0], shares, seen.kernel)
    weights = seen.weights[0]
    of_sums = (weights * shares) @ seen.kernel / q
    along = weights * mean - ((of_sums * (seen.rows[0] / q)) @ seen.kernel.T) * shares
    return np.asarray(along @ weights.T), np.asarray(along)


def _expected(features: Floats, shares: Floats, kernel: Floats, q: Floats) -> Floats:
    """E[feature | bin], of shape (T, F, bins)."""
    return np.asarray(np.matmul(features * shares[:, None], kernel) / q[:, None])


def _covariance(seen: Seen, weights: Floats, expected: Floats, mean: Floats) -> Floats:
    """A Sigma A' + diag(v), of shape (T, sums, sums)."""
    middle = np.matmul(weights * mean[:, None], weights.transpose(0, 2, 1))
    middle -= np.matmul(expected * seen.rows[:, None], expected.transpose(0, 2, 1))
    each = np.arange(middle.shape[1])
    middle[:, each, each] += seen.variance
    return np.asarray(middle)
