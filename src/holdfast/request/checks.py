"""How each field of a request is checked: the value as it is kept, or an error that names it.

What these need is imported when they run: `--help` shows a request and never reads one.
"""

import os
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError, whole_number
from holdfast.request.recipe import exact_text


def text(value: Any, name: str) -> str | None:
    """Text that is not empty, or None."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise HoldfastError(f"`{name}` must be text, got {value!r:.40}.")
    if not value.strip():
        raise HoldfastError(f"`{name}` must not be empty. Hint: leave it out, or name something.")
    return value


def column(value: Any, name: str) -> str | None:
    """The name of a column, or None; an empty name is the table's to explain."""
    if value is not None and not isinstance(value, str):
        raise HoldfastError(f"`{name}` must be the name of a column, got {value!r:.40}.")
    return value


def columns(value: Any, name: str) -> tuple[str, ...]:
    """Names of columns, each once."""
    from holdfast.tables.columns import names_in

    names = names_in(value, name)
    if len(set(names)) < len(names):
        raise HoldfastError(f"`{name}` names a column twice.")
    return names


def counts(value: Any, name: str) -> tuple[str, ...]:
    """The names of the columns of counts; () where there is nothing to name."""
    from holdfast.privacy.persons import MOST_COLUMNS

    names = columns(value, name)
    if len(names) > MOST_COLUMNS:
        raise HoldfastError(
            f"`{name}` names {len(names)} columns of counts, more than {MOST_COLUMNS}."
        )
    return names


def flag(value: Any, name: str) -> bool:
    """Yes or no."""
    if not isinstance(value, bool):
        raise HoldfastError(f"`{name}` must be True or False, got {value!r:.40}.")
    return value


def path(value: Any, name: str) -> Path | None:
    """A path, or None."""
    if value is None:
        return None
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise HoldfastError(f"`{name}` must be a path, got {value!r:.40}.")
    return Path(value)


def anything(value: Any, name: str) -> Any:
    """As it is: what the table says of it is checked where the table is read."""
    return value


def epsilon(value: Any, name: str) -> Fraction:
    """The whole budget."""
    from holdfast.privacy.budget import exact_epsilon

    if value is None:
        raise HoldfastError(
            "`epsilon` is missing. Hint: 1 is usual; `holdfast plan` says what to expect of others."
        )
    return exact_epsilon(value, name=name)


def within(value: Any, name: str) -> Any:
    """By what rows are grouped."""
    from holdfast.tables.groups import Within, read_within

    return Within.from_dict(value) if isinstance(value, dict) else read_within(value)


def subset(value: Any, name: str) -> Any:
    """Which rows are released."""
    if value is None:
        return None
    from holdfast.tables.subset import read_subset

    return read_subset(value)


def period(value: Any, name: str) -> Any:
    """The days that the counts are of."""
    if value is None:
        return None
    from holdfast.tables.periods import read_period

    return read_period(value)


def codes(value: Any, name: str) -> tuple[Any, ...]:
    """Codes for counts that are not known."""
    from holdfast.tables.counts import codes_of

    return codes_of(value)


def rows_known(value: Any, name: str) -> Any:
    """A column's name, a mask or labels, which the table's reader looks at."""
    return column(value, name) if isinstance(value, str) else value


def at_least_1(value: Any, name: str) -> int | None:
    """A whole number from 1 on, or None."""
    return None if value is None else whole_number(value, name, least=1)


def at_least_0(value: Any, name: str) -> int | None:
    """A whole number from 0 on, or None."""
    return None if value is None else whole_number(value, name)


def file_rows(value: Any, name: str) -> tuple[int, ...]:
    """Numbers of rows of a file."""
    if not isinstance(value, Iterable) or isinstance(value, str):
        value = (value,)
    return tuple(whole_number(row, name, least=1) for row in value)


def person_rows(value: Any, name: str) -> int:
    """In how many rows one person may be."""
    from holdfast.privacy.persons import read_person_rows

    return read_person_rows(value)


def unit(value: Any, name: str) -> str:
    """Who is protected."""
    from holdfast.privacy.persons import read_unit

    return read_unit(value)


def totals(value: Any, name: str) -> bool | str:
    """Whether totals are measured, or for which share of epsilon."""
    from holdfast.privacy.budget import TOTALS_SHARE, totals_share

    said = {"yes": True, "no": False}
    share = totals_share(said.get(value, value) if isinstance(value, str) else value)
    return share == TOTALS_SHARE if share in (0, TOTALS_SHARE) else exact_text(share)


def split(value: Any, name: str) -> Fraction | None:
    """The share of the noisy sums, or None for the rule."""
    from holdfast.privacy.budget import read_split

    return None if value is None else read_split(value)


def table_format(value: Any, name: str) -> str | None:
    """In which format the table is written, or None for that of the file."""
    if value not in (None, "csv", "parquet"):
        raise HoldfastError(f"`{name}` must be 'csv' or 'parquet', got {value!r:.40}.")
    return value if value is None else str(value)
