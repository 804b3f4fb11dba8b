"""How much of the sandwich's gap to the optimum `Windowed` closes.

PYTHONPATH=tests/helpers python benchmarks/windowed.py 501 2000
"""

import sys
import time

from families import binomial, hump, powerlaw
from holdfast.constructors import Heuristic, Windowed
from holdfast.constructors.dual_bound import relative_gap


def show(n: int) -> None:
    for family in (binomial, hump, powerlaw):
        for epsilon in (0.02, 0.1, 0.5, 2, 5):
            for error in ("absolute", "squared"):
                start = time.perf_counter()
                found = Windowed(error=error)(family(n), epsilon=epsilon)
                seconds = time.perf_counter() - start
                sandwich = Heuristic(selector="sandwich", error=error)(family(n), epsilon=epsilon)
                before = relative_gap(sandwich.count_error, found.lower_bound)
                print(
                    f"n {n:4d} {family.__name__:8s} ε {epsilon:<4g} {error:8s} gap "
                    f"{found.gap:.5f}, sandwich {before:.5f}  {seconds:5.1f} s  {found.method}",
                    flush=True,
                )


if __name__ == "__main__":
    for size in sys.argv[1:] or ["501"]:
        show(int(size))
