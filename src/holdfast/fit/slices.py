r"""Breaks of a density, where it is not smooth, and draws of it from its posterior.

Draws are by elliptical slices around the normal approximation. Where no row is, a log density has
no upper end in the normal approximation N(mode, P^-1) that the likelihood would allow. So the
approximation only proposes. With r the log posterior less the log of the approximation, which
hardly varies where the approximation is good, a step draws a level below r and turns the state on a
random ellipse until it lies above that level [Murray, Adams and MacKay 2010; Nishihara, Murray and
Adams 2014]. All draws start at the mode, which a step forgets by half: draws of the approximation
may lie so far off that no ellipse leads back. They take their steps side by side.
"""

from dataclasses import dataclass

import numpy as np

from holdfast.arrays import Floats
from holdfast.fit.cells import Cells
from holdfast.fit.likelihood import LEAST, Seen, said, sums_precision

STEPS = 8  # of each draw
TURNS = 12  # on an ellipse, at most
SIZE = 3.0  # standard deviation of a break, in log density
SURE = 18.0  # chi-square of a break, where some hundreds are tried
LIKELY = 8.0  # the same of one that the evidence shall judge
APART = 3  # cells
MOST, FEW = 12, 3  # breaks found at a time: sure ones, and with those that are likely


@dataclass(frozen=True, kw_only=True, eq=False)
class Density:
    """One smooth density: its Gaussian posterior and what the evidence gives it."""

    log_evidence: float
    dearer: float
    """What was taken from it because the counts themselves say the unit of the scale."""
    features: Floats
    """Log densities of the cells follow from theta by these, of shape (F, cells)."""
    theta: Floats
    """Standard normal under the prior."""
    precision: Floats
    """Of theta."""
    base: Floats
    """Shares of the cells, but for a factor, where theta is 0."""
    shares: Floats
    """Of the cells."""
    variance: Floats
    """Of the noise of each sum: of the normal law that stands for the Laplace law here."""


def drawn_shares(seen: Seen, density: Density, number: int, rng: np.random.Generator) -> Floats:
    """Shares of cells from the posterior of a density of one table, of shape (number, cells)."""
    root = np.linalg.inv(np.linalg.cholesky(density.precision))
    target = _Residual(seen, density, root)
    state = np.zeros((number, len(root)))
    shares, height = target(state)
    for _ in range(STEPS):
        other = rng.standard_normal(state.shape)
        level = height - rng.exponential(size=number)
        angle = rng.uniform(0, 2 * np.pi, number)
        low, high = angle - 2 * np.pi, angle.copy()
        left, origin = np.arange(number), state.copy()
        for _ in range(TURNS):
            turned = np.cos(angle[left])[:, None] * origin[left]
            turned += np.sin(angle[left])[:, None] * other[left]
            proposed, found = target(turned)
            good = found > level[left]
            state[left[good]], shares[left[good]] = turned[good], proposed[good]
            height[left[good]] = found[good]
            left = left[~good]
            if not len(left):
                break
            low[left] = np.where(angle[left] < 0, angle[left], low[left])
            high[left] = np.where(angle[left] >= 0, angle[left], high[left])
            angle[left] = rng.uniform(low[left], high[left])
    return shares


class _Residual:
    """Log posterior less that of the normal approximation, at mode + root' state."""

    def __init__(self, seen: Seen, density: Density, root: Floats) -> None:
        self._density, self._root = density, root
        self._log_base = np.log(density.base)
        filled = seen.rows[0] > 0
        self._rows, self._kernel = seen.rows[0][filled], seen.kernel[:, filled]
        self._weights, self._sums = seen.weights[0], seen.sums[0]
        self._precision = sums_precision(seen, density.shares[None])[0]

    def __call__(self, state: Floats) -> tuple[Floats, Floats]:
        """Shares of cells and the residual, for each state."""
        theta = self._density.theta + state @ self._root
        log = theta @ self._density.features + self._log_base
        log -= log.max(axis=1, keepdims=True)
        shares = np.exp(log)
        shares /= shares.sum(axis=1, keepdims=True)
        q = np.maximum(shares @ self._kernel, LEAST)
        found = np.log(q) @ self._rows - 0.5 * (theta**2).sum(axis=1)
        if len(self._sums):
            mean = shares * ((self._rows / q) @ self._kernel.T)
            gap = self._sums - mean @ self._weights.T
            found -= 0.5 * ((gap @ self._precision) * gap).sum(axis=1)
        return shares, found + 0.5 * (state**2).sum(axis=1)


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
    """The breaks that a fit with these shares, features and precision asks for, surest first.

    A smooth fit shows spikes of single counts and jumps, as at the end of a range, in what it
    leaves over. For a feature f of the cells that would be added to the log density, the score
    s = f (E[h | y, m] - N p) has variance I = I_ff - I_ft P^-1 I_tf after the coordinates t that
    are fitted already, and s^2 / I is chi-square if there is nothing.
    """
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
