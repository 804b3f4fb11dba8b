"""Answers on long ranges: error and coverage, against a low cap and against geometric noise.

    python benchmarks/long_coverage.py --releases 100 --folder results

Lognormal and power-law counts up to 100,000 in 100,000 rows, the populations of the demo's
counties, and robberies and populations from the folder that HOLDFAST_DATA names. Each release is
made and asked with the defaults; populations, some of which are above their max_count, with
`totals=True`, so that their mean and total are not capped. "Cap" are the released counts under a
private 0.99 quantile as max_count, "geometric" counts with geometric noise at the same epsilon, cut
off at 0 and max_count. A killed run goes on where it was; `--show` prints what it has by then.
"""

import argparse
import csv
import json
import os
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np

import holdfast.former as holdfast
from holdfast.former.studies.runner import Study, run

TABLES = ("lognormal", "power law", "robberies", "populations", "demo populations")
EPSILONS, PLACES, BLOCK = ("0.1", "1"), (0.5, 0.9, 0.99, 0.999), 5


@cache
def table(name: str) -> tuple[np.ndarray, int]:
    """The counts of a table and its max_count."""
    rng, places = np.random.default_rng(5), np.arange(100_001)
    if name == "lognormal":
        drawn = rng.lognormal(5, 2, 110_000).astype(np.int64)
        return drawn[drawn <= 100_000][:100_000], 100_000
    if name == "power law":
        shares = (1.0 + places) ** -1.6
        return rng.choice(places, 100_000, p=shares / shares.sum()), 100_000
    if name == "demo populations":
        text = (files("holdfast") / "data" / "county_homicides_1996.csv").read_text()
        rows = list(csv.DictReader(text.splitlines()))
    else:
        path = Path(os.environ["HOLDFAST_DATA"]) / "crime_by_county.csv"
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    column, top = ("ROBBERY", 20_000) if name == "robberies" else ("population", 1_000_000)
    return np.array([int(float(row[column])) for row in rows]), top


def numbers(counts: np.ndarray) -> dict[str, float]:
    ordered, n = np.sort(counts), len(counts)
    spread = float((2 * np.arange(1, n + 1) - n - 1) @ ordered)
    at = {f"quantile {p}": float(np.quantile(counts, p, method="inverted_cdf")) for p in PLACES}
    total = float(ordered.sum())
    return {"mean": total / n, "total": total, "gini": spread / (n * total)} | at


def work(task: dict, seed: int) -> list[dict]:
    counts, top = table(task["table"])
    totals = "populations" in task["table"]
    truth = numbers(np.minimum(counts, top))
    if totals:
        truth |= {"mean": float(counts.mean()), "total": float(counts.sum())}
    rng, rows = np.random.default_rng(seed), []
    for number in range(BLOCK):
        made, options = int(rng.integers(2**60)), {"epsilon": task["epsilon"]}
        release = holdfast.privatize(
            counts, max_count=top, totals=totals or None, seed=made, **options
        )
        if not number:  # one of five will do for so large an error
            low = holdfast.PrivateQuantile("0.99", highest=top)
            cut = numbers(holdfast.privatize(counts, max_count=low, seed=made, **options).counts)
        first, second = rng.geometric(-np.expm1(-float(task["epsilon"])), size=(2, len(counts)))
        noisy = numbers(np.clip(counts + first - second, 0, top))
        for name, true in truth.items():
            kind, _, at = name.partition(" ")
            answer = release.ask(kind, **({"at": float(at)} if at else {}))
            below, above = answer.interval
            rows.append(
                {
                    "question": name,
                    "truth": true,
                    "covered": int(below - 1e-9 <= true <= above + 1e-9),
                    "width": above - below,
                    "error": answer.estimate - true,
                    "cap": cut[name] - true,
                    "geometric": noisy[name] - true,
                }
            )
    return rows


def found_in(path: Path) -> list[dict]:
    """The rows of a run that goes on or was killed."""
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [json.loads(line["task"]) | row for line in lines for row in line["rows"]]


def show(rows: list[dict]) -> None:
    """A table for each epsilon: mean absolute errors, how many covered, the mean width."""
    for key in dict.fromkeys((row["table"], row["epsilon"]) for row in rows):
        found = [row for row in rows if (row["table"], row["epsilon"]) == key]
        names = list(dict.fromkeys(row["question"] for row in found))
        print(f"\n{key[0]}, epsilon = {key[1]}, {len(found) // len(names)} releases")
        heads = ("", "truth", "error", "covered", "width", "cap at 0.99", "geometric")
        print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
        for name in names:
            these = [row for row in found if row["question"] == name]
            size = {
                k: np.abs([row[k] for row in these]).mean() for k in ("error", "cap", "geometric")
            }
            covered, width = (np.mean([row[k] for row in these]) for k in ("covered", "width"))
            print(f"| {name} | {these[0]['truth']:.6g} | {size['error']:.3g} | {covered:.0%} | "
                  f"{width:.3g} | {size['cap']:.3g} | {size['geometric']:.3g} |")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--releases", type=int, default=100)
    parser.add_argument("--folder", default=None, help="where results are kept")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--epsilons", default=",".join(EPSILONS))
    parser.add_argument("--show", action="store_true", help="only what the folder has")
    options = parser.parse_args()
    if options.show:
        show(found_in(Path(options.folder) / "long_coverage.jsonl"))
        return
    tasks = [
        {"table": name, "epsilon": epsilon, "block": block}
        for block in range(-(-options.releases // BLOCK))
        for name in options.tables.split(",")
        for epsilon in options.epsilons.split(",")
    ]
    study = Study(name="long_coverage", tasks=tasks, work=work)
    rows = run(study, folder=options.folder, jobs=options.jobs, progress=False)
    show(rows)


if __name__ == "__main__":
    main()
