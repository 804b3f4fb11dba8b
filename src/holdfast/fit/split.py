"""How much of epsilon the noisy sums get."""

from fractions import Fraction

FEW, MANY = 3_000, 10_000  # rows
SHARES = (
    (0.01, 0.3, 0.3),
    (0.1, 0.14, 0.15),
    (0.22, 0.09, 0.09),
    (0.48, 0.065, 0.05),
    (1.05, 0.032, 0.021),
    (2.29, 0.007, 0.007),
    (5.0, 0.002, 0.002),
)
"""Epsilon, and the share of sums for few rows and for many, by benchmarks/accuracy.py."""
GROUPS = Fraction(4, 3)
"""Of the whole's; 8 classes at epsilon = 0.1: W1 within 0.33, with none 0.66."""
TELLING = 3
"""Rows a group times the squared share, from which groups' sums beat their noisy counts."""


def share_of_sums(epsilon_per_unit: Fraction, rows: int) -> Fraction:
    """epsilon_1 / epsilon: the share of a column's budget that measures sums of the whole table.

    >>> share_of_sums(Fraction(1), 3000)
    Fraction(33, 1000)
    """
    import numpy as np

    epsilon, few, many = np.log(SHARES).T
    place = np.log(min(max(rows, FEW), MANY) / FEW) / np.log(MANY / FEW)
    log = np.interp(np.log(float(epsilon_per_unit)), epsilon, few + place * (many - few))
    return Fraction(round(1000 * float(np.exp(log))), 1000)


def share_of_groups(share: Fraction, rows: int, groups: int) -> Fraction:
    """What sums of each group are worth beside those of the whole table, whose share this is.

    The whole never pays for its groups: its sums get what they would get without. Those of a group
    of n rows have errors of 1 / (share epsilon), while its n noisy counts alone tell how many have
    some count to about the root of n over epsilon. Where that is no worse, groups have no sums.

    >>> share_of_groups(Fraction(14, 100), 2197, 8), share_of_groups(Fraction(6, 100), 2197, 8)
    (Fraction(4, 3), Fraction(0, 1))
    """
    return GROUPS if rows * share**2 >= TELLING * groups else Fraction(0)
