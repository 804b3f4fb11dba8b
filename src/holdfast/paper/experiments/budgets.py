"""The paper's eleven total budgets: 0.1 to 5, evenly spaced in their logarithm."""

import numpy as np

PAPER_BUDGETS = tuple(float(value) for value in 10 ** np.linspace(-1, np.log10(5), 11))
"""Unrounded, as the published notebooks have them."""


def rounded(epsilon: float) -> str:
    """A budget to four digits: what studies spend, and how files of results name it.

    >>> rounded(0.47817624)
    '0.4782'
    """
    return f"{epsilon:.4g}"


BUDGETS = tuple(map(rounded, PAPER_BUDGETS))
"""The same to four digits, which is what is spent."""
