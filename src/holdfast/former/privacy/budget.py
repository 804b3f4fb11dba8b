"""Epsilon as an exact number, and how it is split between the two stages."""

import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Rational
from typing import Any

from holdfast.errors import HoldfastError, whole_number

SMALLEST = Fraction(1, 10**6)
LARGEST = Fraction(10)
ENOUGH_ROWS = 40  # rows times stage 1's epsilon: noise of 3.5 % of the rows
SHARE_RULE = (0.121, -0.753, 0.020, -0.851)  # benchmarks/split.py fit
TOTALS_SHARE = Fraction(1, 10)  # benchmarks/groups.py totals
SHARE_BY_GROUPS = 0.1  # benchmarks/groups.py split


def exact_epsilon(epsilon: Any, *, name: str = "epsilon") -> Fraction:
    """Epsilon as a Fraction; a float means the decimal number that it prints as.

    >>> exact_epsilon("0.1"), exact_epsilon(0.1), exact_epsilon("1/3")
    (Fraction(1, 10), Fraction(1, 10), Fraction(1, 3))
    """
    value = exact_fraction(epsilon, name)
    if value <= 0:
        raise HoldfastError(f"`{name}` must be positive, got {epsilon}. Hint: 0.1 to 5 is usual.")
    if value < SMALLEST:
        raise HoldfastError(
            f"`{name}` is {epsilon}, below {float(SMALLEST):g}: the release would be noise alone. "
            "Hint: 0.1 to 5 is usual."
        )
    if value > LARGEST:
        raise HoldfastError(
            f"`{name}` is {epsilon}, above {LARGEST}. holdfast refuses it: so large an epsilon "
            "promises one person almost nothing. Hint: 0.1 to 5 is usual."
        )
    return value


def exact_fraction(number: Any, name: str) -> Fraction:
    """A number as a Fraction; a float means the decimal number that it prints as."""
    if isinstance(number, bool):
        raise HoldfastError(f"`{name}` must be a number, got {number}.")
    try:
        if isinstance(number, Decimal):
            return _from_decimal(number)
        if isinstance(number, Rational):
            return Fraction(number)
        if isinstance(number, str):
            text = number.strip()
            return Fraction(text) if "/" in text else _from_decimal(Decimal(text))
        return Fraction(Decimal(repr(float(number))))
    except (ValueError, TypeError, OverflowError, ZeroDivisionError, InvalidOperation):
        raise HoldfastError(
            f"`{name}` must be a finite number, got {number!r:.40}. "
            "Hint: write it as 0.5 or 1/2, with a decimal point."
        ) from None


def _from_decimal(number: Decimal) -> Fraction:
    if number.is_finite() and abs(number.adjusted()) > 400:  # 1e999999999 has as many digits
        raise ValueError
    return Fraction(number)


def paper_rule(epsilon: Fraction) -> Fraction:
    """The paper's rule of thumb for the share of stage 1, rounded to thousandths.

    f(e) = 0.106 + 0.533 exp(-2.87 e), fitted on six synthetic data sets (appendix on the
    rule of thumb). It depends on epsilon alone, so it costs no privacy.

    >>> float(paper_rule(Fraction(1)))
    0.136
    """
    return _to_thousandths(0.106 + 0.533 * math.exp(-2.87 * float(epsilon)))


def share_rule(epsilon: Fraction, *, rows: int, bins: int, groups: int = 1) -> Fraction:
    """Our rule for the share of stage 1, rounded to thousandths.

    f = 1 / (1 + e^-x) with x linear in ln ε, ln N and ln n, fitted for `CumulativeSmooth` and the
    optimum by `benchmarks/split.py`; N and n are held to the range it was fitted on, f to 1 to
    80 %. Where rows are few, up to 30 % go to stage 1 so that its noise stays below 4 % of them.
    With G groups that are fitted together, x grows by 0.1 ln G. All of these are public, so it
    costs no privacy.

    >>> float(share_rule(Fraction(1), rows=3000, bins=51))
    0.045
    >>> float(share_rule(Fraction(1), rows=3000, bins=51, groups=50))
    0.065
    """
    a, b, c, d = SHARE_RULE
    N, n = min(max(rows, 300), 100_000), min(max(bins, 20), 100)
    x = a + b * math.log(epsilon) + c * math.log(N) + d * math.log(n)
    x += SHARE_BY_GROUPS * math.log(groups)
    fitted = 1 / (1 + math.exp(-x))
    safe = min(ENOUGH_ROWS / (float(epsilon) * rows), 0.3)
    share = _to_thousandths(max(fitted, safe))
    return min(max(share, Fraction(1, 100)), Fraction(8, 10))


def share_if_given(share: Fraction) -> Fraction:
    """Stage 1's share for a column that is drawn given others, from what it would be for groups: a
    law behind a blur is harder to see (benchmarks/joint.py).

    >>> [str(share_if_given(Fraction(k, 100))) for k in (5, 10, 20, 50)]
    ['1/5', '1/4', '2/5', '4/5']
    """
    return min(4 * share, max(2 * share, Fraction(1, 4)), Fraction(8, 10))


def _to_thousandths(share: float) -> Fraction:
    return Fraction(round(1000 * share), 1000)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A total epsilon and its exact split: epsilon = quantile + totals + stage_1 + stage_2."""

    epsilon: Fraction
    """The promise to one person."""
    stage_1: Fraction
    """Spent on the distribution of counts."""
    stage_2: Fraction
    """Spent on the counts."""
    contributions: int
    """How much one person may add to one row, at the most."""
    steps: int
    """How far one person can move top-coded counts: rows times min(contributions, max_count)."""
    quantile: Fraction = Fraction(0)
    """Spent on finding max_count; 0 where it was given."""
    totals: Fraction = Fraction(0)
    """Spent on totals; 0 where none are measured."""
    person_rows: int = 1
    """In how many rows one person may be, at the most."""
    unit: str = "person"
    """Who is protected: a word, such as household."""

    def __post_init__(self) -> None:
        parts = self.quantile, self.totals, self.stage_1, self.stage_2
        if min(parts) < 0 or sum(parts) != self.epsilon:
            raise HoldfastError("the parts of the budget do not add up to epsilon.")

    @property
    def unit_1(self) -> Fraction:
        """Stage 1's epsilon for a change of one in one row."""
        return self.stage_1 / self.steps

    @property
    def unit_2(self) -> Fraction:
        """Stage 2's epsilon for a change of one in one row."""
        return self.stage_2 / self.steps

    @property
    def moved(self) -> int:
        """How far one person can move a total that is not capped."""
        return self.person_rows * self.contributions


def split_budget(
    epsilon: Any,
    *,
    max_count: int,
    rows: int,
    split: Any = None,
    contributions: int = 1,
    quantile: Fraction | int = 0,
    bins: int | None = None,
    one_stage: bool = False,
    groups: int = 1,
    totals: Any = None,
    person_rows: int = 1,
    unit: str = "person",
    given: bool = False,
) -> Budget:
    """Split epsilon exactly: by our rule (None), by the paper's ("paper"), or by a share in (0, 1).

    With `one_stage` all of it goes to the counts. `totals` is True or a share of epsilon; it and
    `quantile`, what a private max_count takes, come off first, and the rest is split. With several
    `groups` our rule gives more to stage 1. `bins` stands for max_count + 1 as long as that is not
    known.

    One person, or other `unit`, may be in `person_rows` rows: each has its part of epsilon. Groups
    of a column that is `given` others are cells of those.

    >>> budget = split_budget("1.0", max_count=50, rows=3000, split="paper")
    >>> budget.stage_1, budget.stage_2
    (Fraction(17, 125), Fraction(108, 125))
    >>> split_budget("1.0", max_count=50, rows=3000, split="1/4", contributions=2).unit_1
    Fraction(1, 8)
    """
    total = exact_epsilon(epsilon)
    contributions = whole_number(
        contributions,
        "contributions",
        least=1,
        most=1_000_000,
        hint="how much one person may add to one row, at the most.",
    )
    measured = total * totals_share(totals)
    rest, steps = total - quantile - measured, person_rows * min(contributions, max_count)
    if rest <= 0:
        raise HoldfastError("nothing of `epsilon` is left for the counts. Hint: a smaller share.")
    if split is None:  # contributions stretch the noise of both stages alike
        known = {"rows": max(rows, 1), "bins": bins or max_count + 1, "groups": groups}
        share = share_rule(rest / steps, **known)
        share = share_if_given(share) if given else share
    else:
        share = paper_rule(rest) if split == "paper" else _share(split)
    share = Fraction(0) if one_stage else share
    budget = Budget(
        epsilon=total,
        quantile=Fraction(quantile),
        totals=measured,
        stage_1=rest * share,
        stage_2=rest * (1 - share),
        contributions=contributions,
        steps=steps,
        person_rows=person_rows,
        unit=unit,
    )
    if measured:
        exact_epsilon(measured / budget.moved, name="epsilon of totals per unit of count")
    for part in (budget.unit_2,) if one_stage else (budget.unit_1, budget.unit_2):
        exact_epsilon(part, name="epsilon of one stage per unit of count")
    return budget


def totals_share(totals: Any) -> Fraction:
    """The share of epsilon that totals take: none, the default, or the one that is given.

    >>> totals_share(None), totals_share(True), totals_share("0.2")
    (Fraction(0, 1), Fraction(1, 10), Fraction(1, 5))
    """
    if totals is None or isinstance(totals, bool):
        return TOTALS_SHARE if totals else Fraction(0)
    share = exact_fraction(totals, "totals")
    if not 0 < share < 1:
        raise HoldfastError(
            f"`totals` must be True or lie between 0 and 1, got {totals!r:.40}. "
            "Hint: it is their share of epsilon."
        )
    return share


def _share(split: Any) -> Fraction:
    share = exact_fraction(split, "split")
    if not 0 < share < 1:
        raise HoldfastError(
            f"`split` must lie between 0 and 1, got {split!r:.40}. Hint: it is stage 1's share."
        )
    return share
