import numpy as np
import pytest

from holdfast.errors import HoldfastError
from holdfast.privacy.randomness import Simulation, SystemEntropy, randomness


def test_no_rng_means_the_operating_system():
    assert isinstance(randomness(None), SystemEntropy)
    assert not np.array_equal(SystemEntropy().bits_62(4), SystemEntropy().bits_62(4))


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


@pytest.mark.parametrize("source", [SystemEntropy(), Simulation(2)], ids=["system", "seeded"])
def test_bits_fill_exactly_62_bits(source):
    bits = source.bits_62(20_000)
    assert bits.dtype == np.uint64
    assert bits.max() < 2**62
    for bit in range(62):
        share = ((bits >> np.uint64(bit)) & np.uint64(1)).mean()
        assert abs(share - 0.5) < 0.03  # over 8 standard deviations
