"""The release: what an analyst gets, and its bundle on disk."""

import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.budget import Budget
from holdfast.errors import HoldfastError
from holdfast.mechanism import Mechanism
from holdfast.pictures import distribution_picture
from holdfast.release_text import picture_title, read_me
from holdfast.usefulness import expected_change

SCHEMA = 1
NEIGHBOURS = (
    "Two tables are neighbours when one person is added to or removed from one of them: "
    "one row changes, by at most `contributions`. The number of rows, max_count, the "
    "structural zeros and all columns but the counts are public and published unchanged."
)


@dataclass(frozen=True, kw_only=True)
class Privacy:
    """What a release promises, and what was certified from what was drawn."""

    budget: Budget
    """Promised: epsilon and its exact split."""
    stage_1_certified: Fraction
    """From OpenDP's privacy map, for one person."""
    stage_2_certified: Fraction
    """From the integer weights that were sampled, for one person."""
    simulated: bool
    """Whether a seed was used: then the release protects nobody."""

    @property
    def epsilon(self) -> Fraction:
        """Promised to one person, in all."""
        return self.budget.epsilon

    @property
    def certified_epsilon(self) -> Fraction:
        """Certified for one person, in all; at most `epsilon`."""
        return self.stage_1_certified + self.stage_2_certified

    @property
    def neighbours(self) -> str:
        """Which tables the promise compares."""
        return NEIGHBOURS

    @property
    def randomness(self) -> str:
        """Where the randomness came from."""
        return "a seed (simulation: protects nobody)" if self.simulated else "operating system"

    def __post_init__(self) -> None:
        budget = self.budget
        if budget.stage_1 + budget.stage_2 != budget.epsilon:
            raise HoldfastError("the two stages do not add up to epsilon.")
        if self.stage_1_certified > budget.stage_1 or self.stage_2_certified > budget.stage_2:
            raise HoldfastError("a stage was certified for more than it was given.")

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; exact numbers as fractions in text."""
        return {
            "epsilon": str(self.epsilon),
            "stage_1": str(self.budget.stage_1),
            "stage_2": str(self.budget.stage_2),
            "contributions": self.budget.contributions,
            "steps": self.budget.steps,
            "stage_1_certified": str(self.stage_1_certified),
            "stage_2_certified": str(self.stage_2_certified),
            "certified_epsilon_decimal": f"{float(self.certified_epsilon):.12g}",
            "neighbours": self.neighbours,
            "randomness": self.randomness,
            "simulated": self.simulated,
        }

    @staticmethod
    def from_dict(record: dict[str, Any]) -> "Privacy":
        """The inverse of `to_dict`."""
        budget = Budget(
            epsilon=Fraction(record["epsilon"]),
            stage_1=Fraction(record["stage_1"]),
            stage_2=Fraction(record["stage_2"]),
            contributions=int(record["contributions"]),
            steps=int(record["steps"]),
        )
        return Privacy(
            budget=budget,
            stage_1_certified=Fraction(record["stage_1_certified"]),
            stage_2_certified=Fraction(record["stage_2_certified"]),
            simulated=bool(record["simulated"]),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """A private table of counts, the target and the mechanism behind it, and the promise.

    It holds nothing that depends on the true counts except through the two private stages.
    """

    counts: NDArray[np.int64] = field(repr=False)
    """The released counts, in row order."""
    table: Any = field(repr=False)
    """The same kind of table as came in, its count column replaced."""
    target: NDArray[np.float64] = field(repr=False)
    """z, the private distribution of counts."""
    mechanism: Mechanism
    """The certified mechanism that every count went through."""
    privacy: Privacy = field(repr=False)
    """Promised and certified."""
    rows: int
    """N: rows that went through the mechanism."""
    structural_zeros: int
    """Rows that are publicly known to be zero."""
    methods: tuple[str, ...]
    """Stage 1, stage 2."""
    count_column: str | None = None
    """Name of the count column; None for a plain array."""
    unchanged_columns: tuple[str, ...] = ()
    """Names of the other columns: published as they were."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""

    @property
    def distribution(self) -> NDArray[np.float64]:
        """The distribution of the released counts, without the structural zeros."""
        n = len(self.mechanism.weights)
        histogram = np.bincount(self.counts, minlength=n).astype(np.float64)
        histogram[0] -= self.structural_zeros
        return histogram / self.rows

    @property
    def expected_change(self) -> float:
        """How far a released count is from the true one on average, by the mechanism and z."""
        return expected_change(self.mechanism, self.target)

    def summary(self) -> dict[str, Any]:
        """What was done and promised, as plain values."""
        return {
            "schema": SCHEMA,
            "holdfast": _version(),
            "privacy": self.privacy.to_dict(),
            "rows": self.rows,
            "structural_zeros": self.structural_zeros,
            "max_count": len(self.mechanism.weights) - 1,
            "methods": list(self.methods),
            "count_column": self.count_column,
            "unchanged_columns": list(self.unchanged_columns),
            "expected_change_of_a_count": self.expected_change,
            "mechanism_digest": self.mechanism.digest,
            "notes": list(self.notes),
        }

    def save(self, directory: str | os.PathLike[str], *, table_format: str = "csv") -> Path:
        """Write the bundle as a new folder, all of it or nothing.

        The folder is written beside its place under another name and renamed; a folder or
        file that is there already is never touched.
        """
        place = new_folder(directory)
        self.mechanism.verify()
        partial = Path(tempfile.mkdtemp(prefix=f".{place.name}.partial-", dir=place.parent))
        try:
            self._write(partial, table_format)
            os.chmod(partial, 0o755)
            if place.exists():
                raise HoldfastError(f"`{place}` exists already; nothing was written.")
            os.rename(partial, place)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
        return place

    def _write(self, folder: Path, table_format: str) -> None:
        from holdfast.table import write_file

        table = self.table if self.count_column is not None else self.counts
        write_file(table, folder / f"table.{table_format}")
        with open(folder / "mechanism.npz", "xb") as file:
            np.savez_compressed(file, weights=self.mechanism.weights)
        picture = distribution_picture(
            [(self.count_column or "count", self.distribution)],
            title=picture_title(self.rows, self.privacy),
        )
        (folder / "distribution.svg").write_text(picture, encoding="utf-8")
        text = read_me(self.summary(), f"table.{table_format}")
        (folder / "README.md").write_text(text, encoding="utf-8")
        record = self.summary() | {
            "target": self.target.tolist(),
            "fixed_point": self.mechanism.target is not None,
            "files": {path.name: _hash(path) for path in sorted(folder.iterdir())},
        }
        (folder / "release.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        for path in folder.iterdir():
            _flush(path)

    def __repr__(self) -> str:
        warning = "SIMULATION, protects nobody; " if self.privacy.simulated else ""
        return (
            f"Release({warning}{self.rows} rows, counts 0 to {len(self.target) - 1}, "
            f"epsilon {float(self.privacy.epsilon):g} promised, "
            f"{float(self.privacy.certified_epsilon):.6g} certified)"
        )


def load(directory: str | os.PathLike[str]) -> Release:
    """Read a bundle; raises if a file was changed or the certificate does not hold."""
    from holdfast.table import read_file, read_table

    folder = Path(directory)
    if not folder.is_dir():
        raise HoldfastError(f"there is no folder `{folder}`. Hint: name the folder of a release.")
    try:
        record = json.loads((folder / "release.json").read_text(encoding="utf-8"))
        files = record["files"]
        for name, expected in files.items():
            if _hash(folder / name) != expected:
                raise HoldfastError(
                    f"`{folder / name}` was changed after the release was made. "
                    "Hint: get the release again from its maker."
                )
        with np.load(folder / "mechanism.npz", allow_pickle=False) as archive:
            weights = archive["weights"]
        privacy = Privacy.from_dict(record["privacy"])
        target = np.array(record["target"], dtype=np.float64)
        mechanism = Mechanism(
            weights=weights,
            epsilon=privacy.budget.unit_2,
            target=target if record["fixed_point"] else None,
        )
        table = read_file(folder / next(name for name in files if name.startswith("table.")))
        column = record["count_column"]
        counts = read_table(table, count=column or "count").counts
        release = Release(
            counts=counts,
            table=table if column is not None else counts,
            target=target,
            mechanism=mechanism,
            privacy=privacy,
            rows=int(record["rows"]),
            structural_zeros=int(record["structural_zeros"]),
            methods=tuple(record["methods"]),
            count_column=column,
            unchanged_columns=tuple(record["unchanged_columns"]),
            notes=tuple(record["notes"]),
        )
    except HoldfastError:
        raise
    except (OSError, ValueError, KeyError, TypeError, StopIteration) as error:
        raise HoldfastError(
            f"`{folder}` is not a whole holdfast release ({type(error).__name__})."
        ) from None
    _check_record(release, record)
    return release


def _check_record(release: Release, record: dict[str, Any]) -> None:
    if record["schema"] != SCHEMA:
        raise HoldfastError(f"this release has schema {record['schema']}, not {SCHEMA}.")
    budget = release.privacy.budget
    certified = release.mechanism.certified_epsilon * budget.steps
    if (
        record["mechanism_digest"] != release.mechanism.digest
        or certified != release.privacy.stage_2_certified
        or record["max_count"] != len(release.mechanism.weights) - 1
        or budget.steps != min(budget.contributions, record["max_count"])
        or release.rows + release.structural_zeros != len(release.counts)
        or release.counts.max() > record["max_count"]
    ):
        raise HoldfastError("release.json does not fit the mechanism and the table beside it.")


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
        os.rmdir(tempfile.mkdtemp(prefix=f".{place.name}.partial-", dir=place.parent))
    except OSError as error:
        raise HoldfastError(
            f"`{place.parent}` cannot be written to ({error.strerror}). "
            "Hint: choose another folder."
        ) from None
    return place


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _flush(path: Path) -> None:
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def _version() -> str:
    from importlib.metadata import version

    return version("holdfast")
