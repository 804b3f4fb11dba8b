"""Ways to find max_count privately, side by side, and what part of the budget they are worth.

python benchmarks/private_quantile.py ways [runs]     the 0.99 quantile, by budget and table
python benchmarks/private_quantile.py parts [runs]    whole releases, by the quantile's part
python benchmarks/private_quantile.py notes [runs]    how sure an answer is, by epsilon (1-q) N

All of it is simulation, with noise from a seeded float generator; a release draws from OpenDP.
"""

import csv
import math
import os
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np

import holdfast.former as holdfast
from holdfast.former import PrivateQuantile
from holdfast.former.constructors import Heuristic
from holdfast.former.privacy.metrics import wasserstein
from holdfast.former.privacy.randomness import Simulation

HIGHEST = 10_000
Q = Fraction(99, 100)
EVERY = np.arange(1, HIGHEST + 1)
DOUBLING = np.append(2 ** np.arange(14), HIGHEST)
FOLDER = Path(os.environ.get("HOLDFAST_DATA", Path(__file__).parents[2] / "shared" / "data"))
CRIME = FOLDER / "crime_murder_by_county.csv"
Way = Callable[[np.ndarray, float, float, np.random.Generator], int]


def tables() -> Iterator[tuple[str, Callable[[int], np.ndarray]]]:
    """Counts of many shapes, for any number of rows."""
    rng = np.random.default_rng(7)
    yield "geometric", lambda rows: rng.geometric(0.2, rows) - 1
    yield "Pareto 1.0", lambda rows: np.minimum(rng.pareto(1.0, rows), 1e7).astype(np.int64)
    yield "Pareto 0.7", lambda rows: np.minimum(3 * rng.pareto(0.7, rows), 1e7).astype(np.int64)
    yield "Poisson 3000", lambda rows: rng.poisson(3000, rows)
    yield "all 37", lambda rows: np.full(rows, 37)
    yield "all 0", lambda rows: np.zeros(rows, dtype=np.int64)
    if CRIME.is_file():
        with open(CRIME, encoding="utf-8") as file:
            murders = np.array([int(row["MURDER"]) for row in csv.DictReader(file)])
        yield "crime", lambda rows: rng.choice(murders, rows)


def noisy(cumulative: np.ndarray, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    first, second = rng.geometric(-math.expm1(-epsilon), size=(2, len(cumulative)))
    return cumulative + first - second


def first_crossing(grid: np.ndarray) -> Way:
    def way(cumulative, rank, epsilon, rng):
        above = np.flatnonzero(noisy(cumulative[grid[:-1]], epsilon, rng) >= rank)
        return int(grid[above[0]] if len(above) else grid[-1])

    return way


def isotonic(grid: np.ndarray) -> Way:
    """Where isotonic regression of the noisy cumulative first reaches the rank."""

    def way(cumulative, rank, epsilon, rng):
        steps = noisy(cumulative[grid[:-1]], epsilon, rng) - rank
        return int(grid[np.argmin(np.append(0, np.cumsum(steps)))])

    return way


def exponential(grid: np.ndarray) -> Way:
    """P(g) ∝ e^(-ε |C(g) - rank|) / g on all counts: one score moves, by 1, so all of ε is used."""
    prior = -np.log(grid) if len(grid) == HIGHEST else np.zeros(len(grid))

    def way(cumulative, rank, epsilon, rng):
        score = prior - epsilon * np.abs(cumulative[grid] - rank) + rng.gumbel(size=len(grid))
        return int(grid[np.argmax(score)])

    return way


WAYS: dict[str, Way | None] = {
    "noise on 1, 2, 4, …: first crossing": first_crossing(DOUBLING),
    "noise on 1, 2, 4, …: isotonic": isotonic(DOUBLING),
    "exponential on 1, 2, 4, …": exponential(DOUBLING),
    "exponential on every count, weight 1/m": exponential(EVERY),
    "noise on every count: isotonic": isotonic(EVERY),
    "PrivateQuantile": None,
}


def errors(counts: np.ndarray, epsilon: float, way: Way | None, runs: int) -> np.ndarray:
    """Mean rank error in % of rows, log2 above, log2 below, W1 lost to top-coding beyond best."""
    rows, rng = len(counts), np.random.default_rng(1)
    cumulative = np.cumsum(np.bincount(np.minimum(counts, HIGHEST), minlength=HIGHEST + 1))
    rank = math.ceil(Q * rows)
    best = max(1, int(np.argmax(cumulative >= rank)))
    lost = np.append(np.cumsum((rows - cumulative[:-1])[::-1])[::-1], 0) / rows
    quantile, source, kept = PrivateQuantile(Q), Simulation(rng), []
    for _ in range(runs):
        if way is None:
            m = quantile(counts, epsilon=epsilon, rng=source)
        else:
            m = way(cumulative, rank - 0.5, epsilon, rng)
        off = max(rank - cumulative[m], cumulative[m - 1] - rank if m > 1 else 0, 0)
        ratio = math.log2(m / best)
        excess = max(lost[m] - lost[best], 0) / max(counts.clip(max=HIGHEST).mean(), 1)
        kept.append((100 * off / rows, max(ratio, 0), max(-ratio, 0), 100 * excess))
    return np.mean(kept, axis=0)


def show_ways(runs: int) -> None:
    sizes = (50, 500, 5000, 100_000)
    for epsilon in (0.005, 0.05, 0.5):
        print(f"\nε = {epsilon}; means over {', '.join(n for n, _ in tables())}; {runs} runs each")
        print(f"{'':40s}" + "".join(f"{f'N = {rows}':^25s}" for rows in sizes))
        print(f"{'':40s}" + "  rank%   up down  lost% " * len(sizes))
        for name, way in WAYS.items():
            print(f"{name:40s}", end="")
            for rows in sizes:
                made = [errors(make(rows), epsilon, way, runs) for _, make in tables()]
                print("{:7.2f} {:4.1f} {:4.1f} {:6.1f} ".format(*np.mean(made, axis=0)), end="")
            print(flush=True)
    print("up, down: octaves above and below the true quantile. lost: W1 that top-coding adds to")
    print("that of the true quantile, in % of the mean count.")


def show_parts(runs: int) -> None:
    parts = ("1/100", "1/50", "1/20", "1/10", "1/5", "2/5", None)
    print("ln W1 + ln(mean change of a count), counts top-coded at 10000; last column: default")
    print(f"{'':32s}" + "".join(f"{part or 'default':>9s}" for part in parts))
    for name, make in tables():
        if name not in ("geometric", "crime", "Pareto 1.0"):
            continue
        for rows in (300, 3000, 30_000):
            counts = make(rows).clip(max=HIGHEST)
            for epsilon in ("0.2", "1"):
                print(f"{name:12s} N {rows:6d}  ε {epsilon:5s}", end="")
                for part in parts:
                    share = None if part is None else Fraction(part) * Fraction(epsilon)
                    made = [objective(counts, epsilon, share, seed) for seed in range(runs)]
                    print(f"{np.mean(made):9.2f}", end="", flush=True)
                print()


def objective(counts: np.ndarray, epsilon: str, part: Fraction | None, seed: int) -> float:
    release = holdfast.privatize(
        counts,
        epsilon=epsilon,
        max_count=PrivateQuantile(Q, epsilon=part, highest=1000),
        constructor=Heuristic(selector="sandwich"),
        seed=seed,
    )
    truth, made = (
        np.bincount(c, minlength=HIGHEST + 1) / len(counts) for c in (counts, release.counts)
    )
    return math.log(wasserstein(truth, made)) + math.log(np.abs(counts - release.counts).mean())


def show_notes(runs: int) -> None:
    print("octaves above and below the true quantile, by epsilon (1-q) N")
    for product in (0.01, 0.03, 0.1, 0.3, 1, 3):
        made = [
            errors(make(rows), product / (0.01 * rows), None, runs)
            for _, make in tables()
            for rows in (100, 1000, 10_000)
        ]
        print(
            f"{product:5g}  up {np.mean(made, axis=0)[1]:.2f}  down {np.mean(made, axis=0)[2]:.2f}"
        )


if __name__ == "__main__":
    what, runs = (*sys.argv[1:], "ways", "20")[:2] if len(sys.argv) < 3 else sys.argv[1:3]
    {"ways": show_ways, "parts": show_parts, "notes": show_notes}[what](int(runs))
