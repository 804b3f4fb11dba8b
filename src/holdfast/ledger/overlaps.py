"""What several releases cost one row and one day together: less than the sum where they do not
overlap.

Two subsets of one column have no row in common, so what they spend is spent side by side. Subsets
of different columns may overlap, and the whole table overlaps with everything: those add up.
Whatever happened on one day is in the tables of the periods that have this day, and in no others:
a day pays for the releases that cover it, and a release without a period covers every day. The
proofs are in docs/ledger.md and docs/years.md.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from fractions import Fraction
from itertools import chain

from holdfast.ledger.entries import Spend
from holdfast.privacy.promise import sums_of
from holdfast.tables.subset import Period, Subset


def charged(
    spends: Iterable[Spend], *, subset: Subset | None = None, period: Period | None = None
) -> tuple[Fraction, Fraction]:
    """The most epsilon that any row has paid for any one day, and the most delta; of the rows in a
    subset and the days of a period, where these are named."""
    paid = list(spends)
    by_day = [
        _charged_to_rows([each for each in paid if _is_paid_on(each, day)], subset)
        for day in _days_to_look_at(paid, period)
    ]
    return max(epsilon for epsilon, _ in by_day), max(delta for _, delta in by_day)


def _charged_to_rows(paid: Iterable[Spend], subset: Subset | None) -> tuple[Fraction, Fraction]:
    whole, columns = by_column(paid)
    epsilon, delta = _sums(whole)
    for column, labels in columns.items():
        if subset is not None and subset.column == column:
            amounts = [_sums(labels.get(subset.key, []))]
        else:
            amounts = [_sums(each) for each in labels.values()]
        epsilon += max(amount for amount, _ in amounts)
        delta += max(amount for _, amount in amounts)
    return epsilon, delta


def _sums(paid: Iterable[Spend]) -> tuple[Fraction, Fraction]:
    return sums_of(chain.from_iterable(each.charges for each in paid))


def by_column(paid: Iterable[Spend]) -> tuple[list[Spend], dict[str, dict[str, list[Spend]]]]:
    """What was paid for all rows; and by column and label, what was paid for those rows alone."""
    whole: list[Spend] = []
    columns: dict[str, dict[str, list[Spend]]] = defaultdict(lambda: defaultdict(list))
    for each in paid:
        of = each.subset
        (whole if of is None else columns[of.column][of.key]).append(each)
    return whole, columns


def _is_paid_on(each: Spend, day: date) -> bool:
    return each.period is None or each.period.covers(day)


def _days_to_look_at(paid: Sequence[Spend], period: Period | None) -> Iterator[date]:
    """The days on which a period begins: between them nothing is added to what a day has paid."""
    yield date.min if period is None else period.first
    for each in paid:
        begins = None if each.period is None else each.period.first
        if begins is not None and (period is None or period.covers(begins)):
            yield begins
