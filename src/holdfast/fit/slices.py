r"""Draws of a density from its posterior, by elliptical slices around the normal approximation.

Where no row is, a log density has no upper end in the normal approximation N(mode, P^-1) that the
likelihood would allow. So the approximation only proposes. With r the log posterior less the log of
the approximation, which hardly varies where the approximation is good, a step draws a level below r
and turns the state on a random ellipse until it lies above that level [Murray, Adams and MacKay
2010; Nishihara, Murray and Adams 2014]. All draws start at the mode, which a step forgets by half:
draws of the approximation may lie so far off that no ellipse leads back. They take their steps side
by side.
"""

from dataclasses import dataclass

import numpy as np

from holdfast.arrays import Floats
from holdfast.fit.likelihood import LEAST, Seen, sums_precision

STEPS = 8  # of each draw
TURNS = 12  # on an ellipse, at most


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
