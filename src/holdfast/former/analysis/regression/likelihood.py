"""Coefficients by maximum likelihood, through the mechanism that drew the counts."""

from dataclasses import dataclass, field

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.former.analysis.regression.families import Family

CHUNK, AT_ONCE = 20_000, 1_000_000
LARGEST_PREDICTOR, SMALLEST_LIKELIHOOD, STEP = 30.0, 1e-300, 1e-5


@dataclass(frozen=True, kw_only=True, eq=False)
class Fitted:
    """The most likely parameters."""

    coefficients: Floats
    """Of the regressors, and then of the family itself."""
    covariance: Floats = field(repr=False)
    """Robust: right where the family is not quite."""
    log_likelihood: float


@dataclass(frozen=True, eq=False)
class Near:
    """Columns of T where counts run far: each in the rows around the count that it is of."""

    counts: Integers = field(repr=False)
    shares: Floats = field(repr=False)
    """Rows by true counts, the middle one being the released count; 0 where there is none."""
    top: int

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, rows: slice) -> "Near":
        return Near(self.counts[rows], self.shares[rows], self.top)

    @property
    def places(self) -> Floats:
        """The true counts, as rows."""
        reach = self.shares.shape[1] // 2
        places = self.counts[:, None] + np.arange(-reach, reach + 1)
        return np.clip(places, 0, self.top).astype(np.float64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Likelihood:
    r"""$\sum_r \log \sum_i P(i \mid x_r \beta) T_{i y_r}$, the top standing for all above it.

    Without a kernel $\sum_r \log P(y_r \mid x_r \beta)$: counts as they are.
    """

    family: Family
    matrix: Floats = field(repr=False)
    offset: Floats = field(repr=False)
    counts: Integers | Floats = field(repr=False)
    kernel: Floats | Near | None = field(repr=False)
    """For each row, the probability of what it shows by its true count: a column of the T that
    drew it. None for counts that went through no mechanism."""
    top_is_open: bool = True
    """Whether the highest count stands for all above it, and not for itself alone."""

    def fit(self, start: Floats | None = None) -> Fitted:
        """By quasi-Newton steps on columns made orthogonal; see `Fitted`."""
        from scipy.optimize import minimize

        rows, size = self.matrix.shape
        q, r = np.linalg.qr(self.matrix)
        turned = Likelihood(**vars(self) | {"matrix": q * np.sqrt(rows)})
        back = np.linalg.inv(r) * np.sqrt(rows)
        begin = self._start() if start is None else start
        begin = np.concatenate([r @ begin[:size] / np.sqrt(rows), begin[size:]])

        def objective(parameters: Floats) -> tuple[float, Floats]:
            value, scores = turned.scores(parameters)
            return -value / rows, -scores.sum(axis=0) / rows

        found = minimize(objective, begin, jac=True, method="BFGS", options={"gtol": 1e-7})
        if not found.success and np.abs(found.jac).max() > 1e-4:
            raise HoldfastError(
                "the regression did not converge. Hint: fewer regressors, or another family."
            )
        turn = np.eye(len(begin))
        turn[:size, :size] = back
        covariance = turn @ turned.sandwich(found.x) @ turn.T
        return Fitted(
            coefficients=turn @ found.x,
            covariance=covariance,
            log_likelihood=-float(found.fun) * rows,
        )

    def _start(self) -> Floats:
        """Least squares on log(count + 1/2); overdispersion 1."""
        guess = np.linalg.lstsq(self.matrix, np.log(self.counts + 0.5) - self.offset, rcond=None)[0]
        return np.concatenate([guess, np.zeros(len(self.family.extra))])

    def scores(self, parameters: Floats) -> tuple[float, Floats]:
        """The log likelihood, and its slope in every parameter by row."""
        chunk = CHUNK
        if isinstance(self.kernel, Near):
            chunk = max(AT_ONCE // self.kernel.shares.shape[1], 1)
        parts = [
            self._chunk(parameters, slice(at, at + chunk))
            for at in range(0, len(self.counts), chunk)
        ]
        return sum(part[0] for part in parts), np.concatenate([part[1] for part in parts])

    def _chunk(self, parameters: Floats, rows: slice) -> tuple[float, Floats]:
        x, size = self.matrix[rows], self.matrix.shape[1]
        eta = np.clip(
            x @ parameters[:size] + self.offset[rows], -LARGEST_PREDICTOR, LARGEST_PREDICTOR
        )
        extra, y = parameters[size:], self.counts[rows]
        if self.kernel is None:
            log, slope, others = self.family.logs(y.astype(np.float64), eta, extra)
        elif isinstance(self.kernel, Near):
            log, slope, others = self._nearby(self.kernel[rows], eta, extra)
        else:
            log, slope, others = self._through(self.kernel[rows], eta, extra)
        return float(log.sum()), np.concatenate([slope[:, None] * x, others.T], axis=1)

    def _through(self, kernel: Floats, eta: Floats, extra: Floats) -> tuple[Floats, Floats, Floats]:
        """The same of the released count: kernel has for each row the column of T it shows."""
        top = kernel.shape[1] - 1
        if not self.top_is_open:
            every = np.arange(top + 1, dtype=np.float64)
            log, slope, others = self.family.logs(every, eta[:, None], extra)
            inside = np.exp(log) * kernel
            likelihood = np.maximum(inside.sum(axis=1), SMALLEST_LIKELIHOOD)
            slopes = (inside * slope).sum(axis=1), (inside * others).sum(axis=2)
            return np.log(likelihood), slopes[0] / likelihood, np.asarray(slopes[1] / likelihood)
        below = np.arange(top, dtype=np.float64)
        log, slope, others = self.family.logs(below, eta[:, None], extra)
        shares, (tail, its_slope) = np.exp(log), self.family.tail(top, eta, extra)
        inside, above = shares * kernel[:, :-1], kernel[:, -1]
        likelihood = np.maximum(inside.sum(axis=1) + tail * above, SMALLEST_LIKELIHOOD)
        # the top stands for all above it: in the extra parameters its slope is minus the others'
        extras = (inside * others).sum(axis=2) - (shares * others).sum(axis=2) * above
        return (
            np.log(likelihood),
            ((inside * slope).sum(axis=1) + its_slope * above) / likelihood,
            np.asarray(extras / likelihood),
        )

    def _nearby(self, kernel: Near, eta: Floats, extra: Floats) -> tuple[Floats, Floats, Floats]:
        """The same over the true counts near the released one. In logs: far from the mean that the
        regressors tell, the family's probabilities are too small for numbers."""
        log, slope, others = self.family.logs(kernel.places, eta[:, None], extra)
        if self.top_is_open:
            last = (kernel.places == kernel.top) & (kernel.shares > 0)
            at = np.flatnonzero(last.any(axis=1))
            log, slope, others = (np.array(part) for part in (log, slope, others))
            log[last], slope[last], others[:, last] = self._above(kernel.top, eta[at], extra)
        with np.errstate(divide="ignore"):
            joint = log + np.log(kernel.shares)
        most = joint.max(axis=1)
        weights = np.exp(joint - most[:, None])
        whole = weights.sum(axis=1)
        return (
            most + np.log(whole),
            (weights * slope).sum(axis=1) / whole,
            np.asarray((weights * others).sum(axis=2) / whole),
        )

    def _above(self, top: int, eta: Floats, extra: Floats) -> tuple[Floats, Floats, Floats]:
        """The log probability of the top and all above it, and its slopes."""
        tail, its = self.family.tail(top, eta, extra)
        tail = np.maximum(tail, SMALLEST_LIKELIHOOD)
        moved = np.empty((len(extra), len(eta)))
        for k, step in enumerate(STEP * np.eye(len(extra))):
            up, down = (self.family.tail(top, eta, extra + way * step)[0] for way in (1, -1))
            above, below = (np.maximum(one, SMALLEST_LIKELIHOOD) for one in (up, down))
            moved[k] = np.log(above) - np.log(below)
        return np.log(tail), its / tail, moved / (2 * STEP)

    def sandwich(self, parameters: Floats) -> Floats:
        """H^-1 (sum of s s^T) H^-1, H by central differences of the scores."""
        step, size = 1e-4, len(parameters)
        hessian = np.zeros((size, size))
        for k in range(size):
            moved = np.zeros(size)
            moved[k] = step
            up, down = (self.scores(parameters + sign * moved)[1].sum(axis=0) for sign in (1, -1))
            hessian[k] = (down - up) / (2 * step)
        scores = self.scores(parameters)[1]
        bread = np.linalg.pinv((hessian + hessian.T) / 2)
        return np.asarray(bread @ (scores.T @ scores) @ bread)
