"""What is left when a large stream fails: bad values near the end, sources that vanish, full disks.

    python benchmarks/failures.py                       # 20,000,000 rows, about 2 minutes
    python benchmarks/failures.py --rows 1_000_000

Every case runs `holdfast.privatize_stream` with a ledger, in a process of its own, and prints what
was said, what is left and what the ledger counts. A full disk is a small file system in
memory where mounting is allowed (root), and a limit on the size of files otherwise.
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

import holdfast.former as holdfast

SECRET = 987_654
ROWS_SQL = """
SELECT 'shop-' || (hash(i) % 5000) AS shop, {visits} AS visits,
    (hash(i + 7) % 100000) / 100.0 AS price
FROM range({start}, {stop}) t(i)
"""
GOOD = "LEAST(120, FLOOR(-LN(1 - (hash(i + 3) % 1000003) / 1000003.0) * 12))::INT"
FAILED: list[str] = []


def table(path: Path, rows: int, bad: str | None = None) -> None:
    """A table whose last row but one holds `bad`."""
    kind = "INT" if path.suffix == ".parquet" else "VARCHAR"
    cell = f"CASE WHEN i = {rows - 2} THEN ({bad or GOOD})::{kind} ELSE ({GOOD})::{kind} END"
    duckdb.sql(f"COPY ({ROWS_SQL.format(start=0, stop=rows, visits=cell)}) TO '{path}'")


def folder_of(parts: int, path: Path, rows: int) -> None:
    path.mkdir()
    for part in range(parts):
        ends = {"start": part * rows // parts, "stop": (part + 1) * rows // parts}
        duckdb.sql(f"COPY ({ROWS_SQL.format(**ends, visits=GOOD)}) TO '{path}/{part}.parquet'")


def one(arguments: list[str]) -> None:
    """A stream in this process; something happens to its source, or to the disk, while it draws."""
    source, sink, ledger, what = arguments
    todo = {"vanish": lambda: os.remove(f"{source}/3.parquet"),
            "truncate": lambda: os.truncate(source, os.path.getsize(source) // 2),
            "limit": limit}  # fmt: skip

    def progress(step: str, done: float | None) -> None:
        if step.startswith("Drawing") and (done or 0) > 0.1 and what in todo:
            todo.pop(what)()

    options = {"count": "visits", "epsilon": 1, "max_count": 100, "progress": progress}
    try:
        holdfast.privatize_stream(source, sink, ledger=ledger, dataset="visits", **options)
    except holdfast.HoldfastError as error:
        print(error, *getattr(error, "__notes__", ()))
        sys.exit(1)


def limit() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 21, 1 << 21))


@contextmanager
def small_disk(folder: Path, mebibytes: int) -> Iterator[bool]:
    """Whether `folder` is now a file system of so many MiB."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        mounted = False
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


def case(title: str, source: Path, place: Path, wanted: str, spent: int, what: str = "") -> None:
    """Run one failure in `place` and say how it went."""
    book = holdfast.Ledger(place / "budget.ledger")
    book.set_limit("visits", epsilon=1)
    before = {path.name for path in place.iterdir()}
    arguments = [str(source), str(place / "release"), str(book.path), what]
    start = time.perf_counter()
    run = [sys.executable, __file__, "--one", *arguments]
    done = subprocess.run(run, capture_output=True, text=True)
    took = time.perf_counter() - start
    kept = place / "budget.ledger.releases"
    left = {path.name for path in place.iterdir()} - before - {kept.name}
    left |= {path.name for path in kept.iterdir()} - {"head"} if kept.is_dir() else set()
    counted = int(book.balance("visits").epsilon_spent)
    ok = done.returncode == 1 and wanted in done.stdout and not done.stderr and not left
    ok = ok and counted == spent and str(SECRET) not in done.stdout
    said = done.stdout.strip() or done.stderr.strip()[-300:] or "nothing"
    print(f"{'ok' if ok else 'WRONG'}  {title} ({took:.0f} s)\n    said: {said}\n    left: "
          f"{', '.join(sorted(left)) or 'nothing'}; the ledger counts epsilon = {counted}",
          flush=True)  # fmt: skip
    if not ok:
        FAILED.append(title)


def bad_values(folder: Path, rows: int) -> None:
    for kind, bad, wanted in (
        ("parquet", f"-{SECRET}", "is negative"),
        ("parquet", "NULL", "is missing"),
        ("csv", f"-{SECRET}", "is negative"),
        ("csv", f"'<{SECRET}'", "is text"),
    ):
        source = folder / f"bad.{kind}"
        table(source, rows, bad)
        where = f"bad.{kind}`: `count` column 'visits' must hold whole numbers from 0 to 2^53, "
        place = new(folder)
        case(f"{kind}: a bad value in row {rows - 1:,}", source, place,
             f"{where}but data row {rows - 1} {wanted}", 0)  # fmt: skip
        source.unlink()


def vanishing(folder: Path, rows: int) -> None:
    folder_of(4, folder / "folder", rows)
    case("a folder whose last file is removed while drawing", folder / "folder", new(folder),
         "folder` cannot be read to its end; data row", 1, "vanish")  # fmt: skip
    for kind in ("parquet", "csv"):
        source = folder / f"cut.{kind}"
        table(source, rows)
        case(f"{kind}: cut to half its size while drawing", source, new(folder),
             f"cut.{kind}`", 1, "truncate")  # fmt: skip
        source.unlink()


def full_disks(folder: Path, rows: int) -> None:
    for kind in ("parquet", "csv"):
        source = folder / f"in.{kind}"
        table(source, rows)
        size = max(source.stat().st_size // 4 >> 20, 1)
        place = folder / f"small {kind}"
        with small_disk(place, size) as mounted:
            title = f"{kind}: a disk of {size} MiB" if mounted else f"{kind}: a limit of 2 MiB"
            wanted, spent = ("has no room", 0) if mounted else ("cannot be written to", 1)
            case(title, source, place, wanted, spent, "" if mounted else "limit")
        source.unlink()


def new(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=folder))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")), default=20_000_000)
    parser.add_argument("--folder")
    asked = parser.parse_args()
    print(f"{asked.rows:,} rows, 3 columns, epsilon = 1 of a ledger that has 1")
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        for cases in (bad_values, vanishing, full_disks):
            cases(Path(folder), asked.rows)
    print(f"MISSED: {', '.join(FAILED)}" if FAILED else "ok: all of them failed as they should")
    sys.exit(bool(FAILED))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2:])
    else:
        main()
