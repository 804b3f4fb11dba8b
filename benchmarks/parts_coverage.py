"""How often answers about parts of a table cover the truth, and how far off they are.

    python benchmarks/parts_coverage.py --releases 500 --data PAPERS_DATA

Four tables: the demo's homicides, crime (with the paper's data), schools-like (drawn here) and one
that was not looked at while the method was made (drawn here: spikes at the dozens). Each release is
made with the defaults and asked about parts chosen by what is public; "sum" is what adding up the
released column says, "old" the posterior means that `total_of` added up before. Prints what
docs/parts.md shows.
"""

import argparse
import csv
from importlib.resources import files
from pathlib import Path

import numpy as np

import holdfast.former as holdfast
from holdfast.former.analysis.catalogue import find_question
from holdfast.former.analysis.parts.part import Part

TABLES = ("homicides", "crime", "schools", "dozens")
EPSILONS = ("0.2", "0.5", "1", "3")


def homicides(_):
    text = (files("holdfast") / "data" / "county_homicides_1996.csv").read_text()
    rows = list(csv.DictReader(text.splitlines()))
    counts = [int(row["homicides"]) for row in rows]
    people, state = [int(row["population"]) for row in rows], [row["county"][:2] for row in rows]
    return counts, people, state, 30, ("01", "06", "38")


def crime(folder):
    with (Path(folder) / "crime_by_county.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    counts = [int(row["MURDER"]) for row in rows]
    people, state = [int(row["population"]) for row in rows], [row["state"] for row in rows]
    return counts, people, state, 50, ("AL", "CA", "ND")


def schools(_):
    generator = np.random.default_rng(5)
    people = np.exp(generator.normal(6, 0.8, 6000)).astype(int) + 20
    state = generator.integers(0, 40, 6000)
    rate = 0.02 * np.exp(generator.normal(0, 0.7, 6000)) * (1 + 0.5 * (state % 3))
    return generator.poisson(people * rate), people, state.astype(str), 80, ("1", "2", "3")


def dozens(_):
    generator = np.random.default_rng(11)
    people = np.exp(generator.normal(8, 1.2, 2000)).astype(int) + 50
    state = generator.integers(0, 30, 2000)
    level = generator.poisson(people / 4000)
    loose = generator.random(2000) < 0.2
    counts = 12 * level + np.where(loose, generator.integers(0, 6, 2000), 0)
    return counts, people, state.astype(str), 40, ("1", "2", "3")


def parts(people, state, some):
    """Masks of rows by what is public: classes of population, states, random rows, few rows."""
    generator, size = np.random.default_rng(7), len(people)
    quarter, half, three, tenth = np.quantile(people, [0.25, 0.5, 0.75, 0.9])
    found = {
        "rural": people < quarter,
        "middle": (people >= half) & (people < three),
        "top decile": people >= tenth,
    }
    found |= {f"state {name}": state == name for name in some}

    def drawn(among, rows):
        marks = np.zeros(size, dtype=bool)
        marks[generator.choice(np.flatnonzero(among), rows, replace=False)] = True
        return marks

    found["100 random"] = drawn(people > 0, 100)
    found["20 random"] = drawn(people > 0, 20)
    found["20 rural"] = drawn(people < quarter, 20)
    found["20 of the top"] = drawn(people >= tenth, 20)
    return found


MEDIANS = 5  # asked of every fifth release: whole numbers, covered nearly always
QUESTIONS = {
    "share 0": ("share", {"equal": 0}),
    "share 3+": ("share", {"at_least": 3}),
    "mean": ("mean", {}),
    "median": ("median", {}),
}


def truth(name, counts):
    if name == "share 0":
        return np.mean(counts == 0)
    if name == "share 3+":
        return np.mean(counts >= 3)
    return np.mean(counts) if name == "mean" else np.sort(counts)[(len(counts) + 1) // 2 - 1]


def plain(name, shown, expected):
    """What adding up the released column says, and for means the posterior means of old."""
    old = np.mean(expected) if name == "mean" else np.nan
    return truth(name, shown), old


def measure(table, epsilon, releases, folder, first=0):
    counts, people, state, top, some = globals()[table](folder)
    counts, people, state = np.minimum(counts, top), np.asarray(people), np.asarray(state)
    chosen, found = parts(people, state, some), {}

    def note(key, true, answered, released, old):
        low, high = answered.interval
        close = 1e-6 * max(1.0, abs(true))
        found.setdefault(key, []).append((
            low - close <= true <= high + close, high - low, answered.estimate - true,
            (answered.estimate - true) ** 2, (released - true) ** 2, (old - true) ** 2, true,
        ))  # fmt: skip

    for seed in range(first, first + releases):
        release = holdfast.privatize(counts, epsilon=epsilon, max_count=top, seed=seed)
        steps, part_means = np.arange(top + 1), {}
        joint = release.target[:, None] * release.mechanism.matrix
        means = (steps @ joint) / np.maximum(joint.sum(axis=0), 1e-300)
        for name, marks in chosen.items():
            part, shown = Part(release=release, marks=marks), release.counts[marks]
            for words, (question, options) in QUESTIONS.items():
                if words == "median" and seed % MEDIANS:
                    continue
                found_here = find_question(question).about_part(part, options, level=0.9)
                note((name, words), truth(words, counts[marks]), found_here,
                     *plain(words, shown, means[shown]))  # fmt: skip
                if words == "mean":
                    part_means[name] = found_here
        for one, other in (("top decile", "rural"), (f"state {some[0]}", f"state {some[1]}")):
            difference = part_means[one].difference(part_means[other])
            true = counts[chosen[one]].mean() - counts[chosen[other]].mean()
            raw = release.counts[chosen[one]].mean() - release.counts[chosen[other]].mean()
            note((f"{one} less {other}", "difference of means"), true, difference, raw, np.nan)
    sizes = {name: int(marks.sum()) for name, marks in chosen.items()}
    return {key: np.mean(values, axis=0) for key, values in found.items()}, sizes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--releases", type=int, default=500)
    parser.add_argument("--data", default=None, help="folder of the paper's data")
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--epsilons", default=",".join(EPSILONS))
    options = parser.parse_args()
    for table in options.tables.split(","):
        if table == "crime" and not options.data:
            continue
        for epsilon in options.epsilons.split(","):
            found, sizes = measure(table, epsilon, options.releases, options.data)
            print(f"\n{table}, ε = {epsilon}, {options.releases} releases\n")
            print("| part | rows | question | truth | covers | width | bias | RMSE | sum | old |")
            print("|---|---|---|---|---|---|---|---|---|---|")
            for (part, question), (
                covers,
                width,
                bias,
                squared,
                plain_,
                old,
                true,
            ) in found.items():
                cells = (f"{x:.3g}" for x in (width, bias, squared**0.5, plain_**0.5, old**0.5))
                print(f"| {part} | {sizes.get(part, '')} | {question} | {true:.3g} | "
                      f"{100 * covers:.0f} | {' | '.join(cells)} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
