"""A result as a folder: the table, z, the weights of the mechanism and their certificate."""

import csv
import hashlib
import io
import json
import os
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.paper.files import write_whole
from holdfast.paper.mechanism import TOTAL, Mechanism

if TYPE_CHECKING:
    from holdfast.paper.framework import Result

FORMAT = "holdfast.paper 1"
COLUMN = "count"
EPSILONS = ("epsilon", "epsilon_n", "epsilon_1", "epsilon_2", "delta_1", "delta_2")


def save(result: "Result", folder: Path, columns: dict[str, list[Any]]) -> Path:
    """table.csv, weights.npy and, last, record.json; the folder must not hold a record yet."""
    if (folder / "record.json").exists():
        raise HoldfastError(f"`{folder}` holds a result already. Hint: name another folder.")
    if COLUMN in columns or any(len(cells) != len(result.counts) for cells in columns.values()):
        raise HoldfastError(f"`table` must have a cell for every row, and no column `{COLUMN}`.")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*columns, COLUMN])
    writer.writerows(zip(*columns.values(), result.counts.tolist(), strict=True))
    weights = io.BytesIO()
    np.save(weights, result.mechanism.weights.astype("<i8"), allow_pickle=False)
    files = {"table.csv": text.getvalue().encode(), "weights.npy": weights.getvalue()}
    for name, data in files.items():
        write_whole(folder / name, data)
    record = _record(result) | {
        "files": {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    }
    write_whole(folder / "record.json", json.dumps(record, indent=1, ensure_ascii=False).encode())
    return folder


def _record(result: "Result") -> dict[str, Any]:
    mechanism, proved = result.mechanism, result.certificate
    law = None if mechanism.target is None else mechanism.target.tolist()
    return {
        "format": FORMAT,
        "simulated": result.simulated,
        "rows": len(result.counts),
        "n": result.n,
        **{name: str(getattr(result, name)) for name in EPSILONS},
        "privatizer": result.privatizer,
        "certified_1": None if result.certified_1 is None else str(result.certified_1),
        "constructor": result.constructor,
        "z": result.z.tolist(),
        "source": None if mechanism.source is None else mechanism.source.tolist(),
        "target": law,
        "total": str(TOTAL),
        "certificate": {
            "epsilon": str(proved.epsilon),
            "delta": str(proved.delta),
            "worst": None if proved.worst is None else [str(part) for part in proved.worst],
        },
    }


def load(folder: str | os.PathLike[str]) -> "Result":
    """The result that was saved in a folder; its mechanism is certified once more."""
    from holdfast.paper.framework import Result

    place = Path(folder)
    try:
        record = json.loads((place / "record.json").read_text(encoding="utf-8"))
        if record["format"] != FORMAT:
            raise HoldfastError(f"`{place}` is not a result of the paper's framework.")
        weights = np.load(place / "weights.npy", allow_pickle=False)
        with (place / "table.csv").open(newline="", encoding="utf-8") as lines:
            counts = [int(row[COLUMN]) for row in csv.DictReader(lines)]
        exact = {name: Fraction(record[name]) for name in EPSILONS}
        certified = record["certified_1"]
        return Result(
            counts=np.array(counts, dtype=np.int64),
            z=np.array(record["z"], dtype=np.float64),
            mechanism=Mechanism(
                weights=weights.astype(np.int64),
                epsilon=exact["epsilon_2"],
                delta=exact["delta_2"],
                target=record["target"],
                source=record["source"],
            ),
            privatizer=str(record["privatizer"]),
            constructor=str(record["constructor"]),
            certified_1=None if certified is None else Fraction(certified),
            simulated=bool(record["simulated"]),
            **exact,
        )
    except (OSError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, HoldfastError):
            raise
        raise HoldfastError(
            f"`{place}` holds no whole result ({type(error).__name__}). "
            "Hint: `holdfast paper privatize FILE --out FOLDER` writes one."
        ) from None
