"""The table that a request is about: a file or a frame, the result of a query, persons counted."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError, listed_names, needed

if TYPE_CHECKING:
    from holdfast.request.request import Request
    from holdfast.tables.table import Table


COUNTED_ONCE = "persons were counted: each of them once, where the first of their rows was"


@contextmanager
def opened(source: Any, request: "Request") -> Iterator["Table"]:
    """The checked table that a request is about."""
    from holdfast.tables.table import open_table

    options = request.table_options
    if request.query is not None:
        with _relation(source, request.query) as relation:
            yield open_table(relation, options)
    elif request.from_people:
        from holdfast.tables.count_by import counted_by
        from holdfast.tables.options import TableOptions

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
