"""What a steward says of the persons in a table, and of shares of epsilon: read and checked."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from holdfast.errors import HoldfastError, whole_number
from holdfast.privacy.promise import PersonIn, Persons
from holdfast.privacy.rational import exact_fraction

UNIT = re.compile(r"[a-z][a-z -]{0,38}[a-z]")
MOST_ROWS = 1_000_000
MOST_COLUMNS = 20
TOTALS_SHARE = Fraction(1, 10)  # of epsilon, where totals are asked for without a share


def read_persons(
    columns: Sequence[str],
    *,
    person_in: Any = PersonIn.ALL.value,
    weights: Any = None,
    contributions: Any = 1,
    rows: Any = 1,
    unit: Any = "person",
) -> Persons:
    """What a steward says of the persons in a table."""
    if person_in not in (*PersonIn,):
        raise HoldfastError(
            f"`person_in` must be 'all columns' or 'one column', got {person_in!r:.40}. Hint: may "
            "one person be counted in several columns of a row, or in one of them alone?"
        )
    if not isinstance(unit, str) or not UNIT.fullmatch(unit):
        raise HoldfastError(
            f"`unit` must be a word in lower-case letters, got {unit!r:.40}. Hint: person, "
            "household, establishment."
        )
    where = PersonIn(person_in)
    if weights is not None and where is PersonIn.ONE:
        raise HoldfastError(
            "`weights` divide epsilon between columns, and with person_in='one column' every "
            "column has all of it. Hint: leave `weights` out."
        )
    return Persons(
        columns=tuple(columns),
        contributions=tuple(
            whole_number(one, "contributions", least=1, most=MOST_ROWS)
            for one in for_columns(contributions, columns, "contributions")
        ),
        person_in=where,
        weights=() if weights is None else _weights(weights, columns),
        person_rows=whole_number(rows, "rows", least=1, most=MOST_ROWS),
        unit=unit,
    )


def for_columns(value: Any, columns: Sequence[str], parameter: str) -> tuple[Any, ...]:
    """One value for each column, from one for all, a list, or a dictionary by column.

    >>> for_columns({"rape": 2, "murder": 1}, ["murder", "rape"], "contributions")
    (1, 2)
    """
    if isinstance(value, Mapping):
        if set(value) != set(columns):
            raise HoldfastError(
                f"`{parameter}` must have a value for every column of counts, and no other. "
                f"Hint: {', '.join(columns)}."
            )
        return tuple(value[column] for column in columns)
    if isinstance(value, list | tuple):
        if len(value) != len(columns):
            raise HoldfastError(
                f"`{parameter}` must have one value for each of the {len(columns)} columns of "
                f"counts, got {len(value)}."
            )
        return tuple(value)
    return tuple(value for _ in columns)


def _weights(weights: Any, columns: Sequence[str]) -> tuple[Fraction, ...]:
    if not isinstance(weights, Mapping | list | tuple):
        raise HoldfastError("`weights` must be a number for each column of counts.")
    found = tuple(
        exact_fraction(one, "weights") for one in for_columns(weights, columns, "weights")
    )
    if min(found) <= 0:
        raise HoldfastError("`weights` must be above 0.")
    return found


def totals_share(totals: Any) -> Fraction:
    """The share of epsilon that totals take: none, the default, or the one that is given.

    >>> totals_share(None), totals_share(True), totals_share("0.2")
    (Fraction(0, 1), Fraction(1, 10), Fraction(1, 5))
    """
    if totals is None or isinstance(totals, bool):
        return TOTALS_SHARE if totals else Fraction(0)
    return read_share(totals, "totals")


def read_share(value: Any, name: str) -> Fraction:
    """A share of epsilon, in (0, 1)."""
    share = exact_fraction(value, name)
    if not 0 < share < 1:
        raise HoldfastError(
            f"`{name}` must lie between 0 and 1, got {value!r:.40}. Hint: it is a share of epsilon."
        )
    return share
