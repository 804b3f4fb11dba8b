r"""Mechanism x counts -> counts: the exact draw.

A draw is $f_i(u)$, the first j whose cumulative weight $S_{ij}$ exceeds u, for u uniform in
$[0, 2^{62})$: exactly $S_{ij} - S_{i,j-1} = K_{ij}$ of the $2^{62}$ values of u give j. No float
takes part. $f_i$ grows with u, so once it agrees at both ends of all the ways in which the bits
read so far can go on, the bits to come do not matter and are not read: 8 bits decide most draws,
16 nearly all, 62 the rest. Bytes that one draw did not read serve the next one; whether a byte
is read never depends on what it is, so all draws are independent. docs/scaling.md has the proof.

Curves too many for a table are searched as they are, with all 62 bits of every u.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers
from holdfast.errors import CertificateError
from holdfast.former.mechanism.curves import Curves
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.privacy.randomness import THREADS, Randomness, SystemEntropy

BATCH = 1 << 18
MOST_TABULATED = 1 << 11  # curves beyond this are searched: a table would not fit the caches


class Sampler:
    """A certified mechanism, ready to draw: many batches share its tables.

    The certificate is repeated when the sampler is made, from the integers that passed it.
    Cost: O(n^2) once and 8n^2 + 514n bytes; for curves beyond n = 2048 O(n).

    >>> from holdfast.former.privacy.randomness import Simulation
    >>> coin = Mechanism(weights=np.full((2, 2), 2**61), epsilon="0.5")
    >>> Sampler(coin)(np.array([0, 1, 1, 0]), Simulation(1))
    array([1, 1, 0, 1])
    """

    def __init__(self, mechanism: Any) -> None:
        if type(mechanism) is not Mechanism:
            raise CertificateError("only a holdfast.Mechanism can be sampled.")
        Mechanism.verify(mechanism)
        integers = mechanism.integers
        if isinstance(integers, Curves) and len(integers) > MOST_TABULATED:
            self._source: _Table | _Search = _Search(integers)
        else:
            self._source = _Table(integers.table())

    def __call__(self, counts: Integers, source: Randomness) -> Integers:
        """One independent draw per count, each count from 0 to n - 1; on all cores."""

        def batch(part: slice, drawn: Integers) -> None:
            self._source.draw(counts[part], drawn, source)

        return drawn_in_batches(len(counts), source, batch)


def drawn_in_batches(
    rows: int, source: Randomness, batch: Callable[[slice, Integers], None]
) -> Integers:
    """One draw per row; `batch` draws some rows into an array. On all cores where the source may be
    read in any order."""
    drawn = np.empty(rows, dtype=np.int64)
    parts = [slice(at, at + BATCH) for at in range(0, rows, BATCH)]
    if len(parts) <= 1 or not isinstance(source, SystemEntropy):
        for part in parts:
            batch(part, drawn[part])
        return drawn
    with ThreadPoolExecutor(THREADS) as pool:
        work = [pool.submit(batch, part, drawn[part]) for part in parts]
        for done in work:
            done.result()
    return drawn


class _Table:
    """The cumulative weights of all rows."""

    def __init__(self, weights: Integers) -> None:
        from holdfast.former.mechanism.sampling_kernel import LEFT_8

        self._sums = np.cumsum(weights, axis=1, out=np.empty(weights.shape, dtype=np.int64))
        # the first output possible in each of 256 equal parts of a row
        parts = np.arange(257) << LEFT_8
        guide = [np.searchsorted(sums, parts, side="right") for sums in self._sums]
        self._guide = np.minimum(guide, len(weights) - 1).astype(np.uint16)

    def draw(self, counts: NDArray[Any], drawn: NDArray[Any], source: Randomness) -> None:
        from holdfast.former.mechanism.sampling_kernel import ROUND, draw_bytes, draw_whole

        if not isinstance(source, SystemEntropy):
            draw_whole(self._sums, self._guide, counts, drawn, source.bits_62(len(counts)))
            return
        done = 0
        while done < len(counts):
            pool = source.random_bytes(len(counts) - done + ROUND)
            done = draw_bytes(self._sums, self._guide, counts, drawn, done, pool)


class _Search:
    """Curves whose cumulative weights are computed where they are needed."""

    def __init__(self, curves: Curves) -> None:
        below = np.cumsum(curves.floors)
        self._curves = (curves.turns, curves.heights, below, *curves.scale)

    def draw(self, counts: NDArray[Any], drawn: NDArray[Any], source: Randomness) -> None:
        from holdfast.former.mechanism.curve_kernel import draw_from_curves

        draw_from_curves(*self._curves, counts, drawn, source.bits_62(len(counts)))


def draw(mechanism: Mechanism, counts: Integers, source: Randomness) -> Integers:
    """One independent draw per count: j with probability exactly row(count)[j] / 2^62.

    The certificate is repeated first.
    """
    return Sampler(mechanism)(counts, source)
