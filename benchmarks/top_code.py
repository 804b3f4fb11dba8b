"""How often the interval of the share with max_count or more covers, on long ranges.

    python benchmarks/top_code.py [RELEASES]

Rows just below max_count are carried to it by both stages. `alone` leaves out that a row may truly
be 1/ε1 beside where z has it, which the answer allows for.
"""

import sys
from unittest.mock import patch

import numpy as np

import holdfast.former as holdfast
from holdfast.former.analysis import questions

TOP = 20_000


def tables() -> dict[str, np.ndarray]:
    """A long tail, and one with rows heaped just below the highest count."""
    draw = np.random.default_rng(5)
    tail = np.minimum(draw.lognormal(5.8, 1.8, size=3_000), 50_000).astype(int)
    heap = np.concatenate([tail[tail < TOP - 100], draw.integers(TOP - 50, TOP, 60)])
    return {
        "lognormal": tail,
        "ten times higher": 10 * tail,
        "60 rows just below": np.append(heap, [TOP] * 40),
    }


def main(releases: int) -> None:
    """One line for each table and epsilon."""
    print("| table, epsilon | true rows | released | interval | covers | alone | covers |")
    print("|---|---|---|---|---|---|---|")
    for name, counts in tables().items():
        truth = int((counts >= TOP).sum())
        for epsilon in ("0.2", "1"):
            found = np.array([_ends(counts, epsilon, seed) for seed in range(releases)])
            cells = [f"{found[:, 0].mean():.0f}"]
            for low, high in (found[:, 1:3].T, found[:, 3:].T):
                inside = int(((low <= truth + 1e-6) & (truth - 1e-6 <= high)).sum())
                cells += [f"{low.mean():.0f} to {high.mean():.0f}", f"{inside} of {releases}"]
            print(f"| {name}, {epsilon} | {truth} | {' | '.join(cells)} |", flush=True)


def _ends(counts: np.ndarray, epsilon: str, seed: int) -> list[float]:
    """Released rows at the top, and both intervals, in rows."""
    release = holdfast.privatize(counts, epsilon=epsilon, max_count=TOP, seed=seed)
    asked = release.ask("share", at_least=TOP)
    with patch.object(questions, "_beside_z", lambda release, answer, weights: answer):
        alone = release.ask("share", at_least=TOP)
    ends = [release.distribution[-1], *asked.interval, *alone.interval]
    return [float(end) * len(counts) for end in ends]


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
