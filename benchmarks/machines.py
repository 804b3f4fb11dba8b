"""Whether the fit comes out the same on other machines, as far as one machine can try them.

    python benchmarks/machines.py                   # 66 releases, 7 ways: some minutes
    python benchmarks/machines.py Prescott threads  # these ways alone

The same measurements are fitted with the kernels that OpenBLAS has for other processors, with
NumPy's own loops without vector instructions, and with two threads. Printed are the releases whose
histogram differs, by how many rows at the most, and by how much shares of cells differ.
"""

import os
import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np

from accuracy import EPSILONS, tables
from holdfast.fit.cells import choose_blocks, share_of_sums
from holdfast.fit.estimate import fit
from holdfast.measure.room import Room
from holdfast.privacy.noise import Noise
from holdfast.privacy.randomness import Simulation

VECTORS = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR AVX2 FMA3"
CORES = "Prescott", "Nehalem", "Haswell", "SkylakeX"
WAYS = {core: {"OPENBLAS_CORETYPE": core} for core in CORES}
WAYS |= {"no vectors": {"NPY_DISABLE_CPU_FEATURES": VECTORS}}
WAYS |= {"threads": {"OPENBLAS_NUM_THREADS": "2"}}


def fits() -> list[tuple[np.ndarray, np.ndarray]]:
    """Released counts in order, and shares of cells, of every table and epsilon."""
    found = []
    for counts, _ in tables().values():
        for epsilon in map(Fraction, EPSILONS):
            share = share_of_sums(epsilon, len(counts))
            room = Room(Noise(epsilon=epsilon * (1 - share)), source=Simulation(0))
            room.noisy(counts)
            measurement = room.finish(choose_blocks, whole=Noise(epsilon=epsilon * share))
            estimate = fit(measurement)
            found.append((estimate.whole.counts(), estimate.densities.shares))
    return found


def elsewhere(way: dict[str, str]) -> list[tuple[np.ndarray, np.ndarray]]:
    """The same in a process of its own."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"} | way
    command = [sys.executable, __file__, "--fits"]
    printed = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout
    return pickle.loads(printed)


def main() -> None:
    here = elsewhere({})
    print("| way | releases | with another histogram | rows | shares |\n|---|---|---|---|---|")
    for name in sys.argv[1:] or WAYS:
        pairs = list(zip(elsewhere(WAYS[name]), here, strict=True))
        rows = [int((a[0] != b[0]).sum()) for a, b in pairs]
        shares = max(float(np.abs(a[1] - b[1]).max()) for a, b in pairs)
        other = sum(map(bool, rows))
        print(f"| {name} | {len(rows)} | {other} | {max(rows)} | {shares:.0e} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--fits"]:
        sys.stdout.buffer.write(pickle.dumps(fits()))
    else:
        main()
