"""How much of the sandwich's gap to the optimum `Heuristic(selector="best")` closes.

PYTHONPATH=tests/helpers python benchmarks/best.py [51 201 501 1001 2000]

The gap is measured to the optimum's lower bound up to n = 501, and to `window_bound` beyond,
which is a little below the optimum: what is printed as closed is then too small, never too large.
"""

import sys
import time

from families import binomial, hump
from holdfast.constructors import Heuristic, Optimal
from holdfast.constructors.dual_bound import relative_gap
from holdfast.constructors.window_bound import window_bound
from holdfast.privacy.metrics import error_weights

EPSILONS = (0.1, 0.5, 1, 2, 5)
SOLVED_UP_TO = 501


def show(n: int) -> None:
    for family in (binomial, hump):
        z = family(n)
        for epsilon in EPSILONS:
            start = time.process_time()
            best = Heuristic()(z, epsilon=epsilon)
            seconds = time.process_time() - start
            sandwich = Heuristic(selector="sandwich")(z, epsilon=epsilon).count_error
            if n <= SOLVED_UP_TO:
                bound = Optimal()(z, epsilon=epsilon).lower_bound
            else:
                bound = window_bound(error_weights("absolute", z), z, epsilon)
            closed = (sandwich - best.count_error) / (sandwich - bound)
            print(
                f"n {n:4d} {family.__name__:8s} ε {epsilon:<4g} gap of the sandwich "
                f"{relative_gap(sandwich, bound):9.2e}, of best "
                f"{relative_gap(best.count_error, bound):9.2e}, closed {closed:7.2%}  "
                f"{seconds:5.2f} s  {best.method}",
                flush=True,
            )


if __name__ == "__main__":
    for size in sys.argv[1:] or ("51", "201", "501", "1001", "2000"):
        show(int(size))
