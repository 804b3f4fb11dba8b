"""`holdfast.verify`: a bundle of one column of counts, or of several under one promise."""

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.former.verify.bundle import Checks, run_checks, verify_column
from holdfast.former.verify.folder import (
    LEFT_BY_SYSTEMS,
    RECORD,
    SUMS,
    check_hashes,
    check_size,
    find_table,
    read_small,
)
from holdfast.former.verify.persons import check_persons, check_shared_fields
from holdfast.former.verify.relations import Before, Column
from holdfast.former.verify.report import Check, Damage, Found, Verification, shown
from holdfast.former.verify.strict_json import parse_json
from holdfast.former.verify.texts import check_shared_words

README = "README.md"


def verify(directory: str | os.PathLike[str]) -> Verification:
    """Check a bundle as somebody who trusts neither its maker nor the program that made it.

    Reads the files as docs/bundle.md describes them, by code that shares nothing with the
    constructors, the mechanism or the writer, and repeats every claim: the sums, the budget and the
    certificate in integers and fractions, the fixed point, z from what stage 1 measured, that every
    released count can come from the mechanism and how probable all of them are; of several columns
    of counts each, and what they come to for one person. Two checks borrow: the fits of stage 1
    are repeated with the fits themselves, and what people read is written again, after checks of
    its own, to compare every byte. What it cannot know: whether the true table went through this
    mechanism, whether the noise of stage 1 was drawn as stated, and who made the bundle.

    Nothing in a bundle is ever run. Memory: 8 n^2 bytes for weights, O(n) for curves, and little
    beside. A damaged bundle raises nothing: the report is false, and says what is wrong.

    >>> report = verify("no such folder")
    >>> report.passed, report.damage
    (False, ('there is no folder here.',))
    """
    path = Path(directory)
    if not _is_several(path):
        return verify_column(path)[0]
    bundle = _Several(path)
    checks = run_checks(_CHECKS, bundle)
    simulated = bundle.record["privacy"]["simulated"] if checks["fields"].passed else None
    every = [*checks.values(), *bundle.of_columns]
    return Verification(folder=path, checks=tuple(every), simulated=simulated)


def _is_several(path: Path) -> bool:
    """Whether a folder says that it holds several columns; whatever is wrong is found later."""
    try:
        data = read_small(path, RECORD)
        record = parse_json(data, RECORD) if b'"counts"' in data else {}
    except (Damage, OSError, ValueError):
        return False
    return record.get("schema") == 5 and "counts" in record


class _Several:
    """A bundle of several columns while it is checked."""

    record: dict[str, Any]

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bundles = list[Column]()
        self.of_columns = list[Check]()

    def read_record(self) -> str:
        self.record = parse_json(read_small(self.path, RECORD), RECORD)
        return "release.json is one JSON object"

    def check_fields(self) -> str:
        check_shared_fields(self.record)
        return f"{len(self.record['counts'])} columns of counts"

    @property
    def folders(self) -> list[str]:
        return [place["folder"] for place in self.record["counts"]]

    def check_files(self) -> Found:
        """The files, the folders of the columns, and nothing else."""
        table = find_table(self.path)
        expected = {README, SUMS, RECORD, table}
        with os.scandir(self.path) as entries:
            for entry in entries:
                if entry.name in LEFT_BY_SYSTEMS:
                    continue
                is_folder = entry.name in self.folders
                right = (
                    entry.is_dir(follow_symlinks=False)
                    if is_folder
                    else (entry.name in expected and entry.is_file(follow_symlinks=False))
                )
                if not right:
                    raise Damage(f"the folder holds {shown(entry.name)}, which it must not.")
        missing = [name for name in (*expected, *self.folders) if not (self.path / name).exists()]
        if missing:
            raise Damage(f"{sorted(missing)[0]} is missing.")
        if sorted(self.record["files"]) != sorted([README, table]):
            raise Damage("release.json must give the sums of README.md and of the table.")
        return Found("all there, nothing else, no links")

    def check_sums(self) -> str:
        names = [README, find_table(self.path)]
        for name in names:
            check_size(self.path, self.record, name)
        columns = {f"{p['folder']}/{SUMS}": p["sha256"] for p in self.record["counts"]}
        check_hashes(self.path, self.record, names, columns)
        return f"{len(names) + len(columns) + 1} files are as they were when the release was made"

    def check_columns(self) -> str:
        """Every column by itself, given what is known of those before it."""
        before, counts = Before(), self.record["counts"]
        for place in counts:
            known = before if self.record["joint"] and self.bundles else None
            found, bundle = verify_column(self.path / place["folder"], known)
            self.of_columns += [_of(place["column"], check) for check in found.checks]
            if not found.passed:
                return f"{shown(place['column'])} is not in order; the rest was not looked at"
            self._check_place(bundle, place["column"])
            self.bundles.append(bundle)
            before.add(bundle)
        return f"{len(counts)} columns are in order by themselves"

    def _check_place(self, bundle: Column, column: str) -> None:
        """A column is the one that is named, in this table, with the others."""
        record, names = bundle.record, [place["column"] for place in self.record["counts"]]
        at, joint = names.index(column), self.record["joint"]
        said = record["count_column"], record.get("other_counts"), record.get("table_above")
        if said != (column, [name for name in names if name != column], True):
            raise Damage(f"the folder of {shown(column)} is not that of this column.")
        given, later = names[max(at - 2, 0) : at], names[at + 1 :]
        if (record["given"], record["later"]) != ((given, later) if joint else ([], [])):
            raise Damage(f"{shown(column)} was drawn given other columns than its place says.")
        for key in ("columns", "unchanged_columns", "holdfast"):
            if record[key] != self.record[key]:
                raise Damage(f"the columns do not agree on {key}.")

    def check_budget(self) -> str:
        if len(self.bundles) < len(self.record["counts"]):
            raise Damage("a column is not in order.")
        return check_persons(self.record, [bundle.record["privacy"] for bundle in self.bundles])

    def check_words(self) -> str:
        return check_shared_words(self.path, self.record, find_table(self.path))


def _of(column: str, check: Check) -> Check:
    name = re.sub(r"[^\x20-\x7e]", "?", column)[:40]
    warning = None if check.warning is None else f"{name}: {check.warning}"
    named, said = f"{name}: {check.name}", f"{name}: {check.detail}"
    return replace(check, name=named, detail=said, warning=warning)


_CHECKS: Checks[_Several] = {
    "record": (_Several.read_record, ()),
    "fields": (_Several.check_fields, ("record",)),
    "files": (_Several.check_files, ("fields",)),
    "hashes": (_Several.check_sums, ("files",)),
    "columns": (_Several.check_columns, ("fields", "files")),
    "budget": (_Several.check_budget, ("columns",)),
    "words": (_Several.check_words, ("budget",)),
}
