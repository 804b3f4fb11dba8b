"""A private quantile of the counts: the bound n from the data, for a part of the budget."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast.errors import HoldfastError, whole_number
from holdfast.paper.distributions import LARGEST_N, check_counts, histogram_of_counts
from holdfast.privacy.budget import exact_epsilon
from holdfast.privacy.randomness import randomness
from holdfast.privacy.rational import exact_fraction

SMALLEST_PART, LARGEST_PART = Fraction(1, 50), Fraction(1, 10)
ENOUGH = 1  # epsilon times the rows above the quantile, from where more budget gains little
CAUTION = 1.5  # standard deviations of the walk that a step further up has to beat


@dataclass(frozen=True)
class PrivateQuantile:
    r"""The smallest m that at least a share q of the rows do not exceed, privately; n = m + 1.

    For m = 1, 2, ..., `highest` - 1 it draws $\tilde C_m = C_m + L_m$, where $C_m$ is the number of
    rows with a count of at most m and $L_m$ discrete Laplace noise of scale 1/ε. One person moves
    one row past at most one m, so all of these numbers together cost ε. From them alone, with
    $r = \lceil qN \rceil - 1/2$ and $x_m = \epsilon (\tilde C_m - r)$, it takes 1 + s where s
    minimises

    $$\sum_{m \le s} (x_m + \mathrm{sign}\, x_m) + 1.5 \sqrt{5 s}.$$

    The sum falls while $C < r$ and rises after. Its linear part alone would be isotonic
    regression; the sign is the better judge of Laplace noise in a long flat tail. The root is 1.5
    standard deviations of what noise adds to the sum: without it, too small a budget would
    give a count anywhere up to `highest`. Cost: O(N + highest).

    >>> counts = np.arange(1000) % 50
    >>> PrivateQuantile("0.9")(counts, epsilon=5, rng=1)
    44
    """

    q: Any
    """The share of rows that are not top-coded: above 0 and below 1."""
    epsilon: Any = field(default=None, kw_only=True)
    """Its part of the budget; by default a tenth to a fiftieth, see `part`."""
    highest: int = field(default=LARGEST_N - 1, kw_only=True)
    """The highest answer, chosen without looking at the data."""

    def __post_init__(self) -> None:
        q = exact_fraction(self.q, "q")
        if not 0 < q < 1:
            raise HoldfastError(
                f"`q` must lie above 0 and below 1, got {self.q!r:.40}. Hint: the highest count "
                "of all cannot be told privately, for one row decides it; 0.99 or 0.999 can."
            )
        object.__setattr__(self, "q", q)
        whole_number(self.highest, "highest", least=1, most=LARGEST_N - 1)
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", exact_epsilon(self.epsilon))

    def __call__(self, counts: ArrayLike, *, epsilon: Any, rng: Any = None) -> int:
        """The private quantile, 1 or more; `rng` as in `Privatizer`."""
        exact = exact_epsilon(epsilon)
        cumulative = np.cumsum(histogram_of_counts(check_counts(counts), self.highest + 1))
        noisy = randomness(rng).add_laplace(cumulative[1:-1], exact)
        x = (noisy - (math.ceil(self.q * int(cumulative[-1])) - 0.5)) * float(exact)
        walk = np.concatenate([[0.0], np.cumsum(x + np.sign(x))])  # the score's variance is 5
        walk += CAUTION * np.sqrt(5.0 * np.arange(len(walk)))
        return 1 + int(np.argmin(walk))

    def part(self, total: Fraction, rows: int) -> Fraction:
        """What it takes of a budget; from public numbers alone.

        Where `epsilon` was left out: as much as makes epsilon times the rows above the
        quantile, (1 - q) N, reach 1, where answers are a tenth of an octave off on average and
        more gains little; but at least a fiftieth of the budget, which the stages do not miss,
        and at most a tenth, since they suffer from more.

        >>> PrivateQuantile("0.99").part(Fraction(1), 4000)
        Fraction(1, 40)
        >>> PrivateQuantile("0.99", epsilon="0.3").part(Fraction(1), 4000)
        Fraction(3, 10)
        """
        if self.epsilon is None:
            wanted = ENOUGH / ((1 - self.q) * rows * total)
            share = min(max(wanted, SMALLEST_PART), LARGEST_PART)
            return total * Fraction(math.ceil(1000 * share), 1000)
        if self.epsilon >= total:
            raise HoldfastError(
                f"`epsilon` of the quantile, {self.epsilon}, must be below the whole budget of "
                f"{total}. Hint: a twentieth of it is usual."
            )
        return Fraction(self.epsilon)
