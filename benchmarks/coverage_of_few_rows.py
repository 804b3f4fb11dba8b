"""Coverage of 90% intervals where rows are few: what docs/uncertainty.md says about it.

python benchmarks/coverage_of_few_rows.py --releases 1000
"""

import argparse

import numpy as np

import holdfast.former as holdfast
from holdfast.former.constructors import Heuristic

CASES = (
    ("mean", {}, "1.5", (420, 180, 90, 40, 30, 20, 12, 8)),
    ("share", {"equal": 0}, "1", (3, 10, 7, 0, 0, 0, 0, 0)),
    ("share", {"equal": 0}, "0.1", (8, 25, 17, 0, 0, 0, 0, 0)),
    ("share", {"equal": 0}, "0.1", (420, 180, 90, 40, 30, 20, 12, 8)),
)


def coverage(question, options, epsilon, histogram, releases):
    counts = np.repeat(np.arange(len(histogram)), histogram)
    true = counts.mean() if question == "mean" else (counts == 0).mean()
    hits = {"best": 0, "released": 0, "target": 0}
    for seed in range(releases):
        release = holdfast.privatize(
            counts, epsilon=epsilon, max_count=7, seed=seed,
            constructor=Heuristic(selector="sandwich"),
        )  # fmt: skip
        for estimator in hits:
            low, high = release.ask(question, estimator=estimator, **options).interval
            hits[estimator] += low <= true <= high
    return true, {name: found / releases for name, found in hits.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", type=int, default=1000)
    releases = parser.parse_args().releases
    print("| question | rows | epsilon | truth | best | released | target |")
    print("|---|---|---|---|---|---|---|")
    for question, options, epsilon, histogram in CASES:
        true, found = coverage(question, options, epsilon, histogram, releases)
        shares = " | ".join(f"{found[name]:.1%}" for name in ("best", "released", "target"))
        name = "mean" if question == "mean" else "share equal 0"
        print(f"| {name} | {sum(histogram)} | {epsilon} | {true:.3g} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
