"""What several releases cost one row and one day together: less than the sum where they do not
overlap.

Two subsets of one column have no row in common, so what they spend is spent side by side. Subsets
of different columns may overlap, and the whole table overlaps with everything: those add up.
Whatever happened on one day is in the tables of the periods that have this day, and in no others:
a day pays for the releases that cover it, and a release without a period covers every day. The
proofs are in docs/ledger.md and docs/years.md.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import accumulate, chain, pairwise
from typing import TypeVar

from holdfast.privacy.composition import Charge
from holdfast.tables.periods import Period
from holdfast.tables.subset import Subset

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Paid:
    """What was paid, for which rows and for which days; None for all of them."""

    amount: Fraction
    subset: Subset | None = None
    period: Period | None = None


def charged(
    paid: Iterable[Paid], *, subset: Subset | None = None, period: Period | None = None
) -> Fraction:
    """The most that any row has paid for any one day; of the rows in a subset and the days of a
    period, where these are named.

    >>> from holdfast.tables.periods import read_period
    >>> ne, ca = Subset("state", "NE"), Subset("state", "CA")
    >>> amounts = [(None, 1), (ne, 2), (ca, 3), (ne, 2)]
    >>> paid = [Paid(amount=Fraction(amount), subset=rows) for rows, amount in amounts]
    >>> str(charged(paid)), str(charged(paid, subset=ca))
    ('5', '4')
    >>> amounts = [("2025", 1), ("2026", 2), ("2026-Q1", 3), ("2026-Q2", 4)]
    >>> paid = [Paid(amount=Fraction(amount), period=read_period(p)) for p, amount in amounts]
    >>> [str(charged(paid, period=read_period(p))) for p in (None, "2025", "2026-03", "2027")]
    ['6', '1', '5', '0']
    """
    spends = list(paid)
    return max(
        _charged_to_rows([each for each in spends if _is_paid_on(each, day)], subset)
        for day in _days_to_look_at(spends, period)
    )


def worst_charges(
    paid: Iterable[tuple[Subset | None, Sequence[Charge]]],
) -> Iterator[Charge]:
    """Charges that are together at least those of any row, whatever labels it has.

    Of each column the labels' charges are sorted, the largest first, and for every rank the largest
    of any label is taken: a charge may be replaced by a larger one. That takes time in proportion
    to the charges, where there are exponentially many combinations of labels.

    >>> tenth, half = Charge(epsilon=Fraction(1, 10), times=3), Charge(epsilon=Fraction(1, 2))
    >>> paid = [(Subset("state", "NE"), [tenth]), (Subset("state", "CA"), [half])]
    >>> [(str(charge.epsilon), charge.times) for charge in worst_charges(paid)]
    [('1/2', 1), ('1/10', 2)]
    """
    whole, columns = _by_column(paid)
    for charges in whole:
        yield from charges
    for labels in columns.values():
        ranked = [
            sorted(chain.from_iterable(each), key=lambda charge: charge.epsilon, reverse=True)
            for each in labels.values()
        ]
        ends = [list(accumulate(charge.times for charge in charges)) for charges in ranked]
        for start, end in pairwise(sorted({0, *chain.from_iterable(ends)})):
            places = [bisect_right(ranks, start) for ranks in ends]
            at_rank = [
                charges[place]
                for charges, place in zip(ranked, places, strict=True)
                if place < len(charges)
            ]
            yield Charge(
                epsilon=max(charge.epsilon for charge in at_rank),
                delta=max(charge.delta for charge in at_rank),
                times=end - start,
            )


def _charged_to_rows(paid: Sequence[Paid], subset: Subset | None) -> Fraction:
    whole, columns = _by_column((each.subset, each.amount) for each in paid)
    total = sum(whole, Fraction(0))
    for column, labels in columns.items():
        sums = {key: sum(amounts, Fraction(0)) for key, amounts in labels.items()}
        mine = subset is not None and subset.column == column
        total += sums.get(subset.key, Fraction(0)) if subset and mine else max(sums.values())
    return total


def _by_column(
    paid: Iterable[tuple[Subset | None, T]],
) -> tuple[list[T], dict[str, dict[str, list[T]]]]:
    """What was paid for all rows; and by column and label, what was paid for those rows alone."""
    whole: list[T] = []
    columns: dict[str, dict[str, list[T]]] = defaultdict(lambda: defaultdict(list))
    for subset, each in paid:
        (whole if subset is None else columns[subset.column][subset.key]).append(each)
    return whole, columns


def _is_paid_on(each: Paid, day: date) -> bool:
    return each.period is None or each.period.covers(day)


def _days_to_look_at(paid: Sequence[Paid], period: Period | None) -> Iterator[date]:
    """The days on which a period begins: between them nothing is added to what a day has paid."""
    yield date.min if period is None else period.first
    for each in paid:
        begins = None if each.period is None else each.period.first
        if begins is not None and (period is None or period.covers(begins)):
            yield begins
