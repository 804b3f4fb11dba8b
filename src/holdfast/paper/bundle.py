"""A result as a folder: the table, z, the weights of the mechanism and their certificate."""

import csv
import hashlib
import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.paper.mechanism import TOTAL, Mechanism
from holdfast.release.bundle import new_folder, writing

FORMAT = "holdfast.paper 1"
COLUMN = "count"
EPSILONS = ("epsilon", "epsilon_n", "epsilon_1", "epsilon_2", "delta_1", "delta_2")


def save(result: Any, folder: Path, columns: dict[str, list[Any]]) -> Path:
    """table.csv, weights.npy and record.json of a `Result`: a new folder, there whole or not."""
    if COLUMN in columns or any(len(cells) != len(result.counts) for cells in columns.values()):
        raise HoldfastError(f"`table` must have a cell for every row, and no column `{COLUMN}`.")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*columns, COLUMN])
    writer.writerows(zip(*columns.values(), result.counts.tolist(), strict=True))
    weights = io.BytesIO()
    np.save(weights, result.mechanism.weights.astype("<i8"), allow_pickle=False)
    files = {"table.csv": text.getvalue().encode(), "weights.npy": weights.getvalue()}
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    record = _record(result) | {"files": sums}
    files["record.json"] = json.dumps(record, indent=1, ensure_ascii=False).encode()
    with writing(folder), new_folder(folder) as partial:
        for name, data in files.items():
            (partial / name).write_bytes(data)
    return folder


def _record(result: Any) -> dict[str, Any]:
    mechanism, proved = result.mechanism, result.certificate
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
        "target": None if mechanism.target is None else mechanism.target.tolist(),
        "total": str(TOTAL),
        "certificate": {
            "epsilon": str(proved.epsilon),
            "delta": str(proved.delta),
            "worst": None if proved.worst is None else [str(part) for part in proved.worst],
        },
    }


def read(folder: Path) -> dict[str, Any]:
    """The fields of the `Result` that was saved in a folder; its mechanism is certified again."""
    try:
        record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
        if record["format"] != FORMAT:
            raise HoldfastError(f"`{folder}` is not a result of the paper's framework.")
        with (folder / "table.csv").open(newline="", encoding="utf-8") as lines:
            counts = [int(row[COLUMN]) for row in csv.DictReader(lines)]
        exact = {name: Fraction(record[name]) for name in EPSILONS}
        certified = record["certified_1"]
        mechanism = Mechanism(
            weights=np.load(folder / "weights.npy", allow_pickle=False).astype(np.int64),
            epsilon=exact["epsilon_2"],
            delta=exact["delta_2"],
            target=record["target"],
            source=record["source"],
        )
        names = ("privatizer", "constructor", "simulated")
        return (
            exact
            | {name: record[name] for name in names}
            | {
                "counts": np.array(counts, dtype=np.int64),
                "z": np.array(record["z"], dtype=np.float64),
                "mechanism": mechanism,
                "certified_1": None if certified is None else Fraction(certified),
            }
        )
    except HoldfastError:
        raise
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise HoldfastError(
            f"`{folder}` holds no whole result ({type(error).__name__}). "
            "Hint: `holdfast paper privatize FILE --out FOLDER` writes one."
        ) from None
