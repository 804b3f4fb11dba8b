"""Names of columns: found, suggested, and what an error calls them."""

import difflib
import re
from collections.abc import Sequence
from typing import Any

from holdfast.errors import HoldfastError

_SHOWN = 8


def count_column(columns: Sequence[str], count: str | None, **others: Any) -> str:
    """The name of the column of counts, which plays no other part; `others` are named too.

    >>> count_column(["county", "deaths"], "deaths", category="county"), count_column(["n"], None)
    ('deaths', 'n')
    """
    if count is None and len(columns) != 1:
        raise HoldfastError(
            f"`count` must name the column that holds the counts. Hint: {suggest(columns)}"
        )
    name = columns[0] if count is None else count
    find_column(columns, name, "count")
    for parameter, other in others.items():
        if isinstance(other, str):
            if other == name:
                raise HoldfastError(
                    f"`count` must be a column of its own, {name!r} is also `{parameter}`."
                )
            find_column(columns, other, parameter)
    return name


def called(count: str | None) -> str:
    """What an error calls the counts. A name nobody gave stays unsaid: in a file without a header
    it is the first count."""
    return "`table`" if count is None else f"`count` column {count!r}"


def find_column(columns: Sequence[Any], name: Any, parameter: str) -> int:
    """The position of a column that must exist, once."""
    found = [i for i, column in enumerate(columns) if column == name]
    if len(found) > 1:
        raise HoldfastError(
            f"`{parameter}`: {len(found)} columns are called {name!r}. Hint: rename all but one."
        )
    if not found:
        raise HoldfastError(
            f"`{parameter}` must be a column of the table, got {name!r}. "
            f"Hint: {suggest(columns, name)}"
        )
    return found[0]


def suggest(columns: Sequence[Any], name: Any = "") -> str:
    """What to say about the columns there are: near matches, else the first few names.

    Names with a digit are listed only as near matches: in a file without a header they may hold
    the first row's counts.
    """
    near = difflib.get_close_matches(str(name), list(map(str, columns)), n=3)
    names = [c for c in map(str, columns) if not re.search(r"\d", c)]
    if near:
        return "did you mean " + " or ".join(map(repr, near)) + "?"
    listed = ", ".join(repr(c[:60]) for c in names[:_SHOWN])
    more = ", …" if len(names) > _SHOWN else ""
    hidden = " (names with digits are not shown; the first line must hold the names)"
    return f"the columns are {listed}{more}" + (hidden if len(names) < len(columns) else "") + "."
