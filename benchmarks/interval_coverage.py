"""How often answers cover, and how far they are off, beside plain noise at the same epsilon.

    python benchmarks/interval_coverage.py                     # 40 releases: minutes
    python benchmarks/interval_coverage.py --releases 200      # the figures of docs/answers.md

Every cell is a table, an epsilon, a kind of rows and a question; over all releases it has the
coverage of 90 % intervals, and the root of the mean squared error of

    ours     what `release.ask` says
    plain    noisy counts with all of epsilon, counted and added up as they are
    naive    the truncated geometric mechanism with all of epsilon, its counts taken for true ones
    climbed  the same counts, read by expectation and maximisation in these rows

A second part has single rows, relations between columns, regressions and changes between years,
beside the same questions put to noisy counts as if they were true ones.

HOLDFAST_DATA names the folder of crime_by_county.csv; without it that table is left out.
"""

import argparse
import csv
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

import numpy as np

from holdfast.answers.answer import Answer
from holdfast.answers.asking import ChosenRows, estimate_and_draws
from holdfast.errors import HoldfastError
from holdfast.privacy.noise import Noise
from holdfast.release.release import Column
from holdfast.request.questions import Question, Unit, find_question
from private_tables import private_table

EPSILONS = ("0.1", "0.5", "1", "2")
LOW, HIGH = 0.86, 0.97  # coverage of a 90 % interval that is as it should be
WORSE = 1.05  # RMSE over that of the best other from which on a cell is named
CLIMBS = 40
LONGEST_CLIMBED = 600  # counts up to which somebody would undo the noise by a matrix
RELATIONS = "relations"


@dataclass(frozen=True)
class Table:
    name: str
    counts: Any
    within: str | None
    cells: dict[str, list[Any]]
    parts: dict[str, list[Any]] = field(repr=False)
    """Marks of rows, several for each kind."""


def tables(wanted: set[str], kinds: tuple[str, ...]) -> Iterator[Table]:
    """Those of these names, with the kinds of rows that begin with one of these words."""
    for name, build in BUILDERS.items():
        found = build() if not wanted or name in wanted else None
        if found is not None:
            parts = {kind: rows for kind, rows in found.parts.items() if kind.startswith(kinds)}
            yield replace(found, parts=parts)


def demo() -> Table:
    text = (files("holdfast") / "plan" / "data" / "county_homicides_1996.csv").read_text()
    rows = list(csv.DictReader(text.splitlines()))
    counts = np.array([int(row["homicides"]) for row in rows])
    people = np.array([int(row["population"]) for row in rows])
    classes = (np.argsort(np.argsort(people)) * 8 // len(people)).astype(str).tolist()
    return Table("demo", counts, None, {"class": classes}, parts_of(counts, people, classes))


def demo_classes() -> Table:
    found = demo()
    groups = np.array(found.cells["class"])
    parts = {"declared class": [groups == str(g) for g in range(8)]}
    parts["across classes"] = found.parts["any 100"] + found.parts["lowest 500"]
    return Table("demo in 8 classes", found.counts, "class", found.cells, parts)


def crime(column: str, within: bool = False) -> Table | None:
    folder = Path(os.environ.get("HOLDFAST_DATA", Path(__file__).parents[2] / "shared" / "data"))
    path = folder / "crime_by_county.csv"
    if not path.is_file():
        return None
    rows = list(csv.DictReader(path.read_text().splitlines()))
    counts = np.array([int(row[column]) for row in rows])
    people = np.array([int(row["population"]) for row in rows])
    states = [row["state"] for row in rows]
    name = {"MURDER": "murders", "ROBBERY": "robberies"}[column] + " in 51 states" * within
    if not within:
        return Table(name, counts, None, {"state": states}, parts_of(counts, people, states))
    parts = {"declared state": parts_of(counts, people, states)["group"]}
    return Table(name, counts, "state", {"state": states}, parts)


def synthetic() -> Table:
    generator = np.random.default_rng(5)
    people = generator.lognormal(0, 1, 3000)
    counts = np.floor(people * generator.lognormal(3.5, 1.5, 3000)).astype(int)
    groups = generator.integers(0, 30, 3000).astype(str).tolist()
    return Table("lognormal", counts, None, {"group": groups}, parts_of(counts, people, groups))


def rare() -> Table:
    generator = np.random.default_rng(6)
    people = generator.lognormal(0, 1, 5000)
    counts = generator.poisson(0.05 * people)
    groups = generator.integers(0, 30, 5000).astype(str).tolist()
    return Table("rare", counts, None, {"group": groups}, parts_of(counts, people, groups))


BUILDERS: dict[str, Callable[[], Table | None]] = {
    "demo": demo,
    "classes": demo_classes,
    "murders": lambda: crime("MURDER"),
    "states": lambda: crime("MURDER", within=True),
    "robberies": lambda: crime("ROBBERY"),
    "lognormal": synthetic,
    "rare": rare,
}


def parts_of(counts: Any, people: Any, groups: list[str]) -> dict[str, list[Any]]:
    """Parts like the table, of any rows; and unlike it, of the rows with the fewest and most
    people; and groups of a public column."""
    rows, generator = len(counts), np.random.default_rng(7)
    rank = np.argsort(np.argsort(people, kind="stable"))
    found = {"all": [np.ones(rows, dtype=bool)]}
    for size, times in ((1, 20), (5, 4), (20, 3), (100, 2), (500, 1), (2000, 1)):
        chosen = [generator.permutation(rows) < size for _ in range(times)]
        found[f"any {size}"] = chosen
    for size in (20, 100, 500):
        found[f"lowest {size}"] = [rank < size]
        found[f"highest {size}"] = [rank >= rows - size]
    names = np.array(groups)
    several = sorted(set(groups))[:: max(len(set(groups)) // 5, 1)]
    found["group"] = [names == name for name in several]
    return found


def questions(table: Table) -> dict[str, Question]:
    high, top = map(_round, np.quantile(table.counts, [0.9, 0.99]))
    return {
        "share 0": find_question("share", {"equal": 0}),
        "share 10 %": find_question("share", {"at_least": max(high, 1)}),
        "share 1 %": find_question("share", {"at_least": max(top, 2)}),
        "mean": find_question("mean", {}),
        "median": find_question("median", {}),
        "quantile 0.9": find_question("quantile", {"at": 0.9}),
        "gini": find_question("gini", {}),
        "sd": find_question("sd", {}),
    }


def _round(number: float, *, up: bool = False) -> int:
    """The number of one digit, 1, 2 or 5, that people would name, at most `number` or at least; no
    true count decides it."""
    powers = [step * 10**power for power in range(8) for step in (1, 2, 5)]
    if up:
        return min(step for step in powers if step >= number)
    return max((step for step in powers if step <= number), default=0)


@dataclass
class Cell:
    resolution: float = 0.0
    """How far apart two answers are at the least: a row, or a count."""
    covered: list[bool] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)
    errors: dict[str, list[float]] = field(default_factory=dict)

    def rmse(self, name: str) -> float:
        errors = self.errors.get(name)
        return float(np.sqrt(np.mean(np.square(errors)))) if errors else float("nan")

    def add(self, answer: Answer, truth: float, **others: float) -> None:
        low, high = answer.interval
        slack = 1e-9 * max(abs(truth), 1)
        self.covered.append(low - slack <= truth <= high + slack)
        self.widths.append(high - low)
        for name, estimate in {"ours": answer.estimate, **others}.items():
            self.errors.setdefault(name, []).append(estimate - truth)

    @property
    def best_other(self) -> float:
        return min(self.rmse(name) for name in self.errors if name != "ours")

    @property
    def marks(self) -> str:
        """What is not as it should be. Answers that are few whole numbers cannot but cover too
        often, and an error of a quarter of a row is none."""
        covered, found = float(np.mean(self.covered)), []
        if covered < LOW:
            found.append("low")
        if covered > HIGH and np.mean(self.widths) > 3 * self.resolution:
            found.append("wide")
        least, ours = self.best_other, self.rmse("ours")
        if ours > WORSE * least and ours - least > self.resolution / 4:
            found.append("worse")
        return " ".join(found)


def run(table: Table, epsilon: str, releases: int, start: int) -> dict[tuple[str, str], Cell]:
    asked, cells = questions(table), dict[tuple[str, str], Cell]()
    truths: dict[tuple[str, str, int], float] = {}
    for kind, parts in table.parts.items():
        for place, marks in enumerate(parts):
            values, rows = np.unique(table.counts[marks], return_counts=True)
            for name, question in asked.items():
                truths[kind, name, place] = float(question.functional(values, rows.astype(float)))
    for seed in range(start, start + releases):
        release = private_table(
            table.counts, epsilon=epsilon, seed=1000 * seed, cells=table.cells, within=table.within
        )
        others = Others(table, epsilon, seed, release.only)
        for kind, parts in table.parts.items():
            for place, marks in enumerate(parts):
                part = ChosenRows(release=release, column=release.only, marks=marks)
                for name, question in asked.items():
                    truth = truths[kind, name, place]
                    step = {Unit.COUNT: 1.0, Unit.SHARE: 1 / part.size}.get(question.unit, 0.0)
                    cell = cells.setdefault((kind, name), Cell(resolution=step))
                    answer = Answer.of("", *estimate_and_draws(part, question), unit=question.unit)
                    cell.add(answer, truth, **dict(others.answers(marks, question)))
    return cells


class Others:
    """What other people would have released of the same table, and how it is read."""

    def __init__(self, table: Table, epsilon: str, seed: int, column: Column) -> None:
        noise, generator = Noise(epsilon=Fraction(epsilon)), np.random.default_rng(seed)
        drawn = column.noisy - table.counts
        self.noisy = table.counts + thinned(drawn, column.measurement.noise, noise, generator)
        self.top = _round(int(table.counts.max()), up=True)
        self.truncated = np.clip(self.noisy, 0, self.top)
        self.alpha = float(np.exp(-float(epsilon)))
        self.variance = noise.variance
        reach = noise.quantile(1 - 1e-7)
        support = min(self.top, int(np.quantile(table.counts, 0.995)) + 2 * reach)
        self.climbs = support <= LONGEST_CLIMBED
        support = support if self.climbs else 1
        self.support = np.arange(support + 1)
        self.kernel = self._kernel(len(self.support))
        self.whole = self._climb(np.ones(support + 1) / (support + 1), self._histogram(None), 150)
        self.held: dict[int, Any] = {}

    def _kernel(self, n: int) -> Any:
        """Of the truncated geometric mechanism on 0 … n-1."""
        i, j = np.arange(n)[:, None], np.arange(n)[None]
        kernel = (1 - self.alpha) / (1 + self.alpha) * self.alpha ** np.abs(i - j)
        kernel[:, 0] = self.alpha ** i[:, 0] / (1 + self.alpha)
        kernel[:, -1] = self.alpha ** (n - 1 - i[:, 0]) / (1 + self.alpha)
        return kernel

    def _histogram(self, marks: Any) -> Any:
        shown = self.truncated if marks is None else self.truncated[marks]
        inside = shown[shown <= self.support[-1]]
        return np.bincount(inside, minlength=len(self.support)).astype(float)

    def _climb(self, p: Any, histogram: Any, steps: int) -> Any:
        for _ in range(steps):
            p = p * (self.kernel @ (histogram / np.maximum(p @ self.kernel, 1e-300)))
            p = p / max(p.sum(), 1e-300)
        return p

    def answers(self, marks: Any, question: Question) -> Iterator[tuple[str, float]]:
        key = id(marks)
        if key not in self.held:
            histogram = self._histogram(marks)
            likely = self._climb(self.whole, histogram, CLIMBS) if self.climbs else self.whole
            self.held[key] = (
                np.unique(np.maximum(self.noisy[marks], 0), return_counts=True),
                np.unique(self.truncated[marks], return_counts=True),
                likely * len(self.truncated[marks]),
                float(self.noisy[marks].mean()),
            )
        plain, naive, likely, mean = self.held[key]
        if question.name in ("mean", "total"):
            yield "plain", mean
        elif question.name == "standard deviation":
            yield "plain", max(float(self.noisy[marks].var()) - self.variance, 0.0) ** 0.5
        else:
            yield "plain", float(question.functional(plain[0], plain[1].astype(float)))
        yield "naive", float(question.functional(naive[0], naive[1].astype(float)))
        if self.climbs:
            shown = self.truncated[marks]
            above = shown[shown > self.support[-1]]  # read as they are
            values, rows = np.unique(above, return_counts=True)
            values = np.append(self.support, values)
            rows = np.append(likely * (1 - len(above) / len(shown)), rows)
            yield "climbed", float(question.functional(values, rows))


def thinned(drawn: Any, wider: Noise, noise: Noise, generator: np.random.Generator) -> Any:
    """Noise of another law, as near as can be to noise that was drawn from a wider one.

    Discrete Laplace noise is that of a smaller scale and, with chance 1 - c, more noise of its own
    law on top. So the smaller can be drawn given the wider: the errors of two readings are then
    those of the same noise, and their ratio is known from a tenth of the releases.
    """
    reach = max(wider.quantile(1 - 1e-9), int(np.abs(drawn).max()))
    away = np.arange(-reach, reach + 1)
    law, more = noise.probability(away), wider.probability(away)
    zero = float(noise.probability(np.zeros(1, dtype=np.int64))[0])
    narrow, wide = float(law[reach + 1] / zero), float(more[reach + 1] / more[reach])
    same = (1 - wide) ** 2 / (1 - narrow) ** 2 * narrow / wide
    found = np.empty_like(drawn)
    for value in np.unique(drawn).tolist():
        chances = law * (1 - same) * wider.probability(value - away)
        chances[value + reach] += same * law[value + reach]
        mine = drawn == value
        found[mine] = generator.choice(away, size=int(mine.sum()), p=chances / chances.sum())
    return found


def relations(epsilon: str, releases: int, start: int) -> dict[tuple[str, str], Cell]:
    """Rows, pairs, regressions and changes, of counts of two columns that are related."""
    generator = np.random.default_rng(8)
    rows = 2000
    people = np.round(generator.lognormal(9.5, 1.2, rows))
    level = 1e-4 * people * generator.gamma(1.5, 1 / 1.5, rows)
    one, two = generator.poisson(level), generator.poisson(3 * level)
    later = generator.poisson(1.1 * level)
    size = np.log(people)
    slopes = {
        "poisson slope": ("murders ~ size", "size", _poisson),
        "least squares": ("ols murders ~ size", "size", lambda x, y: np.polyfit(x, y, 1)[0]),
        "as a regressor": ("size ~ log1p(murders)", "log1p(murders)",
                           lambda x, y: np.polyfit(np.log1p(y), x, 1)[0]),
    }  # fmt: skip
    pairs = {
        "correlation": np.corrcoef(one, two)[0, 1],
        "slope": np.polyfit(two, one, 1)[0],
        "both zero": ((one == 0) & (two == 0)).mean(),
        "ratio": one.sum() / two.sum(),
    }
    cells: dict[tuple[str, str], Cell] = {}
    for seed in range(start, start + releases):
        sample = np.random.default_rng(seed).integers(0, rows, rows)
        texts = {"id": list(map(str, range(rows))), "size": [f"{x:.9g}" for x in size]}
        both = private_table(
            {"murders": one, "rapes": two}, epsilon=epsilon, seed=seed, cells=texts
        )
        noisy = [column.noisy.astype(float) for column in both.columns]
        as_true = {
            "correlation": np.corrcoef(*noisy)[0, 1],
            "slope": np.polyfit(noisy[1], noisy[0], 1)[0],
            "both zero": ((noisy[0] <= 0) & (noisy[1] <= 0)).mean(),
            "ratio": noisy[0].sum() / noisy[1].sum(),
        }
        for name, truth in pairs.items():
            cell = cells.setdefault(("pairs", name), Cell())
            try:
                answer = both.ask(name, of=["murders", "rapes"])
            except HoldfastError:  # noise hides how much a column varies, and the answer says so
                continue
            cell.add(answer, truth, naive=as_true[name])
        # another sample of rows each time: errors of a regression are of rows and of noise
        drawn = texts | {"size": [texts["size"][row] for row in sample]}
        plain = private_table(one[sample], epsilon=epsilon, seed=7 * seed, cells=drawn)
        for name, (formula, term, slope) in slopes.items():
            cell = cells.setdefault(("regression", name), Cell())
            try:
                fit = plain.ask(formula)
            except HoldfastError:
                continue
            ends = fit.interval(term)
            answer = Answer(question="", estimate=fit.params[term], interval=ends)
            cell.add(answer, slope(size, one), naive=float(slope(size[sample], plain.counts)))
        now = private_table(later, epsilon=epsilon, seed=9 * seed, cells=texts)
        then = private_table(one, epsilon=epsilon, seed=11 * seed, cells=texts)
        total = now.ask("total", against=then)
        change = float(later.sum() - one.sum())
        shown = float(now.noisy.sum() - then.noisy.sum())
        cells.setdefault(("years", "total"), Cell(resolution=1)).add(total, change, naive=shown)
        zeros = now.ask("share zero", against=then)
        truth = (later == 0).mean() - (one == 0).mean()
        shown = (now.noisy <= 0).mean() - (then.noisy <= 0).mean()
        cells.setdefault(("years", "share 0"), Cell()).add(zeros, truth, naive=float(shown))
        changes = now.changes(then)
        cell = cells.setdefault(("years", "each row"), Cell(resolution=1))
        for row in range(0, rows, 20):
            ends = (float(changes.low[row]), float(changes.high[row]))
            answer = Answer(question="", estimate=float(changes.expected[row]), interval=ends)
            cell.add(answer, float(later[row] - one[row]), naive=float(changes.noisy[row]))
        cell = cells.setdefault(("rows", "each row"), Cell(resolution=1))
        for row in range(0, rows, 20):
            clipped = float(max(then.noisy[row], 0))
            cell.add(then.row(row), float(one[row]), naive=clipped)
    return cells


def _poisson(x: Any, y: Any) -> float:
    """The slope of a quasi-Poisson regression of counts."""
    design, beta = np.column_stack([np.ones(len(x)), x]), np.array([np.log(y.mean()), 0.0])
    for _ in range(50):
        mean = np.exp(design @ beta)
        beta += np.linalg.solve((design * mean[:, None]).T @ design, design.T @ (y - mean))
    return float(beta[1])


def show(name: str, epsilon: str, cells: dict[tuple[str, str], Cell]) -> list[list[str]]:
    lines = []
    for (kind, question), cell in cells.items():
        if not cell.covered:
            continue
        ours, least = cell.rmse("ours"), cell.best_other
        ratio = ours / least if least > 0 else float("nan")
        numbers = [f"{cell.rmse(each):.4g}" for each in ("ours", "plain", "naive", "climbed")]
        lines.append(
            [name, epsilon, kind, question, str(len(cell.covered)), f"{np.mean(cell.covered):.3f}",
             f"{np.mean(cell.widths):.3g}", *numbers, f"{ratio:.2f}", cell.marks]
        )  # fmt: skip
    return lines


def better(lines: list[list[str]]) -> list[str]:
    """The table of docs/answers.md: where something else has a smaller error, by kind of rows and
    question, with what does and by how much at worst."""
    cells: dict[tuple[str, str], list[tuple[str, str, float, str]]] = {}
    for line in lines[1:]:
        if "worse" in line[-1]:
            others = dict(zip(("plain", "naive", "climbed"), map(float, line[8:11]), strict=True))
            best = min(others, key=lambda name: (np.isnan(others[name]), others[name]))
            kind = line[2].rsplit(" ", 1)[0] if line[2][-1].isdigit() else line[2]
            cells.setdefault((kind, line[3]), []).append((line[1], line[0], float(line[11]), best))
    found = ["| rows | question | epsilon | tables | error, times | which is better |",
             "| --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    for (kind, question), some in cells.items():
        epsilons, names, ratios, bests = zip(*some, strict=True)
        listed = (", ".join(dict.fromkeys(each)) for each in (epsilons, names, bests))
        at, where, best = listed
        times = f"{min(ratios):.2f} to {max(ratios):.2f}" if len(some) > 1 else f"{ratios[0]:.2f}"
        found.append(f"| {kind} | {question} | {at} | {where} | {times} | {best} |")
    return found


HEADER = ["table", "epsilon", "rows", "question", "answers", "covered", "width", "ours", "plain",
          "naive", "climbed", "ours over best", "marks"]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--releases", type=int, default=40)
    parser.add_argument("--start", type=int, default=1)
    parser.add_argument("--tables", default="", help=f"some of {', '.join(BUILDERS)}, {RELATIONS}")
    parser.add_argument("--kinds", default="", help="of rows, by their first words: all,declared")
    parser.add_argument("--epsilons", default=",".join(EPSILONS))
    parser.add_argument("--out", help="a CSV file for the figures")
    parser.add_argument("--better", nargs="+", help="such files: print where others are better")
    options = parser.parse_args()
    if options.better:
        every = [
            line
            for name in options.better
            for line in csv.reader(Path(name).read_text().splitlines())
        ]
        print(*better([HEADER, *(line for line in every if line != HEADER)]), sep="\n")
        return
    wanted = set(filter(None, options.tables.split(",")))
    lines: list[list[str]] = [HEADER]

    def note(name: str, epsilon: str, began: float, found: list[list[str]]) -> None:
        lines.extend(found)
        if options.out:
            with open(options.out, "w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows(lines)
        marks = [line[-1] for line in found]
        print(
            f"{name}, epsilon {epsilon}: {len(found)} cells, "
            f"{sum('low' in m for m in marks)} cover too rarely, "
            f"{sum('wide' in m for m in marks)} too often, "
            f"{sum('worse' in m for m in marks)} are worse than another; "
            f"{time.process_time() - began:.0f} s",
            flush=True,
        )

    how = options.releases, options.start
    kinds = tuple(options.kinds.split(","))
    for epsilon in options.epsilons.split(","):
        for table in tables(wanted - {RELATIONS}, kinds) if wanted != {RELATIONS} else ():
            began = time.process_time()
            note(table.name, epsilon, began, show(table.name, epsilon, run(table, epsilon, *how)))
        if not wanted or RELATIONS in wanted:
            began = time.process_time()
            note(RELATIONS, epsilon, began, show(RELATIONS, epsilon, relations(epsilon, *how)))
    if not options.out:
        for line in lines:
            print(*(f"{cell:>12}" for cell in line))


if __name__ == "__main__":
    main()
