"""How often intervals cover the truth: every question, five tables, four budgets.

    python benchmarks/interval_coverage.py --releases 500 --folder results --data PAPERS_DATA

Each release is made and asked as a user would, with the defaults. A killed run goes on where it
was; after a change of the code begin with a new folder. Releases are made in blocks of 25. Without
the paper's data the crime table is left out and the binomial one is drawn. What is printed is what
docs/uncertainty.md shows under "Measured". "total" is the mean times the number of rows, and "at
most" what "at least" leaves, so neither has a line of its own.
"""

import argparse
from importlib.resources import files

import numpy as np

import holdfast.former as holdfast
from holdfast.former.studies.datasets import dataset
from holdfast.former.studies.runner import Study, run

EPSILONS = ("0.1", "0.5", "1", "3")
TABLES = ("demo", "crime", "binomial", "dozens", "small")
ESTIMATORS = ("best", "released", "target")
BLOCK, PAIRS = 25, 5
LINEAR = (
    ("share", {"equal": 0}),
    ("share", {"at_least": 1}),
    ("share", {"at_least": 3}),
    ("share", {"at_least": 10}),
    ("share", {"between": (2, 5)}),
    ("share", {"equal": 2}),
    ("share", {"equal": 12}),
    ("share", {"equal": 20}),
    ("mean", {}),
)
OTHER = (("median", {}), ("quantile", {"at": 0.9}), ("variance", {}), ("gini", {}))


def true_counts(name, folder=None):
    """The counts of one table, and its max_count."""
    if name == "demo":
        text = (files("holdfast") / "data" / "county_homicides_1996.csv").read_text()
        header, *lines = text.splitlines()
        at = header.split(",").index("homicides")
        return np.minimum([int(line.split(",")[at]) for line in lines], 30), 30
    if name == "dozens":  # spikes inside the range, next to nothing between them; 1,696 rows
        histogram = np.full(41, 4)
        histogram[[0, 12, 24, 36]] = 500, 620, 260, 80
        histogram[1:7] = 30, 25, 20, 15, 12, 10
    elif name == "small":  # 300 rows, geometric
        histogram = np.rint(300 * 0.35 * 0.65 ** np.arange(16)).astype(int)
        histogram[0] += 300 - histogram.sum()
    else:
        histogram = dataset(name, folder).histogram
    return np.repeat(np.arange(len(histogram)), histogram), len(histogram) - 1


def label(name, options):
    return " ".join([name, *(f"{key} {value}" for key, value in options.items())])


def truth(name, options, counts):
    if name == "share":
        ((kind, value),) = options.items()
        low, high = value if kind == "between" else (value, value)
        return np.mean((counts >= low) & ((counts <= high) | (kind == "at_least")))
    if name in ("median", "quantile"):
        p = options.get("at", 0.5)
        return np.sort(counts)[int(np.ceil(p * len(counts) - 1e-9)) - 1]
    if name == "gini":
        ordered, m = np.sort(counts), len(counts)
        return 2 * (np.arange(1, m + 1) @ ordered) / (m * ordered.sum()) - (m + 1) / m
    return {"mean": np.mean, "variance": np.var}[name](counts)


def asked(top):
    for name, options in LINEAR:
        if max(np.ravel(list(options.values())), default=0) <= top:
            for estimator in ESTIMATORS:
                yield name, options, estimator
    for name, options in OTHER:
        for estimator in ESTIMATORS:
            yield name, options, estimator


def work(task, seed):
    counts, top = true_counts(task["table"], task["data"])
    generator = np.random.default_rng(seed)
    found = {}

    def note(question, estimator, covered, width, error):
        found.setdefault((question, estimator), []).append((covered, width, error, error**2))

    for _ in range(task["releases"]):
        made = int(generator.integers(2**60))
        stage_1 = task["privatizer"] and getattr(holdfast.privatizers, task["privatizer"])()
        release = holdfast.privatize(
            counts,
            epsilon=task["epsilon"],
            max_count=top,
            privatizer=stage_1,
            split=task["split"],
            seed=made,
        )
        for name, options, estimator in asked(top):
            answer = release.ask(name, estimator=estimator, **options)
            true, (low, high) = truth(name, options, counts), answer.interval
            covered = low - 1e-9 <= true <= high + 1e-9
            note(label(name, options), estimator, covered, high - low, answer.estimate - true)
        rows = release.intervals()
        inside = (rows.low <= counts) & (counts <= rows.high)
        stated = float(rows.probability.mean())
        width = (rows.high - rows.low).mean()
        note("single rows", "posterior", inside.mean(), width, stated - inside.mean())
        group = generator.choice(len(counts), 50, replace=False)
        answer = release.total_of(group.tolist())
        true, (low, high) = counts[group].sum(), answer.interval
        note("total of 50 random rows", "part", low <= true <= high, high - low,
             answer.estimate - true)  # fmt: skip
        for first, second in generator.choice(len(counts), (PAIRS, 2), replace=False).tolist():
            found_pair = release.compare(first, second)
            true, (low, high) = counts[first] - counts[second], found_pair.interval
            note("difference of two random rows", "posterior", low <= true <= high, high - low,
                 found_pair.difference - true)  # fmt: skip
    names = ("covered", "width", "error", "squared")
    return [
        {"question": question, "estimator": estimator}
        | dict(zip(names, (task["releases"] * np.mean(values, axis=0)).tolist(), strict=True))
        for (question, estimator), values in found.items()
    ]


def study(tables, releases, data, privatizer=None, split=None, epsilons=EPSILONS):
    same = {"releases": BLOCK, "data": data, "privatizer": privatizer, "split": split}
    tasks = [
        {"table": table, "epsilon": epsilon, "block": block} | same
        for block in range(-(-releases // BLOCK))
        for table in tables
        for epsilon in epsilons
    ]
    return Study(name="interval_coverage", tasks=tasks, work=work)


def collect(rows):
    """By table, question, estimator, epsilon: releases, coverage, width, bias, error."""
    sums = {}
    for row in rows:
        key = row["table"], row["question"], row["estimator"], row["epsilon"]
        values = [row[k] for k in ("releases", "covered", "width", "error", "squared")]
        sums[key] = sums.get(key, 0) + np.array(values, dtype=float)
    return {
        key: (int(n), covered / n, width / n, error / n, (squared / n) ** 0.5)
        for key, (n, covered, width, error, squared) in sums.items()
    }


HEADINGS = {
    "### `best`": ("best",),
    "### `released`": ("released",),
    "### `target`": ("target",),
    "### Rows (on average over rows) and groups": ("posterior", "part"),
}


def show(results, epsilons):
    """A table for each estimator, a line for each question, a cell for each table of counts."""
    tables = list(dict.fromkeys(key[0] for key in results))
    for heading, estimators in HEADINGS.items():
        print(f"{heading}\n\n| question |", " | ".join(tables), "|\n|---|" + "---|" * len(tables))
        lines = dict.fromkeys((key[1], key[2]) for key in results if key[2] in estimators)
        for question, estimator in lines:
            cells = (
                " ".join(
                    f"{100 * results[table, question, estimator, epsilon][1]:.0f}"
                    for epsilon in epsilons
                    if (table, question, estimator, epsilon) in results
                )
                for table in tables
            )
            print("|", question, "|", " | ".join(cells), "|")
        print()


def show_outside(results):
    """Cells outside 87 to 95 %, and how far chance alone would reach from 90 %."""
    outside = [(key, value) for key, value in results.items() if not 0.87 <= value[1] <= 0.95]
    print(f"{len(results) - len(outside)} of {len(results)} cells between 87 and 95 %; outside:\n")
    for key, value in sorted(outside):
        chance = 100 * 2 * (0.09 / value[0]) ** 0.5
        print("-", *key, f"{100 * value[1]:.1f} % of {value[0]} (chance alone: ±{chance:.1f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--releases", type=int, default=500)
    parser.add_argument("--folder", default=None, help="where results are kept")
    parser.add_argument("--data", default=None, help="folder of the paper's data")
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--epsilons", default=",".join(EPSILONS))
    parser.add_argument("--privatizer", default=None, help="name of stage 1; default the default")
    parser.add_argument("--split", default=None, help="stage 1's share; default the default")
    options = parser.parse_args()
    tables = [t for t in options.tables.split(",") if t != "crime" or options.data]
    chosen = study(
        tables,
        options.releases,
        options.data,
        options.privatizer,
        options.split,
        options.epsilons.split(","),
    )
    results = collect(run(chosen, folder=options.folder, jobs=options.jobs))
    show(results, options.epsilons.split(","))
    show_outside(results)


if __name__ == "__main__":
    main()
