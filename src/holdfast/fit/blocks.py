"""Which sums of the cumulative histogram to measure, chosen from noisy counts alone."""

from typing import TYPE_CHECKING

import numpy as np

from holdfast.arrays import Integers
from holdfast.fit.cells import cells_for

if TYPE_CHECKING:
    from holdfast.privacy.noise import Noise

BLOCK_GROWTH = 1.6
LEAST_BLOCKS = 4


def choose_blocks(value: Integers, rows: Integers, noise: "Noise", sums_noise: "Noise") -> Integers:
    """Edges of the blocks whose sums of C are measured, from a tally of noisy counts."""
    cells = cells_for(value, rows, noise)
    first = int(cells.edges[0])
    seen = cells.inside(value) & (value >= first)
    last = int(value[seen].max()) if seen.any() else first
    last = max(min(last, int(cells.edges[-1])), first + 1)
    edges, width = [first], 1.0
    while edges[-1] < last:
        edges.append(min(edges[-1] + int(width), last))
        width = min(BLOCK_GROWTH * width, max((last - first) / LEAST_BLOCKS, 1.0))
    return np.array(edges, dtype=np.int64)
