"""Reads a bundle again. This finds accidents; `holdfast.verify` finds what does not follow.

What is read is checked as far as reading needs it, and nothing is trusted to be of bearable size.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from holdfast.arrays import Integers, Marks, narrowed
from holdfast.errors import HoldfastError
from holdfast.fit.histogram import Histogram
from holdfast.measure.measurement import Tally
from holdfast.privacy.budget import Budget
from holdfast.release.bundle import RECORD, SUMS, file_hash
from holdfast.release.common import DISTRIBUTION, DISTRIBUTION_HEADER
from holdfast.release.csv_files import Dialect, labels_of, numbers_of, read_columns, whole_numbers
from holdfast.release.frames import as_table
from holdfast.release.record import (
    FORMATS,
    MOST_BYTES,
    PARTS,
    ROWS,
    SCHEMA,
    check_size,
    parse_json,
    read_measurement,
    read_promise,
    rows_header,
    table_name,
    titles,
)
from holdfast.release.relations import ranked
from holdfast.release.release import Column, Release, joined, zeros_by_group
from holdfast.tables.cell_text import Texts
from holdfast.tables.groups import Within
from holdfast.tables.partition import ALL_ROWS, Partition

_SUM_LINE = re.compile(r"([0-9a-f]{64})  ([A-Za-z0-9_.]+)", re.ASCII)
Folder = str | os.PathLike[str]
_NONE = np.zeros(0, dtype=np.int64)
NO_ROWS = Histogram(values=_NONE, rows=_NONE)
Table = dict[tuple[str, str], Histogram]
"""What distribution.csv says, by column of counts and group."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredRows:
    """What rows.csv says of all rows, of each column of counts where that differs."""

    group: Integers
    """The group of each row, -1 where it is in none."""
    noisy: Sequence[Integers]
    """0 in rows that were not measured."""
    measured: Sequence[Marks]
    missing: Sequence[Marks]

    @property
    def structural_zero(self) -> Marks:
        """Rows publicly known to be zero."""
        return ~(self.measured[0] | self.missing[0])


def load(folder: Folder) -> Release:
    """The release in a folder that `Release.save` has written.

    Whoever changes a bundle on purpose can change its checksums as well: `holdfast.verify`
    recomputes what is in it.

    Parameters:
        folder: The path of a bundle.

    Returns:
        The `Release` as it was saved, without the true table.

    Raises:
        HoldfastError: If there is no release, or one of its files was damaged.

    >>> import holdfast, tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = holdfast.privatize([0, 5, 1], epsilon=1, seed=1).save(f"{place}/release")
    ...     load(folder).rows, bool(holdfast.verify(folder))
    (3, True)
    """
    place = Path(folder)
    if not place.is_dir():
        raise HoldfastError(f"there is no folder `{place}`. Hint: name the folder of a release.")
    try:
        said = read_record(place)
        check_sums(place, said)
        return release_of(place, said)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        if isinstance(error, HoldfastError):
            raise HoldfastError(f"`{place}`: {error}") from None
        raise HoldfastError(
            f"`{place}` holds no release that can be read: release.json does not say what it must "
            f"({type(error).__name__}). Hint: holdfast verify says more."
        ) from None
    except OSError as error:
        raise HoldfastError(f"`{place}` cannot be read: {error.strerror}.") from None


def read_record(folder: Path) -> dict[str, Any]:
    """release.json."""
    said = parse_json(read_small(folder / RECORD), RECORD)
    if said.get("schema") != SCHEMA:
        raise HoldfastError(
            f"release.json must have the schema {SCHEMA}. Hint: this folder was made by another "
            "holdfast, or by something else."
        )
    return said


def read_small(path: Path) -> bytes:
    """The bytes of a file that is read as a whole."""
    if not path.is_file() or path.is_symlink():
        raise HoldfastError(f"`{path.name}` is missing.")
    most = MOST_BYTES[path.name]
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise HoldfastError(f"`{path.name}` is larger than {most:,} bytes.")
    return data


def check_sums(folder: Path, said: dict[str, Any]) -> None:
    """Raise if a file is not what SHA256SUMS and release.json say."""
    lines = read_small(folder / SUMS).decode("ascii", "replace").splitlines()
    matches = [_SUM_LINE.fullmatch(line) for line in lines]
    sums = {match[2]: match[1] for match in matches if match}
    if None in matches or len(sums) < len(lines) or set(sums) != {*said["files"], RECORD}:
        raise HoldfastError("`SHA256SUMS` does not list the files of the release.")
    for name, sha in sums.items():
        path = folder / name
        if not path.is_file() or path.is_symlink():
            raise HoldfastError(f"`{name}` is missing.")
        stated = said["files"].get(name, {"bytes": path.stat().st_size, "sha256": sha})
        if path.stat().st_size != stated["bytes"] or not file_hash(path) == sha == stated["sha256"]:
            raise HoldfastError(f"`{name}` was changed since the release was made.")


def release_of(folder: Path, record: dict[str, Any], rows: StoredRows | None = None) -> Release:
    """The release in a folder that has this record; its rows are read unless they are there."""
    table, groups = record["table"], _groups(record["groups"])
    names = titles(record)
    check_size(table["rows"], len(names), groups.labels, (*record["published"], *names))
    if table["file"] not in map(table_name, FORMATS):
        raise HoldfastError("release.json names no file with the table.")
    promise = read_promise(names, record["promise"])
    rows = rows or read_rows(folder / ROWS, record)
    columns = _columns(folder, record, rows, promise.budgets)
    any_measured = rows.group[np.logical_or.reduce(rows.measured)]
    cells = partial(read_cells, folder / table["file"], record)
    return Release(
        promise=promise,
        columns=tuple(columns),
        partition=replace(groups, sizes=np.bincount(any_measured, minlength=len(groups))),
        rows=table["rows"],
        structural_zero=rows.structural_zero,
        published=tuple(record["published"]),
        top_code=record["top"],
        notes=tuple(record["notes"]),
        dialect=Dialect.from_dict(table),
        table_format=table["file"].partition(".")[2],
        regrouped=record["groups"]["regrouped"],
        **{
            name: record[name] for name in ("category", "period", "receipt", "made_with", "request")
        },
        _cells=cells,
        _replace=lambda counts: as_table(joined(cells(), record["published"]), counts),
    )


def _columns(
    folder: Path, record: dict[str, Any], rows: StoredRows, budgets: Sequence[Budget]
) -> list[Column]:
    """The columns of counts, each ranked by its noisy counts and those before it."""
    with (folder / DISTRIBUTION).open("rb") as file:
        table = read_distribution(file, record)
    names = record["groups"]["names"]
    zeros = zeros_by_group(rows.group[rows.structural_zero], len(names)).tolist()
    groups, columns = [ALL_ROWS] if len(names) == 1 else names, list[Column]()
    said_of = zip(titles(record), record["counts"], budgets, strict=True)
    for k, (title, said, budget) in enumerate(said_of):
        histograms = [table.get((title, name), NO_ROWS) for name in groups]
        measured = rows.measured[k]
        tally = Tally.of_rows(rows.noisy[k][measured], rows.group[measured], groups=len(names))
        column = Column(
            name=said["name"],
            budget=budget,
            measurement=read_measurement(said, tally),
            measured=measured,
            missing=rows.missing[k],
            noisy=rows.noisy[k],
            group=rows.group,
            ties=int(said["ties"]),
            published=tuple(map(_measured_rows, histograms, zeros)),
        )
        related = said["relations"]
        columns.append(ranked(column, columns, related) if related else column)
    return columns


def _groups(said: dict[str, Any]) -> Partition:
    within = Within.from_dict(said)
    labels = tuple(tuple(map(str, label)) for label in said["labels"])
    partition = Partition(within=within, labels=labels, sizes=np.zeros(len(labels), dtype=np.int64))
    wide = {len(label) for label in labels} == {len(within.parts)}
    if not wide or list(partition.names) != list(said["names"]):
        raise HoldfastError("release.json does not name its groups by their labels.")
    return partition


def _measured_rows(histogram: Histogram, zeros: int) -> Histogram:
    """A histogram less so many rows that are known to be zero."""
    values, rows = histogram.values, histogram.rows
    if not zeros:
        return histogram
    if not len(values) or values[0] or rows[0] < zeros:
        raise HoldfastError("`distribution.csv` lacks rows that are known to be zero.")
    rows = np.append(rows[0] - zeros, rows[1:])
    return Histogram(values=values[rows > 0], rows=rows[rows > 0])


def read_rows(path: Path, record: dict[str, Any]) -> StoredRows:
    """The rows of rows.csv."""
    names, grouped = record["groups"]["names"], bool(record["groups"]["columns"])
    places = {name: number for number, name in enumerate(names)} | {"": -1}
    number, batches = len(record["counts"]), list[list[Any]]()
    header = rows_header(record["category"], titles(record), grouped=grouped)
    with path.open("rb") as file:
        dialect = Dialect.from_dict(record["table"])
        for columns in read_columns(file, ROWS, dialect, header):
            group = np.zeros(len(columns[0]), dtype=np.int64)
            if grouped:
                group = numbers_of(columns[1], places, ROWS)
            cells, lows = (columns[1 + grouped + k :: len(PARTS)] for k in range(2))
            numbers = [narrowed(whole_numbers(texts, ROWS)) for texts in cells]
            marks = [texts.filled for texts in cells] + [~texts.filled for texts in lows]
            batches.append([narrowed(group), *numbers, *marks])
    group, *arrays = [np.concatenate(each) for each in zip(*batches, strict=True)] or [_NONE]
    if len(group) != record["table"]["rows"]:
        raise HoldfastError("`rows.csv` has another number of rows than release.json says.")
    noisy, measured, missing = (arrays[at : at + number] for at in range(0, 3 * number, number))
    if (group[np.logical_or.reduce(measured)] < 0).any():
        raise HoldfastError("`rows.csv` has measured rows that are in no group.")
    return StoredRows(group=group, noisy=noisy, measured=measured, missing=missing)


def read_distribution(file: IO[bytes], record: dict[str, Any]) -> Table:
    """The histograms that distribution.csv states."""
    columns, names = titles(record), list(dict.fromkeys([ALL_ROWS, *record["groups"]["names"]]))
    batches = [[_NONE] * 3]
    for cells in read_columns(
        file, DISTRIBUTION, Dialect.from_dict(record["table"]), DISTRIBUTION_HEADER
    ):
        column, group = (
            numbers_of(texts, {name: at for at, name in enumerate(known)}, DISTRIBUTION)
            for texts, known in zip(cells, (columns, names), strict=False)
        )
        numbers = [whole_numbers(texts, DISTRIBUTION) for texts in cells[2:4]]
        batches.append([column * len(names) + group, *numbers])
    place, values, rows = (np.concatenate(each) for each in zip(*batches, strict=True))
    order = np.argsort(place, kind="stable")
    place, values, rows = place[order], values[order], rows[order]
    if (
        min(values.min(initial=0), rows.min(initial=1) - 1) < 0
        or ((np.diff(values) < 1) & (np.diff(place) == 0)).any()
    ):
        raise HoldfastError(
            f"the counts of `{DISTRIBUTION}` do not ascend from 0, or have no rows."
        )
    sums = np.bincount(place, rows)  # of floats, which do not come round
    if sums.max(initial=0) > record["table"]["rows"]:
        raise HoldfastError(f"`{DISTRIBUTION}` has more rows than the table.")
    places, first = np.unique(place, return_index=True)
    ends = [*first[1:].tolist(), len(place)]
    return {
        (columns[at // len(names)], names[at % len(names)]): Histogram(
            values=values[start:end], rows=rows[start:end]
        )
        for at, start, end in zip(places.tolist(), first.tolist(), ends, strict=True)
    }


def read_cells(path: Path, record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The published columns of the table in batches."""
    number, published = 0, record["published"]
    with path.open("rb") as file:
        for cells in read_table(file, record):
            number += len(cells[0])
            columns = (labels_of(each) if isinstance(each, Texts) else each for each in cells)
            yield dict(zip(published, columns, strict=False))
    if number != record["table"]["rows"]:
        raise HoldfastError(f"`{path.name}` has another number of rows than release.json says.")


def read_table(file: IO[bytes], record: dict[str, Any]) -> Iterator[list[Any]]:
    """The columns of the table, some rows at a time: cells of CSV, or arrays of Arrow."""
    said, names = record["table"], [*record["published"], *titles(record)]
    if said["file"] == "table.csv":
        return read_columns(file, said["file"], Dialect.from_dict(said), names)
    from holdfast.release.parquet import read_batches

    return read_batches(file, said["file"], names, said["rows"])
