"""Whole tables written to files."""

import os
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.tables.cell_text import cell_text
from holdfast.tables.csv import CsvTable
from holdfast.tables.csv_text import CsvStyle
from holdfast.tables.formats import Format, format_of, wrong_ending
from holdfast.tables.options import TableOptions
from holdfast.tables.source import Held, ListRows
from holdfast.tables.sources import open_source


def write_file(table: Any, path: Path) -> None:
    """Writes a `CsvTable` or a data frame as text."""
    if format_of(path) is not Format.TEXT:
        raise wrong_ending(path, Format.TEXT)
    data = _text_bytes(open_source(table, TableOptions()).held(), path.suffix.lower())
    try:
        with path.open("xb") as file:
            file.write(data)
    except FileExistsError:
        raise HoldfastError(f"`{path}` exists already. Hint: remove it or name another.") from None
    except OSError as error:
        raise HoldfastError(f"`{path}` cannot be written: {error.strerror}.") from None


def write_whole(path: Path, data: bytes) -> Path:
    """Write a file beside its place and rename it, so that it is there whole or not at all."""
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        partial.write_bytes(data)
        os.replace(partial, path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise HoldfastError(f"`{path}` cannot be written ({error.strerror}).") from None
    return path


def _text_bytes(table: Held, suffix: str) -> bytes:
    if isinstance(table, CsvTable):
        return table.to_bytes()
    for name in table.columns:
        table.body.refuse_unwritable(name)
    cells = [list(map(cell_text, table.body.cells(name))) for name in table.columns]
    style = CsvStyle("\t" if suffix == ".tsv" else ",")
    return CsvTable(ListRows(list(map(str, table.columns)), cells), style).to_bytes()
