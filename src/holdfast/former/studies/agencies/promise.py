"""What a method promises in terms of differential privacy, computed exactly from its laws."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from holdfast.former.studies.agencies.laws import Law, Published
from holdfast.former.privacy.budget import exact_epsilon
from holdfast.former.privacy.rational import exp_below


@dataclass(frozen=True, kw_only=True)
class Promise:
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
        least = "" if not self.certain else f"; no epsilon brings it below {_short(self.certain)}"
        return (
            f"epsilon = {float(self.epsilon):g} with delta = {_short(self.delta)} (counts {low} "
            f"and {high}){least}"
        )


def promise_of(method: Published, epsilon: Any, *, max_count: int, least: int = 0) -> Promise:
    r"""The exact (ε, δ) of one published count: the largest hockey-stick divergence
    $\sum_j \max(P_{ij} - e^\epsilon P_{kj}, 0)$ over counts i, k one person apart,
    from `least` to `max_count`.

    A table has many counts, and one person is in one of them. Totals that are published beside
    them, with keys of their own or not, add to what is told.

    >>> from holdfast.former.studies.agencies.laws import RandomRounding, Rounding
    >>> str(promise_of(Rounding(), 1, max_count=20))
    'nothing: counts of 2 and 3, one person apart, are told apart for certain'
    >>> promise_of(RandomRounding(base=5), 2, max_count=20).delta
    Fraction(1, 5)
    """
    exact = exact_epsilon(epsilon)
    factor = exp_below(exact)
    found = []
    for low in range(least, max_count):
        for pair in ((low, low + 1), (low + 1, low)):
            one, other = method(pair[0]), method(pair[1])
            found.append((_excess(one, other, factor), _impossible(one, other), pair))
    delta, _, counts = max(found, key=lambda entry: entry[0])
    certain = max(entry[1] for entry in found)
    return Promise(epsilon=exact, delta=delta, counts=counts, certain=certain)


def _excess(one: Law, other: Law, factor: Fraction) -> Fraction:
    zero = Fraction(0)
    return sum((max(p - factor * other.get(j, zero), zero) for j, p in one.items()), zero)


def _impossible(one: Law, other: Law) -> Fraction:
    return sum((p for j, p in one.items() if j not in other), Fraction(0))


def _short(delta: Fraction) -> str:
    """Rounded up, so that it is never more than is true.

    >>> _short(Fraction(1, 3)), _short(Fraction(1, 5))
    ('0.3334', '0.2')
    """
    if delta.denominator <= 10_000:
        scaled = delta * 10**4
        return f"{math.ceil(scaled) / 10**4:g}"
    places = max(0, -math.floor(math.log10(delta))) + 2
    return f"{math.ceil(delta * 10**places) / 10**places:.{places}g}"
