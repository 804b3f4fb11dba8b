"""Neighbouring tables with the draws held fixed: the bytes of their releases, compared.

    PYTHONPATH=tests/helpers python benchmarks/neighbours.py [pairs] [seed]

Each pair is released in memory and as a stream, from CSV or from Parquet, whatever way the counts
are spelt and the file is laid out, with sizes around every threshold, which are made small; a few
pairs are released with the thresholds as they are.
"""

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from neighbouring import difference, held_fixed, release

FULL = {"csv": (750_000, 760_000), "parquet": ((1 << 17) + 1, (1 << 20) - 1, 1 << 20)}


def main(pairs: int = 2000, seed: int = 1) -> None:
    rng, tried, found = np.random.default_rng(seed), Counter(), 0
    began = time.process_time()
    with tempfile.TemporaryDirectory() as name, held_fixed():
        for number in range(pairs):
            suffix = ("csv", "parquet")[number % 2]
            said = difference(rng, Path(name), suffix)
            tried[suffix] += 1
            if said is not None:
                found += 1
                print(f"pair {number}: {said}")
    print(f"{dict(tried)} pairs, each in memory and streamed: {found} differences")
    for suffix, sizes in FULL.items():
        for rows in sizes:
            print(f"{suffix}, {rows:,} rows, thresholds as they are: {full_size(suffix, rows)}")
    print(f"{time.process_time() - began:.0f} s of processor")


def full_size(suffix: str, rows: int) -> str:
    """Two neighbours: all counts have one digit, and in the other one of them has five."""
    places = np.char.add("place ", np.arange(rows).astype(str))
    made = []
    with tempfile.TemporaryDirectory() as name, held_fixed(small=False):
        for change in (0, 12_345):
            counts = np.arange(rows) * 7919 % 97 % 9
            counts[rows // 3] += change
            path, folder = Path(name) / f"in.{suffix}", Path(name)
            if suffix == "csv":
                lines = np.char.add(np.char.add(places, ","), counts.astype(str))
                path.write_text("place,n\n" + "\n".join(lines) + "\n")
            else:
                table = pa.table({"place": places, "n": counts})
                pa.parquet.write_table(table, path, row_group_size=100_000 + change)
            options = {"category": "place", "publish_anyway": ["row order", "totals", "place"]}
            made.append(release(path, folder / "out", "stream", **options))
    return "equal" if made[0] == made[1] else "DIFFERENT"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
