"""The whole table has the same distribution with groups and without them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from holdfast.fit.cells import choose_blocks
from holdfast.fit.estimate import fit
from holdfast.measure.measurement import Tally
from holdfast.measure.room import Room
from holdfast.privacy.noise import Noise
from holdfast.privacy.randomness import Simulation

COUNTS = np.random.default_rng(0).negative_binomial(0.6, 0.08, 900)
GROUPINGS = {
    "three": np.arange(900) % 3,
    "of one row": np.arange(900),
    "unequal": np.minimum(np.arange(900) // 40, 5) * (np.arange(900) > 300),
}


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_groups_add_up_to_what_the_whole_has_without_them(grouping):
    group = np.unique(GROUPINGS[grouping], return_inverse=True)[1].astype(np.int64)
    room = Room(Noise(epsilon=Fraction(1, 2)), source=Simulation(3))
    noisy = room.noisy(COUNTS)
    alone = room.finish(choose_blocks, whole=Noise(epsilon=Fraction(1, 20)))
    groups = int(group.max()) + 1
    grouped = replace(alone, tally=Tally.of_rows(noisy, group, groups=groups))
    one, other = fit(alone).whole, fit(grouped).whole
    assert (one.values == other.values).all() and (one.rows == other.rows).all()
