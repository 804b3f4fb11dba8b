"""Counts that run far: stage 1 against its peers, time and memory by n, a generous bound.

    python benchmarks/long_ranges.py stage1 [runs]      W1 of z, by table and epsilon of stage 1
    python benchmarks/long_ranges.py bound [runs]       W1 of z for one table, by max_count
    python benchmarks/long_ranges.py sizes              privatize, save, verify, load from n = 10^3
    python benchmarks/long_ranges.py groups             the same with groups, and questions
    python benchmarks/long_ranges.py covered [runs]     how often answers by group cover
    python benchmarks/long_ranges.py rows [runs]        how far single rows are off, and covered

County tables come from the folder that HOLDFAST_DATA names, and are left out without it. All but
`sizes` and `groups` is simulation.
"""

import csv
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import holdfast.former as holdfast
from holdfast.former.analysis.nonlinear import gini
from holdfast.former.privatizers import CumulativeIsotonic, CumulativeSmooth, LongRange
from holdfast.former.privatizers.pooling import nearest_rising
from holdfast.former.privacy.metrics import wasserstein
from holdfast.former.privacy.randomness import Simulation

FOLDER = Path(os.environ.get("HOLDFAST_DATA", "data"))
SLOW = 20_001  # bins above which the fit of every count is left out


def tables() -> dict[str, tuple[int, np.ndarray]]:
    """Counts and max_count by name."""
    rng, places = np.random.default_rng(5), np.arange(100_001)
    shares = (1.0 + places) ** -1.6
    found = {
        "power law, 20,000 rows": (100_000, rng.choice(places, 20_000, p=shares / shares.sum())),
        "lognormal(5, 2), 5,000 rows": (10_000, rng.lognormal(5, 2, 5000).astype(int)),
    }
    path = FOLDER / "crime_by_county.csv"
    if path.is_file():
        with path.open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for name, column, top in (
            ("robberies", "ROBBERY", 20_000),
            ("murders", "MURDER", 50),
            ("murders, generous", "MURDER", 1_000_000),
            ("populations", "population", 1_000_000),
        ):
            counts = np.array([int(float(row[column])) for row in rows])
            found[f"{name}, {len(rows):,} counties"] = (top, counts)
    return found


def histogram_of(counts: np.ndarray, top: int) -> np.ndarray:
    return np.bincount(np.minimum(counts, top), minlength=top + 1)


def sorted_isotonic(histogram: np.ndarray, *, epsilon: str, rng: int) -> np.ndarray:
    """Noise on every sorted count, then isotonic regression (Hay et al. 2010)."""
    ordered = np.repeat(np.arange(len(histogram)), histogram)
    noisy = Simulation(rng).add_laplace(ordered, holdfast.privacy.budget.exact_epsilon(epsilon))
    fitted = np.clip(np.rint(nearest_rising(noisy)), 0, len(histogram) - 1).astype(int)
    return np.bincount(fitted, minlength=len(histogram)) / len(ordered)


def mean_distance(way: Callable[..., np.ndarray], histogram: np.ndarray, epsilon: str, runs: int):
    truth = histogram / histogram.sum()
    return np.mean(
        [wasserstein(way(histogram, epsilon=epsilon, rng=s), truth) for s in range(runs)]
    )


def stage1(runs: int) -> None:
    ways = {
        "long range": LongRange(),
        "sorted, isotonic": sorted_isotonic,
        "cumulative, isotonic": CumulativeIsotonic(),
        "every count, smooth": CumulativeSmooth(),
    }
    print(f"Mean W1 of z over {runs} runs, epsilon of stage 1 = 0.05, 0.5")
    print(f"{'':32}" + "".join(f"{name:>24}" for name in ways))
    for name, (top, counts) in tables().items():
        histogram, cells = histogram_of(counts, top), []
        for kind, way in ways.items():
            slow = kind == "every count, smooth" and top >= SLOW
            found = (
                [] if slow else [mean_distance(way, histogram, e, runs) for e in ("0.05", "0.5")]
            )
            cells.append(", ".join(f"{w1:.3g}" for w1 in found) or "-")
        print(f"{name:32}" + "".join(f"{cell:>24}" for cell in cells), flush=True)


def bound(runs: int) -> None:
    rng = np.random.default_rng(3)
    counts = np.minimum(rng.negative_binomial(0.6, 0.13, 3000), 50)
    print(f"Mean W1 of z over {runs} runs for 3,000 counts up to 50, by max_count")
    print(
        f"{'max_count':>10}{'epsilon 1':>10}{'long range':>12}{'every count':>12}{'isotonic':>12}"
    )
    for top in (50, 500, 5000, 50_000):
        for epsilon in ("0.05", "0.5"):
            histogram = histogram_of(counts, top)
            ways = (LongRange(), CumulativeSmooth(), CumulativeIsotonic())
            kept = [None if w == CumulativeSmooth() and top > 5000 else w for w in ways]
            found = [w and mean_distance(w, histogram, epsilon, runs) for w in kept]
            words = "".join(f"{w1:12.3f}" if w1 is not None else f"{'-':>12}" for w1 in found)
            print(f"{top:>10}{epsilon:>10}{words}", flush=True)


def one_size(top: int, kind: str, epsilon: str) -> None:
    """Every step in this process: seconds, and the peak of memory."""
    rng, rows = np.random.default_rng(5), 100_000
    counts = rng.lognormal(5, 2, rows).astype(int)
    if kind == "power":
        counts = rng.pareto(0.6, rows).astype(np.int64)
    holdfast.privatize(counts[:500], epsilon=1, max_count=2000)  # compiled
    with tempfile.TemporaryDirectory() as folder:
        place, took = Path(folder) / "out", []
        release = timed(took, lambda: holdfast.privatize(counts, epsilon=epsilon, max_count=top))
        timed(took, lambda: release.save(place))
        assert timed(took, lambda: holdfast.verify(place)).passed
        timed(took, lambda: holdfast.load(place))
        beside = sum(p.stat().st_size for p in place.iterdir() if p.stem != "table") / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cells = "".join(f"{seconds:10.1f}" for seconds in took)
    print(f"{kind:>10}{epsilon:>8}{top:>10}{cells}{beside:12.1f}{peak:12.0f}", flush=True)


def timed(took: list[float], work: Callable[[], object]):
    start = time.process_time()
    found = work()
    took.append(time.process_time() - start)
    return found


def sizes() -> None:
    names = ("privatize", "save", "verify", "load")
    print(
        "100,000 rows; CPU seconds; MB of the bundle beside the table; peak MiB, of which 260 are"
    )
    print("Python with its libraries")
    print(
        f"{'table':>10}{'epsilon':>8}{'max_count':>10}" + "".join(f"{n:>10}" for n in names), end=""
    )
    print(f"{'bundle MB':>12}{'peak MiB':>12}", flush=True)
    for kind, epsilon in (("lognormal", "1"), ("lognormal", "0.1"), ("power", "1")):
        for top in (1000, 10_000, 100_000, 1_000_000):
            run = [sys.executable, __file__, "one", str(top), kind, epsilon]
            subprocess.run(run, check=True)


def one_grouping(groups: int, top: int) -> None:
    """Every step with groups in this process: seconds, and the peak of memory."""
    import pyarrow as pa

    from holdfast.former.analysis.report.blocks import html
    from holdfast.former.analysis.report.content import report

    rng, rows = np.random.default_rng(5), 100_000
    names = [f"g{number:02}" for number in rng.integers(0, groups, rows)]
    counts = rng.lognormal(5, 2, rows).astype(np.int64)
    table = pa.table({"group": names, "visits": counts})
    options = {"count": "visits", "within": "group", "epsilon": 1}
    holdfast.privatize(table[:500], **options, max_count=20_000).ask("mean", by="group")  # compiled
    with tempfile.TemporaryDirectory() as folder:
        place, took = Path(folder) / "out", []
        release = timed(took, lambda: holdfast.privatize(table, **options, max_count=top))
        timed(took, lambda: release.save(place))
        assert timed(took, lambda: holdfast.verify(place)).passed
        timed(took, lambda: release.ask("mean", by="group"))
        timed(took, lambda: release.ask("quantile", at=0.9, by="group"))
        timed(took, lambda: release.intervals())
        timed(took, lambda: html(report(release)))
        beside = sum(p.stat().st_size for p in place.iterdir() if p.stem != "table") / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cells = "".join(f"{seconds:10.1f}" for seconds in took)
    print(f"{groups:>8}{top:>10}{cells}{beside:12.1f}{peak:12.0f}", flush=True)


def groups() -> None:
    names = ("privatize", "save", "verify", "mean", "quantile", "intervals", "report")
    print(
        "100,000 rows, lognormal(5, 2), in groups; CPU seconds; MB of the bundle beside the table"
    )
    print(f"{'groups':>8}{'max_count':>10}" + "".join(f"{n:>10}" for n in names), end="")
    print(f"{'bundle MB':>12}{'peak MiB':>12}", flush=True)
    for number, top in ((10, 20_000), (50, 100_000), (10, 1_000_000)):
        subprocess.run([sys.executable, __file__, "grouping", str(number), str(top)], check=True)


def covered(runs: int) -> None:
    """Answers by group of small and large groups: how many 90 % intervals cover."""
    import pyarrow as pa

    sizes, rng, top = (1, 2, 3, 30, 300, 2664), np.random.default_rng(11), 20_000
    counts = np.minimum(rng.lognormal(5, 2, sum(sizes)), top).astype(int)
    names, order = np.repeat([str(size) for size in sizes], sizes), rng.permutation(sum(sizes))
    counts, names = counts[order], names[order]
    table = pa.table({"group": names, "visits": counts})
    asked = {
        "mean": ({}, np.mean),
        "median": ({}, lambda x: np.sort(x)[(len(x) + 1) // 2 - 1]),
        "share": ({"at_least": 100}, lambda x: (x >= 100).mean()),
        "share of zeros": ({"equal": 0}, lambda x: (x == 0).mean()),
        "gini": ({}, lambda x: gini(np.bincount(x) / len(x))),
    }
    for epsilon in ("0.2", "1"):
        hits: dict[tuple[str, str], list[bool]] = {}
        for seed in range(runs):
            release = holdfast.privatize(
                table, count="visits", within="group", epsilon=epsilon, max_count=top, seed=seed
            )
            for question, (options, truth) in asked.items():
                name = question.split()[0]
                found = dict(release.ask(name, by="group", **options))
                found["all"] = release.ask(name, **options)
                for group, answer in found.items():
                    true = truth(counts if group == "all" else counts[names == group])
                    low, high = answer.interval
                    inside = low - 1e-9 <= true <= high + 1e-9
                    hits.setdefault((question, group), []).append(inside)
        print(f"epsilon = {epsilon}: 90 % intervals that covered, of {runs}, by rows of the group")
        groups_of = [*(str(size) for size in sizes), "all"]
        print(f"{'':16}" + "".join(f"{group:>8}" for group in groups_of))
        for question in asked:
            cells = "".join(f"{sum(hits[question, group]):>8}" for group in groups_of)
            print(f"{question:16}{cells}", flush=True)


def grouped_tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Labels and counts by name."""
    rng, found = np.random.default_rng(4), {}
    path = FOLDER / "crime_by_county.csv"
    if path.is_file():
        with path.open(encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        states = np.array([line["state"] for line in lines])
        found["robberies, 51 states"] = (states, np.array([int(x["ROBBERY"]) for x in lines]))
    for rows, number in ((2000, 6), (3000, 150)):
        labels = rng.integers(0, number, rows)
        counts = rng.lognormal(rng.normal(4, 1, number)[labels], 1.5).astype(np.int64)
        found[f"{rows:,} shops, {number} regions"] = (labels.astype(str), counts)
    return found


def rows(runs: int) -> None:
    """How far released counts are off, what is stated, and how many intervals of rows cover."""
    print(f"max_count 20,000, {runs} releases: how far a count is off, as stated, the highest row")
    print("of a group off, W1 within groups and of all; 90 % intervals of rows that cover, in %:")
    print("all, of 1,000 or more, the ten highest, the highest of each group")
    for name, (labels, counts) in grouped_tables().items():
        members = [np.flatnonzero(labels == label) for label in np.unique(labels)]
        capped = np.minimum(counts, 20_000)
        first = [own[np.argmax(capped[own])] for own in members]
        some = [slice(None), capped >= 1000, np.argsort(-capped)[:10], first]
        for epsilon in ("0.2", "1"):
            for how in ("together", "by group", "one by one"):
                found = []
                for seed in range(runs):
                    drawn, stated, low, high = released(how, labels, counts, epsilon, seed)
                    off, inside = np.abs(drawn - capped), (low <= capped) & (capped <= high)
                    within = sum(moved(drawn[own], capped[own]) * len(own) for own in members)
                    numbers = (off.mean(), stated, off[first].mean(), within / len(counts))
                    covers = [100 * inside[part].mean() for part in some]
                    found.append([*numbers, moved(drawn, capped), *covers])
                cells = "".join(f"{value:8.3g}" for value in np.mean(found, axis=0))
                print(f"{name:24}{epsilon:>5} {how:11}{cells}", flush=True)


def released(
    how: str, labels: np.ndarray, counts: np.ndarray, epsilon: str, seed: int
) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
    """Released counts, the expected change and both ends of all intervals; "one by one" makes a
    release of every group, with the same split."""
    import pyarrow as pa

    table = pa.table({"group": labels, "n": counts})
    options = {"count": "n", "epsilon": epsilon, "max_count": 20_000, "seed": seed}
    by_group = holdfast.privatize(table, **options, within="group") if how != "together" else None
    if how != "one by one":
        release = by_group or holdfast.privatize(table, **options)
        law = release.intervals()
        return release.counts, release.expected_change, law.low, law.high
    budget, found, changes = by_group.privacy.budget, np.empty((3, len(counts)), dtype=int), 0.0
    for number, label in enumerate(np.unique(labels)):
        own = labels == label
        options["seed"] = 1000 * seed + number
        release = holdfast.privatize(
            table.filter(own), **options, split=budget.stage_1 / budget.epsilon
        )
        law = release.intervals()
        found[:, own] = release.counts, law.low, law.high
        changes += (release.expected_change or 0.0) * own.sum()
    return found[0], changes / len(counts), found[1], found[2]


def moved(one: np.ndarray, other: np.ndarray) -> float:
    """W1 between two lists of counts of the same length."""
    return float(np.abs(np.sort(one) - np.sort(other)).mean())


if __name__ == "__main__":
    job, *rest = sys.argv[1:] or ["stage1"]
    if job == "one":
        one_size(int(rest[0]), rest[1], rest[2])
    elif job == "grouping":
        one_grouping(int(rest[0]), int(rest[1]))
    elif job in ("sizes", "groups"):
        {"sizes": sizes, "groups": groups}[job]()
    else:
        jobs = {"stage1": stage1, "bound": bound, "covered": covered, "rows": rows}
        jobs[job](int(rest[0]) if rest else 20)
