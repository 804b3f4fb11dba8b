"""Tables of words and numbers in lines of text."""

from collections.abc import Sequence


def aligned(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows under their headings: the first column to the left, all others to the right.

    >>> print(aligned(("epsilon", "zeros"), [("1", "0.4 points"), ("0.5", "1.1 points")]))
    epsilon       zeros
    1        0.4 points
    0.5      1.1 points
    """
    lines = [headings, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(headings))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
