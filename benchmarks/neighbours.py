"""Pairs of random neighbouring tables whose noisy numbers are the same: so must be all bytes.

    python benchmarks/neighbours.py [pairs, default 2000]

Whatever is written must be a function of what was measured and of what is public. One person is in
one of two tables, which are released with the same random options, in memory or from CSV files in
batches. Noise is held such that the noisy numbers of both are the same; then every byte of their
bundles must be. Prints the number of pairs by way, and stops at the first that differs.
"""

import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import holdfast
from holdfast.measure import room
from holdfast.tables import csv_file

PAIRS = int(sys.argv[1]) if len(sys.argv) > 1 else 2000


def held(values, noise, source, *, stream, at=0):
    """Noisy numbers that do not depend on the true ones."""
    key = int.from_bytes(hashlib.sha256(f"{stream} {at}".encode()).digest()[:8], "big")
    return np.random.default_rng(key).integers(-3, 40, size=len(np.asarray(values)))


def pair(rng):
    """Two tables that differ by one person, and options."""
    rows = int(rng.integers(30, 150))
    table = pd.DataFrame(
        {
            "place": [f"p{k:03d}" for k in rng.permutation(rows)],
            "state": rng.choice(["KS", "NE", "TX"], rows),
            "people": rng.integers(100, 10**6, rows),
            "a": rng.negative_binomial(0.7, 0.1, rows),
            "b": rng.poisson(4.0, rows),
        }
    )
    options = {
        "count": [["a"], ["a", "b"], ["b", "a"]][rng.integers(3)],
        "category": [None, "place"][rng.integers(2)],
        "keep": [["state"], ["state", "people"]][rng.integers(2)],
        "within": [None, "state", holdfast.classes("people", 4)][rng.integers(3)],
        "totals": bool(rng.integers(2)),
        "top": [None, 20][rng.integers(2)],
        "order_by": [None, "state"][rng.integers(2)],
        "epsilon": ["0.1", "1", "5"][rng.integers(3)],
    }
    options["publish_anyway"] = [*options["keep"], "row order", "totals"]
    options["relations"] = len(options["count"]) > 1 and bool(rng.integers(2))
    other, column = table.copy(), options["count"][rng.integers(len(options["count"]))]
    other.loc[rng.integers(rows), column] += 1
    return (table, other), {name: value for name, value in options.items() if value is not None}


def digest(table, options, folder, stream):
    """The bytes of a release, condensed."""
    folder.mkdir()
    if stream:
        table.to_csv(folder / "t.csv", index=False)
        table = folder / "t.csv"
    made = holdfast.privatize(table, seed=1, **options).save(folder / "r")
    files = sorted(made.iterdir())
    return [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in files]


def main():
    room.add_noise, csv_file.BLOCK = held, 1 << 10
    place = Path(tempfile.mkdtemp())
    try:
        for number in range(PAIRS):
            stream = number % 2 == 1
            tables, options = pair(np.random.default_rng(number))
            folders = (place / f"{number}-{k}" for k in range(2))
            found = [
                digest(table, options, folder, stream)
                for table, folder in zip(tables, folders, strict=True)
            ]
            if found[0] != found[1]:
                sys.exit(f"pair {number} differs: {options}")
            shutil.rmtree(place)
            place.mkdir()
            if (number + 1) % 100 == 0 or number + 1 == PAIRS:
                print(f"{number + 1} pairs, every second from files: the same bytes", flush=True)
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
