"""Answers from a release against answers from the baselines: width of intervals, and bias.

    python benchmarks/answers_against_baselines.py --releases 200 --folder results --data DATA

Width: the share of zeros at epsilon 0.5, by `Release.ask`, against the interval from the
truncated geometric's output by inverting its matrix, with the whole budget, in the same run.
Bias: of what the released table says, in expectation. Ours is the mean over the releases of
interval_coverage.py in the same folder, which must have as many; the baselines' is exact, from
their matrices. What is printed is what docs/uncertainty.md shows under these headings.
"""

import argparse

import numpy as np

import holdfast.former as holdfast
from holdfast.former.constructors.baselines import DiscreteGaussian, Staircase, TruncatedGeometric
from holdfast.former.studies.runner import Study, run
from interval_coverage import EPSILONS, TABLES, collect, study, true_counts

BASELINES = {
    "truncated geometric": TruncatedGeometric(),
    "staircase": Staircase(),
    "discrete Gaussian": DiscreteGaussian(delta="1e-6"),
}
SHOWN = ("demo", "crime")
METHODS = {
    "holdfast": {},
    "holdfast with the paper's split": {"split": "paper"},
    "truncated geometric": {"constructor": TruncatedGeometric()},
}


def work(task, seed):
    counts, top = true_counts(task["table"], task["data"])
    true = np.mean(counts == 0)
    generator, rows = np.random.default_rng(seed), []
    for _ in range(task["releases"]):
        made = int(generator.integers(2**60))
        for name, options in METHODS.items():
            release = holdfast.privatize(counts, epsilon="0.5", max_count=top, seed=made, **options)
            alone = "constructor" in options
            for estimator in ("best",) if alone else ("best", "released", "target"):
                answer = release.ask("share", equal=0, estimator=estimator)
                low, high = answer.interval
                rows.append(
                    {
                        "from": name,
                        "estimator": "inverted matrix" if alone else estimator,
                        "covered": bool(low <= true <= high),
                        "width": high - low,
                    }
                )
    return rows


def widths(tables, releases, data, folder, jobs):
    tasks = [
        {"table": table, "block": block, "releases": 25, "data": data}
        for table in tables
        for block in range(-(-releases // 25))
    ]
    rows = run(
        Study(name="interval_width_by_split", tasks=tasks, work=work), folder=folder, jobs=jobs
    )
    print("### Width, against inverting the truncated geometric\n")
    print("| table | from | releases | coverage | mean width |\n|---|---|---|---|---|")
    for key in dict.fromkeys((row["table"], row["from"], row["estimator"]) for row in rows):
        same = [r for r in rows if (r["table"], r["from"], r["estimator"]) == key]
        covered = np.mean([row["covered"] for row in same])
        width = np.mean([row["width"] for row in same])
        name = f"{key[1]}, {key[2]}"
        print(f"| {key[0]} | {name} | {len(same)} | {100 * covered:.1f} % | {100 * width:.2f} % |")


def questions(n):
    steps = np.arange(n)
    return {
        "share equal 0": (steps == 0).astype(float),
        "mean": steps.astype(float),
        "share at_least 3": (steps >= 3).astype(float),
    }


def biases(tables, releases, data, folder, jobs):
    tables = [table for table in SHOWN if table in tables]
    results = collect(run(study(tables, releases, data), folder=folder, jobs=jobs))
    names = ["holdfast, best", "holdfast, released", *BASELINES]
    print("\n### Bias\n")
    print("| table | question | epsilon | truth |", " | ".join(names), "|")
    print("|---|---|---|---|" + "---|" * len(names))
    for table in tables:
        counts, top = true_counts(table, data)
        zeta = np.bincount(counts, minlength=top + 1) / len(counts)
        for question, f in questions(top + 1).items():
            for epsilon in EPSILONS:
                ours = [
                    results[table, question, estimator, epsilon][3]
                    for estimator in ("best", "released")
                ]
                theirs = [
                    float(zeta @ (constructor(zeta, epsilon=epsilon).matrix @ f - f))
                    for constructor in BASELINES.values()
                ]
                cells = " | ".join(f"{value:+.4f}" for value in [*ours, *theirs])
                print(f"| {table} | {question} | {epsilon} | {zeta @ f:.4f} | {cells} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--releases", type=int, default=200)
    parser.add_argument("--folder", default=None, help="where results are kept")
    parser.add_argument("--data", default=None, help="folder of the paper's data")
    parser.add_argument("--jobs", type=int, default=None)
    options = parser.parse_args()
    tables = [t for t in TABLES if t != "crime" or options.data]
    how = (options.releases, options.data, options.folder, options.jobs)
    widths(["crime" if "crime" in tables else "demo"], *how)
    biases(tables, *how)


if __name__ == "__main__":
    main()
