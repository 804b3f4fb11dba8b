"""Totals, means and shares of zeros by state: how often intervals cover, how far off answers are.

    python benchmarks/groups_coverage.py --data DATA [--releases 200] [--epsilons 0.2,0.5,1,2]

DATA holds crime_by_county.csv (or set HOLDFAST_DATA): murders of 3,136 counties in 51 states of 1
to 254 counties, released with the default stages, top code 50. "within and totals" is asked about
the true totals and means, not capped; all others about capped counts. Seeded releases of both
stages. Errors are means of absolute ones over states; "usual" is the estimate ± 1.645 standard
errors, "summing" adds up the released column. With --keep a folder answers are kept there, and a
run that was stopped goes on where it was.
Prints what docs/groups.md shows.
"""

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd

import holdfast.former as holdfast
from holdfast.former.analysis.linear import share
from holdfast.former.analysis.parts.answers import interval
from holdfast.former.analysis.parts.numbers import Average
from holdfast.former.analysis.parts.part import Part
from holdfast.former.privatizers.totals import measure_totals
from holdfast.former.privacy.budget import split_budget
from holdfast.former.privacy.randomness import Simulation

TOP, LEVEL, USUAL = 50, 0.9, 1.645
ALLOWED = ["state", "row order", "totals"]
STEPS = np.arange(TOP + 1.0)
ASKED = {"mean": Average(f=STEPS), "zeros": Average(f=share(TOP + 1, equal=0).f)}
QUESTIONS = {"mean": ("mean", {}), "zeros": ("share", {"equal": 0})}
SIZES = ((1, 9), (10, 49), (50, 99), (100, 254))
FEWER = 10  # estimates, and the ways beside, of every tenth release: enough for their means
NOTHING = (np.nan, np.nan)


def counties(folder):
    table = pd.read_csv(Path(folder) / "crime_by_county.csv", usecols=["state", "MURDER"])
    return table.rename(columns={"MURDER": "n"})


def truth(counts):
    return {"mean": float(counts.mean()), "zeros": float((counts == 0).mean())}


def released(table, epsilon, seed, **options):
    return holdfast.privatize(
        table, count="n", epsilon=epsilon, max_count=TOP, publish_anyway=ALLOWED, seed=seed,
        **options,
    )  # fmt: skip


def by_state(table, release):
    for state, rows in table.groupby("state").indices.items():
        marks = np.zeros(len(table), dtype=bool)
        marks[rows] = True
        yield state, np.asarray(table.n[rows]), Part(release=release, marks=marks)


def answers(table, release, seed):
    """What is asked of each state by the likelihood of its rows; one fit for all estimates."""
    for state, counts, part in by_state(table, release):
        true, shown = truth(np.minimum(counts, TOP)), truth(release.counts[part.marks])
        for name, asked in ASKED.items():
            found = NOTHING
            if seed % FEWER == 0:
                question, options = QUESTIONS[name]
                answer = release.ask(question, where=part.marks, **options)
                found = answer.estimate, answer.standard_error
            ends = interval(part, asked, LEVEL)
            yield state, name, len(counts), true[name], *found, *ends, shown[name]


def ungrouped(table, epsilon, seed):
    """One mechanism for the whole table."""
    if seed % FEWER == 0:
        yield from answers(table, released(table, epsilon, seed, keep=["state"]), seed)


def within(table, epsilon, seed):
    """A mechanism for each state."""
    yield from answers(table, released(table, epsilon, seed, within="state"), seed)


def measured(table, epsilon, seed):
    """Totals measured as such, not capped, with a tenth of the budget; no counts need be drawn."""
    states = table.groupby("state").n
    budget = split_budget(epsilon, max_count=TOP, rows=len(table), totals=True)
    totals = measure_totals(states.sum().tolist(), budget, Simulation(seed))
    found = zip(states, totals.at(LEVEL)[1], strict=True)
    for (state, counts), total in found:
        rows = len(counts)
        numbers = (total.value, totals.error(1), total.low, total.high)
        yield state, "mean", rows, truth(counts)["mean"], *(x / rows for x in numbers), np.nan


def one_by_one(table, epsilon, seed):
    """A release for each state: its columns added up, as asking all of them takes too long."""
    if seed % FEWER:
        return
    for number, (state, rows) in enumerate(table.groupby("state").indices.items()):
        counts = np.asarray(table.n[rows])
        release = holdfast.privatize(
            counts, epsilon=epsilon, max_count=TOP, publish_anyway=ALLOWED, seed=99 * seed + number
        )
        true, shown = truth(np.minimum(counts, TOP)), truth(release.counts)
        for name in QUESTIONS:
            yield state, name, len(rows), true[name], *NOTHING, *NOTHING, shown[name]


WAYS = {
    "ungrouped": ungrouped,
    "within": within,
    "within and totals": measured,
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


def scored(found):
    """Coverage and errors in per cent; a total is a mean times the rows."""
    close = 1e-6 * np.maximum(1, found.truth)
    inside = (found.low - close <= found.truth) & (found.truth <= found.high + close)
    off, known = found.estimate - found.truth, found.estimate.notna()
    usual = off.abs() <= USUAL * found.standard_error + close
    scale = np.where(found.question == "zeros", 100.0, 1.0)
    numbers = {
        "covers": (100.0 * inside).where(found.low.notna()),
        "usual": (100.0 * usual).where(known), "bias": scale * off,
        "error": scale * off.abs(), "summing": scale * (found.summed - found.truth).abs(),
        "width": scale * (found.high - found.low),
        "usual width": scale * 2 * USUAL * found.standard_error,
    }  # fmt: skip
    found = found.assign(**numbers)
    totals = found[found.question == "mean"].copy()
    for name in ("bias", "error", "summing", "width", "usual width"):
        totals[name] *= totals["rows"]
    return pd.concat([totals.assign(question="total"), found])


def summary(found):
    """A line a way and question."""
    for (way, question), some in scored(found).groupby(["way", "question"], sort=False):
        by_size = [some.covers[some["rows"].between(*ends)].mean() for ends in SIZES]
        cells = [some.covers.mean(), *by_size, some.groupby("state").covers.mean().min()]
        names = ("width", "usual", "usual width", "error", "bias", "summing")
        numbers = [some[name].mean() for name in names]
        text = " | ".join([f"{x:.0f}" for x in cells] + [f"{x:.3g}" for x in numbers])
        yield f"| {way} | {question} | {text} |"


def kept_or_measured(table, way, epsilon, options):
    """From the file of an earlier run where it is there."""
    if options.keep is None:
        return measure(table, way, epsilon, options.releases, options.first)
    file = Path(options.keep) / f"{way}-{epsilon}.csv".replace(" ", "-")
    found = pd.read_csv(file) if file.exists() else measure(table, way, epsilon, 0, 0)
    first = options.first if found.empty else int(found.seed.max()) // FEWER * FEWER + FEWER
    for seed in range(first, options.first + options.releases, FEWER):
        more = measure(table, way, epsilon, FEWER, seed)
        found = more if found.empty else pd.concat([found, more])
        found.to_csv(file, index=False)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--releases", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--data", default=os.environ.get("HOLDFAST_DATA"))
    parser.add_argument("--epsilons", default="0.2,0.5,1,2")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--keep", help="a folder for every single answer")
    options = parser.parse_args()
    table = counties(options.data)
    for epsilon in options.epsilons.split(","):
        print(f"\nε = {epsilon}, {options.releases} releases\n", flush=True)
        sizes = " | ".join(f"{low} to {high} rows" for low, high in SIZES)
        rest = "width | usual | its width | error | bias | summing"
        print(f"| | question | covers | {sizes} | worst state | {rest} |")
        print("|---" * (len(SIZES) + 10) + "|", flush=True)
        for way in options.ways.split(","):
            print(*summary(kept_or_measured(table, way, epsilon, options)), sep="\n", flush=True)


if __name__ == "__main__":
    main()
