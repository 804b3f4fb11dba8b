"""From a CSV file to a bundle by group: time, memory, and their growth with the number of groups.

    python benchmarks/groups_time.py [--rows 1_000_000] [--groups 750,1500,3000,6000] [--memory]

Rows with a category, a label and a count up to 100 (n = 101); ε = 1, totals measured. Each run is a
process of its own, the ungrouped release of the same file first; kernels are compiled before. Needs
50 bytes a row under the system's folder for such files, and cleans up. Processor time is of all
threads; --memory reads the file into memory too, once, at the most groups of 3,000 or fewer.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import holdfast.former as holdfast

TOP = 100


def write_table(path, rows, groups):
    rng = np.random.default_rng(1)
    label = rng.integers(0, groups, rows)
    mean = 1 + 15 * (label + 0.5) / groups
    counts = np.minimum(rng.negative_binomial(0.7, 0.7 / (0.7 + mean)), 120)
    with path.open("w", encoding="utf-8") as file:
        file.write("place,county,visits\n")
        lines = zip(range(rows), label.tolist(), counts.tolist(), strict=True)
        file.writelines(f"place {row},c{group},{count}\n" for row, group, count in lines)


def release(path, folder, way, grouped):
    options = {"count": "visits", "category": "place", "epsilon": 1, "max_count": TOP}
    options |= {"within": "county", "totals": True} if grouped else {"keep": ["county"]}
    if way == "memory":
        return holdfast.privatize(path, **options).save(folder)
    return holdfast.privatize_stream(path, folder, **options).folder


def one(path, folder, way, grouped):
    """Run once and print what it took."""
    wall, processor = time.perf_counter(), time.process_time()
    release(Path(path), Path(folder), way, grouped == "within")
    took = time.perf_counter() - wall, time.process_time() - processor
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    size = sum(file.stat().st_size for file in Path(folder).iterdir()) / 2**20
    print(json.dumps({"wall": took[0], "processor": took[1], "GiB": memory, "bundle MiB": size}))


def measured(path, folder, way, grouped):
    call = [sys.executable, __file__, "--one", path, folder, way, grouped]
    done = subprocess.run(list(map(str, call)), capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--groups", default="750,1500,3000,6000")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(*options.one)
        return
    numbers = [int(number) for number in options.groups.split(",")]
    with tempfile.TemporaryDirectory() as place:
        here = Path(place)
        write_table(here / "small.csv", 3000, 30)
        for grouped in ("whole", "within"):
            measured(here / "small.csv", here / f"warm-{grouped}", "stream", grouped)
        for number in numbers:
            write_table(here / "table.csv", options.rows, number)
            ways = [("stream", "within")]
            ways = [("stream", "whole"), *ways] if number == numbers[0] else ways
            if options.memory and number == max(n for n in numbers if n <= 3000):
                ways = [*ways, ("memory", "whole"), ("memory", "within")]
            for way, grouped in ways:
                found = measured(
                    here / "table.csv", here / f"{way}-{grouped}-{number}", way, grouped
                )
                words = ", ".join(f"{name} {value:.2f}" for name, value in found.items())
                about = f"{number:,} groups" if grouped == "within" else "ungrouped"
                print(f"{options.rows:,} rows, {way}, {about}: {words}", flush=True)


if __name__ == "__main__":
    main()
