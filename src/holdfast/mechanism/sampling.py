r"""Mechanism x counts -> counts: the exact draw.

A draw is $f_i(u)$, the first j whose cumulative weight $S_{ij}$ exceeds u, for u uniform in
$[0, 2^{62})$: exactly $S_{ij} - S_{i,j-1} = K_{ij}$ of the $2^{62}$ values of u give j. No float
takes part. $f_i$ grows with u, so once it agrees at both ends of all the ways in which the bits
read so far can go on, the bits to come do not matter and are not read: 8 bits decide most draws,
16 nearly all, 62 the rest. Bytes that one draw did not read serve the next one; whether a byte
is read never depends on what it is, so all draws are independent. docs/scaling.md has the proof.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import CertificateError
from holdfast.mechanism.mechanism import Mechanism
from holdfast.privacy.randomness import Randomness, SystemEntropy

BATCH = 1 << 18
THREADS = min(os.cpu_count() or 1, 8)


class Sampler:
    """A certified mechanism, ready to draw: many batches share its tables.

    The certificate is repeated when the tables are made, and they are made from the weights that
    passed it. Cost: O(n^2) once; 8n^2 + 514n bytes.

    >>> from holdfast.privacy.randomness import Simulation
    >>> coin = Mechanism(weights=np.full((2, 2), 2**61), epsilon="0.5")
    >>> Sampler(coin)(np.array([0, 1, 1, 0]), Simulation(1))
    array([1, 1, 0, 1])
    """

    def __init__(self, mechanism: Mechanism) -> None:
        from holdfast.mechanism.sampling_kernel import accumulate

        if type(mechanism) is not Mechanism:
            raise CertificateError("only a holdfast.Mechanism can be sampled.")
        mechanism.verify()
        n = len(mechanism.weights)
        self._sums = np.empty((n, n), dtype=np.int64)
        self._guide = np.empty((n, 257), dtype=np.uint16)
        accumulate(mechanism.weights, self._sums, self._guide)

    def __call__(self, counts: NDArray[np.int64], source: Randomness) -> NDArray[np.int64]:
        """One independent draw per count, each count from 0 to n - 1; on all cores."""
        drawn = np.empty(len(counts), dtype=np.int64)
        if not isinstance(source, SystemEntropy):
            self._whole(counts, drawn, source)
        elif len(counts) <= BATCH:
            self._bytes(counts, drawn, source)
        else:
            parts = [slice(at, at + BATCH) for at in range(0, len(counts), BATCH)]
            with ThreadPoolExecutor(THREADS) as pool:
                work = [pool.submit(self._bytes, counts[p], drawn[p], source) for p in parts]
                for done in work:
                    done.result()
        return drawn

    def _whole(self, counts: NDArray[Any], drawn: NDArray[Any], source: Randomness) -> None:
        from holdfast.mechanism.sampling_kernel import draw_whole

        for at in range(0, len(counts), BATCH):
            part = slice(at, at + BATCH)
            uniform = source.bits_62(len(counts[part]))
            draw_whole(self._sums, self._guide, counts[part], drawn[part], uniform)

    def _bytes(self, counts: NDArray[Any], drawn: NDArray[Any], source: SystemEntropy) -> None:
        from holdfast.mechanism.sampling_kernel import ROUND, draw_bytes

        done = 0
        while done < len(counts):
            pool = source.random_bytes(len(counts) - done + ROUND)
            done = draw_bytes(self._sums, self._guide, counts, drawn, done, pool)


def draw(mechanism: Mechanism, counts: NDArray[np.int64], source: Randomness) -> NDArray[np.int64]:
    """One independent draw per count: j with probability exactly weights[count, j] / 2^62.

    The certificate is repeated first.
    """
    return Sampler(mechanism)(counts, source)
