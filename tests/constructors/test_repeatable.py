"""The same target gives the same mechanism, bit for bit."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from families import FAMILIES, hump
from holdfast.constructors import Heuristic, Optimal, Windowed, optimal_kernel


def test_a_search_keeps_to_one_thread():
    seen = set()

    def look(number: int, gap: float) -> None:
        seen.update(pool["num_threads"] for pool in threadpool_info())

    with threadpool_limits(2, user_api="blas"):
        Optimal(progress=look)(hump(20), epsilon=1)
    assert seen == {1}


@pytest.mark.parametrize("constructor", [Heuristic(), Windowed()])
def test_the_number_of_threads_does_not_change_a_bit(constructor):
    found = set()
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.add(constructor(hump(700), epsilon="0.5").matrix.tobytes())
    assert len(found) == 1


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("constructor", [Heuristic(), Optimal()])
def test_builds_with_other_allocations_between_them_are_alike(constructor, family):
    rng, kept, found = np.random.default_rng(0), [], set()
    for _ in range(10):
        kept.append([np.empty(size) for size in rng.integers(1, 900, 20)])
        found.add(constructor(FAMILIES[family](21), epsilon="0.5").matrix.tobytes())
    assert len(found) == 1


def test_where_arrays_lie_in_memory_does_not_change_a_bit():
    # compiled loops that write are guarded by a test of whether their arrays come close
    rng = np.random.default_rng(0)
    n = 21
    diagonal, left, share = rng.random((n, n)), rng.random((n - 1, n)), rng.random(n)
    apart = optimal_kernel.small_blocks(diagonal, left, share, 32, np.empty(n))
    for array in (diagonal, share):
        both = np.empty(array.size + n)
        near, room = both[: array.size].reshape(array.shape), both[array.size :]
        near[...] = array
        given = (near, left, share) if array is diagonal else (diagonal, left, near)
        assert np.array_equal(optimal_kernel.small_blocks(*given, 32, room), apart)
