"""`holdfast.privatize`: any table in, a release out. The table that a request is about: a file or a
frame, the result of a query, persons counted; signature and docstring, from a request's fields."""

import inspect
import os
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from holdfast.engine.run import run
from holdfast.errors import HoldfastError, listed_names, needed
from holdfast.release.release import Release
from holdfast.request import FIELDS, Request
from holdfast.tables.options import TableOptions
from holdfast.tables.table import Table, open_table

COUNTED_ONCE = "persons were counted: each of them once, where the first of their rows was"


@contextmanager
def opened(source: Any, request: Request) -> Iterator[Table]:
    """The checked table that a request is about."""
    options = request.table_options
    if request.query is not None:
        with _relation(source, request.query) as relation:
            yield open_table(relation, options)
    elif request.from_people:
        from holdfast.tables.count_by import counted_by

        usual, file = TableOptions(), options.file_options
        how = {"by": list(request.by), "categories": request.categories, "per": request.per}
        alone = request.contributions == request.rows == 1
        people = counted_by(source, replace(usual, **file), **how, alone=alone)
        counted = replace(options, **{name: getattr(usual, name) for name in file})
        table = open_table(people, counted)
        yield replace(table, notes=(*table.notes, *[COUNTED_ONCE] * (request.per is not None)))
    else:
        yield open_table(source, options)


@contextmanager
def _relation(source: Any, query: str) -> Iterator[Any]:
    """The relation that a query makes in a DuckDB database."""
    with needed("`query` needs DuckDB", "duckdb"):
        import duckdb
    if not isinstance(source, str | os.PathLike) or not Path(source).is_file():
        raise HoldfastError(f"`{source!s:.200}` cannot be read: there is no such database.")
    try:
        connection = duckdb.connect(os.fspath(source), read_only=True)
        relation = connection.sql(query)
    except duckdb.Error as error:
        raise HoldfastError(
            f"`{source}`: the query cannot be run ({type(error).__name__}). "
            "Hint: try it in DuckDB; it must be one SELECT."
        ) from None
    if relation is None:
        raise HoldfastError("`query` must give a table. Hint: it must be one SELECT.")
    names = list(relation.columns)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise HoldfastError(
            f"`query` gives several columns one name: {listed_names(twice)}. "
            "Hint: give them different names with AS."
        )
    with connection:
        yield relation


Function = TypeVar("Function", bound=Callable[..., Any])

SUMMARY = """\
A private table of counts whose distribution of counts holds fast.

Exact noise is added to every count first. The distribution of counts is estimated from the noisy
counts and from noisy sums, and the noisy counts, ranked, are given its values: so the released
table has that distribution exactly. The promise: anything published is at most exp(`epsilon`) times
as probable with any one person counted as without, or the reverse, for people who add at most
`contributions` to one row, or to each of `rows`. The number of rows, their order, and the columns
`category`, `keep` and `within` are public and published as they are; all other columns are
withheld."""

TABLE = (
    "table (array-like, data frame, path or Spark frame)",
    "Counts: a list, array or series; a pandas, polars or pyarrow table or a DuckDB relation; the "
    "path of a CSV, Parquet or Excel file, of a folder of Parquet files or, with `query`, of a "
    "DuckDB database; a Spark frame.",
)

ENDING = """\
Returns:
    A `Release`: the released table, what was measured, its promise, and answers with intervals.

Raises:
    HoldfastError: Where something given cannot be used; nothing was measured or spent then.
    LeakError: Where what would be published beside the counts gives them away.
    BudgetError: Where the ledger cannot afford it.

>>> import holdfast
>>> release = holdfast.privatize([0, 0, 3, 1, 0, 7], epsilon="1.0", seed=1)
>>> len(release)
6
"""


def declared(function: Function) -> Function:
    """A function of (table, **options) that shows the fields of a request as its parameters.

    >>> @declared
    ... def privatize(table, **options): ...
    >>> list(inspect.signature(privatize).parameters)[:4]
    ['table', 'count', 'category', 'keep']
    """
    parameters, entries = [], [TABLE]
    for about in FIELDS.values():
        default = inspect.Parameter.empty if about.required else about.default
        parameters.append(
            inspect.Parameter(about.name, inspect.Parameter.KEYWORD_ONLY, default=default)
        )
        words = "" if about.required else f", default {about.default!r}"
        entries.append((f"{about.name} ({about.form.value}{words})", about.help))
    table = inspect.Parameter("table", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    vars(function)["__signature__"] = inspect.Signature([table, *parameters])
    shown = "\n".join(
        textwrap.fill(f"    {name}: {words}", 92, subsequent_indent=8 * " ")
        for name, words in entries
    )
    function.__doc__ = f"{SUMMARY}\n\nParameters:\n{shown}\n\n{ENDING}"
    return function


@declared
def privatize(table: Any, **options: Any) -> Release:
    """Made from the fields of a request by `declared`."""
    request = Request.read(**options)
    with opened(table, request) as checked:
        return run(checked, request, file=table)
