"""Draws of exact noise against OpenDP's and NumPy's, and the match: CPU time, side by side.

    OMP_NUM_THREADS=1 python benchmarks/noise.py                 # about a minute
    OMP_NUM_THREADS=1 python benchmarks/noise.py --rows 1_000_000

NumPy's difference of two geometric draws comes from floats and is no private noise: it is what
noise that need not be exact costs. Everything is measured in one run, with one thread.
"""

import argparse
from collections.abc import Callable
from fractions import Fraction
from time import process_time

import numpy as np

from holdfast.fit.histogram import Histogram
from holdfast.match.match import Matcher
from holdfast.measure.measurement import Tally
from holdfast.privacy.noise import Noise, add_noise
from holdfast.privacy.randomness import Simulation, SystemEntropy, laplace_measurement

BATCH = 1 << 17
NOISES = [
    *(("discrete Laplace", Noise(epsilon=Fraction(e))) for e in ("5", "1", "1/10", "1/100")),
    ("discrete Laplace", Noise(epsilon=Fraction(1, 10**6))),
    ("staircase, k = 5", Noise.least(Fraction(1), 5)),
    ("staircase, k = 1000", Noise.least(Fraction(1), 1000)),
    ("staircase, k = 1000", Noise.least(Fraction(1, 100), 1000)),
]
TABLES = [  # mean count, epsilon, groups
    *((5, "1", 1), (5, "1/10", 1), (5, "1", 1000), (5, "1/10", 3000)),
    *((1000, "1", 1), (10**7, "1", 1)),
]


def seconds(work: Callable[[], object], runs: int = 3) -> float:
    """Least CPU time of some runs, without the first, which fills caches."""
    work()
    times = []
    for _ in range(runs):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)


def compare_draws(rows: int) -> None:
    print(f"Nanoseconds of CPU for a draw; ours with {rows:,} rows at a time\n")
    print("| noise | epsilon | ours, system | ours, seeded | OpenDP | NumPy ", end="")
    print("| OpenDP/ours | NumPy/ours |\n|---|---|---|---|---|---|---|---|")
    for name, noise in NOISES:
        ours, seeded, opendp, numpy = draw_times(noise, rows)
        print(
            f"| {name} | {noise.epsilon} | {ours:.0f} | {seeded:.0f} | {opendp:,.0f} | {numpy:.0f} "
            f"| {opendp / ours:,.0f} | {numpy / ours:.1f} |",
            flush=True,
        )
    print("\nOpenDP and NumPy draw discrete Laplace noise of scale k/epsilon in every line.\n")


def draw_times(noise: Noise, rows: int) -> list[float]:
    """Nanoseconds a draw: ours from the system and from a seed, OpenDP, NumPy."""
    zeros, few, rng = np.zeros(rows, dtype=np.int64), [0] * 20_000, np.random.default_rng(1)
    unit = noise.epsilon / noise.shift
    theirs, p = laplace_measurement(unit)[0], -np.expm1(-float(unit))
    times = [
        seconds(lambda: add_noise(zeros, noise, SystemEntropy(), stream="a")) / rows,
        seconds(lambda: add_noise(zeros, noise, Simulation(1), stream="a")) / rows,
        seconds(lambda: theirs(few), 1) / len(few),
        seconds(lambda: rng.geometric(p, rows // 10) - rng.geometric(p, rows // 10)) / (rows // 10),
    ]
    return [1e9 * time for time in times]


def measure_match(rows: int) -> None:
    print(f"CPU seconds for 20 million rows, measured with {rows:,} in batches of {BATCH:,}\n")
    print("| mean count | epsilon | groups | noise | tally | match | with a quarter of the rows |")
    print("|---|---|---|---|---|---|---|")
    for mean, epsilon, groups in TABLES:
        quarter = match_times(rows // 4, mean, epsilon, groups)
        noise, tally, match = match_times(rows, mean, epsilon, groups)
        print(
            f"| {mean:,} | {epsilon} | {groups:,} | {noise:.2f} | {tally:.2f} | {match:.2f} "
            f"| {quarter[2]:.2f} |",
            flush=True,
        )


def match_times(rows: int, mean: int, epsilon: str, groups: int) -> list[float]:
    rng = np.random.default_rng(1)
    counts = np.floor(rng.exponential(mean, rows)).astype(np.int64)
    group = rng.integers(0, groups, rows)
    true = Tally.of_rows(counts, group, groups=groups)
    wanted = [Histogram(values=v, rows=n) for v, n in map(true.of, range(groups))]
    noise = Noise(epsilon=Fraction(epsilon))
    starts = range(0, rows, BATCH)
    noisy = add_noise(counts, noise, SystemEntropy(), stream="a")

    def tally() -> Tally:
        parts = (noisy[a : a + BATCH] for a in starts), (group[a : a + BATCH] for a in starts)
        return Tally.joined(
            [Tally.of_rows(v, g, groups=groups) for v, g in zip(*parts, strict=True)], groups=groups
        )

    def match(whole: Tally) -> None:
        matcher = Matcher(whole, wanted, 1)
        for a in starts:
            matcher(noisy[a : a + BATCH], group[a : a + BATCH])

    whole = tally()
    works = (
        lambda: add_noise(counts, noise, SystemEntropy(), stream="a"),
        tally,
        lambda: match(whole),
    )
    return [seconds(work, 1) * 20_000_000 / rows for work in works]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    chosen = parser.parse_args().rows
    compare_draws(chosen)
    measure_match(chosen // 2)
