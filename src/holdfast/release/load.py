"""Reads a bundle again. This finds accidents; `holdfast.verify` finds what does not follow.

What is read is checked as far as reading needs it, and nothing is trusted to be of bearable size.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.fit.histogram import Histogram
from holdfast.measure.measurement import Measurement, Sums, Tally, Totals
from holdfast.privacy.budget import Budget
from holdfast.privacy.noise import Noise
from holdfast.privacy.promise import Promise
from holdfast.release.bundle import RECORD, SUMS, file_hash
from holdfast.release.common import DISTRIBUTION, DISTRIBUTION_HEADER
from holdfast.release.csv_files import Dialect, labels_of, read_columns
from holdfast.release.frames import as_table
from holdfast.release.groups import ALL_ROWS, group_names
from holdfast.release.limits import LARGEST, LARGEST_COUNT, SCHEMA, check_size
from holdfast.release.relations import ranked
from holdfast.release.release import Column, Release, joined, zeros_by_group
from holdfast.release.strict_json import parse_json
from holdfast.release.table_files import FORMATS, PARTS, ROWS, table_name
from holdfast.tables.groups import Within
from holdfast.tables.partition import Partition

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}", re.ASCII)
_SUM_LINE = re.compile(r"([0-9a-f]{64})  ([A-Za-z0-9_.]+)", re.ASCII)
REMEMBERED = 1 << 20  # numbers as text
Folder = str | os.PathLike[str]


def load(folder: Folder) -> Release:
    """The release in a folder that `Release.save` has written.

    Raises `HoldfastError` if a file was damaged. Whoever changes a bundle on purpose can change its
    checksums as well: `holdfast.verify` recomputes what is in it.

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
    most = LARGEST[path.name]
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


def release_of(folder: Path, said: dict[str, Any]) -> Release:
    """The release in a folder whose release.json says this."""
    table, counts = said["table"], said["counts"]
    dialect = Dialect(**{name: table[name] for name in ("delimiter", "newline", "bom")})
    groups = _groups(said["groups"])
    published = tuple(map(str, said["published"]))
    rows = int(table["rows"])
    titles = ["count" if each["name"] is None else str(each["name"]) for each in counts]
    check_size(
        rows=rows,
        columns=len(counts),
        groups=len(groups.labels),
        names=(*published, *titles),
        labels=groups.labels,
    )
    kind = next((kind for kind in FORMATS if table["file"] == table_name(kind)), None)
    if kind is None:
        raise HoldfastError("release.json names no file with the table.")
    promise = Promise.from_dict(tuple(titles), said["promise"])
    lines = _Rows(folder / ROWS, dialect, said, titles, groups)
    histograms = _histograms(folder / DISTRIBUTION, dialect, titles, group_names(groups), lines)
    columns = list[Column]()
    for k, (column, budget) in enumerate(zip(counts, promise.budgets, strict=True)):
        plain = lines.column(k, column, budget, histograms[k], len(groups.labels))
        columns.append(ranked(plain, columns, column["relations"]))
    cells = _cells(folder / table["file"], dialect, published, titles, rows)
    return Release(
        promise=promise,
        columns=tuple(columns),
        partition=replace(groups, sizes=lines.sizes(len(groups.labels))),
        rows=rows,
        structural_zero=lines.structural_zero,
        category=said["category"],
        published=published,
        top_code=said["top"],
        period=said["period"],
        notes=tuple(said["notes"]),
        receipt=said["receipt"],
        made_with=said["made_with"],
        request=said["request"],
        dialect=dialect,
        table_format=kind,
        regrouped=bool(said["groups"]["regrouped"]),
        _cells=cells,
        _replace=lambda counts: as_table(
            joined(cells(), published), dict(zip(titles, counts.values(), strict=True))
        ),
    )


def _groups(said: dict[str, Any]) -> Partition:
    within = Within.from_dict(said)
    labels = tuple(tuple(map(str, label)) for label in said["labels"])
    partition = Partition(within=within, labels=labels, sizes=np.zeros(len(labels), dtype=np.int64))
    if {len(label) for label in labels} != {len(within.parts)} or list(
        group_names(partition)
    ) != list(said["names"]):
        raise HoldfastError("release.json does not name its groups by their labels.")
    return partition


def _measurement(said: dict[str, Any], tally: Tally) -> Measurement:
    return Measurement(
        column=said["name"],
        noise=Noise.from_dict(said["noise"]),
        tally=tally,
        sums=tuple(sums and Sums.from_dict(sums) for sums in said["sums"]),
        whole=said["whole"] and Sums.from_dict(said["whole"]),
        totals=said["totals"] and Totals.from_dict(said["totals"]),
    )


class _Numbers(dict[str, int]):
    """Whole numbers by how they are written, each of which is read once."""

    def __missing__(self, text: str) -> int:
        if not _WHOLE.fullmatch(text) or abs(int(text)) > LARGEST_COUNT:
            raise HoldfastError(f"{text!r:.40} is no whole number of bearable size.")
        if len(self) >= REMEMBERED:
            self.clear()
        self[text] = int(text)
        return int(text)


class _Rows:
    """What rows.csv says of all rows: noisy counts, marks and groups."""

    def __init__(
        self,
        path: Path,
        dialect: Dialect,
        said: dict[str, Any],
        titles: Sequence[str],
        groups: Partition,
    ) -> None:
        names = group_names(groups)
        grouped = bool(groups.within.parts)
        places = {name: number for number, name in enumerate(names)} | {"": -1}
        header = [said["category"] or "row", *["group"][:grouped]]
        header += [f"{title}_{part}" for title in titles for part in PARTS]
        numbers, batches = _Numbers(), list[list[Any]]()
        for columns in read_columns(path, dialect, header):
            first = 1 + grouped
            group = np.zeros(len(columns[0]), dtype=np.int64)
            if grouped:
                group = np.array([places[name] for name in labels_of(columns[1])], dtype=np.int64)
            noisy = [_optional(columns[first + 5 * k], numbers) for k in range(len(titles))]
            filled = [_filled(columns[first + 5 * k + 1]) for k in range(len(titles))]
            batches.append([group, *(each for pair in noisy for each in pair), *filled])
        arrays = [np.concatenate(each) for each in zip(*batches, strict=True)]
        if not arrays or len(arrays[0]) != said["table"]["rows"]:
            raise HoldfastError("`rows.csv` has another number of rows than release.json says.")
        k = len(titles)
        self.group: Integers = arrays[0]
        self.noisy: list[Integers] = arrays[1 : 1 + 2 * k : 2]
        self.measured: list[Marks] = arrays[2 : 2 + 2 * k : 2]
        self.missing: list[Marks] = [~filled for filled in arrays[1 + 2 * k :]]
        self.structural_zero: Marks = ~(self.measured[0] | self.missing[0])
        if (self.group[np.logical_or.reduce(self.measured)] < 0).any():
            raise HoldfastError("`rows.csv` has measured rows that are in no group.")

    def sizes(self, groups: int) -> Integers:
        """Rows of each group that are measured in a column or more."""
        return np.bincount(self.group[np.logical_or.reduce(self.measured)], minlength=groups)

    def column(
        self,
        k: int,
        said: dict[str, Any],
        budget: Budget,
        published: tuple[Histogram, ...],
        groups: int,
    ) -> Column:
        """A column of counts, ranked by its noisy counts."""
        measured = self.measured[k]
        tally = Tally.of_rows(self.noisy[k][measured], self.group[measured], groups=groups)
        return Column(
            name=said["name"],
            budget=budget,
            measurement=_measurement(said, tally),
            measured=measured,
            missing=self.missing[k],
            noisy=self.noisy[k],
            group=self.group,
            ties=int(said["ties"]),
            published=published,
        )


def _optional(cells: Sequence[str], numbers: _Numbers) -> tuple[Integers, Marks]:
    """Whole numbers, 0 where a cell is empty, and where it is not."""
    numbers[""] = 0
    values = np.fromiter(map(numbers.__getitem__, cells), dtype=np.int64, count=len(cells))
    return values, _filled(cells)


def _filled(cells: Sequence[str]) -> Marks:
    return np.fromiter(map(bool, cells), dtype=np.bool_, count=len(cells))


def _histograms(
    path: Path, dialect: Dialect, titles: Sequence[str], names: Sequence[str], rows: _Rows
) -> list[tuple[Histogram, ...]]:
    """By column and group, how many measured rows have each released count."""
    groups = [ALL_ROWS] if len(names) == 1 else names
    lines = {(title, name): list[tuple[int, int]]() for title in titles for name in groups}
    numbers, most = _Numbers(), len(rows.group)
    for columns in read_columns(path, dialect, DISTRIBUTION_HEADER):
        labels = (labels_of(columns[0]), labels_of(columns[1]))
        for title, name, count, number in zip(*labels, *columns[2:4], strict=True):
            if len(of_group := lines.get((title, name), [])) > most:
                break  # more lines than there are rows: `_histogram` says so
            of_group.append((numbers[count], numbers[number]))
    zeros = zeros_by_group(rows.group[rows.structural_zero], len(names)).tolist()
    return [
        tuple(_histogram(lines[title, name], most, zeros[g]) for g, name in enumerate(groups))
        for title in titles
    ]


def _histogram(lines: list[tuple[int, int]], most: int, zeros: int) -> Histogram:
    """The histogram of one group in distribution.csv, less so many rows that are known to be zero;
    there are `most` rows at all."""
    values, rows = np.array(lines, dtype=np.int64).reshape(-1, 2).T
    falls = (np.diff(values, prepend=-1) < 1).any()
    if falls or (rows < 1).any() or sum(rows.tolist()) > most:
        raise HoldfastError(
            "`distribution.csv` must list counts in ascending order, and rows that there are."
        )
    if zeros:
        if not len(values) or values[0] or rows[0] < zeros:
            raise HoldfastError("`distribution.csv` lacks rows that are known to be zero.")
        rows[0] -= zeros
    return Histogram(values=values[rows > 0], rows=rows[rows > 0])


def _cells(
    path: Path, dialect: Dialect, published: Sequence[str], titles: Sequence[str], rows: int
) -> Callable[[], Iterator[dict[str, Any]]]:
    """Function that reads the published columns of the table in batches."""

    def text() -> Iterator[dict[str, Any]]:
        number = 0
        for columns in read_columns(path, dialect, [*published, *titles]):
            number += len(columns[0])
            yield {name: labels_of(cells) for name, cells in zip(published, columns, strict=False)}
        if number != rows:
            raise HoldfastError(f"`{path.name}` has another number of rows than release.json says.")

    def parquet() -> Iterator[dict[str, Any]]:
        from holdfast.release.parquet import read_batches

        for batch in read_batches(path, [*published, *titles], rows):
            yield {name: batch[k] for k, name in enumerate(published)}

    return text if path.suffix == ".csv" else parquet
