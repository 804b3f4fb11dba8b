"""Files of the paper's room: written whole or not at all, and a column of a CSV file."""

import csv
import os
from pathlib import Path

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError


def write_whole(path: Path, data: bytes) -> Path:
    """The file, written beside its place and renamed, so that it is whole or not there."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        beside.write_bytes(data)
        os.replace(beside, path)
    except OSError as error:
        raise HoldfastError(
            f"`{path}` cannot be written ({error.strerror}). Hint: choose another folder."
        ) from None
    return path


def read_column(path: Path, column: str) -> Integers:
    """The whole numbers of a column of a CSV file with commas or semicolons; empty cells and -999
    mean missing and are left out."""
    with path.open(newline="", encoding="utf-8-sig") as lines:
        head = lines.readline()
        lines.seek(0)
        delimiter = ";" if head.count(";") > head.count(",") else ","
        reader = csv.DictReader(lines, delimiter=delimiter)
        if column not in (reader.fieldnames or ()):
            raise HoldfastError(f"{path.name}: there is no column `{column}`.")
        counts = []
        for row in reader:
            cell = (row[column] or "").strip()
            if not cell or cell == "-999":
                continue
            try:
                number = float(cell)
            except ValueError:
                number = -1.0
            if number < 0 or number != int(number):
                raise HoldfastError(
                    f"{path.name}: column `{column}`, line {reader.line_num}: not a whole number "
                    "of 0 or more."
                )
            counts.append(int(number))
    return np.array(counts, dtype=np.int64)
