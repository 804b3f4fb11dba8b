"""What many releases at epsilon = 0.1 cost together at delta = 1e-6: the figures of docs/ledger.md.

python benchmarks/composition.py
"""

from fractions import Fraction

import numpy as np

from holdfast.former.constructors import Optimal
from holdfast.former.ledger.composition import charges_of, composed_epsilon
from holdfast.former.ledger.entries import Charge
from holdfast.former.privatizers import CumulativeIsotonic
from holdfast.former.privacy.budget import split_budget

HEADER = "| releases | sum | any release of 0.1 | its two stages | one fixed matrix of 0.1 |"


def row(releases: int) -> str:
    budget = split_budget("0.1", max_count=50, rows=3000, split="paper")
    z = np.arange(1, 52.0) ** -1.6
    mechanism = Optimal()(z / z.sum(), epsilon="0.1").mechanism
    kinds = (
        [Charge(epsilon=Fraction(1, 10))] * releases,
        [*charges_of(budget, CumulativeIsotonic(), Optimal())] * releases,
        [mechanism] * releases,
    )
    cells = [f"{float(composed_epsilon(parts, delta='1e-6')):.3f}" for parts in kinds]
    return f"| {releases} | {releases / 10:g} | {' | '.join(cells)} |"


def main() -> None:
    print(HEADER)
    print("|" + "---|" * 5)
    for releases in (5, 20, 100, 500):
        print(row(releases))


if __name__ == "__main__":
    main()
