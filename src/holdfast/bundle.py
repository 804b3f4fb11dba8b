"""The bundle on disk: written whole or not at all, and read only if nothing was damaged."""

import hashlib
import json
import os
import secrets
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.bound import Bound
from holdfast.delta import declared_delta, group_delta
from holdfast.errors import HoldfastError
from holdfast.mechanism import Mechanism
from holdfast.pictures import distribution_picture
from holdfast.release import SCHEMA, Privacy, Release
from holdfast.release_text import picture_title, read_me
from holdfast.table import read_file, read_table, write_file

FORMATS = ("csv", "parquet")
FIXED = ("README.md", "distribution.svg", "mechanism.npz")


def save(release: Release, directory: str | os.PathLike[str], table_format: str) -> Path:
    """Write a release as a new folder.

    The folder is written beside its place under another name and renamed; a folder or file
    that is there already is never touched.
    """
    if table_format not in FORMATS:
        raise HoldfastError(f"`table_format` must be csv or parquet, got {table_format!r:.40}.")
    place = new_folder(directory)
    release.mechanism.verify()
    partial = _partial_folder(place)
    try:
        _write(release, partial, table_format)
        if place.exists():
            raise HoldfastError(f"`{place}` exists already; nothing was written.")
        os.rename(partial, place)
        _flush(place.parent)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return place


def load(directory: str | os.PathLike[str]) -> Release:
    """Read a bundle; raises if a file or the record was damaged or the certificate fails.

    This finds accidents. Whoever changes a bundle on purpose can change its sums as well.
    """
    folder = Path(directory)
    if not folder.is_dir():
        raise HoldfastError(f"there is no folder `{folder}`. Hint: name the folder of a release.")
    try:
        record = json.loads((folder / "release.json").read_text(encoding="utf-8"))
        table = _check_files(folder, record)
        release = _rebuild(folder, record, table)
        _check_record(release, record)
    except HoldfastError:
        raise
    except Exception as error:
        raise HoldfastError(
            f"`{folder}` is not a whole holdfast release ({type(error).__name__}). "
            "Hint: get it again from its maker."
        ) from None
    return release


def new_folder(directory: str | os.PathLike[str]) -> Path:
    """The path of a folder that can be made; raises if it exists or cannot be written."""
    place = Path(directory)
    if place.exists() or place.is_symlink():
        raise HoldfastError(
            f"`{place}` exists already; nothing was drawn. Hint: name a new folder."
        )
    if not place.parent.is_dir():
        raise HoldfastError(f"the folder `{place.parent}` does not exist. Hint: make it first.")
    try:
        _partial_folder(place).rmdir()
    except OSError as error:
        raise HoldfastError(
            f"`{place.parent}` cannot be written to ({error.strerror}). "
            "Hint: choose another folder."
        ) from None
    return place


def _partial_folder(place: Path) -> Path:
    partial = place.parent / f".{place.name}.partial-{secrets.token_hex(8)}"
    partial.mkdir()
    return partial


def _write(release: Release, folder: Path, table_format: str) -> None:
    table = release.table if release.count_column is not None else release.counts
    write_file(table, folder / f"table.{table_format}")
    with open(folder / "mechanism.npz", "xb") as file:
        np.savez_compressed(file, weights=release.mechanism.weights)
    picture = distribution_picture(
        [(release.count_column or "count", release.distribution)],
        title=picture_title(release.rows, release.privacy),
    )
    (folder / "distribution.svg").write_text(picture, encoding="utf-8")
    text = read_me(release.summary(), f"table.{table_format}")
    (folder / "README.md").write_text(text, encoding="utf-8")
    noisy = release.measurement
    record = release.summary() | {
        "target": release.target.tolist(),
        "measurement": None if noisy is None else noisy.tolist(),
        "fixed_point": release.mechanism.target is not None,
        "files": {path.name: _hash(path) for path in sorted(folder.iterdir())},
    }
    record["record_digest"] = _record_digest(record)
    (folder / "release.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    for path in [*folder.iterdir(), folder]:
        _flush(path)


def _check_files(folder: Path, record: dict[str, Any]) -> Path:
    """The path of the table, once every file is found as it was."""
    if record["schema"] != SCHEMA:
        raise HoldfastError(f"this release has schema {record['schema']!r:.20}, not {SCHEMA}.")
    if record["record_digest"] != _record_digest(record):
        raise HoldfastError(f"`{folder / 'release.json'}` was changed after the release was made.")
    tables = [f"table.{kind}" for kind in FORMATS if f"table.{kind}" in record["files"]]
    if sorted(record["files"]) != sorted([*FIXED, *tables]) or len(tables) != 1:
        raise HoldfastError("release.json does not name the files of a release.")
    for name, expected in record["files"].items():
        if _hash(folder / name) != expected:
            raise HoldfastError(
                f"`{folder / name}` was changed after the release was made. "
                "Hint: get the release again from its maker."
            )
    return folder / tables[0]


def _rebuild(folder: Path, record: dict[str, Any], path: Path) -> Release:
    with np.load(folder / "mechanism.npz", allow_pickle=False) as archive:
        weights = archive["weights"]
    privacy = Privacy.from_dict(record["privacy"])
    target = np.array(record["target"], dtype=np.float64)
    noisy = record.get("measurement")
    table, column = read_file(path), record["count_column"]
    bound = record.get("max_count_found")
    counts = read_table(table, count=column or "count").counts
    return Release(
        counts=counts,
        table=table if column is not None else counts,
        target=target,
        mechanism=Mechanism(
            weights=weights,
            epsilon=privacy.budget.unit_2,
            target=target if record["fixed_point"] else None,
            delta=Fraction(record["mechanism_delta"]),
        ),
        privacy=privacy,
        rows=int(record["rows"]),
        structural_zeros=int(record["structural_zeros"]),
        bound=None if bound is None else Bound.from_dict(bound),
        methods=tuple(record["methods"]),
        measurement=None if noisy is None else np.array(noisy, dtype=np.int64),
        count_column=column,
        unchanged_columns=tuple(record["unchanged_columns"]),
        notes=tuple(record["notes"]),
    )


def _check_record(release: Release, record: dict[str, Any]) -> None:
    budget, top = release.privacy.budget, len(release.mechanism.weights) - 1
    fits = (
        record["mechanism_digest"] == release.mechanism.digest
        and release.mechanism.certified_epsilon * budget.steps == release.privacy.stage_2_certified
        and release.privacy.delta
        >= group_delta(declared_delta(release.mechanism), budget.unit_2, budget.steps)
        and record["max_count"] == top
        and _bound_fits(release, top)
        and budget.steps == min(budget.contributions, top)
        and release.rows > 0
        and 0 <= release.structural_zeros <= np.count_nonzero(release.counts == 0)
        and release.rows + release.structural_zeros == len(release.counts)
        and release.counts.max() <= top
        and len(release.target) == top + 1
        and (release.measurement is None or release.measurement.ndim == 1)
    )
    if not fits:
        raise HoldfastError("release.json does not fit the mechanism and the table beside it.")


def _bound_fits(release: Release, top: int) -> bool:
    found, part = release.bound, release.privacy.budget.bound
    return part == 0 if found is None else (found.epsilon, found.max_count) == (part, top)


def _record_digest(record: dict[str, Any]) -> str:
    content = {key: value for key, value in record.items() if key != "record_digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
