"""What many releases at epsilon = 0.1 cost together at delta = 1e-6: the figures of docs/ledger.md.

python benchmarks/composition.py
"""

from fractions import Fraction

from holdfast.privacy.composition import composed_epsilon
from holdfast.privacy.promise import Charge

HEADER = "| releases | sum | any release of 0.1 | noisy counts and noisy sums |"
SUMS = Fraction(15, 100)  # of epsilon


def row(releases: int) -> str:
    epsilon = Fraction(1, 10)
    kinds = (
        [Charge(epsilon=epsilon, times=releases)],
        [
            Charge(epsilon=epsilon * SUMS, times=releases),
            Charge(epsilon=epsilon * (1 - SUMS), times=releases),
        ],
    )
    cells = [f"{float(composed_epsilon(charges, delta='1e-6')):.3f}" for charges in kinds]
    return f"| {releases} | {releases / 10:g} | {' | '.join(cells)} |"


def main() -> None:
    print(HEADER)
    print("|" + "---|" * 4)
    for releases in (5, 20, 100, 500):
        print(row(releases))


if __name__ == "__main__":
    main()
