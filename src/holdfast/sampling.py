"""Mechanism x counts -> counts: the exact draw."""

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import CertificateError
from holdfast.mechanism import Mechanism
from holdfast.randomness import Randomness

BATCH = 1 << 20


def draw(mechanism: Mechanism, counts: NDArray[np.int64], source: Randomness) -> NDArray[np.int64]:
    """One independent draw per count: j with probability exactly weights[count, j] / 2^62.

    The certificate is repeated first. Counts are grouped, so each row of weights is accumulated
    once. A uniform integer u in [0, 2^62) picks the first j whose cumulative weight exceeds u;
    no float takes part.
    """
    if type(mechanism) is not Mechanism:
        raise CertificateError("only a holdfast.Mechanism can be sampled.")
    mechanism.verify()
    drawn = np.empty(len(counts), dtype=np.int64)
    for start in range(0, len(counts), BATCH):
        batch = slice(start, start + BATCH)
        drawn[batch] = _draw_batch(mechanism.weights, counts[batch], source)
    return drawn


def _draw_batch(
    weights: NDArray[np.int64], counts: NDArray[np.int64], source: Randomness
) -> NDArray[np.int64]:
    uniform = source.bits_62(len(counts))
    narrow = len(weights) <= 1 << 16
    order = np.argsort(counts.astype(np.uint16) if narrow else counts, kind="stable")
    ends = np.cumsum(np.bincount(counts, minlength=len(weights)))
    drawn = np.empty(len(counts), dtype=np.int64)
    start = 0
    for row, end in enumerate(ends.tolist()):
        if end > start:
            group = order[start:end]
            cumulative = np.cumsum(weights[row]).astype(np.uint64)
            drawn[group] = np.searchsorted(cumulative, uniform[group], side="right")
        start = end
    return drawn
