"""Draws a second against OpenDP's sampler, and streams against DuckDB's copy of the same file.

    python benchmarks/scaling.py                # 5,000,000 rows, as `make bench`
    python benchmarks/scaling.py --rows 100_000_000 --only parquet

Every peer is measured in the same run, each stream in a process of its own. Needs about 60 bytes a
row of room under --folder (default: the system's folder for such files), and cleans up.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
from scipy.stats import chi2

import holdfast.former as holdfast
from families import powerlaw
from holdfast.former.constructors import Optimal
from holdfast.former.mechanism.sampling import THREADS, Sampler
from holdfast.former.privacy.randomness import SystemEntropy, laplace_measurement

N, SIZES = 101, (101, 10_000, 1_000_000)
DRAWS = 100_000_000
MOST = 1.6  # times DuckDB's copy
COLUMNS = {"count": "visits", "keep": ["visit_id", "shop", "day", "price"]}
ROWS_SQL = """
SELECT i AS visit_id, 'shop-' || (hash(i) % 5000) AS shop, (hash(i + 1) % 365)::INT AS day,
    (hash(i + 7) % 100000) / 100.0 AS price,
    LEAST(120, FLOOR(-LN(1 - (hash(i + 3) % 1000003) / 1000003.0) * 12))::INT AS visits
FROM range({rows}) t(i)
"""


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def draws_a_second(n: int, draws: int) -> float:
    """In millions, the best of ten runs; those at N are also compared with the weights."""
    z = powerlaw(n)
    mechanism = Optimal()(z, epsilon=1).mechanism
    counts = np.random.default_rng(1).choice(n, size=draws // 10, p=z)
    sampler, source = Sampler(mechanism), SystemEntropy()
    sampler(counts[:1000], source)
    took, cells = [], np.zeros(N * N, dtype=np.int64)
    for _ in range(10):
        drawn: list[np.ndarray] = []
        took.append(seconds(lambda drawn=drawn: drawn.append(sampler(counts, source))))
        if n == N:
            cells += np.bincount(counts * N + drawn[0], minlength=N * N)
    rate, median = (len(counts) / t / 1e6 for t in (min(took), np.median(took)))
    print(f"  n = {n:>9,}: {rate:6.1f} million draws a second (median {median:.1f})", flush=True)
    if n == N:
        compare(cells.reshape(N, N), mechanism.matrix)
    return rate


def compare(observed: np.ndarray, matrix: np.ndarray) -> None:
    """The chi-square statistic of all draws."""
    expected = observed.sum(axis=1, keepdims=True) * matrix
    kept = expected > 10
    statistic = ((observed - expected)[kept] ** 2 / expected[kept]).sum()
    free = int(kept.sum() - (kept.any(axis=1)).sum())
    passed = statistic < chi2.isf(1e-6, free)
    print(f"  chi-square of {observed.sum():,} draws: {statistic:.0f} for {free} degrees "
          f"of freedom: {'passes' if passed else 'FAILS'}")  # fmt: skip


def kernel(draws: int) -> None:
    print(f"\nThe draw alone, {THREADS} threads, operating-system entropy")
    rate, *_ = [draws_a_second(n, draws if n == N else draws // 10) for n in SIZES]
    measurement, _ = laplace_measurement(holdfast.privacy.budget.exact_epsilon(1))
    values = np.arange(200_000).tolist()
    measurement(values[:1000])
    peer = len(values) / min(seconds(lambda: measurement(values)) for _ in range(3)) / 1e6
    print(f"  OpenDP's vector of discrete Laplace draws: {peer:.3f}, ratio {rate / peer:.0f}")
    print(f"  {'ok' if rate >= 30 and rate >= 10 * peer else 'MISSED'}: "
          f"30 million a second and 10 times OpenDP wanted at n = {N}")  # fmt: skip


def one(job: str, source: str, sink: str) -> None:
    """A copy or a stream, in this process: seconds, those of the processor, memory."""
    if job == "copy":
        connection = duckdb.connect()
        connection.sql("SET preserve_insertion_order = true")
        query = f"COPY (FROM '{source}') TO '{sink}'"
        work = partial(connection.sql, query)
    else:
        warm_up(Path(sink).parent, Path(source).suffix)
        options = {**COLUMNS, "epsilon": 1, "max_count": N - 1}
        work = partial(holdfast.privatize_stream, source, sink, **options)
    before = time.process_time()
    took = {"seconds": seconds(work), "processor": time.process_time() - before}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(took | {"peak": peak}))


def warm_up(folder: Path, suffix: str = ".csv") -> None:
    """Import, compile, and build a mechanism of this size once: none of it grows with the rows."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        path = Path(place) / f"small{suffix}"
        duckdb.sql(f"COPY ({ROWS_SQL.format(rows=1000)}) TO '{path}'")
        options = {**COLUMNS, "epsilon": 1, "max_count": N - 1}
        holdfast.privatize_stream(path, Path(place) / "out", **options)


def apart(job: str, source: Path, sink: Path) -> dict[str, float]:
    run = [sys.executable, __file__, "--one", job, str(source), str(sink)]
    done = subprocess.run(run, check=True, capture_output=True, text=True)
    subprocess.run(["rm", "-rf", str(sink)], check=True)
    return json.loads(done.stdout)


def streams(kind: str, rows: int, folder: Path, repeat: int) -> None:
    source = folder / f"in.{kind}"
    duckdb.sql(f"COPY ({ROWS_SQL.format(rows=rows)}) TO '{source}'")
    size = source.stat().st_size / 1e6
    print(
        f"\n{rows:,} rows of {kind}, {size:.0f} MB, 5 columns, all published, max_count = {N - 1}"
    )
    heads = ("DuckDB copies, s", "holdfast, s", "ratio", "of processor", "rows/s", "peak MiB")
    print("    " + "".join(f"{head:>18}" for head in heads) + f"{'DuckDB MiB':>14}")
    copies, runs = [], []
    for k in range(repeat):
        copies.append(copy := apart("copy", source, folder / f"copy.{kind}"))
        runs.append(ours := apart("stream", source, folder / "release"))
        ratios = [ours[name] / copy[name] for name in ("seconds", "processor")]
        print(f"{k + 1:>4}{copy['seconds']:18.1f}{ours['seconds']:18.1f}{ratios[0]:18.2f}"
              f"{ratios[1]:18.2f}{rows / ours['seconds']:18,.0f}{ours['peak']:18.0f}"
              f"{copy['peak']:14.0f}", flush=True)  # fmt: skip
    ratio, busy = (min(run[name] for run in runs) / min(copy[name] for copy in copies)
                   for name in ("seconds", "processor"))  # fmt: skip
    peak = max(run["peak"] for run in runs)
    said = "ok" if busy <= MOST and peak < 1024 else "MISSED"
    print(f"  {said}: the best of each {busy:.2f} (of the clock {ratio:.2f}), {MOST} times "
          f"DuckDB's copy allowed; peak {peak:.0f} MiB, 1024 allowed")  # fmt: skip
    os.remove(source)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")), default=5_000_000)
    parser.add_argument("--only", choices=["kernel", "parquet", "csv"])
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder")
    asked = parser.parse_args()
    if asked.only in (None, "kernel"):
        kernel(asked.draws)
    for kind in ("parquet", "csv"):
        if asked.only in (None, kind):
            with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
                streams(kind, asked.rows, Path(folder), asked.repeat)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(*sys.argv[2:])
    else:
        main()
