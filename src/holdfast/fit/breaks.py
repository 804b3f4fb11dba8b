"""Where a density is not smooth: spikes of single counts, and jumps as at the end of a range.

A smooth fit shows them in what it leaves over. For a feature f of the cells that would be added to
the log density, the score s = f (E[h | y, m] - N p) has variance I = I_ff - I_ft P^-1 I_tf after
the coordinates t that are fitted already, and s^2 / I is chi-square if there is nothing.
"""

import numpy as np

from holdfast.arrays import Floats
from holdfast.fit.cells import Cells
from holdfast.fit.likelihood import Seen, said

SIZE = 3.0  # standard deviation of a break, in log density
SURE = 18.0  # chi-square of a break, where some hundreds are tried
LIKELY = 8.0  # the same of one that the evidence shall judge
APART = 3  # cells
MOST, FEW = 12, 3  # breaks found at a time: sure ones, and with those that are likely


def candidate_breaks(cells: Cells) -> Floats:
    """A spike at every single count but zero, and a jump after every cell; (candidates, cells)."""
    number = len(cells.edges)
    each = np.arange(number)
    spikes = np.eye(number)[(cells.widths == 1) & (cells.edges > 0) & (each < number - 1)]
    jumps = (each[None] > each[1:-2, None]).astype(float)
    jumps[:, -1] = 0.0
    return np.concatenate([spikes, jumps])


def found_breaks(
    seen: Seen, shares: Floats, features: Floats, precision: Floats, candidates: Floats
) -> Floats:
    """The breaks that a fit with these shares, features and precision asks for, surest first."""
    number = len(features)
    found = said(seen, shares[None], np.concatenate([features, candidates])[None])
    information = found.information[0]
    cross = information[:number, number:]
    left = np.diag(information)[number:] - (cross * np.linalg.solve(precision, cross)).sum(axis=0)
    sure = found.gradient[0][number:] ** 2 / (np.maximum(left, 0.0) + SIZE**-2)
    places = np.argmax(np.abs(np.diff(candidates, axis=1, prepend=0.0)), axis=1)
    chosen: list[int] = []
    for candidate in np.argsort(-sure, kind="stable"):
        least = SURE if len(chosen) >= FEW else LIKELY
        if sure[candidate] < least or len(chosen) == MOST:
            break
        if all(abs(places[candidate] - places[other]) >= APART for other in chosen):
            chosen.append(int(candidate))
    return candidates[chosen]
