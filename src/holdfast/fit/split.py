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


WHOLE = Fraction(2, 3)  # at 8 classes, epsilon = 0.1: with a half the whole's W1 is 0.198 for 0.162


def share_of_whole(groups: int) -> Fraction:
    """The part of what sums get that measures the whole table beside its groups.

    Groups are small and their sums say little of the whole, whose distribution must not suffer for
    them; most of what is known of a group is in its noisy counts.

    >>> share_of_whole(1), share_of_whole(51)
    (Fraction(0, 1), Fraction(2, 3))
    """
    return WHOLE if groups > 1 else Fraction(0)
