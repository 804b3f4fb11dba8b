"""`holdfast.verify`: all that follows from the measurement of a bundle, computed again.

Budget, marks, groups and released counts by code of its own; fit, intervals and texts by the
maker's (docs/verify.md).
"""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.release.common import ANSWERS, DISTRIBUTION, DISTRIBUTION_HEADER, HEADER, summaries
from holdfast.release.csv_files import labels_of
from holdfast.release.load import Table, read_distribution, release_of
from holdfast.release.record import parse_json, read_noise
from holdfast.release.release import Release
from holdfast.release.row_intervals import likely_intervals
from holdfast.verify import folder as files
from holdfast.verify import matching
from holdfast.verify.matching import AT_A_TIME
from holdfast.verify.record import check_budget, check_fields
from holdfast.verify.report import Check, Damage, Failure, Found, Verification
from holdfast.verify.rows import LEVEL, RowsFile, TableFile, csv_columns

ABSURD = 1e-12
"""Probability, over all rows, of a negative noisy count that is taken for a mistake."""
MOST_OFF = 0.002
"""Share of the rows by which the histograms of two machines may differ, by rounding."""
FAR = 0.1
"""Of a count, beside the reach of its noise: how far rounding may move a row, which is less than
the width of a cell."""
NEAR = 2
"""How far a weight of relations may be off by rounding, of 256 for a noisy count."""


def verify(directory: str | os.PathLike[str]) -> Verification:
    """Recompute all that follows from the measurement of a release, from its own files.

    The budget is added up exactly; marks, groups, noisy counts and intervals of rows are compared;
    every released count is computed again in integers from noisy counts, histograms and the seed
    of ties. Nothing in the folder is run. It cannot tell who made the release, nor whether the true
    table went into it.

    Parameters:
        directory: The folder of a release.

    Returns:
        A `Verification`, true if every check was made and passed. Nothing is raised.

    >>> bool(verify("no such folder"))
    False
    """
    bundle = _Bundle(Path(directory))
    checks: dict[str, Check] = {}
    for name, (check, needs) in _CHECKS.items():
        lost = [need for need in needs if not checks[need].held]
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
    except Damage as damage:
        passed = None if damage.failure is Failure.MACHINE else False
        return Check(name=name, passed=passed, detail=str(damage), failure=damage.failure)
    except HoldfastError as error:  # what the maker's functions refuse
        return Check(name=name, passed=False, detail=str(error), failure=Failure.DAMAGE)
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

    @cached_property
    def record(self) -> dict[str, Any]:
        """release.json."""
        return parse_json(files.read_small(self.path, files.RECORD), files.RECORD)

    @cached_property
    def rows(self) -> RowsFile:
        """rows.csv."""
        return RowsFile(self.path, self.record)

    @cached_property
    def table(self) -> TableFile:
        """The table."""
        return TableFile(self.path, self.record, self.rows.group)

    @cached_property
    def distribution(self) -> Table:
        """distribution.csv."""
        with files.opened(self.path, DISTRIBUTION) as file:
            return read_distribution(file, self.record)

    @cached_property
    def release(self) -> Release:
        """The release as the maker reads it."""
        return release_of(self.path, self.record, self.rows.stored())

    def lines(self, name: str, header: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """The records of a CSV file, as labels."""
        for columns in csv_columns(self.path, name, self.record, header):
            yield from zip(*(labels_of(cells).to_pylist() for cells in columns), strict=True)


def _rows(bundle: _Bundle) -> Found:
    rows, record = bundle.rows, bundle.record
    stated = [column["missing"] for column in record["counts"]]
    stated += [record["table"]["structural_zeros"]]
    if [int(marks.sum()) for marks in (*rows.missing, rows.zero)] != stated:
        raise Damage("rows.csv does not mark the rows that release.json says are not measured.")
    warning = None
    for measured, noisy, column in zip(rows.measured, rows.noisy, record["counts"], strict=True):
        if not measured.any():
            raise Damage("a column of counts has no row that was measured.")
        below = read_noise(column["noise"]).cumulative(int(noisy[measured].min()))
        if measured.sum() * below < ABSURD:
            warning = "a noisy count is further below 0 than noise ever goes."
    return Found("rows, marks, noisy counts and plain intervals are in order", warning)


def _groups(bundle: _Bundle) -> str:
    """Rows are in the groups that their published cells say."""
    table = bundle.table
    if bundle.record["category"] is not None and table.labels.digest != bundle.rows.labels.digest:
        raise Damage("the rows of the table and of rows.csv are not the same.")
    return f"{table.rows} rows of the table are those of rows.csv, each in its group"


def _counts(bundle: _Bundle) -> str:
    """Every count of the table, from noisy counts, histograms and the seed of ties."""
    record, rows, top = bundle.record, bundle.rows, bundle.record["top"]
    earlier = list[tuple[Integers, Integers]]()
    for k, (column, counts) in enumerate(zip(record["counts"], bundle.table.counts, strict=True)):
        of_groups = matching.histograms(bundle.distribution, record, rows, k)
        wanted = matching.released(rows, k, column, of_groups, earlier)
        if (counts != (wanted if top is None else np.minimum(wanted, np.int64(top)))).any():
            raise Damage(f"a count of {bundle.table.name} does not follow from the noisy counts.")
        if len(record["counts"]) > 1:
            earlier.append((wanted, np.sort(wanted[rows.measured[k]])))
    number = bundle.table.rows * len(record["counts"])
    return f"{number} released counts were computed again from the noisy ones"


def _fit(bundle: _Bundle) -> Found:
    """The histograms are those that the fit makes of the measurement."""
    off, far = 0, 0.0
    _check_relations(bundle)
    for column in bundle.release.columns:
        for fitted, stated in zip(column.estimate.histograms, column.histograms, strict=True):
            values = np.union1d(fitted.values, stated.values)
            sums = [
                np.cumsum(np.bincount(np.searchsorted(values, each.values), each.rows, len(values)))
                for each in (fitted, stated)
            ]
            off = max(off, int(np.abs(sums[0] - sums[1]).max(initial=0)))
            counts, reach = stated.counts(), column.measurement.noise.quantile(LEVEL)
            if fitted.size == len(counts):
                moved = np.abs(fitted.counts() - counts)
                far = max(far, float((moved / (FAR * counts + reach + 2)).max(initial=0)))
    if not off:
        return Found("the distributions are those that the fit makes of the measurement")
    if off > max(2, MOST_OFF * bundle.record["table"]["rows"]) or far > 1:
        raise Damage("distribution.csv is not what the fit makes of the measurement.")
    return Found(
        "the distributions are those that the fit makes of the measurement, but for rounding",
        f"on this machine the fit differs by up to {off} rows: floating-point numbers are rounded "
        "otherwise where the release was made.",
    )


def _check_relations(bundle: _Bundle) -> None:
    """The weights of relations, where there are any, are those that the noisy counts ask for."""
    release, request = bundle.release, bundle.record["request"]
    stated = [column.relations for column in release.columns]
    if not any(stated) and not (request and request["relations"]):
        return
    for weights, column in zip(stated, release.related().columns, strict=True):
        pairs = zip_longest(weights, column.relations, fillvalue=0)
        if any(abs(a - b) > NEAR for a, b in pairs):
            raise Damage("the relations of release.json do not follow from the noisy counts.")


def _intervals(bundle: _Bundle) -> Found:
    """Likely intervals of rows, answers and shares follow."""
    release, rows, off = bundle.release, bundle.rows, 0
    most = max(2, MOST_OFF * bundle.record["table"]["rows"])
    for k, column in enumerate(release.columns):
        likely, measured = likely_intervals(column.estimate), np.flatnonzero(rows.measured[k])
        for start in range(0, len(measured), AT_A_TIME):
            at = measured[start : start + AT_A_TIME]
            ends = likely(rows.noisy[k][at].astype(np.int64), rows.group[at].astype(np.int64))
            away = [np.abs(a - b[at]) for a, b in zip(ends, rows.likely[k], strict=True)]
            off += int((np.maximum(*away) > 0).sum())
            most = 0 if np.max(away) > 1 else most
    if off > most:
        raise Damage("a likely interval of rows.csv does not follow from the release.")
    answers, shares = list[tuple[str, ...]](), list[tuple[str, ...]]()
    for summary in summaries(release):
        answers += [answer.record() for answer in summary.answers()]
        shares += summary.distribution()
    lines = bundle.lines(ANSWERS, HEADER)
    same = files.compare(ANSWERS, lines, answers, exact=4)
    lines = bundle.lines(DISTRIBUTION, DISTRIBUTION_HEADER)
    same &= files.compare(DISTRIBUTION, lines, shares, exact=5)
    if same and not off:
        return Found("answers and intervals follow from the release")
    return Found(
        "answers and intervals follow from the release, but for rounding",
        "ends of some intervals are rounded otherwise on this machine.",
    )


def _written(bundle: _Bundle) -> Found:
    answers = list(bundle.lines(ANSWERS, HEADER))
    return files.check_written(bundle.path, bundle.record, bundle.release, answers)


_CHECKS: "dict[str, tuple[Callable[[_Bundle], str | Found], tuple[str, ...]]]" = {
    "folder": (lambda bundle: files.check_folder(bundle.path), ()),
    "fields": (lambda bundle: check_fields(bundle.record), ("folder",)),
    "sizes": (lambda bundle: files.check_sizes(bundle.path, bundle.record), ("fields",)),
    "sums": (lambda bundle: files.check_sums(bundle.path, bundle.record), ("sizes",)),
    "budget": (lambda bundle: check_budget(bundle.record), ("fields",)),
    "promise in words": (lambda bundle: files.check_words(bundle.path, bundle.record), ("sizes",)),
    "rows": (_rows, ("sizes", "budget")),
    "groups": (_groups, ("rows",)),
    "released counts": (_counts, ("groups",)),
    "fit": (_fit, ("sums", "released counts")),
    "intervals": (_intervals, ("fit",)),
    "texts and picture": (_written, ("intervals", "promise in words")),
}
"""Every check by its name, and those that it needs."""
