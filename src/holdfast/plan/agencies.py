"""What statistical agencies do to counts today: suppression, rounding, cell keys, for comparison.

Each has the exact law of what is published for a count; None stands for a count that is not shown.
None of it can make a release: it is here to be measured, and to be told what it promises.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError, decimal_above
from holdfast.privacy.budget import exact_epsilon
from holdfast.privacy.rational import exp_below
from holdfast.tables.csv_file import CsvFile

Law = dict[int | None, Fraction]
ONE = Fraction(1)


@dataclass(frozen=True)
class Published:
    """A method that treats every count by itself, the same count always by the same law."""

    law: Callable[[int], Law]
    """The law of what is published for a count."""
    unseen: int = 0
    """What an analyst takes a count for that is not shown."""

    def draw(self, counts: Integers, rng: np.random.Generator) -> Integers:
        """What is published for many counts; what is not shown is taken for `unseen`."""
        published = np.zeros_like(counts)
        for count in np.unique(counts):
            law = self.law(int(count))
            shown = np.array([self.unseen if each is None else each for each in law])
            places = counts == count
            chances = np.array(list(map(float, law.values())))
            published[places] = rng.choice(shown, places.sum(), p=chances / chances.sum())
        return published


def suppression(below: int = 5) -> Published:
    """Counts from 1 to below a threshold are not shown; the others are, as they are.

    The second round, which hides other counts so that totals give nothing away, is left out: it
    depends on the totals that are published. An analyst takes the middle of what is not shown.

    >>> suppression(below=5).law(3), suppression(below=5).law(7), suppression(below=5).unseen
    ({None: Fraction(1, 1)}, {7: Fraction(1, 1)}, 2)
    """
    return Published(lambda count: {None if 0 < count < below else count: ONE}, below // 2)


def rounding(base: int = 5) -> Published:
    """Every count becomes the nearest multiple of a base; halfway goes up.

    >>> rounding(base=5).law(7), rounding(base=5).law(8)
    ({5: Fraction(1, 1)}, {10: Fraction(1, 1)})
    """
    return Published(lambda count: {(2 * count + base) // (2 * base) * base: ONE})


def random_rounding(base: int = 5) -> Published:
    """Every count goes to one of the two multiples around it, so that its mean stays.

    >>> random_rounding(base=5).law(7), random_rounding(base=5).law(10)
    ({5: Fraction(3, 5), 10: Fraction(2, 5)}, {10: Fraction(1, 1)})
    """

    def law(count: int) -> Law:
        """The multiple below, and the one above."""
        up = Fraction(count % base, base)
        low = count - count % base
        return {low: 1 - up, low + base: up} if up else {low: ONE}

    return Published(law)


def cell_key(noise: Sequence[Mapping[int, Fraction]]) -> Published:
    """Noise from a perturbation table, looked up by the sum of random keys of the people counted.

    The same people always get the same noise. Seen over the keys, which are uniform and secret, the
    noise has the law in the table, and one person more or less means another key. The table has
    the law of the noise for the counts 0, 1, …; higher counts have the last one.

    >>> method = cell_key([{0: Fraction(1)}, {-1: Fraction(1, 2), 1: Fraction(1, 2)}])
    >>> method.law(0), method.law(7)
    ({0: Fraction(1, 1)}, {6: Fraction(1, 2), 8: Fraction(1, 2)})
    """
    for count, law in enumerate(noise):
        if not law or min(law.values()) <= 0 or sum(law.values()) != 1:
            raise HoldfastError(f"the probabilities of count {count} must add up to 1.")
        if count + min(law) < 0:
            raise HoldfastError(f"count {count} must not become negative.")
    top = len(noise) - 1
    return Published(lambda count: {count + v: p for v, p in noise[min(count, top)].items()})


@dataclass(frozen=True, kw_only=True)
class CountPromise:
    """The smallest delta that holds for one count, with one person more or less in it."""

    epsilon: Fraction
    """Where delta was computed."""
    delta: Fraction
    """The smallest delta at this epsilon: exact, but for e^ε, which is rounded so that delta is
    not too small."""
    counts: tuple[int, int]
    """The two counts that are told apart best."""
    certain: Fraction
    """The delta that no epsilon, however large, goes below: what one count can become and the
    other cannot."""

    def __str__(self) -> str:
        low, high = sorted(self.counts)
        if self.delta == 1:
            return (
                f"nothing: counts of {low} and {high}, one person apart, are told apart for certain"
            )
        delta, certain = (decimal_above(each, 3) for each in (self.delta, self.certain))
        least = f"; no epsilon brings it below {certain}" * bool(self.certain)
        epsilon = f"epsilon = {float(self.epsilon):g}"
        return f"{epsilon} with delta = {delta} (counts {low} and {high}){least}"


def promise_of(method: Published, epsilon: Any, *, max_count: int) -> CountPromise:
    r"""The exact (ε, δ) of one published count: the largest hockey-stick divergence
    $\sum_j \max(P_{ij} - e^\epsilon P_{kj}, 0)$ over counts i, k one person apart,
    from 0 to `max_count`.

    A table has many counts, and one person is in one of them. Totals that are published beside
    them, with keys of their own or not, add to what is told.

    >>> str(promise_of(rounding(), 1, max_count=20))
    'nothing: counts of 2 and 3, one person apart, are told apart for certain'
    >>> promise_of(random_rounding(base=5), 2, max_count=20).delta
    Fraction(1, 5)
    """
    exact = exact_epsilon(epsilon)
    factor = exp_below(exact)
    neighbours = [pair for low in range(max_count) for pair in ((low, low + 1), (low + 1, low))]
    excess = {(i, k): _excess(method.law(i), method.law(k), factor) for i, k in neighbours}
    counts = max(excess, key=excess.__getitem__)
    certain = max(_excess(method.law(i), method.law(k)) for i, k in neighbours)
    return CountPromise(epsilon=exact, delta=excess[counts], counts=counts, certain=certain)


def _excess(law: Law, other: Law, factor: Fraction | None = None) -> Fraction:
    """The divergence of one law from another; without a factor, its limit for large ones: the
    probability of what is impossible under the other."""
    zero = Fraction(0)
    if factor is None:
        return sum((p for j, p in law.items() if j not in other), zero)
    return sum((max(p - factor * other.get(j, zero), zero) for j, p in law.items()), zero)


ROUNDING = Fraction(1, 10**6)
"""How far from 1 the probabilities of a row may add up to: a file holds rounded decimals."""
NoiseLaw = dict[int, Fraction]


def read_ptable(path: str | os.PathLike[str]) -> Published:
    """The cell-key method with the table in a file with the columns i, j and p.

    As the R package ptable and τ-ARGUS have them, p is the probability that a count i is published
    as j. Other columns are ignored; tables with `type` even and odd, for magnitudes, are refused.
    It may be a file of `pt_export`, for either of its tools, or the slot `pTable` written by
    `write.csv` or `write.csv2`.

    The decimals are taken as exact, and each row is divided by its sum, which must be 1 but for
    rounding.
    """
    table = CsvFile(Path(path)).held()
    kinds = {"all", *(table.column("type") if "type" in table.columns else [])}
    if kinds != {"all"}:
        raise HoldfastError(f"`{path}` is a table for magnitudes, of types {sorted(kinds)}.")
    cells = zip(*(table.column(name, "ptable") for name in ("i", "j", "p")), strict=True)
    rows: dict[int, NoiseLaw] = {}
    for number, (i, j, p) in enumerate(cells, 1):
        count, published, probability = _numbers(path, number, i, j, p)
        if probability:
            law = rows.setdefault(count, {})
            law[published - count] = law.get(published - count, Fraction(0)) + probability
    return cell_key(_normed(path, rows))


def _numbers(path: Any, number: int, i: str, j: str, p: str) -> tuple[int, int, Fraction]:
    try:
        numbers = int(i), int(j), Fraction(p.replace(",", "."))
    except ValueError:
        raise HoldfastError(
            f"`{path}`: data row {number} must have whole numbers i and j and a decimal p."
        ) from None
    if any(number < 0 for number in numbers):
        raise HoldfastError(f"`{path}`: data row {number} must have no negative number.")
    return numbers


def _normed(path: Any, rows: dict[int, NoiseLaw]) -> tuple[NoiseLaw, ...]:
    if sorted(rows) != list(range(len(rows))) or not rows:
        raise HoldfastError(f"`{path}` must have a law for each of the counts i = 0, 1, 2, ...")
    for count, law in rows.items():
        if abs(sum(law.values(), Fraction(-1))) > ROUNDING:
            raise HoldfastError(f"`{path}`: the probabilities of i = {count} must add up to 1.")
    return tuple({v: p / sum(law.values()) for v, p in rows[i].items()} for i, law in rows.items())


def usual_ptable() -> Published:
    r"""The method with the table that ptable's `create_cnt_ptable(D = 5, V = 3)` makes by default.

    The law of a count has the largest entropy among those with noise of at most 5 that keeps the
    count at 0 or more, mean 0, a variance of at most 3, and probabilities that do not fall from the
    lowest noise up to 0: $p_v \propto e^{a v + b v^2}$, and equal ones where these would fall. A
    count of 0 stays 0.
    """
    with as_file(files("holdfast") / "plan" / "data" / "ptable_5_3.csv") as path:
        return read_ptable(path)
