r"""Laws of groups as tilts of the whole table's law, shrunk as the groups themselves say.

    log p_g(x) = log p(x) + sum over k of b_gk T_k(x) - log Z_g,

with a spike at zero and polynomials of log(1 + x), orthonormal under p. Over groups b_k is normal
with covariance t_k^2 R. The variances t_k^2 are estimated from all groups by expectation and
maximisation, so that groups that say nothing follow the whole at no cost, whatever their number.

Groups may stand in an order, as classes of a size do. Then R = (1 - r) I + r C with C smooth over
the order carries what neighbours say; how much, r, is chosen by evidence, and is 0 where the order
means nothing.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from holdfast.arrays import Floats
from holdfast.fit.cells import Cells
from holdfast.fit.likelihood import Said, Seen, said

DEGREES = 3  # of the polynomials
ROUNDS = 12
LONGEST = 1.0  # step
START = 0.3  # variance
LEAST_VARIANCE = 1e-6
BATCH = 256  # groups at once
ORDERED = (0.5, 0.9, 0.98, 0.998)  # r, beside 0
MOST_ORDERED = 48  # groups for which an order is tried
LENGTH = 1.0  # of the order over which C falls, with the whole order as unit


@dataclass(frozen=True, kw_only=True, eq=False)
class Tilts:
    """Laws of groups: each a tilt of one common law."""

    law: Floats
    """The common law's shares of cells."""
    features: Floats
    """Tilts, of shape (K, cells)."""
    mean: Floats
    """Of each group's tilts, of shape (G, K)."""
    noise: Floats
    """Variances of the normal laws that stand for the noise of the sums, of shape (G, sums)."""
    log_evidence: float

    @cached_property
    def shares(self) -> Floats:
        """Shares of cells of each group."""
        return tilted(self.law, self.features, self.mean)

    def effective(self, seen: Seen) -> Seen:
        """The same measurements, with normal laws that stand for the Laplace noise of the sums."""
        return replace(seen, variance=self.noise)


def equally_likely(laws: Floats, log: Floats, number: int, rng: np.random.Generator) -> Floats:
    """So many of these laws, by the logarithms of their weights."""
    upto = np.cumsum(np.exp(log - log.max()))
    levels = (np.arange(number) + rng.random()) / number * upto[-1]
    return np.asarray(laws[np.searchsorted(upto, levels)])


def tilted(law: Floats, features: Floats, by: Floats) -> Floats:
    """Shares of cells under tilts, one row for each row of `by`, which may be the only one."""
    log = by @ features
    shares = law * np.exp(log - log.max(axis=-1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


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


def fit_tilts(seen: Seen, law: Floats, cells: Cells) -> Tilts:
    """Tilts of groups, in an order if the evidence has one."""
    features = features_of(law, cells)
    found = _fit(seen, law, features, None)
    if len(seen.rows) > MOST_ORDERED:
        return found
    place = np.linspace(0, 1, len(seen.rows))
    smooth = np.exp(-0.5 * ((place[:, None] - place) / LENGTH) ** 2)
    likeness = [(1 - r) * np.eye(len(place)) + r * smooth for r in ORDERED]
    ordered = [_fit(seen, law, features, each) for each in likeness]
    return max([found, *ordered], key=lambda tilts: tilts.log_evidence)


def _fit(seen: Seen, law: Floats, features: Floats, likeness: Floats | None) -> Tilts:
    """Tilts by Newton's method, while the variances over groups and of the noise follow; groups
    are alone unless a likeness R is given."""
    groups, size = len(seen.rows), len(features)
    noise, seen = seen.variance, replace(seen, variance=seen.variance.copy())
    inverse = np.eye(1) if likeness is None else np.linalg.inv(likeness)
    precision = np.asarray(inverse, dtype=np.float64)
    half = 0.0 if likeness is None else 0.5 * size * float(np.linalg.slogdet(precision)[1])
    spread, mean = np.full(size, START), np.zeros((groups, size))
    evidence = 0.0
    for _ in range(ROUNDS):
        evidence = half - 0.5 * groups * float(np.log(spread).sum())
        traces = np.zeros(size)
        together = groups if likeness is not None else BATCH
        for some in (slice(i, i + together) for i in range(0, groups, together)):
            found = said(seen.of(some), tilted(law, features, mean[some]), features[None])
            at = mean[some]
            pull = at if likeness is None else precision @ at
            step, covariance, trace, log = _solved(found, pull / spread, spread, precision)
            evidence += float(found.value.sum()) - 0.5 * float((pull * at / spread).sum()) - log
            before = seen.variance[some]
            seen.variance[some] = found.noise_variance(noise[some], before, covariance)
            mean[some] += np.clip(step, -LONGEST, LONGEST)
            after = mean[some] if likeness is None else precision @ mean[some]
            traces += trace + (mean[some] * after).sum(axis=0)
        spread = np.maximum(traces / groups, LEAST_VARIANCE)
    ratio = seen.variance / noise
    return Tilts(
        law=law,
        features=features,
        mean=mean,
        noise=seen.variance,
        log_evidence=evidence + float((0.5 * np.log(ratio) - ratio).sum()),
    )


def _solved(
    found: Said, pull: Floats, spread: Floats, precision: Floats
) -> tuple[Floats, Floats, Floats, float]:
    """Newton's step, the covariance of each group's tilts, the trace of R^-1 times the covariance
    over groups of each tilt, and half the log determinant of the information."""
    groups, size = pull.shape
    if len(precision) == 1:
        information = found.information + np.diag(1 / spread)
        covariance = np.asarray(np.linalg.inv(information), dtype=np.float64)
        step = np.asarray(np.matmul(covariance, (found.gradient - pull)[:, :, None])[:, :, 0])
        log = 0.5 * float(np.linalg.slogdet(information)[1].sum())
        return step, covariance, np.diagonal(covariance, axis1=1, axis2=2).sum(axis=0), log
    all_of_all = np.zeros((groups, size, groups, size))
    group, tilt = np.arange(groups), np.arange(size)
    all_of_all[group, :, group, :] = found.information
    all_of_all[:, tilt, :, tilt] += precision[None] / spread[:, None, None]
    flat = all_of_all.reshape(groups * size, groups * size)
    inverse = np.asarray(np.linalg.inv(flat), dtype=np.float64)
    step = (inverse @ (found.gradient - pull).ravel()).reshape(groups, size)
    by_group = inverse.reshape(groups, size, groups, size)
    trace = np.einsum("gh,hkgk->k", precision, by_group)
    log = 0.5 * float(np.linalg.slogdet(flat)[1])
    return step, by_group[group, :, group, :], trace, log
