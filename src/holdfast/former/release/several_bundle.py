"""The bundle of several counts: one table, the promise, and a folder for each column.

docs/bundle.md describes every file; `holdfast.verify` checks them with code of its own.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from holdfast.former.release.bundle import (
    check_format,
    complete,
    file_hash,
    new_bundle,
    read_record,
    rebuild,
    seal,
    seen_by,
    table_name,
    verified,
    write_text,
    writing,
)
from holdfast.former.release.facts import ReleaseFacts
from holdfast.former.release.release import Release
from holdfast.former.release.several import SeveralFacts, SharedPrivacy, TableRelease
from holdfast.former.release.several_text import several_read_me
from holdfast.former.tables.files import column_names
from holdfast.former.tables.table import read_file, write_file


def save(release: TableRelease, directory: str | os.PathLike[str], table_format: str) -> Path:
    """Write a release of several counts as a new folder, all of it or nothing."""
    missing = any(one.missing_rows is not None for one in release.columns.values())
    check_format(release.cells, table_format, missing=missing)
    with writing(Path(directory).parent), new_bundle(directory) as folder:
        for one in release.columns.values():
            one.drawn_with.verify()
        write_file(release.cells, folder / f"table.{table_format}")
        complete_several(release, folder, column_names(release.cells))
    return Path(directory)


def complete_several(release: SeveralFacts[Any], folder: Path, columns: list[str]) -> None:
    """Write everything else of a bundle beside the table, whose columns these are."""
    record = release.summary() | {"columns": columns}
    places = []
    for name, place in zip(release.columns, folder_names(list(release.columns)), strict=True):
        own = folder / place
        own.mkdir()
        complete(release.columns[name], own, columns)
        sums = {"sha256": file_hash(own / "SHA256SUMS")}
        places.append({"column": name, "folder": place} | sums)
    record["counts"] = places
    write_text(folder / "README.md", several_read_me(record, table_name(folder)))
    below = [f"{place['folder']}/SHA256SUMS" for place in places]
    seal(folder, record, ["README.md", table_name(folder)], below)


def folder_names(columns: Sequence[str]) -> list[str]:
    """The folders of columns: their number, and what of their name any system can hold.

    >>> folder_names(["murder", "Rape & assault"])
    ['1-murder', '2-rape-assault']
    """
    plain = [re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] for name in columns]
    return [f"{k}-{name}" if name else f"{k}-counts" for k, name in enumerate(plain, 1)]


def load_table(directory: str | os.PathLike[str]) -> TableRelease:
    """Read a bundle of several counts, written by `TableRelease.save`; raises if `holdfast.verify`
    finds any damage."""
    with verified(directory) as (folder, record):
        table = read_file(folder / table_name(folder))
        columns = dict[str, Release]()
        for place in record["counts"]:
            own = folder / place["folder"]
            about = read_record(own)
            columns[place["column"]] = rebuild(own, about, seen_by(about, table))
        return TableRelease(cells=table, **facts_of_several(record, columns))


def facts_of_several(record: dict[str, Any], columns: Mapping[str, ReleaseFacts]) -> dict[str, Any]:
    """The fields of a release of several counts, but for its table, from its record."""
    return {
        "columns": columns,
        "privacy": SharedPrivacy.from_dict(record["privacy"], columns),
        "joint": record["joint"],
        "notes": tuple(record["notes"]),
        "receipt": record.get("receipt"),
    }
