"""How the parameters of a request are checked: the value as it is kept, or an error that names it.

Imported when a request is read; `--help`, which only shows one, does without what this loads.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError, decimal_or_fraction, whole_number
from holdfast.privacy.budget import exact_epsilon
from holdfast.privacy.promise import PersonIn, Persons
from holdfast.privacy.rational import exact_fraction
from holdfast.request.parameter import Form, Parameter
from holdfast.tables.cell_text import names_in
from holdfast.tables.counts import MAX_COUNT, read_codes
from holdfast.tables.groups import Within, read_within
from holdfast.tables.subset import read_period, read_subset

UNIT = re.compile(r"[a-z][a-z -]{0,38}[a-z]")
MOST_ROWS_OF_A_PERSON = 1_000_000
MOST_COLUMNS = 20
TOTALS_SHARE = Fraction(1, 10)  # of epsilon, where totals are asked for without a share


def checked(about: Parameter, value: Any) -> Any:
    """The value of a parameter as a request keeps it."""
    check = OF_NAME.get(about.name) or OF_FORM.get(about.form)
    return value if check is None else check(value, about.name)


def _text(value: Any, name: str) -> str | None:
    """Text that is not empty, or None."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise HoldfastError(f"`{name}` must be text, got {value!r:.40}.")
    if not value.strip():
        raise HoldfastError(f"`{name}` must not be empty. Hint: leave it out, or name something.")
    return value


def _column(value: Any, name: str) -> str | None:
    """The name of a column, or None; an empty name is the table's to explain."""
    if value is not None and not isinstance(value, str):
        raise HoldfastError(f"`{name}` must be the name of a column, got {value!r:.40}.")
    return value


def _columns(value: Any, name: str) -> tuple[str, ...]:
    """Names of columns, each once."""
    names = names_in(value, name)
    if len(set(names)) < len(names):
        raise HoldfastError(f"`{name}` names a column twice.")
    return names


def _counts(value: Any, name: str) -> tuple[str, ...]:
    """The names of the columns of counts; () where there is nothing to name."""
    names = _columns(value, name)
    if len(names) > MOST_COLUMNS:
        raise HoldfastError(
            f"`{name}` names {len(names)} columns of counts, more than {MOST_COLUMNS}."
        )
    return names


def _flag(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise HoldfastError(f"`{name}` must be True or False, got {value!r:.40}.")
    return value


def _path(value: Any, name: str) -> Path | None:
    if value is None:
        return None
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise HoldfastError(f"`{name}` must be a path, got {value!r:.40}.")
    return Path(value)


def _epsilon(value: Any, name: str) -> Fraction:
    """The whole budget."""
    if value is None:
        raise HoldfastError(
            "`epsilon` is missing. Hint: 1 is usual; `holdfast plan` says what to expect of others."
        )
    return exact_epsilon(value, name=name)


def _whole(least: int, most: int | None = None) -> Callable[[Any, str], int | None]:
    """A check for a whole number of at least so much, and at most, or None."""
    return lambda value, name: (
        None if value is None else whole_number(value, name, least=least, most=most)
    )


def _file_rows(value: Any, name: str) -> tuple[int, ...]:
    """Numbers of rows of a file."""
    rows = value if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    return tuple(whole_number(row, name, least=1) for row in rows)


def _totals(value: Any, name: str) -> bool | str:
    """Whether totals are measured, or for which share of epsilon."""
    answers = {"": True, "yes": True, "true": True, "no": False}
    share = totals_share(
        answers.get(value.strip().lower(), value) if isinstance(value, str) else value
    )
    return share == TOTALS_SHARE if share in (0, TOTALS_SHARE) else decimal_or_fraction(share)


def _table_format(value: Any, name: str) -> str | None:
    """The format in which the table is written, or None for that of the file."""
    if value not in (None, "csv", "parquet"):
        raise HoldfastError(f"`{name}` must be 'csv' or 'parquet', got {value!r:.40}.")
    return value if value is None else str(value)


OF_FORM: dict[Form, Callable[[Any, str], Any]] = {
    Form.TEXT: _text,
    Form.COLUMN: _column,
    Form.TEXTS: _columns,
    Form.CODES: lambda value, _: read_codes(value),
    Form.WHOLE: _whole(1),
    Form.WHOLES: _file_rows,
    Form.FLAG: _flag,
    Form.SHARE: _totals,
    Form.GROUPS: lambda value, _: (
        Within.from_dict(value) if isinstance(value, dict) else read_within(value)
    ),
    Form.LABEL: lambda value, _: read_subset(value),
    Form.ROWS: lambda value, name: _column(value, name) if isinstance(value, str) else value,
}
"""The check of each form; a form without one is checked where its value is used."""
OF_NAME: dict[str, Callable[[Any, str], Any]] = {
    "count": _counts,
    "epsilon": _epsilon,
    "out": _path,
    "seed": _whole(0),
    "top": _whole(1, MAX_COUNT),
    "unit": lambda value, _: value,
    "person_in": lambda value, _: value,
    "split": lambda value, name: None if value is None else read_share(value, name),
    "table_format": _table_format,
    "period": lambda value, _: read_period(value),
    "thousands": _column,
    "decimal": _column,
}
"""The parameters that are checked otherwise than others of their form."""


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
            whole_number(one, "contributions", least=1, most=MOST_ROWS_OF_A_PERSON)
            for one in for_columns(contributions, columns, "contributions")
        ),
        person_in=where,
        weights=() if weights is None else _weights(weights, columns),
        person_rows=whole_number(rows, "rows", least=1, most=MOST_ROWS_OF_A_PERSON),
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
