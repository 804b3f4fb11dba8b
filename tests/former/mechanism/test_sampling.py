import numpy as np
import pytest

from families import powerlaw
from holdfast.former.constructors import Heuristic
from holdfast.former.mechanism.mechanism import TOTAL, Mechanism
from holdfast.former.mechanism.sampling import BATCH, Sampler
from holdfast.former.mechanism.weights import Weights
from holdfast.former.privacy.randomness import Simulation, SystemEntropy


class ScriptedBytes(SystemEntropy):
    """Bytes that are given, in blocks of the size that is asked for."""

    def __init__(self, pool):
        self.pool, self.asked = np.asarray(pool, dtype=np.uint8), 0

    def random_bytes(self, size):
        start, self.asked = self.asked, self.asked + size
        return np.resize(self.pool[start:] if start < len(self.pool) else self.pool, size)


def same_rows(row):
    return Mechanism(weights=np.array([row] * len(row), dtype=np.int64), epsilon=1)


def as_bytes(u, spare=0):
    """The eight bytes that a draw may read for u: 8 bits, 8 bits, and 46 in six bytes."""
    return [u >> 54, (u >> 46) & 255, *((u & (2**46 - 1)) | spare << 46).to_bytes(6, "big")]


def first_above(row, u):
    return int(np.searchsorted(np.cumsum(row), u, side="right"))


def test_every_two_bytes_are_used_in_proportion_to_the_weights():
    row = np.array([3, 0, 1000, 4097, 60_435, 1]) * 2**46
    assert row.sum() == TOTAL
    sampler = Sampler(same_rows(row))
    pairs = np.stack(np.divmod(np.arange(65_536), 256), axis=1).astype(np.uint8)
    padded = np.pad(pairs, ((0, 0), (0, 6)))
    one = np.zeros(1, dtype=np.int64)
    drawn = [int(sampler(one, ScriptedBytes(np.append(p, p[:1])))[0]) for p in padded]
    assert (np.bincount(drawn, minlength=6) * 2**46 == row).all()


@pytest.mark.parametrize("spare", [0, 1, 2, 3])
def test_the_last_bit_of_62_decides_where_it_must(spare):
    row = [0, 5, 2**46 - 4, 2**54 + 7, 0, 2**61, TOTAL - 2**61 - 2**54 - 2**46 - 9, 1, 0]
    assert sum(row) == TOTAL
    sampler = Sampler(same_rows(row))
    for edge in np.cumsum(row).tolist():
        for u in range(max(edge - 2, 0), min(edge + 2, TOTAL - 1) + 1):
            drawn = sampler(np.zeros(1, dtype=np.int64), ScriptedBytes([*as_bytes(u, spare), 0]))
            assert drawn[0] == first_above(row, u)


def read_in_python(weights, counts, pool):
    """The draws that a stream of bytes means, one bit string after another."""
    drawn, at = [], 0
    for count in counts.tolist():
        row = weights[count]
        for used, left in ((1, 54), (2, 46), (8, 0)):
            head = int.from_bytes(bytes(pool[at : at + min(used, 2)]), "big")
            tail = int.from_bytes(bytes(pool[at + 2 : at + 8]), "big") & (2**46 - 1)
            low = head << left if left else (head << 46) | tail
            first, last = first_above(row, low), first_above(row, low + (1 << left) - 1)
            if first == last:
                break
        drawn.append(first)
        at += used
    return np.array(drawn), at


def test_bytes_that_one_draw_leaves_serve_the_next():
    mechanism = Heuristic()(powerlaw(40), epsilon="0.3").mechanism
    counts = np.random.default_rng(1).integers(0, 40, 5000)
    pool = np.random.default_rng(2).integers(0, 256, 20_000).astype(np.uint8)
    source = ScriptedBytes(pool)
    whole = [pool]
    source.random_bytes = lambda size: whole.pop()
    expected, used = read_in_python(mechanism.weights, counts, pool)
    assert (Sampler(mechanism)(counts, source) == expected).all()
    assert 5000 < used < 9000


def test_a_pool_that_ends_is_refilled_and_no_row_is_left_out():
    mechanism = Heuristic()(powerlaw(20), epsilon="0.3").mechanism
    source = ScriptedBytes([0])
    counts = np.zeros(10_000, dtype=np.int64)
    first = first_above(mechanism.weights[0], 0)
    assert (Sampler(mechanism)(counts, source) == first).all()
    assert source.asked >= 10_000


def test_all_threads_draw_every_row():
    mechanism = Heuristic()(powerlaw(20), epsilon=4).mechanism
    counts = np.tile(np.arange(20), 3 * BATCH // 20)
    drawn = Sampler(mechanism)(counts, SystemEntropy())
    observed = np.bincount(counts * 20 + drawn, minlength=400).reshape(20, 20)
    share = observed / observed.sum(axis=1, keepdims=True)
    assert np.abs(share - mechanism.matrix).max() < 0.02  # over 8 standard deviations


def test_seeded_draws_do_not_depend_on_how_they_are_batched():
    mechanism = Heuristic()(powerlaw(20), epsilon=1).mechanism
    counts = np.random.default_rng(1).integers(0, 20, 1000)
    whole = Sampler(mechanism)(counts, Simulation(5))
    sampler, source = Sampler(mechanism), Simulation(5)
    parts = [sampler(part, source) for part in np.split(counts, [1, 10, 500])]
    assert (np.concatenate(parts) == whole).all()


def test_tables_come_from_weights_that_pass_their_certificate():
    mechanism = Heuristic()(powerlaw(5), epsilon=1).mechanism
    object.__setattr__(mechanism, "integers", Weights(np.diag([TOTAL] * 5)))
    with pytest.raises(ValueError, match="impossible"):
        Sampler(mechanism)
