"""Random ugly CSV files: do memory, stream and verifier accept the same, and read the same?

    PYTHONPATH=tests/helpers python benchmarks/attacks_csv.py [files] [seed]

Encodings and byte order marks that contradict each other, quotes that are not closed, control
characters, cells about as long as they may be, blank lines, odd counts, and bytes put in, taken
out and changed; the stream reads them in blocks of a few bytes.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from ugly_csv import outcome, ugly

CODES = ((), ("",), ("NA", "-9"))


def main(files: int = 30_000, seed: int = 1) -> None:
    rng = np.random.default_rng(seed)
    accepted, differing, began = 0, 0, time.process_time()
    with tempfile.TemporaryDirectory() as name:
        for number in range(files):
            data, codes = ugly(rng), CODES[rng.integers(len(CODES))]
            block = int(rng.choice([4, 7, 16, 64, 1 << 23]))
            block = block if len(data) < 10_000 else 1 << 16
            good, said = outcome(data, Path(name), codes, block)
            accepted += good
            if said is not None:
                differing += 1
                print(f"file {number}, missing={codes}, block={block}: {said}\n  {data[:300]!r}")
    seconds = time.process_time() - began
    print(f"{files} files, {accepted} accepted, {differing} disagreements, {seconds:.0f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
