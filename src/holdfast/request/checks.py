"""How the parameters of a request are checked: the value as it is kept, or an error that names it.

Imported when a request is read; `--help`, which only shows one, does without what this loads.
"""

import os
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError, decimal_or_fraction, whole_number
from holdfast.privacy.budget import exact_epsilon
from holdfast.request.parameter import Form, Parameter
from holdfast.request.persons import MOST_COLUMNS, TOTALS_SHARE, read_share, totals_share
from holdfast.tables.cell_text import names_in
from holdfast.tables.counts import read_codes
from holdfast.tables.groups import Within, read_within
from holdfast.tables.subset import read_period, read_subset


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


def _whole(least: int) -> Callable[[Any, str], int | None]:
    """A check for a whole number of at least so much, or None."""
    return lambda value, name: None if value is None else whole_number(value, name, least=least)


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
    "unit": lambda value, _: value,
    "person_in": lambda value, _: value,
    "split": lambda value, name: None if value is None else read_share(value, name),
    "table_format": _table_format,
    "period": lambda value, _: read_period(value),
    "thousands": _column,
    "decimal": _column,
}
"""The parameters that are checked otherwise than others of their form."""
