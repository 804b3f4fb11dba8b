"""The bundle on disk: written whole or not at all, and read only if nothing was damaged.

docs/bundle.md describes every file; `holdfast.verify` checks them with code of its own.
"""

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import HoldfastError
from holdfast.mechanism.mechanism import Mechanism
from holdfast.privacy.delta import declared_delta, group_delta
from holdfast.privatizers.max_count import Bound
from holdfast.release.deployment import deployment_yaml
from holdfast.release.pictures import distribution_picture
from holdfast.release.release import Privacy, Release, ReleaseFacts
from holdfast.release.row_marks import MOST_ROWS, marks_from_text, marks_to_text
from holdfast.release.text import picture_title, read_me
from holdfast.release.weights_file import TOTAL, read_weights, write_weights
from holdfast.tables.files import column_names
from holdfast.tables.table import CsvTable, read_file, read_table, write_file
from holdfast.verify import verify

FORMATS = ("csv", "parquet")


def save(release: Release, directory: str | os.PathLike[str], table_format: str) -> Path:
    """Write a release as a new folder.

    The folder is written beside its place under another name and renamed; a folder or file
    that is there already is never touched.
    """
    if table_format not in FORMATS:
        raise HoldfastError(f"`table_format` must be csv or parquet, got {table_format!r:.40}.")
    table = release.table if release.count_column is not None else _bare(release.counts)
    if release.missing_rows is not None and table_format == "parquet" and _is_text(table):
        raise HoldfastError(
            "missing counts of a text table cannot be saved as Parquet. Hint: save it as CSV."
        )
    with new_bundle(directory) as folder:
        release.mechanism.verify()
        write_file(table, folder / f"table.{table_format}")
        complete(release, folder, column_names(table))
    return Path(directory)


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


def load(directory: str | os.PathLike[str]) -> Release:
    """Read a bundle; raises if `holdfast.verify` finds any damage.

    This finds accidents. Whoever changes a bundle on purpose can change its sums as well.
    """
    folder = Path(directory)
    if not folder.is_dir():
        raise HoldfastError(f"there is no folder `{folder}`. Hint: name the folder of a release.")
    verify(folder).require()
    try:
        record = json.loads((folder / "release.json").read_text(encoding="utf-8"))
        release = _rebuild(folder, record)
        _check_record(release, record)
    except HoldfastError:
        raise
    except Exception as error:  # nothing that verify lets pass is known to come here
        raise HoldfastError(
            f"`{folder}` cannot be read ({type(error).__name__}). "
            "Hint: get it again from its maker."
        ) from None
    return release


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
        os.rename(partial, place)  # fails where somebody was quicker with anything but nothing
    except OSError:
        if not place.exists() and not place.is_symlink():
            raise
        raise HoldfastError(f"`{place}` exists already; nothing was written.") from None


def _partial_folder(place: Path) -> Path:
    partial = place.parent / f".{place.name}.partial-{secrets.token_hex(8)}"
    partial.mkdir()
    return partial


def complete(release: ReleaseFacts, folder: Path, columns: list[str]) -> None:
    """Write everything else of a bundle beside the table, whose columns these are."""
    name = next(f"table.{kind}" for kind in FORMATS if (folder / f"table.{kind}").exists())
    write_weights(release.mechanism.weights, folder / "mechanism.weights")
    picture = distribution_picture(
        [(release.count_column or "count", release.distribution)],
        title=picture_title(release.rows, release.privacy),
    )
    record = _record(release, columns)
    _write_text(folder / "distribution.svg", picture)
    keeps = release.mechanism.target is not None
    _write_text(folder / "README.md", read_me(record, name, keeps=keeps))
    _write_text(folder / "deployment.yaml", deployment_yaml(record))
    record["files"] = {
        path.name: {"bytes": path.stat().st_size, "sha256": _hash(path)}
        for path in sorted(folder.iterdir())
    }
    _write_text(folder / "release.json", json.dumps(record, indent=1, allow_nan=False) + "\n")
    sums = [f"{_hash(path)}  {path.name}\n" for path in sorted(folder.iterdir())]
    _write_text(folder / "SHA256SUMS", "".join(sums))
    for path in [*folder.iterdir(), folder]:
        _flush(path)


def _write_text(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8"))  # the same bytes on every system


def _record(release: ReleaseFacts, columns: list[str]) -> dict[str, Any]:
    """release.json, but for the sums of the other files."""
    noisy, marks = release.measurement, release.structural_zero_rows
    known = {}
    if marks is not None and len(marks) <= MOST_ROWS:
        known = {"structural_zero_rows": marks_to_text(marks)}
    if release.missing_rows is not None:
        known["missing_rows"] = marks_to_text(release.missing_rows)
    content = release.summary() | {
        "columns": columns,
        "target": release.target.tolist(),
        "measurement": None if noisy is None else noisy.tolist(),
        "fixed_point": release.mechanism.target is not None,
        "certificate": _certificate(release.mechanism),
    }
    return content | known


def _certificate(mechanism: Mechanism) -> dict[str, Any]:
    """What the weights prove, and where: for a delta there is no single worst ratio."""
    from holdfast.mechanism.certificate_kernel import worst_ratio  # numba: not before it is needed

    delta = declared_delta(mechanism)
    ratio, output, inputs = None, None, None
    if not delta:
        top, bottom, row, column = (int(number) for number in worst_ratio(mechanism.weights))
        ratio = f"{top}/{bottom}"
        if row >= 0:
            down = int(mechanism.weights[row, column]) == top
            output, inputs = column, [row, row + 1] if down else [row + 1, row]
    return {
        "epsilon": str(mechanism.epsilon),
        "delta": str(delta),
        "certified_epsilon": str(mechanism.certified_epsilon),
        "worst_ratio": ratio,
        "output": output,
        "inputs": inputs,
        "row_total": str(TOTAL),
    }


def _rebuild(folder: Path, record: dict[str, Any]) -> Release:
    path = next(folder / f"table.{kind}" for kind in FORMATS if f"table.{kind}" in record["files"])
    table, column = read_file(path), record["count_column"]
    codes = ("",) if record.get("missing") else ()
    counts = read_table(table, count=column or "count", missing=codes).counts
    table = table if column is not None else counts
    return Release(counts=counts, table=table, **read_facts(folder, record))


def read_facts(folder: Path, record: dict[str, Any]) -> dict[str, Any]:
    """All of a release but its table, from a bundle that `holdfast.verify` found in order."""
    privacy = Privacy.from_dict(record["privacy"])
    target = np.array(record["target"], dtype=np.float64)
    bound, noisy = record.get("max_count_found"), record.get("measurement")
    certificate = record["certificate"]
    claim = {"epsilon": Fraction(certificate["epsilon"]), "delta": Fraction(certificate["delta"])}
    return {
        "target": target,
        "mechanism": Mechanism(
            weights=read_weights(folder / "mechanism.weights"),
            target=target if record["fixed_point"] else None,
            **{name: number for name, number in claim.items() if number},
        ),
        "privacy": privacy,
        "rows": int(record["rows"]),
        "structural_zeros": int(record["structural_zeros"]),
        "structural_zero_rows": _marks(record, "structural_zero_rows"),
        "missing_rows": _marks(record, "missing_rows"),
        "bound": None if bound is None else Bound.from_dict(bound),
        "methods": tuple(record["methods"]),
        "measurement": None if noisy is None else np.array(noisy, dtype=np.int64),
        "count_column": record["count_column"],
        "unchanged_columns": tuple(record["unchanged_columns"]),
        "notes": tuple(record["notes"]),
        "made_with": record["holdfast"],
    }


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
        and release.rows + release.structural_zeros == np.count_nonzero(release.counts >= 0)
        and release.counts.max() <= top
        and len(release.target) == top + 1
        and (release.measurement is None or release.measurement.ndim == 1)
    )
    if not fits:
        raise HoldfastError("release.json does not fit the mechanism and the table beside it.")


def _bound_fits(release: Release, top: int) -> bool:
    found, part = release.bound, release.privacy.budget.bound
    return part == 0 if found is None else (found.epsilon, found.max_count) == (part, top)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
