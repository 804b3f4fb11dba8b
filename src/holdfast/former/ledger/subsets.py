"""What releases of disjoint subsets cost together: no row pays for a subset that it is not in.

Two subsets of one column have no row in common, so what they spend is spent side by side. Subsets
of different columns may overlap, and the whole table overlaps with everything: those add up.
The proof is in docs/ledger.md.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import chain, product
from typing import TypeVar

from holdfast.former.tables.subset import Subset

T = TypeVar("T")
Paid = tuple[Subset | None, T]
"""What was paid, and for which rows; None for all of them."""


def charged(paid: Iterable[Paid[Fraction]], subset: Subset | None = None) -> Fraction:
    """The most that a row may have paid; of the rows in a subset, where one is named.

    >>> ne, ca = Subset("state", "NE"), Subset("state", "CA")
    >>> paid = [(None, Fraction(1)), (ne, Fraction(2)), (ca, Fraction(3)), (ne, Fraction(2))]
    >>> charged(paid), charged(paid, ca)
    (Fraction(5, 1), Fraction(4, 1))
    """
    whole, columns = _by_column(paid)
    total = sum(whole, Fraction(0))
    for column, labels in columns.items():
        sums = {key: sum(amounts, Fraction(0)) for key, amounts in labels.items()}
        mine = subset is not None and subset.column == column
        total += sums.get(subset.key, Fraction(0)) if subset and mine else max(sums.values())
    return total


def by_row(paid: Iterable[Paid[T]]) -> Iterator[list[T]]:
    """All that a row may have paid, for every combination of labels that it may have."""
    whole, columns = _by_column(paid)
    for labels in product(*(labels.values() for labels in columns.values())):
        yield [*whole, *chain.from_iterable(labels)]


def _by_column(paid: Iterable[Paid[T]]) -> tuple[list[T], dict[str, dict[str, list[T]]]]:
    whole: list[T] = []
    columns: dict[str, dict[str, list[T]]] = defaultdict(lambda: defaultdict(list))
    for subset, each in paid:
        (whole if subset is None else columns[subset.column][subset.key]).append(each)
    return whole, columns
