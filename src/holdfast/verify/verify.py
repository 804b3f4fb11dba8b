"""`holdfast.verify`: everything that a bundle claims, computed again by code of its own."""

import os
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.privacy.noise import Noise
from holdfast.release.load import release_of
from holdfast.release.release import Release
from holdfast.release.strict_json import parse_json
from holdfast.verify import folder as files
from holdfast.verify import matching, words
from holdfast.verify.record import check_budget, check_fields
from holdfast.verify.report import Check, Damage, Failure, Found, NotChecked, Verification
from holdfast.verify.rows import RowsFile, count_reader, csv_lines, plain, table_batches, title

BORROWED = {
    "holdfast.privacy.noise": "the law of the noise: variance, quantile, least width",
    "holdfast.release.limits": "sizes that both sides keep to",
    "holdfast.release.load": "the release as an object, for the words and the fit",
    "holdfast.release.release": "its type",
    "holdfast.release.strict_json": "release.json, parsed without being flooded",
    "holdfast.release.parquet": "a Parquet file, read without being flooded",
    "holdfast.release.csv_files": "cells of a Parquet file as text",
    "holdfast.release.escape": "the same",
    "holdfast.release.row_intervals": "likely intervals of rows",
    "holdfast.release.common": "answers and shares with their intervals",
    "holdfast.release.readme": "words",
    "holdfast.release.codebook": "words",
    "holdfast.release.deployment": "words",
    "holdfast.release.picture": "the picture",
}
"""What is borrowed from the maker, and for what; no promise rests on any of it."""
R = TypeVar("R")
ABSURD = 1e-12
"""Probability, over all rows, of a negative noisy count that is taken for a mistake."""
MOST_OFF = 0.002
"""Share of the rows by which the histograms of two machines may differ, by rounding."""


def verify(directory: str | os.PathLike[str]) -> Verification:
    """Recompute everything that a release claims, from its own files.

    The budget is added up exactly; marks, groups, noisy counts and intervals of rows are compared;
    every released count is computed again in integers from noisy counts, histograms and the seed
    of ties. Nothing in the folder is run. It cannot tell who made the release, nor whether the true
    table went into it.

    Parameters
    ----------
    directory : path
        The folder of a release.

    Returns
    -------
    Verification
        True if every check was made and passed; its checks say what was found. Nothing is raised.

    Examples
    --------
    >>> bool(verify("no such folder"))
    False
    """
    bundle = _Bundle(Path(directory))
    checks: dict[str, Check] = {}
    for name, (check, needs) in _CHECKS.items():
        lost = [need for need in needs if checks[need].passed is not True]
        if lost:
            detail = f"not looked at: {lost[0]} failed"
            checks[name] = Check(name=name, passed=None, detail=detail)
        else:
            checks[name] = _run(name, check, bundle)
    simulated = bundle.record["promise"]["simulated"] if checks["fields"].passed else None
    return Verification(folder=bundle.path, checks=tuple(checks.values()), simulated=simulated)


def _run(name: str, check: "Callable[[_Bundle], str | Found]", bundle: "_Bundle") -> Check:
    try:
        result = check(bundle)
    except NotChecked as lack:
        return Check(name=name, passed=None, detail=str(lack), failure=lack.failure)
    except Damage as damage:
        return Check(name=name, passed=False, detail=str(damage), failure=damage.failure)
    except (MemoryError, ImportError, OSError) as error:
        detail = f"the check of {name} could not be made here ({type(error).__name__})."
        return Check(name=name, passed=None, detail=detail, failure=Failure.MACHINE)
    except Exception as error:  # whatever a forger thought of: it did not pass
        detail = f"the check of {name} could not be made ({type(error).__name__})."
        return Check(name=name, passed=False, detail=detail, failure=Failure.DAMAGE)
    result = result if isinstance(result, Found) else Found(result)
    return Check(name=name, passed=True, **result._asdict())


class _Bundle:
    """A bundle while it is checked: what one check has read is there for those that need it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.counts: list[Integers] = []

    @cached_property
    def record(self) -> dict[str, Any]:
        """release.json."""
        data = files.read_small(self.path, files.RECORD)
        return _as_damage(lambda: parse_json(data, files.RECORD))

    @cached_property
    def rows(self) -> RowsFile:
        """rows.csv."""
        return RowsFile(self.path, self.record)

    @cached_property
    def distribution(self) -> matching.Table:
        """distribution.csv."""
        return matching.read_distribution(self.path, self.record)

    @cached_property
    def release(self) -> Release:
        """The release as the maker reads it."""
        return _as_damage(lambda: release_of(self.path, self.record))

    def lines(self, name: str) -> Iterator[list[str]]:
        """The records of a CSV file, as labels."""
        for batch in csv_lines(self.path, name, self.record):
            yield from (list(map(plain, cells)) for cells in batch)


def _as_damage(read: Callable[[], R]) -> R:
    """What a function of the maker reads; what it refuses is damage."""
    try:
        return read()
    except HoldfastError as error:
        raise Damage(str(error)) from None


def _rows(bundle: _Bundle) -> Found:
    rows, record = bundle.rows, bundle.record
    stated = [column["missing"] for column in record["counts"]]
    stated += [record["table"]["structural_zeros"]]
    if [int(marks.sum()) for marks in (*rows.missing, rows.zero)] != stated:
        raise Damage("rows.csv does not mark the rows that release.json says are not measured.")
    warning = None
    for k, column in enumerate(record["counts"]):
        if not rows.measured[k].any():
            raise Damage("a column of counts has no row that was measured.")
        noise = Noise.from_dict(column["noise"])
        at = np.flatnonzero(rows.measured[k])
        noisy, reach = rows.noisy[k, at], noise.quantile(0.9)
        low, high = rows.ends[k, 0, at], rows.ends[k, 1, at]
        if (low != np.maximum(noisy - reach, 0)).any() or (
            high != np.maximum(noisy + reach, 0)
        ).any():
            raise Damage("a plain interval of rows.csv is not that of its noisy count.")
        if len(noisy) * noise.cumulative(noisy.min()) < ABSURD:
            warning = "a noisy count is further below 0 than noise ever goes."
    return Found("rows, marks, noisy counts and plain intervals are in order", warning)


def _groups(bundle: _Bundle) -> str:
    """Rows are in the groups that their published cells say."""
    record, rows = bundle.record, bundle.rows
    said, category = record["groups"], record["category"]
    start = 0
    for cells, size in table_batches(bundle.path, record):
        if start + size > record["table"]["rows"]:
            raise Damage("the table has more rows than release.json states.")
        some = slice(start, start + size)
        if category is not None and _texts(cells[category]) != rows.labels[some]:
            raise Damage("the rows of the table and of rows.csv are not the same.")
        if said["columns"]:
            columns = [_texts(cells[name]) for name in said["columns"]]
            _check_members(columns, rows.group[some], said)
        start += size
    if start != record["table"]["rows"]:
        raise Damage("the table has fewer rows than release.json states.")
    return f"{start} rows of the table are those of rows.csv, each in its group"


def _texts(cells: Any) -> list[str]:
    """Cells of the table as rows.csv writes them, before quotes."""
    if all(type(cell) is str for cell in cells):
        return list(cells)
    from holdfast.release.csv_files import texts_of
    from holdfast.release.escape import csv_label

    return [csv_label(text) for text in texts_of(list(cells)).to_pylist()]


def _check_members(columns: list[list[str]], group: Integers, said: dict[str, Any]) -> None:
    seen: set[tuple[Any, ...]] = set()
    for *cells, number in zip(*columns, group.tolist(), strict=True):
        key = (*cells, number)
        if number < 0 or key in seen:
            continue
        seen.add(key)
        for cell, label, classes in zip(
            cells, said["labels"][number], said["classes"], strict=True
        ):
            if not (_is_in_class if classes is not None else _is_label)(plain(cell), label):
                raise Damage("a row is in a group that its published cells do not say.")


def _is_label(cell: str, label: str) -> bool:
    number = _number(cell)
    return cell.casefold() == label.casefold() or (number is not None and number == _number(label))


def _is_in_class(cell: str, label: str) -> bool:
    low, _, high = label.partition(" to ")
    value, ends = _number(cell), (_number(low), _number(high))
    return value is not None and None not in ends and ends[0] <= value <= ends[1]  # type: ignore[operator]


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _counts(bundle: _Bundle) -> str:
    """Every count of the table, from noisy counts, histograms and the seed of ties."""
    record, rows, number = bundle.record, bundle.rows, 0
    earlier = list[tuple[Integers, Integers]]()
    for k, column in enumerate(record["counts"]):
        of_groups = matching.histograms(bundle.distribution, record, rows, k)
        counts = matching.released(rows, k, column, of_groups, earlier)
        earlier.append((counts, np.sort(counts[rows.measured[k]])))
    bundle.counts = [counts for counts, _ in earlier]
    top, name, start = record["top"], record["table"]["file"], 0
    read = count_reader(top, name)
    for cells, size in table_batches(bundle.path, record):
        for column, counts in zip(record["counts"], bundle.counts, strict=True):
            wanted = counts[start : start + size]
            wanted = wanted if top is None else np.minimum(wanted, top)
            if (read(cells[title(column)]) != wanted).any():
                raise Damage(f"a count of {name} does not follow from the noisy counts.")
            number += size
        start += size
    return f"{number} released counts were computed again from the noisy ones"


def _fit(bundle: _Bundle) -> Found:
    """The histograms are those that the fit makes of the measurement."""
    off = 0
    for column in bundle.release.columns:
        for fitted, stated in zip(column.estimate.histograms, column.histograms, strict=True):
            values = np.union1d(fitted.values, stated.values)
            sums = [
                np.cumsum(np.bincount(np.searchsorted(values, each.values), each.rows, len(values)))
                for each in (fitted, stated)
            ]
            off = max(off, int(np.abs(sums[0] - sums[1]).max(initial=0)))
    if not off:
        return Found("the distributions are those that the fit makes of the measurement")
    if off > max(2, MOST_OFF * bundle.record["table"]["rows"]):
        raise Damage("distribution.csv is not what the fit makes of the measurement.")
    return Found(
        "the distributions are those that the fit makes of the measurement, but for rounding",
        f"on this machine the fit differs by up to {off} rows: floating-point numbers are rounded "
        "otherwise where the release was made.",
    )


def _intervals(bundle: _Bundle) -> Found:
    """Likely intervals of rows, answers and shares follow."""
    from holdfast.release.common import DISTRIBUTION_HEADER, HEADER, summaries
    from holdfast.release.row_intervals import likely_intervals

    release, rows, off = bundle.release, bundle.rows, 0
    for k, column in enumerate(release.columns):
        at = np.flatnonzero(rows.measured[k])
        likely = likely_intervals(column.estimate)
        ends = likely(rows.noisy[k, at], rows.group[at].astype(np.int64))
        far = [np.abs(a - rows.ends[k, 2 + i, at]) for i, a in enumerate(ends)]
        off = max(off, int(np.maximum(*far).max(initial=0)))
    if off > 1:
        raise Damage("a likely interval of rows.csv does not follow from the release.")
    answers, shares = list[tuple[str, ...]]([HEADER]), list[tuple[str, ...]]([DISTRIBUTION_HEADER])
    for summary in summaries(release):
        answers += [answer.record() for answer in summary.answers()]
        shares += summary.distribution()
    same = words.compare("answers.csv", bundle.lines("answers.csv"), answers, exact=4)
    same &= words.compare("distribution.csv", bundle.lines("distribution.csv"), shares, exact=5)
    if same and not off:
        return Found("answers and intervals follow from the release")
    return Found(
        "answers and intervals follow from the release, but for rounding",
        "ends of some intervals are rounded otherwise on this machine.",
    )


def _written(bundle: _Bundle) -> Found:
    _, *lines = bundle.lines("answers.csv")
    return words.check_written(bundle.path, bundle.record, bundle.release, lines)


_CHECKS: "dict[str, tuple[Callable[[_Bundle], str | Found], tuple[str, ...]]]" = {
    "folder": (lambda bundle: files.check_folder(bundle.path), ()),
    "fields": (lambda bundle: check_fields(bundle.record), ("folder",)),
    "sizes": (lambda bundle: files.check_sizes(bundle.path, bundle.record), ("fields",)),
    "sums": (lambda bundle: files.check_sums(bundle.path, bundle.record), ("sizes",)),
    "budget": (lambda bundle: check_budget(bundle.record), ("fields",)),
    "promise in words": (lambda bundle: words.check_words(bundle.path, bundle.record), ("sizes",)),
    "rows": (_rows, ("sizes", "budget")),
    "groups": (_groups, ("rows",)),
    "released counts": (_counts, ("groups",)),
    "fit": (_fit, ("sums", "released counts")),
    "intervals": (_intervals, ("fit",)),
    "texts and picture": (_written, ("intervals", "promise in words")),
}
"""Every check by its name, and those that it needs."""
