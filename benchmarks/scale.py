"""What users do, from 3,000 rows to millions: CPU seconds, peak memory, and ratios to a peer.

    python benchmarks/scale.py [rows of the largest file, default 20_000_000]

Each line is a process of its own, but that "later" is the same question once more. The peer is
measured in the same run: of a file DuckDB's copy of it to the same format on one thread, of a
release in memory a transcription of noise and rank in NumPy alone, of an answer pandas' group-by of
the released table. Files of a quarter and half of the rows show how it grows.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

ROWS = int(sys.argv[1].replace("_", "")) if len(sys.argv) > 1 else 20_000_000
VARIANTS = {
    "plain": "keep=['region']",
    "within": "within='region'",
    "order_by": "keep=['region'], order_by='id'",
}
MEASURED = """
import json, resource, sys, time
def used():
    use = resource.getrusage(resource.RUSAGE_SELF)
    return use.ru_utime + use.ru_stime
start = 0.0
{code}
use = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([used() - start, use.ru_maxrss / 1024]))
"""
TABLE = """
import numpy as np, pyarrow as pa, pyarrow.parquet, pyarrow.csv
rng = np.random.default_rng(0)
n = {rows}
table = pa.table({{
    "id": pa.array(np.char.add("s", np.arange(n).astype(str))),
    "region": pa.array(np.char.add("r", rng.integers(0, {groups}, n).astype(str))),
    "visits": pa.array(rng.negative_binomial(0.6, 0.08, n)),
}})
pa.parquet.write_table(table, "{path}.parquet")
pa.csv.write_csv(table, "{path}.csv")
"""
RELEASE = """
import holdfast
holdfast.privatize(
    "{source}", count="visits", category="id", epsilon=1, seed=1, out="{out}", {more}
)
"""
COPY = """
import duckdb
duckdb.sql("SET threads TO 1")
duckdb.sql("COPY (FROM '{source}') TO '{out}'")
"""
ASK = """
import holdfast
release = holdfast.load("{bundle}")
release.ask("share", equal=0)
"""
LATER = (
    ASK
    + """start = used()
release.ask("share", equal=0)
"""
)
GROUP_BY = """
import pandas as pd
table = pd.read_{kind}("{bundle}/table.{kind}")
print((table.visits == 0).groupby(table.region).mean())
"""
REPORT = """
from holdfast.answers.report import written
import holdfast
written(holdfast.load("{bundle}"), "html")
"""
IN_MEMORY = """
import numpy as np, holdfast
counts = np.random.default_rng(0).negative_binomial(0.6, 0.08, {rows})
holdfast.privatize(counts, epsilon=1, seed=1).counts
"""
TRANSCRIBED = """
import numpy as np
rng = np.random.default_rng(0)
counts = rng.negative_binomial(0.6, 0.08, {rows})
noisy = counts + rng.geometric(0.63, len(counts)) - rng.geometric(0.63, len(counts))
order = np.lexsort((rng.random(len(counts)), noisy))
released = np.empty_like(counts)
released[order] = np.sort(np.maximum(noisy, 0))
"""


def measured(code: str) -> tuple[float, float]:
    """CPU seconds and MiB of a process that runs this."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED.format(code=code)],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, memory = json.loads(done.stdout.splitlines()[-1])
    return seconds, memory


def line(what: str, code: str, peer: float | None = None) -> float:
    """Measure and print; the ratio is to a peer's CPU seconds."""
    seconds, memory = measured(code)
    ratio = f"{seconds / peer:6.2f} of its peer" if peer else ""
    print(f"{what:48s} {seconds:7.2f} CPU s {memory:6.0f} MiB {ratio}", flush=True)
    return seconds


def main() -> None:
    place = Path(tempfile.mkdtemp())
    try:
        print("in memory: privatize, and noise and rank transcribed in NumPy")
        for rows in (3_000, 250_000, 500_000, 1_000_000):
            peer = measured(TRANSCRIBED.format(rows=rows))[0]
            line(f"  {rows:,} rows", IN_MEMORY.format(rows=rows), peer)
        for rows, groups in ((3_000, 50), (1_000_000, 3_000)):
            _files(place, rows, groups, VARIANTS)
        for part in (4, 2):
            _files(place, ROWS // part, 50, ("plain",))
        _files(place, ROWS, 50, VARIANTS)
    finally:
        shutil.rmtree(place)


def _files(place: Path, rows: int, groups: int, variants: Iterable[str]) -> None:
    print(f"files of {rows:,} rows in {groups:,} groups: DuckDB's copy, then releases")
    path = place / f"t{rows}"
    measured(TABLE.format(rows=rows, groups=groups, path=path))
    for kind in ("csv", "parquet"):
        source = f"{path}.{kind}"
        copied = line(f"  {kind}: copy", COPY.format(source=source, out=f"{path}-copy.{kind}"))
        for name in variants:
            bundle = place / f"{kind}-{name}-{rows}"
            release = RELEASE.format(source=source, out=bundle, more=VARIANTS[name])
            line(f"  {kind}: {name}", release, copied)
            check = f"import holdfast\nassert holdfast.verify({str(bundle)!r})"
            line(f"  {kind}: {name}, verify", check, copied)
            peer = measured(GROUP_BY.format(bundle=bundle, kind=kind))[0]
            line(f"  {kind}: {name}, ask", ASK.format(bundle=bundle), peer)
            line(f"  {kind}: {name}, ask later", LATER.format(bundle=bundle), peer)
            line(f"  {kind}: {name}, report", REPORT.format(bundle=bundle), copied)
            shutil.rmtree(bundle)
    for left in place.glob(f"{path.name}*"):
        left.unlink()


if __name__ == "__main__":
    main()
