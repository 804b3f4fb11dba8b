"""Which files hold tables, by how their names end."""

import os
from enum import Enum
from pathlib import Path


class Format(Enum):
    """How a table lies in a file; its value is how names of such files end."""

    TEXT = (".csv", ".tsv", ".txt")
    PARQUET = (".parquet", ".pq")
    EXCEL = (".xlsx", ".xlsm")


STREAMED = (Format.TEXT, Format.PARQUET)
"""What can be read in batches, and what releases are written in."""


def format_of(path: str | os.PathLike[str]) -> Format | None:
    """The format of a file; None where it does not end like a table.

    >>> format_of("counts.CSV").name, format_of("Kent")
    ('TEXT', None)
    """
    suffix = Path(path).suffix.lower()
    return next((each for each in Format if suffix in each.value), None)


def endings(*formats: Format) -> str:
    """How names of such files end, to be read.

    >>> endings(Format.PARQUET, Format.EXCEL)
    '.parquet, .pq, .xlsx, .xlsm'
    """
    return ", ".join(suffix for each in formats for suffix in each.value)


def release_format(source: str | os.PathLike[str]) -> str:
    """The `table_format` of a release of the table in a file: its own, and CSV for Excel.

    >>> release_format("a.pq"), release_format("a.xlsx")
    ('parquet', 'csv')
    """
    return "parquet" if format_of(source) is Format.PARQUET else "csv"
