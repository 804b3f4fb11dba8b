"""Two noisy views of one true distribution, and what can be said of it from both."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.former.analysis.stage_one import StageOne, fit_spread, stage_one
from holdfast.former.privatizers.projection import isotonic
from holdfast.former.release.row_prior import LONG

if TYPE_CHECKING:
    from holdfast.former.release.release import Release

ESTIMATORS = ("best", "released", "target")
DENSE_UP_TO, NEIGHBOURS, MAX_CONDITION = LONG, 3, 1e10


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    r"""Stage 1's unbiased view ζ̃ of ζ, and the released distribution ẑ, whose mean is ζT.

    The residual $r = \hat z - \tilde\zeta T$ has mean 0, so for a question $f \cdot \zeta$ every

    $$\hat\theta_w = f \cdot \tilde\zeta + w \cdot r, \qquad
      \hat\theta_w - \theta = (f - Tw) \cdot (\tilde\zeta - \zeta) + w \cdot (\hat z - \zeta T)$$

    is unbiased for a fixed T. w = 0 asks stage 1 alone, w = f the released table corrected by
    the estimated bias $(\zeta - z)(T - 1)f$ that stage 1's error leaves in it, and
    $w = S^{-1} T^\top V_1 f$ with $S = V_2 + T^\top V_1 T$ has the least variance.
    $V_2 = (\mathrm{diag}(\zeta T) - T^\top \mathrm{diag}(\zeta) T)/N$ is the paper's variance of
    ẑ with its covariances; the middle of z and ẑ stands for ζ in it. The two errors are
    independent: T is fixed by what stage 1 drew, and the draws of stage 2 are fresh. That T comes
    from stage 1's draws leaves a bias of second order for w ≠ 0 (docs/uncertainty.md).
    Cost: O(n^3) once.
    """

    first: StageOne
    """Stage 1's view and its noise."""
    released: Floats = field(repr=False)
    """ẑ."""
    target: Floats = field(repr=False)
    """z."""
    matrix: Floats = field(repr=False)
    """T."""
    rows: int
    """N."""
    again: Callable[[], Floats] = field(repr=False)
    """A spread of z: rows whose products add up to the covariance of its error. Costs a hundred
    fits, so it is called where an estimate of `best` is printed, and once."""

    @cached_property
    def largest_spread(self) -> float:
        """The largest of stage 1's standard deviations of the shares of rows with at most k."""
        n = len(self.target)
        if self.first.skipped:
            return 0.0
        steps = np.arange(n - 1) if n <= DENSE_UP_TO else np.array([0, n // 2])
        loads = self.first.loads((np.arange(n)[:, None] <= steps).astype(np.float64))
        variances = self.first.variance * np.square(loads).sum(axis=0)
        return float(np.sqrt(variances.max(initial=0.0)))

    @cached_property
    def middle(self) -> Floats:
        """A stand-in for ζ in variances: the middle of z and ẑ, evened out.

        T is made for z: where noise left a count out of z, T moves the rows that have it far,
        and z itself would not show it. So what is too small to be told from stage 1's noise is
        shared among neighbouring counts.
        """
        middle = (self.target + self.released) / 2
        if len(middle) > DENSE_UP_TO or self.first.skipped:
            return np.asarray(middle)
        unit = self.first.loads(np.eye(len(middle)))
        noise = np.sqrt(self.first.variance * (unit * unit).sum(axis=0))
        small = np.minimum(middle, noise)
        window = np.ones(2 * min(NEIGHBOURS, (len(middle) - 1) // 2) + 1)
        places = np.convolve(np.ones(len(middle)), window, mode="same")
        return np.asarray(middle - small + np.convolve(small / places, window, mode="same"))

    @cached_property
    def residual(self) -> Floats:
        """What the released distribution says beyond stage 1; mean 0."""
        return np.asarray(self.released - self.first.shares @ self.matrix)

    def weights(self, f: Floats, estimator: str) -> Floats:
        """w for this question (or for each column of a matrix of questions).

        Without a stage 1 only T w = f is unbiased, and it is the only choice.
        """
        if self.first.skipped:
            return self._inverted(f)
        if estimator == "target":
            return np.zeros_like(f)
        if estimator == "released":
            return f
        if len(self.target) > DENSE_UP_TO:
            return f * self._shrunk(f)
        gains = self._loaded.T @ self.first.loads(f) * self.first.variance
        vectors, inverse = self._precision
        return np.asarray(vectors @ (inverse * (vectors.T @ gains).T).T)

    def estimate(self, f: Floats, w: Floats) -> float:
        """The unbiased answer to f · ζ."""
        return float(f @ self.first.shares + w @ self.residual)

    def error_loads(self, f: Floats, w: Floats) -> Floats:
        """How stage 1's noise enters the error of the answer."""
        return self.first.loads(f - self.matrix @ w)

    def sampling_variance(self, w: Floats) -> float:
        """w V_2 w: the variance that stage 2's draws give to the answer."""
        return float(self.middle @ self.sampling_variances(w))

    def sampling_variances(self, w: Floats) -> Floats:
        """Per count, what a row with it adds to the sampling variance, times N / N^2."""
        mean, square = self.matrix @ w, self.matrix @ (w * w)
        return np.asarray(np.maximum(square - mean * mean, 0) / self.rows)

    def standard_error(self, f: Floats, w: Floats) -> float:
        """Of the unbiased answer, by formula."""
        loads = self.error_loads(f, w)
        return float(np.sqrt(self.first.variance * loads @ loads + self.sampling_variance(w)))

    @cached_property
    def sampling_covariance(self) -> Floats:
        """V_2."""
        z, t = self.middle, self.matrix
        return np.asarray((np.diag(z @ t) - (t.T * z) @ t) / self.rows)

    @cached_property
    def combined(self) -> Floats:
        """The best unbiased estimate of every share; entries may be negative."""
        if len(self.target) > DENSE_UP_TO:
            return self.target
        every = np.eye(len(self.target))
        return np.asarray(self.first.shares + self.residual @ self.weights(every, "best"))

    @cached_property
    def best(self) -> Floats:
        r"""The distribution whose answers are printed: z, corrected by the released counts.

        zT = z, so ẑ - z is the residual of z as ẑ - ζ̃T is that of ζ̃. A fitted z has far less
        error than ζ̃, so it is corrected by less: $w = S^{-1} T^\top V_z$ with
        $S = V_2 + T^\top V_z T$, where $V_z$ is found by repeating stage 1 on z.
        """
        if self.first.skipped or len(self.target) > DENSE_UP_TO:
            return isotonic(self.combined)
        return self._corrected(self._correction[1])

    def best_error(self, f: Floats) -> float:
        """Standard error of f · best: of z's own error as far as it is left, and of sampling."""
        if self.first.skipped or len(self.target) > DENSE_UP_TO:
            return self.standard_error(f, self.weights(f, "best"))
        spread, correction = self._correction
        w = correction @ f
        left = spread @ (f - self.matrix @ w)
        return float(np.sqrt(left @ left + self.sampling_variance(w)))

    @cached_property
    def _correction(self) -> tuple[Floats, Floats]:
        """The spread of z, and w for every share."""
        spread = self.again()
        seen = spread @ self.matrix
        vectors, inverse = _inverse(self.sampling_covariance + seen.T @ seen)
        return spread, np.asarray(vectors @ (inverse[:, None] * (vectors.T @ (seen.T @ spread))))

    @cached_property
    def matched(self) -> Floats:
        """z corrected with the weights of `combined`, so that their law of error is its own: the
        middle of intervals for functions that need a distribution."""
        if self.first.skipped or len(self.target) > DENSE_UP_TO:
            return isotonic(self.combined)
        return self._corrected(self.weights(np.eye(len(self.target)), "best"))

    def _corrected(self, w: Floats) -> Floats:
        return isotonic(self.target + (self.released - self.target @ self.matrix) @ w)

    def unbiased(self, estimator: str) -> Floats:
        """Every share by this estimator, corrected for its bias; entries may be negative."""
        if estimator == "best":
            return self.combined
        w = self.weights(np.eye(len(self.target)), estimator)
        return np.asarray(self.first.shares + self.residual @ w)

    def distribution(self, estimator: str) -> Floats:
        """Every share by this estimator, as a distribution: what it would be plotted as."""
        return {"released": self.released, "target": self.target}.get(estimator, self.best)

    def draw_errors(self, estimator: str, size: int, generator: np.random.Generator) -> Floats:
        """Draws from the law of `unbiased(estimator)` minus the truth, one per row."""
        w = self.weights(np.eye(len(self.target)), estimator)
        loads = self.error_loads(np.eye(len(w)), w)
        values, vectors = np.linalg.eigh(w.T @ self.sampling_covariance @ w)
        root = vectors * np.sqrt(np.maximum(values, 0))
        normal = generator.standard_normal((size, len(w)))
        return np.asarray(self.first.draw(size, generator) @ loads + normal @ root.T)

    @cached_property
    def _loaded(self) -> Floats:
        return self.first.loads(self.matrix)

    @cached_property
    def _precision(self) -> tuple[Floats, Floats]:
        """Eigenvectors and pseudo-inverse eigenvalues of S."""
        a = self._loaded
        return _inverse(self.sampling_covariance + self.first.variance * a.T @ a)

    def _inverted(self, f: Floats) -> Floats:
        if np.linalg.cond(self.matrix) > MAX_CONDITION:
            raise HoldfastError(
                "this release has no stage 1, and its mechanism is too noisy to be inverted. "
                "Hint: the plain estimates are in release.distribution."
            )
        return np.asarray(np.linalg.solve(self.matrix, f), dtype=np.float64)

    def _shrunk(self, f: Floats) -> float:
        """The best multiple of f, where S is too large: any multiple is unbiased."""
        seen = self.first.loads(self.matrix @ f)
        total = self.sampling_variance(f) + self.first.variance * seen @ seen
        gain = self.first.variance * seen @ self.first.loads(f)
        return float(gain / total) if total > 0 else 0.0


def _inverse(covariance: Floats) -> tuple[Floats, Floats]:
    """Eigenvectors and pseudo-inverse eigenvalues."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-12 * values[-1]
    return vectors, np.where(kept, 1 / np.where(kept, values, 1), 0)


def evidence(release: "Release") -> Evidence:
    """What a release says about its true distribution."""
    if release.rows == 0:
        raise HoldfastError("this release has no rows that could be asked about.")
    return Evidence(
        first=stage_one(release),
        released=release.distribution,
        target=release.target,
        matrix=release.mechanism.matrix,
        rows=release.rows,
        again=lambda: fit_spread(release),
    )
