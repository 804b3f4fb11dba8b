"""What can be streamed: paths and DuckDB relations."""

import os
import sys
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.former.tables.columns import Wanted
from holdfast.former.tables.files import refuse_special
from holdfast.former.tables.formats import STREAMED, Format, endings, format_of
from holdfast.former.tables.stream.source import Source


def open_source(source: Any, wanted: Wanted | None = None) -> Source:
    """A table that can be read twice, from what the steward gave."""
    from holdfast.former.tables.stream.arrow_source import ArrowSource, open_duckdb, open_parquet
    from holdfast.former.tables.stream.text_source import TextSource

    wanted = Wanted() if wanted is None else wanted
    if wanted.structural_zero is not None and not isinstance(wanted.structural_zero, str):
        raise HoldfastError(
            "`structural_zero` must name a column of true and false where a table is streamed."
        )
    if not isinstance(source, str | os.PathLike):
        duckdb = sys.modules.get("duckdb")  # who has a relation has loaded it
        if duckdb is None or not isinstance(source, duckdb.DuckDBPyRelation):
            raise HoldfastError(
                f"`source` must be a path or a DuckDB relation, got {type(source).__name__}. "
                "Hint: what is in memory already goes to `holdfast.privatize`."
            )
        return ArrowSource(open_duckdb(source), wanted)
    path = Path(source)
    refuse_special(path)
    if path.is_dir() or format_of(path) is Format.PARQUET:
        return ArrowSource(open_parquet(path), wanted)
    if format_of(path) is not Format.TEXT:
        raise HoldfastError(
            f"`{path}` must be a folder or end in one of {endings(*STREAMED)}. "
            "Hint: save the table as CSV or Parquet."
        )
    return TextSource(path, wanted)
