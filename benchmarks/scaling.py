"""Draws a second against OpenDP's sampler, and streams against DuckDB's copy of the same file.

    python benchmarks/scaling.py                # 20,000,000 rows, as `make bench`
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
from pathlib import Path

import duckdb
import numpy as np
from scipy.stats import chi2

import holdfast
from families import powerlaw
from holdfast.constructors import Optimal
from holdfast.mechanism.sampling import THREADS, Sampler
from holdfast.privacy.randomness import SystemEntropy, laplace_measurement

N = 101
DRAWS = 100_000_000
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


def kernel(draws: int) -> None:
    z = powerlaw(N)
    mechanism = Optimal()(z, epsilon=1).mechanism
    random = np.random.default_rng(1)
    counts = random.choice(N, size=draws // 10, p=z)
    sampler, source = Sampler(mechanism), SystemEntropy()
    sampler(counts[:1000], source)
    cells = np.zeros(N * N, dtype=np.int64)
    took = []
    for _ in range(10):
        drawn = np.empty(0)

        def work() -> None:
            nonlocal drawn
            drawn = sampler(counts, source)

        took.append(seconds(work))
        cells += np.bincount(counts * N + drawn, minlength=N * N)
    rate = len(counts) / min(took) / 1e6
    measurement, _ = laplace_measurement(holdfast.privacy.budget.exact_epsilon(1))
    values = counts[:200_000].tolist()
    measurement(values[:1000])
    peer = len(values) / min(seconds(lambda: measurement(values)) for _ in range(3)) / 1e6
    observed = cells.reshape(N, N)
    expected = observed.sum(axis=1, keepdims=True) * mechanism.matrix
    kept = expected > 10
    statistic = ((observed - expected)[kept] ** 2 / expected[kept]).sum()
    free = int(kept.sum() - (kept.any(axis=1)).sum())
    passed = statistic < chi2.isf(1e-6, free)
    print(f"\nThe draw alone, n = {N}, {THREADS} threads, operating-system entropy")
    print(f"  exact draws a second, in millions: {rate:.1f} (median "
          f"{len(counts) / np.median(took) / 1e6:.1f})")  # fmt: skip
    print(f"  OpenDP's vector of discrete Laplace draws: {peer:.3f}, ratio {rate / peer:.0f}")
    print(f"  chi-square of {10 * len(counts):,} draws: {statistic:.0f} for {free} degrees of "
          f"freedom: {'passes' if passed else 'FAILS'}")  # fmt: skip
    print(f"  {'ok' if rate >= 30 and rate >= 10 * peer and passed else 'MISSED'}: "
          "30 million a second and 10 times OpenDP wanted")  # fmt: skip


def one(job: str, source: str, sink: str) -> None:
    """A copy or a stream, in this process: prints seconds and peak memory."""
    if job == "copy":
        with duckdb.connect() as connection:
            connection.sql("SET preserve_insertion_order = true")
            query = f"COPY (FROM '{source}') TO '{sink}'"
            took = seconds(lambda: connection.sql(query))
    else:
        options = {"count": "visits", "epsilon": 1, "max_count": N - 1}
        warm_up(Path(sink).parent)
        took = seconds(lambda: holdfast.privatize_stream(source, sink, **options))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": took, "peak": peak}))


def warm_up(folder: Path) -> None:
    """Compile, and build a mechanism of this size once: neither grows with the rows."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        path = Path(place) / "small.csv"
        path.write_text("visits\n" + "\n".join(map(str, range(100))))
        options = {"epsilon": 1, "max_count": N - 1}
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
    print(f"\n{rows:,} rows of {kind}, {size:.0f} MB, 5 columns, max_count = {N - 1}")
    print(f"{'':>4}{'DuckDB copies, s':>18}{'holdfast, s':>13}{'ratio':>8}{'rows/s':>13}"
          f"{'peak MiB':>10}{'DuckDB MiB':>12}")  # fmt: skip
    copies, runs = [], []
    for k in range(repeat):
        copy = apart("copy", source, folder / f"copy.{kind}")
        ours = apart("stream", source, folder / "release")
        copies.append(copy["seconds"])
        runs.append(ours)
        print(f"{k + 1:>4}{copy['seconds']:18.1f}{ours['seconds']:13.1f}"
              f"{ours['seconds'] / copy['seconds']:8.2f}{rows / ours['seconds']:13,.0f}"
              f"{ours['peak']:10.0f}{copy['peak']:12.0f}", flush=True)  # fmt: skip
    ratio = min(run["seconds"] for run in runs) / min(copies)
    peak = max(run["peak"] for run in runs)
    ok = ratio <= 3 and peak < 1024
    print(f"  {'ok' if ok else 'MISSED'}: the best of each {ratio:.2f}, 3 times DuckDB's copy "
          f"allowed; peak {peak:.0f} MiB, 1024 allowed")  # fmt: skip
    os.remove(source)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")), default=20_000_000)
    parser.add_argument("--only", choices=["kernel", "parquet", "csv"])
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--repeat", type=int, default=2)
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
