from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.stats import chi2

from holdfast.match.permutation import FEW, Ties
from holdfast.verify.matching import places

MISTAKE = 1e-6  # probability with which a test of a uniform permutation fails
SIZES = [*range(1, FEW + 3), 36, 37, 48, 49, 50, 63, 64, 65, 99, 100, 101, 1000, 1023, 1025, 40_000]


def many(size, sets):
    """So many sets of ties of one size, each with a permutation of its own."""
    return Ties(5, np.arange(sets), np.arange(sets) % 7 - 3, np.full(sets, size))


@pytest.mark.parametrize("size", SIZES)
def test_each_place_is_taken_once(size):
    place = many(size, 3).place(np.repeat(np.arange(3), size), np.tile(np.arange(size), 3))
    np.testing.assert_array_equal(np.sort(place.reshape(3, size)), np.tile(np.arange(size), (3, 1)))


@pytest.mark.parametrize("size", SIZES)
def test_the_second_reader_finds_the_same_places(size):
    """`verify` has code of its own, from docs/match.md."""
    tie = (1 << 64) - 5, np.array([12]), np.array([-7]), np.array([size])
    place = Ties(*tie).place(np.zeros(size, int), np.arange(size))
    np.testing.assert_array_equal(place, places(*tie))


def test_a_set_of_a_hundred_million_rows_needs_no_memory():
    size = 10**8
    number = np.append(np.arange(1000), size - 1 - np.arange(1000))
    place = many(size, 1).place(np.zeros(2000, int), number)
    assert len(set(place.tolist())) == 2000
    assert 0 <= place.min() <= place.max() < size
    assert abs(place.mean() / size - 0.5) < 5 * np.sqrt(1 / 12 / 2000)


def test_the_order_of_a_few_rows_is_each_with_the_same_probability():
    sets = 120_000
    for size in (2, 3, 4, 5):
        ties = many(size, sets)
        places = np.stack([ties.place(np.arange(sets), np.full(sets, j)) for j in range(size)])
        index = {order: i for i, order in enumerate(permutations(range(size)))}
        seen = np.bincount([index[order] for order in map(tuple, places.T.tolist())])
        expected = sets / len(index)
        assert chi2.sf(((seen - expected) ** 2 / expected).sum(), len(index) - 1) > MISTAKE


@pytest.mark.parametrize("size", [7, 32, 33, 50, 100, 1000, 10**6])
def test_places_of_rows_are_uniform_and_those_of_two_rows_are_independent(size):
    sets, cells = 100_000, min(size, 12)
    ties, numbers = many(size, sets), sorted({0, 1, 2, size // 2, size - 2, size - 1})
    places = [ties.place(np.arange(sets), np.full(sets, j)) for j in numbers]
    cell_of = [place * cells // size for place in places]
    each = np.bincount(np.arange(size) * cells // size, minlength=cells)
    expected = sets * each / size
    for cell in cell_of:
        seen = np.bincount(cell, minlength=cells)
        assert chi2.sf(((seen - expected) ** 2 / expected).sum(), cells - 1) > MISTAKE
    pairs = (np.outer(each, each) - np.diag(each)) / (size * (size - 1)) * sets
    possible = pairs > 0
    for first, second in combinations(cell_of, 2):
        seen = np.bincount(first * cells + second, minlength=cells**2).reshape(cells, cells)
        statistic = ((seen - pairs)[possible] ** 2 / pairs[possible]).sum()
        assert chi2.sf(statistic, possible.sum() - 1) > MISTAKE
        assert not seen[~possible].any()


@pytest.mark.parametrize("size", [33, 100, 1000, 100_000])
def test_neighbours_in_the_table_are_not_neighbours_in_rank(size):
    sets = max(1, 200_000 // size)
    tie, number = np.repeat(np.arange(sets), size), np.tile(np.arange(size), sets)
    place = many(size, sets).place(tie, number).reshape(sets, size)
    root = int(np.sqrt(size))
    for lag in (1, 2, root, root + 1, size // 2):
        found = np.corrcoef(place[:, lag:].ravel(), place[:, :-lag].ravel())[0, 1]
        assert abs(found + 1 / (size - 1)) < 5 / np.sqrt(sets * (size - lag))


def test_seed_group_count_and_size_each_give_another_permutation():
    def ordered(seed=1, group=0, value=0, size=100):
        ties = Ties(seed, np.array([group]), np.array([value]), np.array([size]))
        return tuple(ties.place(np.zeros(100, int), np.arange(100)).tolist())

    others = [
        ordered(),
        *(ordered(seed=seed) for seed in (0, 2, 1 << 63, (1 << 64) - 1)),
        *(ordered(group=group) for group in (1, 2)),
        *(ordered(value=value) for value in (1, -1, 10**9)),
        ordered(size=101),
    ]
    assert len(set(others)) == len(others)


def test_sets_of_all_sizes_are_ordered_side_by_side_as_each_by_itself():
    sizes = np.array(SIZES[:60])
    group = np.arange(len(sizes))
    ties = Ties(3, group, group, sizes)
    tie = np.repeat(group, sizes)
    number = np.concatenate([np.arange(size) for size in sizes])
    shuffled = np.random.default_rng(1).permutation(len(tie))
    together = ties.place(tie[shuffled], number[shuffled])
    np.testing.assert_array_equal(together, ties.place(tie, number)[shuffled])
