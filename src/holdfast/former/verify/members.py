"""groups.csv, and which group each row of the table is in, found from the published columns."""

import csv
import io
import math
import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.former.verify.folder import LABELS, read_small
from holdfast.former.verify.mechanism import Floats, Integers
from holdfast.former.verify.report import Damage, shown

TOTALS = ("total", "total_low", "total_high", "total_measured")
CLOSE = 1e-6  # a number may lose digits on its way into a file
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})", re.ASCII)
Label = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Listed:
    """The groups as groups.csv lists them."""

    labels: tuple[Label, ...]
    sizes: Integers
    totals: tuple[tuple[int, int, int, int], ...]
    """Of each group: the total, its interval, and what was measured; empty without totals."""

    @property
    def names(self) -> list[str]:
        """The labels in a line each."""
        return [", ".join(text or "(missing)" for text in label) for label in self.labels]


def read_listed(folder: Path, record: dict[str, Any]) -> Listed:
    """The lines of groups.csv; raises where they do not fit the record."""
    columns, number = record["within"]["columns"], record["within"]["groups"]
    header = [*columns, "rows", *(TOTALS if "totals" in record else ())]
    try:
        text = read_small(folder, LABELS).decode("utf-8")
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error):
        raise Damage(f"{LABELS} cannot be read as UTF-8 with commas.") from None
    if not lines or lines[0] != header:
        raise Damage(f"{LABELS} does not begin with the names of its columns.")
    k, rest = len(columns), lines[1:]
    if len(rest) != number or any(len(line) != len(header) for line in rest):
        raise Damage(f"{LABELS} does not have a line for each of the groups.")
    if not all(_NUMBER.fullmatch(cell) for line in rest for cell in line[k:]):
        raise Damage(f"{LABELS} has a value that is not a number.")
    labels = tuple(tuple(line[:k]) for line in rest)
    sizes = np.array([int(line[k]) for line in rest], dtype=np.int64)
    if len(set(labels)) < number or sizes.min() < 1 or int(sizes.sum()) != record["rows"]:
        raise Damage(f"{LABELS}: labels must differ, and rows be 1 or more and add up to N.")
    ranks = [_rank(label, record["within"]["classes"]) for label in labels]
    if any(rank >= after for rank, after in pairwise(ranks)):
        raise Damage(f"{LABELS}: the groups are not in their order.")
    found = tuple(
        (int(a), int(b), int(c), int(d))
        for a, b, c, d in (line[k + 1 :] for line in rest if "totals" in record)
    )
    return Listed(labels=labels, sizes=sizes, totals=found)


def _rank(label: Label, classes: list[int | None]) -> tuple[tuple[bool, float, str], ...]:
    """Where a group stands: classes as they rise; numbers by their size, then other labels."""
    ranks = []
    for text, number in zip(label, classes, strict=True):
        value = _value(text) if number is None else _ends(text)[0]
        plain = isinstance(value, str)
        ranks.append((plain, 0.0 if plain else value, text if number is None else ""))
    return tuple(ranks)


class Members:
    """The rows of the table, one after the other, and the group of each."""

    def __init__(self, record: dict[str, Any], listed: Listed) -> None:
        self.columns: list[str] = record["within"]["columns"]
        self.listed, self._n = listed, record["max_count"] + 1
        self._counts = array("q")
        self._parts = [
            _Texts(name) if classes is None else _Numbers(name, classes)
            for name, classes in zip(self.columns, record["within"]["classes"], strict=True)
        ]
        zeros = record["structural_zeros"]
        self._unknown = zeros if "structural_zero_rows" not in record else 0

    def add(self, count: int, cells: Sequence[Any], row: int) -> None:
        """Take in a row that went through a mechanism, or may have."""
        self._counts.append(count)
        for part, cell in zip(self._parts, cells, strict=True):
            part.add(cell, row)

    rows: Integers
    """The group of each row that was added, once `tallies` has found them."""

    def tallies(self) -> Integers:
        """How many rows of each group have each count; raises where sizes are not as listed."""
        place = {label: number for number, label in enumerate(self.listed.labels)}
        prefixes: list[Label] = [()]
        at = np.zeros(len(self._counts), dtype=np.int64)
        for k, part in enumerate(self._parts):
            texts = list(dict.fromkeys(label[k] for label in self.listed.labels))
            codes = part.codes(texts, sure=not self._unknown)
            keys, at = np.unique(at * len(texts) + codes, return_inverse=True)
            pairs = (divmod(key, len(texts)) for key in keys.tolist())
            prefixes = [(*prefixes[before], texts[code]) for before, code in pairs]
        if any(label not in place for label in prefixes):
            raise Damage(f"the table has rows of a group that {LABELS} does not list.")
        groups = np.array([place[label] for label in prefixes], dtype=np.int64)[at]
        self.rows = groups
        cells = groups * self._n + np.frombuffer(self._counts, dtype=np.int64)
        shape = (len(place), self._n)
        found = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
        extra = found.sum(axis=1) - self.listed.sizes
        if extra.min() < 0 or int(extra.sum()) != self._unknown or (extra > found[:, 0]).any():
            group = int(np.argmax(np.abs(extra)))
            raise Damage(f"{LABELS}: the table has another number of rows in group {group}.")
        found[:, 0] -= extra
        return found.astype(np.int64, copy=False)


class _Texts:
    """A column of labels."""

    def __init__(self, name: str) -> None:
        self.name, self._known, self._codes = name, dict[str, int](), array("q")

    def add(self, cell: Any, row: int) -> None:
        text = cell if type(cell) is str else _as_text(cell, self.name, row)
        self._codes.append(self._known.setdefault(text, len(self._known)))

    def codes(self, texts: list[str], *, sure: bool) -> Integers:
        """Which of these labels each row has."""
        same = {text: k for k, text in enumerate(texts)}
        if not set(self._known) <= set(same):
            same = {_value(text): k for k, text in enumerate(texts)}  # 1.0 for 1, True for true
            values = [_value(text) for text in self._known]
            if len(same) < len(texts) or not set(values) <= set(same):
                raise Damage(f"{LABELS} does not list every label of {shown(self.name)}.")
            found = [same[value] for value in values]
        else:
            found = [same[text] for text in self._known]
        return np.array(found, dtype=np.int64)[np.frombuffer(self._codes, dtype=np.int64)]


class _Numbers:
    """A column of numbers, in classes."""

    def __init__(self, name: str, classes: int) -> None:
        self.name, self.classes, self._numbers = name, classes, array("d")

    def add(self, cell: Any, row: int) -> None:
        try:
            number = float(cell)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise Damage(f"data row {row} has no number in {shown(self.name)} to be in a class by.")
        self._numbers.append(number)

    def codes(self, texts: list[str], *, sure: bool) -> Integers:
        """The class of each row by the rule; where rows are unknown, by the ends of classes."""
        numbers = np.frombuffer(self._numbers, dtype=np.float64)
        ends = np.array([_ends(text) for text in texts])
        order = np.argsort(ends[:, 0], kind="stable")
        if (ends[order][1:, 0] <= ends[order][:-1, 1]).any():
            raise Damage(f"{LABELS}: the classes of {shown(self.name)} overlap.")
        if not sure:
            at = np.searchsorted(ends[order][:, 1], numbers)
            return np.asarray(order[np.minimum(at, len(order) - 1)])
        below = np.searchsorted(np.sort(numbers), numbers)
        first = self.classes * below // max(len(numbers), 1)
        codes = np.unique(first, return_inverse=True)[1].ravel()
        if codes.max() + 1 != len(texts) or not _fit(numbers, codes, ends[order]):
            raise Damage(f"{LABELS}: the classes of {shown(self.name)} are not those of its rows.")
        return np.asarray(order[codes])


def _fit(numbers: Floats, codes: Integers, ends: Floats) -> bool:
    low, high = np.full(len(ends), np.inf), np.full(len(ends), -np.inf)
    np.minimum.at(low, codes, numbers)
    np.maximum.at(high, codes, numbers)
    found = np.stack([low, high], axis=1)
    return bool((np.abs(found - ends) <= CLOSE * np.maximum(np.abs(ends), 1e-300)).all())


def _ends(text: str) -> tuple[float, float]:
    parts = text.split(" to ")
    try:
        low, high = map(float, parts)
    except ValueError:
        raise Damage(f"{LABELS}: {shown(text)} is no class.") from None
    if not -math.inf < low <= high < math.inf:
        raise Damage(f"{LABELS}: {shown(text)} is no class.")
    return low, high


def _as_text(cell: Any, name: str, row: int) -> str:
    """A cell of a Parquet table as a label."""
    if cell is None or cell != cell:
        return ""
    if type(cell) is bool:
        return "true" if cell else "false"
    if type(cell) is int or (type(cell) is float and cell.is_integer()):
        return str(int(cell))
    raise Damage(f"data row {row} has no label in {shown(name)}.")


def _value(text: str) -> Any:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    return number if math.isfinite(number) else text.casefold()
