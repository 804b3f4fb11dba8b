"""Matrices of fractions as text."""

from typing import Any

import numpy as np


def show(matrix: Any) -> str:
    """A matrix or a vector as aligned text, fractions as the paper writes them.

    >>> from fractions import Fraction
    >>> print(show([[Fraction(1, 2), Fraction(0)], [Fraction(1), Fraction(10, 3)]]))
    1/2    0
      1 10/3
    """
    array = np.atleast_2d(np.asarray(matrix))
    cells = [[_cell(value) for value in row] for row in array]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = (
        " ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in cells
    )
    return "\n".join(lines)


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
