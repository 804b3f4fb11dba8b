"""The bundle on disk: written whole or not at all, and read only if nothing was damaged.

docs/bundle.md describes every file; `holdfast.verify` checks them with code of its own.
"""

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.former.mechanism.grouped import GroupedMechanism
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.mechanism.weights import TOTAL
from holdfast.former.privatizers.max_count import FoundMaxCount
from holdfast.former.privatizers.totals import Totals
from holdfast.former.release.facts import ReleaseFacts
from holdfast.former.release.groups_file import encode_groups, groups_csv, read_groups
from holdfast.former.release.mechanism_file import (
    decode_curves,
    decode_weights,
    encode_curves,
    encode_weights,
)
from holdfast.former.release.plain_files import (
    MECHANISM,
    MOST_LINES,
    intervals_record,
    mechanism_csv,
    write_intervals,
)
from holdfast.former.release.promise import Privacy
from holdfast.former.release.recipes import has_mechanism_csv
from holdfast.former.release.release import Release
from holdfast.former.release.row_marks import MOST_ROWS, marks_from_text, marks_to_text
from holdfast.former.release.target_text import target_from_json, target_to_json
from holdfast.former.release.text import written
from holdfast.former.verify import verify
from holdfast.former.verify.report import Verification
from holdfast.former.privacy.budget import Budget
from holdfast.former.tables.files import column_names
from holdfast.former.tables.group_rows import found_again
from holdfast.former.tables.table import (
    CsvTable,
    labels_of,
    read_file,
    read_table,
    without_columns,
    write_file,
)

FORMATS = ("csv", "parquet")
CURVES, WEIGHTS = "mechanism.curves", "mechanism.weights"
GROUPS, LABELS = "mechanism.groups", "groups.csv"
BESIDE, A_COUNT, A_CELL = 1 << 16, 60, 15  # bytes of all that is not the table, and by its size


def save(release: Release, directory: str | os.PathLike[str], table_format: str) -> Path:
    """Write a release as a new folder.

    The folder is written beside its place under another name and renamed; a folder or file
    that is there already is never touched.
    """
    check_whole(release)
    table = release.cells if release.count_column is not None else _bare(release.counts)
    check_format(table, table_format, missing=release.missing_rows is not None)
    with writing(Path(directory).parent), new_bundle(directory) as folder:
        release.drawn_with.verify()
        write_file(table, folder / f"table.{table_format}")
        complete(release, folder, column_names(table))
    return Path(directory)


def check_whole(release: ReleaseFacts) -> None:
    """Refuse one column of several: nothing in its bundle would vouch for the counts beside it."""
    if release.other_counts:
        raise HoldfastError(
            "this is one column of a release of several counts. Hint: save the whole release."
        )


def check_format(table: Any, table_format: str, *, missing: bool) -> None:
    """Refuse a format that a table cannot be written in."""
    if table_format not in FORMATS:
        raise HoldfastError(f"`table_format` must be csv or parquet, got {table_format!r:.40}.")
    if missing and table_format == "parquet" and _is_text(table):
        raise HoldfastError(
            "missing counts of a text table cannot be saved as Parquet. Hint: save it as CSV."
        )


@contextmanager
def new_bundle(directory: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder to write a bundle in. It gets its name when all is well, and is gone otherwise."""
    place = new_folder(directory)
    partial = _partial_folder(place)
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
            f"`{place}` cannot be written to ({error.strerror or type(error).__name__}); nothing "
            "was released. Hint: make room, or choose another folder."
        ) from None


def check_free(folder: Path, size: int) -> None:
    """Raise if a disk plainly has no room for a bundle of about so many bytes."""
    free = shutil.disk_usage(folder).free
    if free < size:
        raise HoldfastError(
            f"`{folder}` has no room: about {size / 1e6:,.1f} MB are needed and "
            f"{free / 1e6:,.1f} are free. Nothing was drawn or spent. Hint: make room, or choose "
            "another folder."
        )


def bundle_size(table: int, max_count: int) -> int:
    """About how many bytes a bundle takes whose table takes so many."""
    plain = A_CELL * (max_count + 1) ** 2 if max_count <= 200 else 0  # mechanism.csv
    return 2 * table + BESIDE + A_COUNT * max_count + plain


def load(directory: str | os.PathLike[str]) -> Release:
    """Read a bundle; raises if `holdfast.verify` finds any damage.

    This finds accidents. Whoever changes a bundle on purpose can change its sums as well.
    """
    return load_verified(Path(directory), None)


def load_verified(place: Path, found: Verification | None) -> Release:
    """The same with what `holdfast.verify` has just found there, where that is known: nothing is
    recomputed twice."""
    with verified(place, found) as (folder, record):
        if "counts" in record:
            raise HoldfastError(
                f"`{folder}` is a release of several counts. Hint: holdfast.load_table reads it "
                "whole; holdfast.load one of its columns, from the folder of that."
            )
        return rebuild(folder, record)


@contextmanager
def verified(
    directory: str | os.PathLike[str], found: Verification | None = None
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """A bundle that was found in order, and its record."""
    folder = Path(directory)
    if not folder.is_dir():
        raise HoldfastError(f"there is no folder `{folder}`. Hint: name the folder of a release.")
    (verify(folder) if found is None else found).require()
    try:
        yield folder, read_record(folder)
    except HoldfastError:
        raise
    except Exception as error:  # nothing that verify lets pass is known to come here
        raise HoldfastError(
            f"`{folder}` was verified, but could not be loaded "
            f"({type(error).__name__}): that is a fault of holdfast or of this machine, not of "
            "the release. Hint: report it."
        ) from None


def read_record(folder: Path) -> dict[str, Any]:
    """release.json, of a bundle that was found in order."""
    record: dict[str, Any] = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    return record


def write_new(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file where there is none."""
    try:
        with open(path, "xb") as file:
            file.write(data)
    except OSError as error:
        raise HoldfastError(f"`{path}` cannot be written: {error.strerror}.") from None


def new_folder(directory: str | os.PathLike[str]) -> Path:
    """The path of a folder that can be made; raises if it exists or cannot be written."""
    place = Path(directory)
    if place.exists() or place.is_symlink():
        raise HoldfastError(f"`{place}` exists already. Hint: name a new folder.")
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


def _put(partial: Path, place: Path) -> None:
    try:
        if place.exists():
            raise FileExistsError
        os.rename(partial, place)  # fails where a folder with something in it was put there first
    except OSError:
        if not place.exists() and not place.is_symlink():
            raise
        raise HoldfastError(f"`{place}` exists already; nothing was written.") from None


def _partial_folder(place: Path) -> Path:
    partial = place.parent / f".{place.name}.partial-{secrets.token_hex(8)}"
    partial.mkdir()
    return partial


def complete(release: ReleaseFacts, folder: Path, columns: list[str]) -> None:
    """Write everything else of a bundle beside the table, whose columns these are; the table of
    several counts is in the folder above."""
    above = not any((folder / f"table.{kind}").exists() for kind in FORMATS)
    name = table_name(folder.parent if above else folder)
    name = f"../{name}" if above else name
    release = _at_hand(release, folder / name)
    mechanism = _write_mechanism(release, folder)
    record, drawn = _record(release, columns), release.released_histogram.copy()
    _write_plain_files(release, record, folder, folder / name)
    drawn[0] -= release.structural_zeros
    record |= {"table_above": True} if above else {}
    shown = [] if release.groups is None else release.groups.shown()
    for file, text in written(record, drawn.tolist(), name, mechanism, shown).items():
        write_text(folder / file, text)
    record["target"] = target_to_json(release.target)
    seal(folder, record, sorted(path.name for path in folder.iterdir()))


def seal(
    folder: Path, record: dict[str, Any], files: list[str], deeper: Sequence[str] = ()
) -> None:
    """Write release.json, with the sums of these files, and SHA256SUMS of all, and of some in
    folders below; then have the disk write what is in the folder."""
    sums = {name: file_hash(folder / name) for name in (*files, *deeper)}
    record["files"] = {
        name: {"bytes": (folder / name).stat().st_size, "sha256": sums[name]} for name in files
    }
    write_text(folder / "release.json", json.dumps(record, indent=1, allow_nan=False) + "\n")
    sums["release.json"] = file_hash(folder / "release.json")
    lines = [f"{sums[name]}  {name}\n" for name in sorted(sums)]
    write_text(folder / "SHA256SUMS", "".join(lines))
    for path in [*folder.iterdir(), folder]:
        _flush(path)


def table_name(folder: Path) -> str:
    """The name of the table in a folder."""
    return next(f"table.{kind}" for kind in FORMATS if (folder / f"table.{kind}").exists())


def _at_hand(release: ReleaseFacts, table: Path) -> ReleaseFacts:
    """A streamed release with its rows, where they are few enough to get a line each."""
    rows = int(release.released_histogram.sum()) + release.gaps
    if isinstance(release, Release) or rows > MOST_LINES:
        return release
    facts = {field.name: vars(release)[field.name] for field in fields(ReleaseFacts)}
    seen = without_columns(read_file(table), set(release.later))
    return _with_rows(seen, facts, bool(release.gaps))


def _with_rows(table: Any, facts: dict[str, Any], gaps: bool) -> Release:
    """A release with its table, and which group each row is in."""
    column = facts["count_column"]
    counts = read_table(table, count=column or "count", missing=("",) if gaps else ()).counts
    if gaps:
        facts["missing_rows"] = counts < 0
    table = table if column is not None else counts
    return _with_members(Release(counts=counts, cells=table, **facts))


def _write_plain_files(
    release: ReleaseFacts, record: dict[str, Any], folder: Path, table: Path
) -> None:
    if "intervals" in record:
        write_intervals(release, record, folder, table)
    if has_mechanism_csv(record):
        write_text(folder / MECHANISM, mechanism_csv(release))


def write_text(path: Path, text: str) -> None:
    """Write a text."""
    path.write_bytes(text.encode("utf-8"))  # the same bytes on every system


def _record(release: ReleaseFacts, columns: list[str]) -> dict[str, Any]:
    """release.json, but for the sums of the other files."""
    noisy, marks = release.measurement, release.structural_zero_rows
    known: dict[str, Any] = {}
    if marks is not None and len(marks) <= MOST_ROWS:
        known = {"structural_zero_rows": marks_to_text(marks)}
    if release.missing_rows is not None and len(release.missing_rows) <= MOST_ROWS:
        known["missing_rows"] = marks_to_text(release.missing_rows)
    intervals = intervals_record(release)
    if intervals is not None:
        known["intervals"] = intervals
    content = release.summary() | {
        "columns": columns,
        "target": release.target.tolist(),
        "measurement": None if noisy is None else noisy.tolist(),
        "fixed_point": release.groups is not None or release.mechanism.target is not None,
        "certificate": _certificate(release.drawn_with),
    }
    return content | known


def _write_mechanism(release: ReleaseFacts, folder: Path) -> str:
    """Write the integers of a mechanism, or of those of all groups; the name of their file."""
    if release.groups is not None:
        (folder / GROUPS).write_bytes(encode_groups(release.groups))
        write_text(folder / LABELS, groups_csv(release.groups))
        return GROUPS
    mechanism = release.mechanism
    if mechanism.curves is not None:
        (folder / CURVES).write_bytes(encode_curves(mechanism.curves))
        return CURVES
    (folder / WEIGHTS).write_bytes(encode_weights(mechanism.integers.table()))
    return WEIGHTS


def _certificate(mechanism: Mechanism | GroupedMechanism) -> dict[str, Any]:
    """What the integers prove, and where: for a delta there is no single worst ratio."""
    if isinstance(mechanism, GroupedMechanism):
        worst = mechanism.worst_group
        return _certificate(mechanism[worst]) | {"group": worst}
    ratio, output, inputs = None, None, None
    if mechanism.certificate.worst is not None:
        top, bottom, row, column = mechanism.certificate.worst
        ratio = f"{top}/{bottom}"
        if row >= 0:
            down = int(mechanism.row(row)[column]) == top
            output, inputs = column, [row, row + 1] if down else [row + 1, row]
    return {
        "epsilon": str(mechanism.epsilon),
        "delta": str(mechanism.delta),
        "certified_epsilon": str(mechanism.certified_epsilon),
        "worst_ratio": ratio,
        "output": output,
        "inputs": inputs,
        "row_total": str(TOTAL),
    }


def rebuild(folder: Path, record: dict[str, Any], table: Any = None) -> Release:
    """A release from a bundle that was found in order; `table` where it was read already."""
    if table is None:
        place = folder.parent if record.get("table_above") else folder
        table = seen_by(record, read_file(place / table_name(place)))
    return _with_rows(table, read_facts(folder, record), bool(record.get("missing")))


def seen_by(record: dict[str, Any], table: Any) -> Any:
    """What of a table a column of several may go by: no counts that were drawn given its own."""
    return without_columns(table, set(record.get("later", ())))


def _with_members(release: Release) -> Release:
    """The same, and which group each row is in, where that can be told."""
    groups, zeros = release.groups, release.structural_zero_rows
    if groups is None or (release.structural_zeros and zeros is None):
        return release
    drawn = (release.counts >= 0) & (True if zeros is None else ~zeros)
    columns = [labels_of(release.cells, name) for name in groups.within.columns]
    members = found_again(groups.partition, columns, drawn)
    return replace(release, groups=replace(groups, members=members))


def read_facts(folder: Path, record: dict[str, Any]) -> dict[str, Any]:
    """All of a release but its table, from a bundle that `holdfast.verify` found in order."""
    privacy = Privacy.from_dict(record["privacy"])
    target = target_from_json(record["target"])
    found, noisy = record.get("max_count_found"), record.get("measurement")
    budget, groups = privacy.budget, None
    if record.get("within"):
        groups = read_groups(folder, record, budget)
    return {
        "target": target,
        "drawn_with": _read_mechanism(folder, record, target if record["fixed_point"] else None)
        if groups is None
        else groups.mechanism,
        "groups": groups,
        "totals": _read_totals(record, budget) if groups is None else groups.totals,
        "privacy": privacy,
        "rows": int(record["rows"]),
        "structural_zeros": int(record["structural_zeros"]),
        "structural_zero_rows": _marks(record, "structural_zero_rows"),
        "missing_rows": _marks(record, "missing_rows"),
        "missing": record.get("missing"),
        "max_count_found": None if found is None else FoundMaxCount.from_dict(found),
        "methods": tuple(record["methods"]),
        "measurement": None if noisy is None else np.array(noisy, dtype=np.int64),
        "count_column": record["count_column"],
        "unchanged_columns": tuple(record["unchanged_columns"]),
        "other_counts": tuple(record.get("other_counts", ())),
        "given": tuple(record.get("given", ())),
        "later": tuple(record.get("later", ())),
        "category": record.get("category"),
        "notes": tuple(record["notes"]),
        "receipt": record.get("receipt"),
        "made_with": record["holdfast"],
    }


def _read_totals(record: dict[str, Any], budget: Budget) -> Totals | None:
    if not record.get("totals"):
        return None
    return Totals(
        measured=(record["totals"]["measured"],),
        measured_whole=None,
        epsilon=budget.totals,
        moved=budget.moved,
    )


def _read_mechanism(folder: Path, record: dict[str, Any], target: Floats | None) -> Mechanism:
    epsilon, delta = (Fraction(record["certificate"][name]) for name in ("epsilon", "delta"))
    if CURVES in record["files"]:
        curves = decode_curves((folder / CURVES).read_bytes(), epsilon)
        return Mechanism(curves=curves, epsilon=epsilon, delta=delta, target=target)
    weights = decode_weights((folder / WEIGHTS).read_bytes())
    return Mechanism(weights=weights, epsilon=epsilon, delta=delta, target=target)


def _bare(counts: NDArray[np.int64]) -> Any:
    """Counts alone; a table of text where some are missing."""
    if (counts >= 0).all():
        return counts
    return CsvTable(("count",), [[""] if count < 0 else [str(count)] for count in counts.tolist()])


def _is_text(table: Any) -> bool:
    return isinstance(table, CsvTable)


def _marks(record: dict[str, Any], name: str) -> NDArray[np.bool_] | None:
    text = record.get(name)
    rows = int(record["rows"]) + int(record["structural_zeros"]) + int(record.get("missing", 0))
    return None if text is None else marks_from_text(text, rows)


def file_hash(path: Path) -> str:
    """The SHA-256 sum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
