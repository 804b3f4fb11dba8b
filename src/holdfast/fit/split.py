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


GROUPS = Fraction(
    2, 3
)  # of the whole's; 8 classes at epsilon = 0.1: W1 within 0.33, with none 0.66
TELLING = (
    16  # rows a group times the squared share, from which groups' sums beat their noisy counts
)


def share_of_groups(share: Fraction, rows: int, groups: int) -> Fraction:
    """What sums of each group are worth beside those of the whole table, whose share this is.

    The whole never pays for its groups: its sums get what they would get without. Those of a group
    of n rows have errors of 1 / (share epsilon), while its n noisy counts alone tell how many have
    some count to about the root of n over epsilon. Where that is no worse, groups have no sums.

    >>> share_of_groups(Fraction(3, 10), 2197, 8), share_of_groups(Fraction(1, 10), 2197, 8)
    (Fraction(2, 3), Fraction(0, 1))
    """
    return GROUPS if rows * share**2 >= TELLING * groups else Fraction(0)
