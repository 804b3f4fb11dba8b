from fractions import Fraction

import numpy as np
import pytest

from holdfast.errors import HoldfastError
from holdfast.privacy.randomness import Simulation, SystemEntropy, randomness


def test_no_rng_means_the_operating_system():
    assert isinstance(randomness(None), SystemEntropy)
    words = [SystemEntropy().words(4, stream="a") for _ in range(2)]
    assert not np.array_equal(*words)


@pytest.mark.parametrize("rng", [0, 7, np.int64(7), np.random.default_rng(7)])
def test_anything_else_is_marked_as_a_simulation(rng):
    assert randomness(rng).simulated


def test_a_source_is_passed_through():
    source = Simulation(1)
    assert randomness(source) is source


@pytest.mark.parametrize("rng", [-1, "seed", 1.5, True, object()])
def test_what_is_no_source_is_an_error(rng):
    with pytest.raises(HoldfastError, match="`rng`"):
        randomness(rng)


@pytest.mark.parametrize("source", [SystemEntropy(), Simulation(3)], ids=["system", "seeded"])
def test_words_fill_64_bits(source):
    words = source.words(20_000, stream="a")
    assert words.dtype == np.uint64
    for bit in range(64):
        share = ((words >> np.uint64(bit)) & np.uint64(1)).mean()
        assert abs(share - 0.5) < 0.03  # over 8 standard deviations


def test_words_of_a_seed_are_found_again_by_stream_and_number():
    whole = Simulation(4).words(40, stream="counts")
    for at in (0, 1, 3, 4, 5, 38, 40):
        rest = Simulation(4).words(40 - at, stream="counts", at=at)
        np.testing.assert_array_equal(rest, whole[at:])
    source = Simulation(4)
    source.add_laplace(np.zeros(5, int), Fraction(1))  # what else was drawn changes nothing
    np.testing.assert_array_equal(source.words(40, stream="counts"), whole)


def test_words_of_other_streams_and_seeds_are_others():
    sources = [
        Simulation(4).words(4, stream="sums"),
        Simulation(4).words(4, stream="counts"),
        Simulation(5).words(4, stream="counts"),
        Simulation(np.random.default_rng(4)).words(4, stream="counts"),
        Simulation(np.random.default_rng(5)).words(4, stream="counts"),
        SystemEntropy().words(4, stream="counts"),
        SystemEntropy().words(4, stream="counts"),
    ]
    assert len({word for words in sources for word in words.tolist()}) == 28


def test_words_of_a_generator_follow_from_its_state():
    words = [Simulation(np.random.default_rng(6)).words(4, stream="a") for _ in range(2)]
    np.testing.assert_array_equal(*words)


def test_words_of_a_seed_are_the_same_in_every_version():
    assert Simulation(1).words(2, stream="counts").tolist() == PINNED


PINNED = [18382877415084343434, 5421381376448519594]
