"""How much of epsilon the noisy sums get."""

from fractions import Fraction

POINTS = ((0.1, 0.3), (0.48, 0.1), (1.05, 0.05), (2.29, 0.01), (5.0, 0.002))


def share_of_sums(epsilon_per_unit: Fraction, rows: int, groups: int) -> Fraction:
    """epsilon_1 / epsilon: the share of a column's budget that measures sums.

    >>> share_of_sums(Fraction(1), 3000, 1)
    Fraction(13, 250)
    """
    import numpy as np

    x = np.log([point[0] for point in POINTS])
    y = np.log([point[1] for point in POINTS])
    share = float(np.exp(np.interp(np.log(float(epsilon_per_unit)), x, y)))
    return Fraction(max(round(share * 500), 1), 500)
