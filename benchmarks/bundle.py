"""The size of the curves in a bundle against all of their weights; the time to save and verify.

    python benchmarks/bundle.py [n ...]

The targets fall off exponentially, with a mean of n / 8; epsilon is 1.
"""

import io
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import holdfast.former as holdfast
from holdfast.former.release.mechanism_file import encode_weights

ROWS = 10_000


def make_release(n):
    """A release of made-up counts, by the default constructor."""
    z = np.exp(-8 * np.arange(n) / n)
    true = np.random.default_rng(1).choice(n, ROWS, p=z / z.sum())
    return holdfast.privatize(true, epsilon=1, max_count=n - 1, seed=1)


def timed(function):
    began = time.perf_counter()
    result = function()
    return result, time.perf_counter() - began


def row(n):
    release = make_release(n)
    packed = io.BytesIO()
    np.savez_compressed(packed, weights=release.mechanism.weights)
    with tempfile.TemporaryDirectory() as folder:
        bundle, writing = timed(lambda: release.save(Path(folder) / "release"))
        report, verifying = timed(lambda: holdfast.verify(bundle))
        assert report, report.damage
        size = (bundle / "mechanism.curves").stat().st_size
    return [
        f"{n}",
        f"{8 * n * n:,}",
        f"{packed.tell():,}",
        f"{len(encode_weights(release.mechanism.weights)):,}",
        f"{size:,}",
        f"{size / n:.1f}",
        f"{writing:.2f}",
        f"{verifying:.2f}",
    ]


def main():
    sizes = [int(word) for word in sys.argv[1:]] or [51, 501, 2001]
    print("| n | raw | npz | mechanism.weights | mechanism.curves | a column | save s | verify s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    make_release(5)  # compiles
    for n in sizes:
        print("| " + " | ".join(row(n)) + " |", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nPeak memory of all of it, construction included: {peak:.0f} MiB.")


if __name__ == "__main__":
    main()
