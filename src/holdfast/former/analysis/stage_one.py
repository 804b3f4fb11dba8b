"""The first view of the true distribution that a release gives: stage 1, and its noise."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.former.tables.histogram import whole_histogram

if TYPE_CHECKING:
    from holdfast.former.privatizers.noisy import Projected
    from holdfast.former.release.release import Release

BOOTSTRAP, FITS, SEED = 400, 100, 20261115
LONG, LONG_BOOTSTRAP = 1001, 30  # bins above which so few must do
SHRUNK = 0.1  # of a covariance from so few fits, towards independent cumulative sums


@dataclass(frozen=True, kw_only=True, eq=False)
class StageOne:
    r"""An estimate of the distribution with error $M L$, the $L$ independent with known law.

    `loads(f)` is $M^\top f$: how strongly each $L$ enters the error of the answer $f \cdot \zeta$.
    """

    shares: Floats = field(repr=False)
    """The estimate, length n; unbiased, so its entries may be negative."""
    loads: Callable[[Floats], Floats] = field(repr=False)
    """M^T f for a vector or for the columns of a matrix."""
    decay: float | None
    """e^-ε of the discrete Laplace law of the L; None where they are normal, of variance 1."""
    exact: bool
    """Whether the noise law is known, and not estimated by repeating stage 1."""
    size: int
    """How many L there are."""
    skipped: bool = False
    """Whether the release has no stage 1; `shares` then say nothing."""

    @property
    def variance(self) -> float:
        """Of each L."""
        return 1.0 if self.decay is None else 2 * self.decay / (1 - self.decay) ** 2

    def draw(self, size: int, generator: np.random.Generator) -> Floats:
        """Independent L, one row per draw."""
        shape = (size, self.size)
        if self.decay is None:
            return generator.standard_normal(shape)
        first, second = generator.geometric(1 - self.decay, size=(2, *shape))
        return np.asarray(first - second, dtype=np.float64)


def stage_one(release: "Release") -> StageOne:
    """Stage 1 of a release: from its published measurement, or by repeating it on z."""
    from holdfast.former.privatizers.named import find_privatizer
    from holdfast.former.privatizers.noisy import Projected

    if not has_stage_1(release):
        return _skipped(release)
    privatizer = find_privatizer(release.methods[0])
    if privatizer is None:
        raise HoldfastError(
            "stage 1 of this release is unknown to this version of holdfast, so its noise "
            "cannot be stated. Hint: the plain estimates are in release.distribution."
        )
    if release.measurement is not None and isinstance(privatizer, Projected):
        return _measured(release, release.measurement, privatizer)
    return _repeated(release, privatizer)


def has_stage_1(release: "Release") -> bool:
    """Whether the release has a stage 1; a baseline has none."""
    return release.privacy.budget.stage_1 > 0


def _measured(release: "Release", noisy: Integers, privatizer: "Projected") -> StageOne:
    n, rows, unit = len(release.target), release.rows, release.privacy.budget.unit_1
    response, common = privatizer.response(len(noisy), n), privatizer.common_noise
    normal = privatizer.gaussian
    spread = np.sqrt(privatizer.variance(unit, n)) if normal else 1.0

    def loads(f: Floats) -> Floats:
        each = spread * response(f) / rows
        return np.concatenate([each, each.sum(axis=0, keepdims=True)]) if common else each

    return StageOne(
        shares=np.asarray(privatizer.estimate(noisy, n, rows) / rows),
        loads=loads,
        decay=None if normal else float(np.exp(-float(unit) / privatizer.sensitivity(n))),
        exact=True,
        size=len(noisy) + common,
    )


def _skipped(release: "Release") -> StageOne:
    def loads(f: Floats) -> Floats:
        return np.zeros((1, *f.shape[1:]))

    return StageOne(
        shares=release.target, loads=loads, decay=None, exact=True, size=1, skipped=True
    )


def fit_spread(release: "Release") -> Floats:
    """Rows whose products add up to the covariance of z's error, from repeating stage 1."""
    from holdfast.former.privatizers.named import find_privatizer

    draws, _ = _repeats(release, find_privatizer(release.methods[0]), FITS)
    spread = (draws - draws.mean(axis=0)) / np.sqrt(FITS - 1)
    deviations = np.sqrt(np.square(np.cumsum(spread, axis=1)).sum(axis=0))[:-1, None]
    alone = -np.diff(np.eye(draws.shape[1]), axis=0) * deviations
    return np.concatenate([np.sqrt(1 - SHRUNK) * spread, np.sqrt(SHRUNK) * alone])


def _repeats(release: "Release", privatizer: Any, times: int) -> tuple[Floats, Floats]:
    """Parametric bootstrap: stage 1 run again on a table distributed as z, and that table."""
    start = whole_histogram(release.target, release.rows)
    generator = np.random.default_rng(SEED)
    unit = release.privacy.budget.unit_1
    draws = np.array([privatizer(start, epsilon=unit, rng=generator) for _ in range(times)])
    return draws, start / release.rows


def _long_errors(release: "Release", privatizer: Any) -> Floats:
    """The same where z has far less than a row in most of its bins: stage 1's errors on tables in
    which rows that a fit smooths over are drawn from z anew each time, since their scatter is what
    it cannot know, and those that it tells apart are the released ones."""
    z, rows, unit = release.target, release.rows, release.privacy.budget.unit_1
    start = np.rint(release.distribution * rows).astype(np.int64)
    border = _told_apart(z * rows, float(unit))
    number, shares = int(start[:border].sum()), z[:border] / max(float(z[:border].sum()), 1e-300)
    generator, errors = np.random.default_rng(SEED), np.empty((LONG_BOOTSTRAP, len(z)))
    for error in errors:
        start[:border] = generator.multinomial(number, shares)
        error[:] = privatizer(start, epsilon=unit, rng=generator) - start / rows
    return errors


def _told_apart(histogram: Floats, epsilon: float) -> int:
    """The count from which on rows are so sparse that stage 1 measures them one by one."""
    from holdfast.former.privatizers.regions import first_edges

    edges = np.asarray(first_edges(len(histogram)))
    a_count = np.add.reduceat(histogram, edges[:-1]) / np.diff(edges)
    dense = np.flatnonzero(a_count >= epsilon / 3)
    return int(edges[dense[-1] + 1]) if len(dense) else 1


def _repeated(release: "Release", privatizer: Any) -> StageOne:
    z = release.target
    if len(z) > LONG:
        errors = _long_errors(release, privatizer)
    else:
        draws, start = _repeats(release, privatizer, BOOTSTRAP)
        errors = draws - start
    bias = errors.mean(axis=0)
    spread = (errors - bias) / np.sqrt(len(errors) - 1)
    return StageOne(
        shares=z - bias, loads=lambda f: spread @ f, decay=None, exact=False, size=len(spread)
    )
