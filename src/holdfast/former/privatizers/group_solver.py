"""The joint fit of all groups: rounds of weighted least squares; docs/groups-fit.md."""

from dataclasses import dataclass, replace

import numpy as np

from holdfast.arrays import Floats
from holdfast.former.privatizers.group_measured import Measured
from holdfast.former.privatizers.group_model import GUESS, OWN, OWN_IF_ORDERED, shapes, trends

ROUNDS, TOLERANCE = 40, 0.01
SETTLE = 3  # rounds before variances are learnt
LONGEST_STEP = 3.0  # of one coefficient, for one round
HALVINGS = 8
SMALLEST, LARGEST = 1e-5, 30.0  # variances of coefficients


@dataclass(frozen=True, kw_only=True, eq=False)
class Linear:
    """The model linearised at the current laws: what is left over, slopes, scatter, weights."""

    seen: Floats
    left: Floats
    J: Floats
    S: Floats
    W: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Solution:
    """Coefficients, their variances, and each group's covariance of trend and own together."""

    trend: Floats
    own: Floats
    trend_variance: Floats
    own_variance: Floats
    covariance: Floats


class JointFit:
    """Coefficients of every group's log-density, fitted in rounds until they stay."""

    def __init__(self, measured: Measured, *, ordered: bool) -> None:
        groups = len(measured.sizes)
        self.measured = measured
        self.shapes = shapes(measured.bins, measured.middles)
        self.trends = trends(groups, ordered=ordered)
        even = 1 / (1.0 + np.arange(measured.bins))
        self.base = np.log(np.add.reduceat(even, measured.cells[:-1]))
        functions = len(self.shapes.kinds)
        self.trend = np.zeros((len(self.trends.kinds), functions))
        self.own = np.zeros((groups, functions))
        self.guess = GUESS.copy()
        self.guess[OWN] *= OWN_IF_ORDERED if ordered else 1.0
        self.variances = self.guess.copy()
        self.noise = measured.noise()
        self.excess, self.excess_is_known = 0.0, False

    def run(self) -> "JointFit":
        """Rounds until no coefficient moves by more than `TOLERANCE`."""
        for number in range(ROUNDS):
            moved = self._round(learn=number >= SETTLE)
            if moved < TOLERANCE and number > 2 * SETTLE:
                break
        return self

    def from_sums_first(self) -> "JointFit":
        """Fit the sums alone, learn from that how far rows lie above the top code, and only then
        let totals steer: they say nothing of it by themselves."""
        totals, self.measured = self.measured, replace(self.measured, totals=None)
        self.noise = self.measured.noise()
        self.run()
        rows = np.diff(self.cumulative(), prepend=0.0, axis=1)
        self.measured, self.noise = totals, totals.noise()
        self.excess, self.excess_is_known = totals.excess(rows), True
        return self.run()

    def laws(self, trend: Floats | None = None, own: Floats | None = None) -> Floats:
        """The law of each group at these coefficients, or at the current ones: shares of cells."""
        trend, own = (self.trend if trend is None else trend), (self.own if own is None else own)
        log = self.base + (self.trends.values @ trend + own) @ self.shapes.values.T
        density = np.exp(log - log.max(axis=1, keepdims=True))
        return np.asarray(density / density.sum(axis=1, keepdims=True))

    def cumulative(self) -> Floats:
        """E C at the end of each cell given what was measured: rows scatter around their law, and
        z follows them."""
        at = self._linear()
        return self.measured.followed(at.seen, times(at.W, at.left))

    def seen(self, laws: Floats) -> Floats:
        """The laws of the rows that are measured together."""
        return laws

    def _slopes(self, laws: Floats) -> Floats:
        excess = self.excess if self.excess_is_known else 0.0
        return self.measured.slopes(laws, self.shapes.values, excess)

    def _linear(self) -> Linear:
        laws, m = self.laws(), self.measured
        seen = self.seen(laws)
        S = m.sampling(seen, self.excess)
        return Linear(
            seen=seen,
            left=m.values - m.expected(seen, self.excess),
            J=self._slopes(laws),
            S=S,
            W=inverse(S + self.noise[:, :, None] * np.eye(S.shape[1])),
        )

    def _round(self, *, learn: bool) -> float:
        self._learn_excess()
        at = self._linear()
        solution, whole_weights = self._solve(at)
        moved = self._move(solution, at.W, whole_weights)
        if learn:
            self._learn_variances(solution)
        self._reweigh(at, solution.covariance)
        return moved

    def _precisions(self) -> tuple[Floats, Floats]:
        """Of trend coefficients, by function of class and of count, and of own ones."""
        kinds = self.shapes.kinds
        by_trend = self.variances[self.trends.kinds][:, kinds] * self.trends.decay[:, None]
        return 1.0 / by_trend, 1.0 / self.variances[OWN][kinds]

    def _solve(self, at: Linear) -> tuple[Solution, Floats | None]:
        """The best coefficients of the linear model: own ones are eliminated group by group,
        which leaves one system for the trend."""
        Q, (of_trend, of_own) = self.trends.values, self._precisions()
        E, K = of_trend.shape
        JW = at.J.swapaxes(1, 2) @ at.W
        H, current = JW @ at.J, Q @ self.trend + self.own
        b = times(JW, at.left) + times(H, current)
        V = inverse(H + np.diag(of_own))
        VH = V @ H
        pairs = (Q[:, :, None] * Q[:, None, :]).reshape(len(Q), -1)
        joint = (pairs.T @ (H - H @ VH).reshape(len(Q), -1)).reshape(E, E, K, K).swapaxes(1, 2)
        joint = joint.reshape(E * K, E * K) + np.diag(of_trend.ravel())
        right = (Q.T @ (b - times(VH.swapaxes(1, 2), b))).ravel()
        whole_weights = None
        if self.measured.whole is not None:
            more, whole_weights = self._whole(at, V)
            joint, right = joint + more[0], right + more[1]
        covariance = inverse(joint)
        trend = (covariance @ right).reshape(E, K)
        by_pair = covariance.reshape(E, K, E, K).swapaxes(1, 2).reshape(E * E, K * K)
        shared = (pairs @ by_pair).reshape(-1, K, K)
        keep, spread = np.eye(K) - VH, VH @ shared
        solution = Solution(
            trend=trend,
            own=times(V, b - times(H, Q @ trend)),
            trend_variance=np.diag(covariance).reshape(E, K),
            own_variance=np.einsum("gkk->gk", V) + (spread * VH).sum(axis=2),
            covariance=keep @ shared @ keep.swapaxes(1, 2) + V,
        )
        return solution, whole_weights

    def _whole(self, at: Linear, V: Floats) -> tuple[tuple[Floats, Floats], Floats]:
        """What the sums over all groups say about the trend, and their weights."""
        m, blocks = self.measured, len(self.measured.widths)
        J, S = at.J[:, :blocks], at.S[:, :blocks, :blocks]
        spread = S.sum(axis=0) + ((J @ V) @ J.swapaxes(1, 2)).sum(axis=0)
        W = inverse(spread + 2.0 / m.whole_rate**2 * np.eye(blocks))
        by_trend = np.einsum("gbk,ge->bek", J, self.trends.values).reshape(blocks, -1)
        left = m.whole - m.expected(at.seen, self.excess)[:, :blocks].sum(axis=0)
        pull = by_trend.T @ W
        return (pull @ by_trend, pull @ (left + by_trend @ self.trend.ravel())), W

    def _move(self, solution: Solution, W: Floats, whole_weights: Floats | None) -> float:
        """Go there, or half as far, and so on, until the fit is better than before."""
        to_trend, to_own = solution.trend - self.trend, solution.own - self.own
        longest = max(np.abs(to_trend).max(), np.abs(to_own).max())

        def loss(part: float) -> float:
            return self._loss(
                self.trend + part * to_trend, self.own + part * to_own, W, whole_weights
            )

        part, before = min(1.0, LONGEST_STEP / max(longest, 1e-9)), loss(0.0)
        for _ in range(HALVINGS):
            if loss(part) <= before + 1e-9:
                break
            part /= 2
        self.trend = self.trend + part * to_trend
        self.own = self.own + part * to_own
        return float(part * longest)

    def _loss(self, trend: Floats, own: Floats, W: Floats, whole_weights: Floats | None) -> float:
        of_trend, of_own = self._precisions()
        expected = self.measured.expected(self.seen(self.laws(trend, own)), self.excess)
        left = self.measured.values - expected
        loss = (times(W, left) * left).sum()
        loss += (of_trend * trend**2).sum() + (of_own * own**2).sum()
        if whole_weights is not None:
            left = self.measured.whole - expected[:, : len(whole_weights)].sum(axis=0)
            loss += left @ whole_weights @ left
        return float(loss)

    def _learn_variances(self, solution: Solution) -> None:
        decay, rows = self.trends.decay[:, None], self.trends.kinds
        squares, left = self.trend**2 / decay, solution.trend_variance / decay
        effects = [(row, squares[rows == row], left[rows == row]) for row in np.unique(rows)]
        effects.append((OWN, self.own**2, solution.own_variance))
        for row, squares, left in effects:
            for kind in np.unique(self.shapes.kinds):
                at = self.shapes.kinds == kind
                self.variances[row, kind] = _learnt(
                    self.variances[row, kind], self.guess[row, kind], squares[:, at], left[:, at]
                )

    def _learn_excess(self) -> None:
        """As releases did before the excess was found first: it may end near 0, with laws whose
        means are those of counts without a top code. Kept for `verify`."""
        if self.measured.totals is not None and not self.excess_is_known:
            self.excess = self.measured.excess(self.measured.sizes[:, None] * self.laws())

    def _reweigh(self, at: Linear, covariance: Floats) -> None:
        """Laplace noise as Gaussian noise whose variance is what the fit leaves of it."""
        R, WJ = self.noise, at.W @ at.J
        seen = np.einsum("gbb->gb", at.W) - ((WJ @ covariance) * WJ).sum(axis=2)
        squares = (R * times(at.W, at.left)) ** 2 + np.maximum(R - R**2 * seen, 0.0)
        single, blocks = self.measured.parts == 1, len(self.measured.widths)
        again = np.sqrt(squares) / self.measured.rate + 1e-9
        self.noise[:, :blocks] = np.where(single, again[:, :blocks], R[:, :blocks])
        if self.measured.totals is not None:
            self.noise[:, -1] = np.sqrt(squares[:, -1]) / self.measured.totals_rate + 1e-9


def inverse(matrices: Floats) -> Floats:
    """Of each matrix."""
    return np.asarray(np.linalg.inv(matrices), dtype=np.float64)


def times(matrices: Floats, vectors: Floats) -> Floats:
    """Each group's matrix times its vector."""
    return np.asarray((matrices @ vectors[:, :, None])[:, :, 0])


def _learnt(variance: float, guess: float, squares: Floats, left: Floats) -> float:
    """The next variance: between the slow update of expectation maximisation and MacKay's."""
    number = squares.size
    known = max(number - left.sum() / variance, 1e-3)
    quick = (squares.sum() + guess) / (known + 1.0)
    slow = (squares.sum() + left.sum() + guess) / (number + 1.0)
    return float(np.clip(np.sqrt(quick * slow), SMALLEST, LARGEST))
