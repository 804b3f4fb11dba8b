"""The bundle on disk: written whole or not at all, in batches of rows.

docs/bundle.md describes every file; `holdfast.verify` checks them.
"""

import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.release.codebook import codebook
from holdfast.release.common import (
    ANSWERS,
    DISTRIBUTION,
    DISTRIBUTION_HEADER,
    HEADER,
    summaries,
)
from holdfast.release.csv_files import opened
from holdfast.release.deployment import deployment_yaml
from holdfast.release.picture import PICTURE, distribution_picture
from holdfast.release.readme import read_me
from holdfast.release.record import MOST_BYTES, SCHEMA, check_size, plain, plain_promise, table_name
from holdfast.release.release import Column, Release, RowBatch
from holdfast.release.table_files import RowFiles, table_header

RECORD, SUMS = "release.json", "SHA256SUMS"
README, CODEBOOK, DEPLOYMENT = "README.md", "codebook.md", "deployment.yaml"
LEVEL = "9/10"
_NUMBERS = re.compile(r"\[\n\s+-?[0-9][-0-9,\s]*\]")  # texts hold no ends of lines
A_ROW, BESIDE = 64, 1 << 20  # bytes of rows.csv, and of all that is not a file of rows, at least


def write(release: Release, batches: Iterable[RowBatch], folder: str | os.PathLike[str]) -> Path:
    """Write a release whose rows come in batches, in their order, as a new folder.

    The folder is written beside its place under another name and renamed; a folder or file that
    is there already is never touched.
    """
    check_size(release.rows, len(release.columns), release.partition.labels, table_header(release))
    with writing(Path(folder).parent), new_folder(folder) as place:
        with ExitStack() as stack:
            files = RowFiles(release, place, stack)
            for batch in batches:
                files.write(batch)
        if files.rows != release.rows:
            raise HoldfastError("a release must be written with all of its rows.")
        release = replace(release, known_zeros=files.known_zeros)
        _complete(release, place, files)
    return Path(folder)


def _complete(release: Release, folder: Path, files: RowFiles) -> None:
    """Write everything that is not a file of rows."""
    said = record(release, files.missing)
    answers = list[tuple[str, ...]]()
    with ExitStack() as stack:
        lines = opened(folder / DISTRIBUTION, release.dialect, DISTRIBUTION_HEADER, stack)
        for summary in summaries(release):
            answers += [answer.record() for answer in summary.answers()]
            lines.writelines(map(release.dialect.line, summary.distribution()))
        table = opened(folder / ANSWERS, release.dialect, HEADER, stack)
        table.writelines(map(release.dialect.line, answers))
    for name, text in {
        README: read_me(said, answers),
        CODEBOOK: codebook(said),
        DEPLOYMENT: deployment_yaml(said),
        PICTURE: distribution_picture(release),
    }.items():
        _write_text(folder / name, text)
    _seal(folder, said)


def record(release: Release, missing: Mapping[str, int]) -> dict[str, Any]:
    """release.json, but for the sums of the other files; `missing` are rows of each column."""
    groups = release.partition
    return {
        "schema": SCHEMA,
        "made_with": release.made_with,
        "promise": plain_promise(release.promise),
        "request": release.request,
        "table": {
            "file": table_name(release.table_format),
            "rows": release.rows,
            "structural_zeros": release.zeros(),
            **release.dialect.to_dict(),
        },
        "category": release.category,
        "published": list(release.published),
        "counts": [_measured(column, missing[column.name]) for column in release.columns],
        "groups": {
            **groups.within.to_dict(),
            "labels": [list(label) for label in groups.labels],
            "names": list(release.group_names),
            "regrouped": release.regrouped,
        },
        "top": release.top_code,
        "period": release.period,
        "level": LEVEL,
        "notes": list(release.notes),
        "receipt": release.receipt,
    }


def _measured(column: Column, missing: int) -> dict[str, Any]:
    """A column of counts: what was measured of it beside the noisy counts."""
    measured = plain(column.measurement, "tally")
    ranks = {"ties": str(column.ties), "relations": list(column.relations)}
    return {"name": column.name, "missing": missing, **ranks, **measured}


def _write_text(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8"))  # the same bytes on every system


def _seal(folder: Path, said: dict[str, Any]) -> None:
    """Write release.json, with the sums of the other files, and SHA256SUMS of all."""
    names = sorted(path.name for path in folder.iterdir())
    sums = {name: file_hash(folder / name) for name in names}
    said["files"] = {
        name: {"bytes": (folder / name).stat().st_size, "sha256": sums[name]} for name in names
    }
    text = json.dumps(said, indent=1, allow_nan=False)
    _write_text(folder / RECORD, _NUMBERS.sub(_on_one_line, text) + "\n")
    sums[RECORD] = file_hash(folder / RECORD)
    _write_text(folder / SUMS, "".join(f"{sums[name]}  {name}\n" for name in sorted(sums)))
    for name, most in MOST_BYTES.items():
        if (folder / name).stat().st_size > most:
            raise HoldfastError(f"`{name}` would be larger than {most:,} bytes.")
    for path in [*folder.iterdir(), folder]:
        _flush(path)


def _on_one_line(numbers: re.Match[str]) -> str:
    return re.sub(r"\s+", " ", numbers[0]).replace("[ ", "[").replace(" ]", "]")


def file_hash(path: Path) -> str:
    """The SHA-256 sum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def new_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder to write a bundle in. It gets its name when all is well, and is gone otherwise."""
    place = check_place(folder)
    partial = _partial(place)
    try:
        yield partial
        _put(partial, place)
        _flush(place.parent)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Name the folder where a full disk or the like keeps a bundle from being written."""
    try:
        yield
    except OSError as error:
        raise HoldfastError(
            f"`{place}` cannot be written to ({error.strerror or type(error).__name__}). "
            "Hint: make room, or choose another folder."
        ) from None


def check_place(folder: str | os.PathLike[str]) -> Path:
    """The path of a folder that can be made; raises if it exists or cannot be written. To be
    called before anything is paid."""
    place = Path(folder)
    if place.exists() or place.is_symlink():
        raise HoldfastError(f"`{place}` exists already. Hint: name a new folder.")
    if not place.parent.is_dir():
        raise HoldfastError(f"the folder `{place.parent}` does not exist. Hint: make it first.")
    try:
        _partial(place).rmdir()
    except OSError as error:
        raise HoldfastError(
            f"`{place.parent}` cannot be written to ({error.strerror}). "
            "Hint: choose another folder."
        ) from None
    return place


def check_disk_room(folder: Path, size: int) -> None:
    """Raise if a disk plainly has no room for a bundle of about so many bytes. To be called before
    anything is paid."""
    free = shutil.disk_usage(folder).free
    if free < size:
        raise HoldfastError(
            f"`{folder}` has no room: about {size / 1e6:,.1f} MB are needed and "
            f"{free / 1e6:,.1f} are free. Nothing was measured or spent. Hint: make room, or "
            "choose another folder."
        )


def bundle_size(table: int, rows: int, columns: int) -> int:
    """About how many bytes a bundle takes whose table takes so many."""
    return 2 * table + A_ROW * rows * columns + BESIDE


def _put(partial: Path, place: Path) -> None:
    try:
        if place.exists():
            raise FileExistsError
        os.rename(partial, place)  # fails where a folder with something in it was put there first
    except OSError:
        if not place.exists() and not place.is_symlink():
            raise
        raise HoldfastError(f"`{place}` exists already; nothing was written.") from None


def _partial(place: Path) -> Path:
    partial = place.parent / f".{place.name}.partial-{secrets.token_hex(8)}"
    partial.mkdir()
    return partial


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
