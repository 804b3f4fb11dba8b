"""What can be streamed: paths and DuckDB relations."""

import os
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.tables.stream.source import Source

TEXT, PARQUET = (".csv", ".tsv", ".txt"), (".parquet", ".pq")


def open_source(source: Any, count: str | None, names: dict[str, str | None]) -> Source:
    """A table that can be read twice, from what the steward gave."""
    from holdfast.tables.stream.arrow_source import ArrowSource, open_duckdb, open_parquet
    from holdfast.tables.stream.text_source import TextSource

    for parameter, name in names.items():
        if name is not None and not isinstance(name, str):
            raise HoldfastError(
                f"`{parameter}` must name a column. Hint: a table that is streamed "
                "says in a column of true and false which rows are publicly known to be zero."
            )
    if not isinstance(source, str | os.PathLike):
        if type(source).__name__ != "DuckDBPyRelation":
            raise HoldfastError(
                f"`source` must be a path or a DuckDB relation, got {type(source).__name__}. "
                "Hint: what is in memory already goes to `holdfast.privatize`."
            )
        return ArrowSource(open_duckdb(source), count, names)
    path = Path(source)
    if path.is_dir() or path.suffix.lower() in PARQUET:
        return ArrowSource(open_parquet(path), count, names)
    if path.suffix.lower() not in TEXT:
        raise HoldfastError(
            f"`{path}` must be a folder or end in one of {', '.join(TEXT + PARQUET)}. "
            "Hint: save the table as CSV or Parquet."
        )
    return TextSource(path, count, names)
