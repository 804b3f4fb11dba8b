"""Accuracy of a release beside the default before noise first, and beside the lower bound.

    python benchmarks/accuracy.py [releases]           both errors of every table, as JSON and text
    python benchmarks/accuracy.py former [releases]       the former default anew (kept otherwise)

Two errors: how far a released count lies from the true one (mean), and how far the distribution of
released counts lies from that of the true ones (W1). The bound is that of NOTES 16: no mechanism of
this epsilon whose W1 is ours can have a smaller mean change. Tables come from the folder that
HOLDFAST_DATA names, beside the demo table. All of it is simulation. Figures are kept in
benchmarks/figures/accuracy.json.
"""

import csv
import json
import os
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

from holdfast.fit import choose_blocks, fit, share_of_sums
from holdfast.match.match import match
from holdfast.measure.room import Room
from holdfast.privacy.noise import Noise
from holdfast.privacy.randomness import Simulation

FOLDER = Path(os.environ.get("HOLDFAST_DATA", "data"))
FIGURES = Path(__file__).parent / "figures" / "accuracy.json"
DEMO = Path(__file__).parent.parent / "src" / "holdfast" / "data" / "county_homicides_1996.csv"
EPSILONS = ("0.1", "0.22", "0.48", "1.05", "2.29", "5")
LARGEST_BOUND = 500  # counts for which the bound is computed


def column(path: Path, name: str) -> np.ndarray:
    with path.open(encoding="utf-8") as file:
        return np.array([int(float(row[name])) for row in csv.DictReader(file)])


def histogram(name: str) -> np.ndarray:
    path = FOLDER / f"{name}_histogram.csv"
    return np.repeat(column(path, "count"), column(path, "categories"))


def tables() -> dict[str, tuple[np.ndarray, int]]:
    """Counts, and the top from which on they are shown as one, which the former default must be
    told."""
    found = {"homicides (demo)": (column(DEMO, "homicides"), 30)}
    if (FOLDER / "crime_murder_by_county.csv").is_file():
        found["murders"] = (column(FOLDER / "crime_murder_by_county.csv", "MURDER"), 50)
        found["bird flu"] = (column(FOLDER / "bird_flu_by_state.csv", "Bird_Flu_Cases"), 40)
        found["robberies"] = (column(FOLDER / "crime_by_county.csv", "ROBBERY"), 20_000)
        for name in (
            *("binomial", "bimodal", "left_skewed", "right_skewed", "uniform"),
            *("zero_inflated", "top_inflated"),
        ):
            counts = histogram(name)
            found[name.replace("_", " ")] = (
                counts,
                len(column(FOLDER / f"{name}_histogram.csv", "count")) - 1,
            )
    return found


def errors(released: np.ndarray, true: np.ndarray, top: int) -> tuple[float, float]:
    """Mean change of a count, and W1."""
    shown, right = np.minimum(released, top), np.minimum(true, top)
    apart = np.abs(np.sort(shown) - np.sort(right))
    return float(np.abs(shown - right).mean()), float(apart.mean())


def noise_first(counts: np.ndarray, epsilon: str, seed: int) -> np.ndarray:
    """Released counts of the plain case, by the parts that a release is made of."""
    whole = Fraction(epsilon)
    share = share_of_sums(whole, len(counts), 1)
    room = Room(Noise(epsilon=whole * (1 - share)), source=Simulation(seed))
    group = np.zeros(len(counts), dtype=np.int64)
    noisy = room.noisy(counts)
    measurement = room.finish(choose_blocks, sums=Noise(epsilon=whole * share))
    return match(noisy, group, fit(measurement).histograms, seed)


def former_default(top: int) -> Callable[[np.ndarray, str, int], np.ndarray]:
    import holdfast.former as former

    def release(counts: np.ndarray, epsilon: str, seed: int) -> np.ndarray:
        return former.privatize(counts, epsilon=epsilon, max_count=top, seed=seed).counts

    return release


def measured(
    release: Callable[[np.ndarray, str, int], np.ndarray],
    counts: np.ndarray,
    top: int,
    epsilon: str,
    releases: int,
) -> dict[str, float]:
    """Means of both errors, and the standard errors of these means."""
    found = np.array(
        [errors(release(counts, epsilon, seed), counts, top) for seed in range(releases)]
    )
    mean, error = found.mean(axis=0), found.std(axis=0) / np.sqrt(releases)
    return {
        "change": round(float(mean[0]), 5),
        "w1": round(float(mean[1]), 5),
        "change_se": round(float(error[0]), 5),
        "w1_se": round(float(error[1]), 5),
        "releases": releases,
    }


def frontier(law: np.ndarray, epsilon: float) -> list[tuple[float, float]]:
    """(mean change, W1) of the best kernels from counts of this law to counts: NOTES 16."""
    n, a = len(law), np.exp(-epsilon)
    place = np.arange(n)
    near = a ** np.abs(place[:, None] - place)
    of_turn = np.cumsum(law[:, None] * near, axis=0)
    slope = 1 - 2 * of_turn / of_turn[-1]
    cumulative = np.cumsum(law)
    below = np.concatenate([[0.0], cumulative[:-1]])
    left = np.array([(law[:m] * a ** (m - place[:m])).sum() for m in place])
    right = np.array([(law[m:] * a ** (place[m:] - m)).sum() for m in place])
    start = below + a / (1 + a) * right - (1 - a / (1 + a)) * left
    end = below + right / (1 + a) - (1 - 1 / (1 + a)) * left
    start[0], end[-1] = 0.0, 1.0
    found = []
    for weight in np.linspace(0, 1, 41):
        level = np.empty(n)
        for b in range(n - 1):
            rising = np.flatnonzero(slope[b] >= -weight - 1e-15)
            falling = np.flatnonzero(slope[b] <= weight + 1e-15)
            low = start[rising[0]] if len(rising) else 1.0
            high = end[falling[-1]] if len(falling) else 0.0
            level[b] = np.median([low, cumulative[b], high]) if low <= high else (low + high) / 2
        level[-1] = 1.0
        turn = np.minimum(np.searchsorted(end, level - 1e-15), n - 1)
        x = (level - below[turn] + left[turn]) / (left[turn] + right[turn])
        gap = np.abs(place[:, None] - turn)
        curves = np.where(place[:, None] < turn, 1 - (1 - x) * a**gap, x * a**gap)
        kernel = np.diff(curves, axis=1, prepend=0.0)
        change = (law[:, None] * kernel * np.abs(place[:, None] - place)).sum()
        found.append((float(change), float(np.abs(np.cumsum(law @ kernel) - cumulative).sum())))
    return found


def bound(law: np.ndarray, epsilon: float, w1: float) -> float:
    """The least mean change of any mechanism of this epsilon whose W1 is so large."""
    curve = frontier(law, epsilon)
    weights = np.linspace(0, 1, len(curve))
    return max(c + k * (w - w1) for (c, w), k in zip(curve, weights, strict=True))


def run(which: str, releases: int) -> dict[str, dict[str, dict[str, float]]]:
    figures = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.is_file() else {}
    for name, (counts, top) in tables().items():
        for epsilon in EPSILONS:
            key = f"{name} {epsilon}"
            release = former_default(top) if which == "former" else noise_first
            figures.setdefault(key, {})[which] = measured(release, counts, top, epsilon, releases)
            if which != "former" and top <= LARGEST_BOUND:
                law = np.bincount(np.minimum(counts, top), minlength=top + 1) / len(counts)
                least = bound(law, float(epsilon), figures[key][which]["w1"])
                figures[key]["bound"] = {"change": round(least, 5)}
            print(line(key, figures[key]), flush=True)
    return figures


def line(key: str, figure: dict[str, dict[str, float]]) -> str:
    """One cell as text."""
    new, old = figure.get("noise first"), figure.get("former")
    words = [f"{key:24}"]
    words += [f"{each['change']:8.4f} {each['w1']:8.4f}" for each in (new, old) if each]
    if new and old:
        ratio = [new[error] / old[error] - 1 for error in ("change", "w1")]
        words.append("  ".join(f"{100 * each:+6.1f} %" for each in ratio))
    if new and "bound" in figure:
        words.append(f"{100 * (new['change'] / figure['bound']['change'] - 1):6.1f} % above bound")
    return "  ".join(words)


def main() -> None:
    words = sys.argv[1:]
    which = "former" if "former" in words else "noise first"
    releases = next((int(word) for word in words if word.isdigit()), 100)
    figures = run(which, releases)
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
