r"""Stage 1 for a further count: its law given the counts that are released already.

A count B is measured within classes of a released count A'. Rows of such a class k have true
counts A of several classes c, in parts that A's mechanism tells:
$P(B \mid A' \in k) = \sum_c P(A \in c \mid A' \in k)\, P(B \mid A \in c)$. The laws on the right
are fitted through this blur. docs/joint.md has the model and what was measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats, Integers
from holdfast.former.privatizers.group_measured import Measured
from holdfast.former.privatizers.group_model import Trends, of_cells
from holdfast.former.privatizers.group_solver import JointFit, Linear, Solution, inverse
from holdfast.former.privatizers.groups import alone, fit_alone, followed, measured_sums

METHOD = "ConditionalSmooth()"
"""What a release calls this stage 1."""
ROUNDS = 20
LEAST = 2.0**-38  # of a share: stage 2 takes less for zero


@dataclass(frozen=True, kw_only=True, eq=False)
class Conditional:
    """What stage 2 needs for each class of released counts, as rows."""

    sources: Floats
    """The law of the true counts of its rows."""
    targets: Floats
    """The law that their released counts are to have: that of rows whose true counts, of the
    columns before, lie in this class."""


def fit_conditional(
    noisy: Sequence[ArrayLike],
    sizes: ArrayLike,
    epsilon: float | Fraction,
    *,
    bins: int,
    blur: Floats,
    cells: Integers,
) -> Conditional:
    """Laws of a further count for every class, from its `group_sums` by class with noise.

    `blur[k, c]` is the part of the rows of class k of released counts whose true counts are of
    class c. `cells` says what each class is: the group of its rows, where public columns make
    groups, and the class of each of the columns before. Post-processing: it costs no privacy. Cost:
    O((C K)^3) a round for C classes and K = 12 functions of the count.
    """
    rows, numbers = np.asarray(sizes, dtype=np.int64), [np.asarray(sums) for sums in noisy]
    measured = measured_sums(numbers, rows, epsilon, bins)
    fit = BlurredFit(measured, blur, of_cells(cells)).run()
    sources = followed(fit)
    for g in alone(numbers, rows, epsilon, bins):
        sources[g] = fit_alone(numbers[g], int(rows[g]), epsilon)
    targets = _raked(fit.laws(), sources, rows)
    return Conditional(sources=_raised(sources), targets=_raised(targets))


def _raised(laws: Floats) -> Floats:
    raised = np.maximum(laws, LEAST)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _raked(laws: Floats, sources: Floats, rows: Integers) -> Floats:
    """Targets that add up over all rows to what the sources add up to."""
    wanted = rows @ sources
    for _ in range(ROUNDS):
        laws = laws * (wanted / (rows @ laws))
        laws = laws / laws.sum(axis=1, keepdims=True)
    return laws


class BlurredFit(JointFit):
    """A joint fit of classes whose rows are seen only in known mixtures."""

    def __init__(self, measured: Measured, blur: Floats, trends: Trends) -> None:
        super().__init__(measured, ordered=True)
        self.blur, self.trends = blur, trends
        self.trend = np.zeros((len(trends.kinds), self.own.shape[1]))

    def seen(self, laws: Floats) -> Floats:
        """The laws of the mixtures."""
        return np.asarray(self.blur @ laws)

    def _slopes(self, laws: Floats) -> Floats:
        """How what is expected moves with all coefficients, those of the trend first."""
        one = replace(self.measured, sizes=np.ones(len(laws)))
        by_class = np.einsum("gc,cbk->gbck", self.blur, one.slopes(laws, self.shapes.values))
        by_class *= self.measured.sizes[:, None, None, None]
        by_trend = np.einsum("gbck,ce->gbek", by_class, self.trends.values)
        groups, blocks = by_class.shape[:2]
        return np.concatenate(
            [part.reshape(groups, blocks, -1) for part in (by_trend, by_class)], axis=2
        )

    def _solve(self, at: Linear) -> tuple[Solution, None]:
        """One system for all coefficients: mixtures tie every class to every other."""
        of_trend, of_own = self._precisions()
        shape, (classes, K) = of_trend.shape, self.own.shape
        now = np.concatenate([self.trend.ravel(), self.own.ravel()])
        slopes, pull = (one.reshape(-1, len(now)) for one in (at.J, at.W @ at.J))
        right = (at.left + at.J @ now).ravel() @ pull
        precision = np.concatenate([of_trend.ravel(), np.tile(of_own, classes)])
        covariance = inverse(slopes.T @ pull + np.diag(precision))
        best, variance = covariance @ right, np.diag(covariance)
        end = of_trend.size
        solution = Solution(
            trend=best[:end].reshape(shape),
            own=best[end:].reshape(classes, K),
            trend_variance=variance[:end].reshape(shape),
            own_variance=variance[end:].reshape(classes, K),
            covariance=covariance,
        )
        return solution, None
