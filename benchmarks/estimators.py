"""The error of what the three estimators print: seven questions, five tables, four budgets.

    python benchmarks/estimators.py --releases 25 --folder results --data PAPERS_DATA

For every table and budget as many releases are made and asked as a user would, with the defaults,
and every answer's estimate is compared with the truth. What is printed is what docs/uncertainty.md
shows under "Error of the three estimators". Without the paper's data the crime table is left out
and the binomial one is drawn.
"""

import argparse

import numpy as np

import holdfast.former as holdfast
from holdfast.former.studies.runner import Study, run
from interval_coverage import EPSILONS, TABLES, label, true_counts, truth

ESTIMATORS = ("best", "released", "target")
QUESTIONS = (
    ("share", {"equal": 0}),
    ("share", {"equal": 5}),
    ("share", {"at_least": 3}),
    ("share", {"at_least": 10}),
    ("mean", {}),
    ("gini", {}),
    ("variance", {}),
)


def work(task, seed):
    counts, top = true_counts(task["table"], task["data"])
    release = holdfast.privatize(counts, epsilon=task["epsilon"], max_count=top, seed=seed)
    return [
        {"question": label(name, options), "truth": float(truth(name, options, counts))}
        | {e: release.ask(name, estimator=e, **options).estimate for e in ESTIMATORS}
        for name, options in QUESTIONS
    ]


def study(tables, releases, data):
    tasks = [
        {"table": table, "epsilon": epsilon, "release": number, "data": data}
        for number in range(releases)
        for table in tables
        for epsilon in EPSILONS
    ]
    return Study(name="estimators", tasks=tasks, work=work)


def collect(rows):
    """By table, question and epsilon: the root mean square errors, as in ESTIMATORS."""
    squares = {}
    for row in rows:
        key = row["table"], row["question"], row["epsilon"]
        errors = [(float(row[e]) - float(row["truth"])) ** 2 for e in ESTIMATORS]
        squares.setdefault(key, []).append(errors)
    return {key: np.sqrt(np.mean(values, axis=0)) for key, values in squares.items()}


def show(results):
    print("| table | question | epsilon | best | released | target | best / better of the two |")
    print("|---|---|---|---|---|---|---|")
    ratios, wins = [], 0
    for (table, question, epsilon), errors in sorted(results.items()):
        best, *others = errors
        cells = " | ".join(f"{error:.2g}" for error in errors)
        wins += best <= min(others)
        ratio = best / min(others) if min(others) > 0 else np.nan  # one was right every time
        ratios.append(ratio)
        print(f"| {table} | {question} | {epsilon} | {cells} | {ratio:.2f} |")
    middle = np.exp(np.nanmean(np.log(ratios)))
    far = sum(ratio > 1.25 for ratio in ratios)
    print(f"\n{len(ratios)} lines: best has the least error in {wins}; it has {middle:.2f} times "
          f"the error of the better of the two on (geometric) average, more than 1.25 times "
          f"in {far}, {np.nanmax(ratios):.2f} times at the most.")  # fmt: skip
    for place, name in ((1, "released"), (2, "target")):
        times = [errors[0] / errors[place] for errors in results.values() if errors[place] > 0]
        print(f"best / {name}: {np.exp(np.mean(np.log(times))):.2f} on average, "
              f"{min(times):.2f} to {max(times):.2f}.")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--releases", type=int, default=25)
    parser.add_argument("--folder", default=None, help="where results are kept")
    parser.add_argument("--data", default=None, help="folder of the paper's data")
    parser.add_argument("--jobs", type=int, default=None)
    options = parser.parse_args()
    tables = [t for t in TABLES if t != "crime" or options.data]
    chosen = study(tables, options.releases, options.data)
    show(collect(run(chosen, folder=options.folder, jobs=options.jobs)))


if __name__ == "__main__":
    main()
