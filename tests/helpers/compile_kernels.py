"""Compiles the kernels, each once and on two cores: pytest's workers would compile them all, each.

The cache keeps them; what is missing here is compiled where it is first used.
"""

from multiprocessing import Process
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import holdfast.former as holdfast
from holdfast.former.constructors import Heuristic
from holdfast.former.privatizers import CumulativeIsotonic

COUNTS = np.arange(60) * 37 % 7
GROUPS = {"n": COUNTS.tolist(), "state": ["a", "b", "c"] * 20}
USUAL = {"epsilon": 1, "max_count": 8, "seed": 1}


def draw() -> None:
    import pandas

    named = USUAL | {"count": "n"}
    holdfast.privatize(COUNTS, **USUAL)
    holdfast.privatize(COUNTS, **USUAL, constructor=Heuristic())
    holdfast.privatize(pandas.DataFrame(GROUPS), **named, within="state", totals=True)
    holdfast.privatize(COUNTS, **USUAL | {"max_count": 3000})


def stream_and_ask() -> None:
    named = USUAL | {"count": "n", "category": "place", "privatizer": CumulativeIsotonic()}
    with TemporaryDirectory() as folder:
        table = Path(folder, "table.csv")
        rows = [f"p{row},{count}" for row, count in enumerate(COUNTS)]
        table.write_text("\n".join(["place,n", *rows, ""]))
        release = holdfast.privatize_stream(table, Path(folder, "release"), **named).load()
    release.ask("mean", where=COUNTS < 3)
    release.mechanism.expected(np.arange(9))


if __name__ == "__main__":
    processes = [Process(target=part) for part in (draw, stream_and_ask)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    raise SystemExit(any(process.exitcode for process in processes))
