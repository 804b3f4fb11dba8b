"""What fields of a request say together: what excludes what, and what follows from what."""

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.errors import HoldfastError

UNNAMED = "count"
"""What a column of counts is called that has no name, and the one that counting persons makes."""
ONE_COLUMN = "one column"
"""Where a row of one person is counted in one of several columns."""
PEOPLE = ("by", "categories", "per")
MADE_BY_COUNTING = ("count", "category", "keep")
"""Columns that counting persons makes."""


def check_together(values: Mapping[str, Any]) -> None:
    """Refuse what does not go together."""
    from holdfast.tables.options import FILE_OPTIONS

    named = {
        name
        for name, value in values.items()
        if not (value is None or value is False or (isinstance(value, tuple) and not value))
    }
    if {"keep", "keep_none"} <= named:
        raise HoldfastError("give `keep` or `keep_none`, not both.")
    if len({"ledger", "dataset"} & named) == 1:
        raise HoldfastError("`ledger` and `dataset` go together: give both, or neither.")
    for name in ("purpose", "corrects"):
        if name in named and "ledger" not in named:
            raise HoldfastError(f"`{name}` goes with `ledger`, which pays for the release.")
    for name in ("weights", "relations"):
        if name in named and len(values["count"]) < 2:
            raise HoldfastError(f"`{name}` is for several columns of counts. Hint: name them all.")
    for name in (*FILE_OPTIONS, "from_people"):
        if name in named and "query" in named:
            raise HoldfastError(f"`{name}` is for files, and `query` for a database.")
    _check_people(values, named)


def _check_people(values: Mapping[str, Any], named: set[str]) -> None:
    if not values["from_people"]:
        for name in PEOPLE:
            if name in named:
                raise HoldfastError(f"`{name}` goes with `from_people`.")
        return
    if not {"by", "categories"} <= named:
        raise HoldfastError(
            "`from_people` needs `by` and `categories`. Hint: the column of categories, and a "
            "list or a file of all there are."
        )
    for name in (*MADE_BY_COUNTING, "keep_none"):
        if name in named:
            raise HoldfastError(
                f"`from_people` makes the columns of the table: leave out `{name}`."
            )


def counted(values: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a table that is made by counting persons."""
    if not values["from_people"]:
        return {}
    first, *others = values["by"]
    made = {"count": (UNNAMED,), "category": first, "keep": tuple(others)}
    return made | ({"repeated_categories": True} if others else {})


def by_column(columns: Sequence[str], values: Sequence[Any]) -> Any:
    """One value where it is the same for all columns of counts, else each column's.

    >>> by_column(("murder", "rape"), (1, 2)), by_column(("murder", "rape"), (1, 1))
    ({'murder': 1, 'rape': 2}, 1)
    """
    return values[0] if len(set(values)) == 1 else dict(zip(columns, values, strict=True))
