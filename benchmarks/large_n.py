"""n from 10^3 to 10^6, end to end: processor time and peak memory of every step, each size in a
process of its own.

    python benchmarks/large_n.py 1250 2500 5000
"""

import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import holdfast.former as holdfast
from families import powerlaw

STEPS = ("build", "certify", "sample", "save", "verify", "load")
LIMIT = 3 << 30
ROWS = 100_000
SIZES = [1000, 10_000, 100_000, 1_000_000]
OPTIONS: dict[str, Any] = {"epsilon": 2, "split": "0.5"}


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def one(n: int, place: str) -> None:
    times: dict[str, float] = {}

    def timed(name: str, work: Callable[..., Any], *arguments: Any) -> Any:
        start = time.process_time()
        result = work(*arguments)
        times[name] = time.process_time() - start
        return result

    holdfast.privatize([0, 1, 2], epsilon=1, max_count=600)  # compiles
    z = powerlaw(n)
    counts = np.random.default_rng(1).choice(n, size=ROWS, p=z)
    build_and_sample(z, counts, timed)
    folder = Path(place) / "release"
    timed("save", holdfast.privatize(counts, **OPTIONS, max_count=n - 1).save, folder)
    report = timed("verify", holdfast.verify, folder)
    assert report.passed, report.damage
    timed("load", holdfast.load, folder)
    size = (folder / "mechanism.curves").stat().st_size / 1e6
    shutil.rmtree(folder)
    print(n, *(f"{times[step]:.2f}" for step in STEPS), f"{size:.1f}", f"{peak():.0f}")


def build_and_sample(z: np.ndarray, counts: np.ndarray, timed: Callable[..., Any]) -> None:
    mechanism = timed("build", lambda: constructor()(z, epsilon=1).mechanism)
    timed("certify", mechanism.verify)
    timed("sample", mechanism.sample, counts)


def constructor() -> Any:
    return holdfast.constructors.Optimal()


def main(sizes: list[int]) -> None:
    print(f"Optimal(), powerlaw target, {ROWS:,} rows; seconds of processor time")
    heads = ("n", *STEPS, "weights MB", "peak MiB")
    print("".join(f"{head:>12}" for head in heads))
    peaks = []
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            run = [sys.executable, __file__, "--one", str(n), folder]
            cells = subprocess.run(run, check=True, capture_output=True, text=True).stdout.split()
            print("".join(f"{cell:>12}" for cell in cells), flush=True)
            peaks.append(float(cells[-1]))
    growth = peaks[-1] / peaks[0]
    print(f"peak memory grows by {growth:.1f} from n = {sizes[0]} to {sizes[-1]} "
          f"(n^2 grows by {(sizes[-1] / sizes[0]) ** 2:.0f})")  # fmt: skip
    ok = max(peaks) * 2**20 < LIMIT
    print(f"{'ok' if ok else 'TOO MUCH'}: peak {max(peaks):.0f} MiB, 3072 allowed")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(int(sys.argv[2]), sys.argv[3])
    else:
        main([int(n) for n in sys.argv[1:]] or SIZES)
