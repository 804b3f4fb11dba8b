"""A private quantile of the counts: `max_count` from the data, for a part of the budget."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.former.privacy.budget import exact_epsilon, exact_fraction
from holdfast.former.privacy.randomness import laplace_measurement, randomness
from holdfast.former.tables.histogram import check_max_count, histogram_of_counts

SMALLEST_PART, LARGEST_PART = Fraction(1, 50), Fraction(1, 10)
ENOUGH = 1  # epsilon times the rows above the quantile, from where more budget gains little
USUAL_HIGHEST = 10_000
EVERY, WIDENING = 10_000, 500  # every count up to here, then steps of a 500th of the count
CAUTION = 1.5  # standard deviations of the walk that a step further up has to beat


@dataclass(frozen=True)
class PrivateQuantile:
    r"""The smallest m that at least a share q of the rows do not exceed, found privately.

    For counts $g_1 < g_2 < \dots$ that are multiples of `contributions`, all of them up to 10,000
    and beyond that some at a distance of a 500th of their size, it draws
    $\tilde C_j = C(g_j) + L_j$, where $C(g)$ is the number of rows with a count of at most g and
    $L_j$ discrete Laplace noise of scale 1/ε. One person moves one row past at most one $g_j$, so
    all of these numbers together cost ε. From them alone, with $r = \lceil qN \rceil - 1/2$ and
    $x_j = \epsilon (\tilde C_j - r)$, it takes $g_{1+s}$ where s minimises

    $$\sum_{j \le s} (x_j + \mathrm{sign}\, x_j) + 1.5 \sqrt{5 s}.$$

    The sum falls while $C < r$ and rises after. Its linear part alone would be isotonic
    regression; the sign is the better judge of Laplace noise in a long flat tail. The root is 1.5
    standard deviations of what noise adds to the sum: without it, too small a budget would
    give a count anywhere up to `highest`. Proof note: "The bound" in docs/privacy-guarantee.md.
    Cost: O(N + highest), and a draw of noise for each of them.

    >>> counts = np.arange(1000) % 50
    >>> PrivateQuantile("0.9")(counts, epsilon=5, rng=1)
    44
    """

    q: Any
    """The share of rows that are not top-coded: above 0 and below 1."""
    epsilon: Any = field(default=None, kw_only=True)
    """Its part of the budget; by default a tenth to a fiftieth, see `part`."""
    highest: int = field(default=USUAL_HIGHEST, kw_only=True)
    """The highest answer, chosen without looking at the data; up to 1,000,000."""

    def __post_init__(self) -> None:
        q = exact_fraction(self.q, "q")
        if not 0 < q < 1:
            raise HoldfastError(
                f"`q` must lie above 0 and below 1, got {self.q!r:.40}. Hint: the highest count "
                "of all cannot be told privately, for one row decides it; 0.99 or 0.999 can."
            )
        object.__setattr__(self, "q", q)
        object.__setattr__(self, "highest", check_max_count(self.highest))
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", exact_epsilon(self.epsilon))

    def __call__(
        self, counts: Integers, *, epsilon: Any, contributions: int = 1, rng: Any = None
    ) -> int:
        """The private quantile: a multiple of `contributions`, or `highest`, so never below 1.

        The noise is exact and the operating system's; with `rng` it is a simulation.
        """
        options: dict[str, Any] = {"contributions": contributions, "rng": rng}
        histogram = histogram_of_counts(counts, self.highest)
        return self.from_histogram(histogram, epsilon=epsilon, **options)

    def from_histogram(
        self, histogram: Integers, *, epsilon: Any, contributions: int = 1, rng: Any = None
    ) -> int:
        """The same, from how many rows have count 0, 1, ..., `highest` or more."""
        places = self._places(contributions)
        unit = exact_epsilon(epsilon)
        cumulative = np.cumsum(histogram)
        noisy = randomness(rng).add_laplace(cumulative[places], unit)
        rank = math.ceil(self.q * int(cumulative[-1])) - 0.5
        walk = np.concatenate([[0.0], np.cumsum(_score((noisy - rank) * float(unit)))])
        walk += CAUTION * np.sqrt(5.0 * np.arange(len(walk)))
        return int(np.append(places, self.highest)[np.argmin(walk)])

    def certified_epsilon(self, epsilon: Any) -> Fraction:
        """What OpenDP's privacy map states for this noise, whatever the contributions."""
        return laplace_measurement(exact_epsilon(epsilon))[1]

    def part(self, total: Fraction, rows: int) -> Fraction:
        """What it takes of a budget; from public numbers alone.

        Where `epsilon` was left out: as much as makes epsilon times the rows above the
        quantile, (1 - q) N, reach 1, where answers are a tenth of an octave off on average and
        more gains little; but at least a fiftieth of the budget, which the stages do not miss,
        and at most a tenth, since they suffer from more (benchmarks/private_quantile.py).

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

    def check_contributions(self, contributions: int) -> None:
        """Refuse contributions so high that there is nothing to find."""
        if contributions >= self.highest:
            raise HoldfastError(
                f"`contributions` of {contributions} leave no quantile to find below "
                f"{self.highest}. Hint: give `max_count` as a number."
            )

    def _places(self, contributions: int) -> Integers:
        self.check_contributions(contributions)
        near = np.arange(contributions, min(self.highest, EVERY), contributions)
        if self.highest <= EVERY:
            return near
        far = EVERY * (1 + 1 / WIDENING) ** np.arange(WIDENING * math.log(self.highest / EVERY) + 2)
        whole = np.unique(far // contributions).astype(np.int64) * contributions
        return np.concatenate([near, whole[(whole >= EVERY) & (whole < self.highest)]])


def _score(x: Floats) -> Floats:
    """Linear, so that a steep rise counts; and a sign, the score of Laplace noise: variance 5."""
    return x + np.sign(x)
