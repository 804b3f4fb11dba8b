"""Totals, means and shares of zeros by state: how often intervals cover, how far off answers are.

    python benchmarks/groups_coverage.py --data DATA [--releases 200] [--epsilons 0.2,0.5,1,2]

DATA holds crime_by_county.csv (or set HOLDFAST_DATA): murders of 3,136 counties in 51 states of 1
to 254 counties, released with the default stages, top code 50. "within and totals" is asked about
the true totals and means, not capped; all others about capped counts. Seeded releases of both
stages; errors are means of absolute ones over states, "summing" those of adding up the released
column.
Prints what docs/groups.md shows.
"""

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd

import holdfast
from holdfast.analysis.asking import answer_about
from holdfast.analysis.parts.part import Part

TOP, LEVEL = 50, 0.9
ALLOWED = ["state", "row order", "totals"]
QUESTIONS = {"total": ("total", {}), "mean": ("mean", {}), "zeros": ("share", {"equal": 0})}
SIZES = ((1, 9), (10, 49), (50, 99), (100, 254))
FEWER = 5  # one release for each state takes its time: every fifth seed


def counties(folder):
    table = pd.read_csv(Path(folder) / "crime_by_county.csv", usecols=["state", "MURDER"])
    return table.rename(columns={"MURDER": "n"})


def truth(counts):
    return {"total": counts.sum(), "mean": counts.mean(), "zeros": (counts == 0).mean()}


def asked(release, marks, questions):
    """Answers about some rows, one fit for all of them, beside what the released column says."""
    part = Part(release=release, marks=marks)
    shown = truth(release.counts[marks])
    for name in questions:
        question, options = QUESTIONS[name]
        found = answer_about(part, question, LEVEL, options)
        yield name, found.estimate, found.standard_error, *found.interval, shown[name]


def whole_release(options, questions, capped):
    """A way to release: all states at once."""

    def made(table, epsilon, seed):
        release = holdfast.privatize(
            table, count="n", epsilon=epsilon, max_count=TOP, publish_anyway=ALLOWED, seed=seed,
            **options,
        )  # fmt: skip
        for state, rows in table.groupby("state").indices.items():
            marks = np.zeros(len(table), dtype=bool)
            marks[rows] = True
            true = truth(np.minimum(table.n[rows], TOP) if capped else table.n[rows])
            for name, *numbers in asked(release, marks, questions):
                yield state, name, len(rows), float(true[name]), *numbers

    return made


def one_by_one(table, epsilon, seed):
    """A release for each state."""
    if seed % FEWER:
        return
    for number, (state, rows) in enumerate(table.groupby("state").indices.items()):
        counts = np.asarray(table.n[rows])
        release = holdfast.privatize(
            counts,
            epsilon=epsilon,
            max_count=TOP,
            publish_anyway=ALLOWED,
            seed=1000 * seed + number,
        )
        true, shown = truth(np.minimum(counts, TOP)), truth(release.counts)
        for name, (question, options) in QUESTIONS.items():
            found = release.ask(question, level=LEVEL, **options)
            numbers = (found.estimate, found.standard_error, *found.interval, shown[name])
            yield state, name, len(rows), float(true[name]), *numbers


WAYS = {
    "ungrouped": whole_release({"keep": ["state"]}, tuple(QUESTIONS), capped=True),
    "within": whole_release({"within": "state"}, tuple(QUESTIONS), capped=True),
    "within and totals": whole_release(
        {"within": "state", "totals": True}, ("total", "mean"), capped=False
    ),
    "one by one": one_by_one,
}


def measure(table, way, epsilon, releases, first):
    """A row for each answer."""
    rows = [
        (way, epsilon, seed, *answer)
        for seed in range(first, first + releases)
        for answer in WAYS[way](table, epsilon, seed)
    ]
    about = ["way", "epsilon", "seed", "state", "question", "rows", "truth"]
    names = [*about, "estimate", "standard_error", "low", "high", "summed"]
    return pd.DataFrame(rows, columns=names)


def summary(found):
    """Coverage by size of state and of the worst state, and errors, in per cent for shares."""
    close = 1e-6 * np.maximum(1, found.truth)
    covers = 100 * ((found.low - close <= found.truth) & (found.truth <= found.high + close))
    scale = np.where(found.question == "zeros", 100.0, 1.0)
    off = found.estimate - found.truth
    found = found.assign(
        covers=covers, off=scale * off, error=scale * off.abs(),
        summing=scale * (found.summed - found.truth).abs(), width=scale * (found.high - found.low),
    )  # fmt: skip
    lines = []
    for (way, question), some in found.groupby(["way", "question"], sort=False):
        by_size = [some.covers[some["rows"].between(*ends)].mean() for ends in SIZES]
        cells = [some.covers.mean(), *by_size, some.groupby("state").covers.mean().min()]
        numbers = [some[name].mean() for name in ("error", "off", "summing", "width")]
        text = " | ".join([f"{x:.0f}" for x in cells] + [f"{x:.3g}" for x in numbers])
        lines.append(f"| {way} | {question} | {text} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--releases", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--data", default=os.environ.get("HOLDFAST_DATA"))
    parser.add_argument("--epsilons", default="0.2,0.5,1,2")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--keep", help="a CSV file for every single answer")
    options = parser.parse_args()
    table, kept = counties(options.data), []
    for epsilon in options.epsilons.split(","):
        print(f"\nε = {epsilon}, {options.releases} releases\n", flush=True)
        sizes = " | ".join(f"{low} to {high} rows" for low, high in SIZES)
        print(f"| | question | covers | {sizes} | worst state | error | bias | summing | width |")
        print("|---" * (len(SIZES) + 8) + "|", flush=True)
        for way in options.ways.split(","):
            found = measure(table, way, epsilon, options.releases, options.first)
            kept.append(found)
            print(summary(found), flush=True)
    if options.keep:
        pd.concat(kept).to_csv(options.keep, index=False)


if __name__ == "__main__":
    main()
