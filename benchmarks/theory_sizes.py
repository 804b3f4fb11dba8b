"""How many extreme points the four polytopes have for ε = ln 2, and how long listing them takes.

`python benchmarks/theory_sizes.py` prints the table of docs/theory.md, in about a minute.
Every listed B is checked against the corollaries on positive entries.
"""

import time
from fractions import Fraction

from holdfast.paper import theory

SKEWED = ["1/10", "3/10", "2/5", "1/5"]
CASES = [("uniform", [Fraction(1, n)] * n) for n in (2, 3, 4)] + [(", ".join(SKEWED), SKEWED)]
HEADER = "| z | n | \\|ex(U)\\| | \\|ex(R_U)\\| | \\|ex(F)\\| | \\|ex(R_F)\\| |"


def number_of_vertices(name, z):
    points = theory.vertices(name, z=z, epsilon=theory.log(2))
    if name.startswith("R_"):
        fewest, most = theory.positive_entry_bounds(name, z=z)
        assert all(fewest <= (b > 0).sum() <= most for b in points)
    return len(points)


def main():
    lines = [HEADER, "|---|---|---|---|---|---|"]
    for label, z in CASES:
        cells = [label, len(z)]
        for name in ("U", "R_U", "F", "R_F"):
            start = time.perf_counter()
            cells.append(number_of_vertices(name, z))
            print(f"{name}, n = {len(z)}: {time.perf_counter() - start:.1f} s")
        lines.append(f"| {' | '.join(map(str, cells))} |")
    print(*lines, sep="\n")


if __name__ == "__main__":
    main()
