"""The loss of a release, added up by hand from every number that noise was given to.

Noisy numbers are held, so that what is measured later is the same for both tables. Then the loss of
a pair of neighbours is the sum over all numbers of noise's epsilon times how many of its shifts lie
between the exact numbers. No neighbour may lose more than the promise says; one loses just that.
"""

import hashlib
import random
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import holdfast
from holdfast.measure import room
from holdfast.privacy.promise import charges_of

COLUMNS = ["n", "m"]
TABLE = pd.DataFrame(
    {
        "place": list("abcdefgh"),
        "state": ["x", "y", "y", "x", "z", "y", "x", "z"],
        "closed": [False] * 7 + [True],
        "n": [3, 0, 1, 7, 2, 2, 5, 0],
        "m": [0, 1, 1, 0, 4, 2, 0, 0],
    }
)
ASKED = {
    "one column": {"count": "n"},
    "contributions": {"count": "n", "contributions": 3},
    "rows": {"count": "n", "rows": 2},
    "both, wide noise": {"count": "n", "contributions": 5, "rows": 3, "epsilon": "1/3"},
    "groups and the whole": {"count": "n", "within": "state"},
    "totals": {"count": "n", "within": "state", "totals": True, "rows": 2},
    "many groups": {"count": "n", "within": "place", "totals": "1/2", "contributions": 2},
    "split": {"count": "n", "split": "1/2", "totals": "1/3"},
    "known zeros": {"count": "n", "structural_zero": "closed", "within": "state"},
    "a part": {"count": "n", "subset": {"state": "x"}, "rows": 2},
    "shown to a top": {"count": "n", "top": 2, "contributions": 2},
    "two columns": {"count": COLUMNS, "contributions": {"n": 1, "m": 3}, "rows": 2},
    "weights": {"count": COLUMNS, "weights": {"n": 1, "m": 2}, "within": "state"},
    "one of two": {"count": COLUMNS, "person_in": "one column", "rows": 2, "totals": True},
    "one of two, many": {
        "count": COLUMNS, "person_in": "one column", "contributions": {"n": 4, "m": 1}, "rows": 3
    },
}  # fmt: skip


def neighbours(asked, number):
    """Tables with one person more, who does as much as may be, or something less."""
    chance, rows = random.Random(1), asked.get("rows", 1)
    columns = [asked["count"]] if isinstance(asked["count"], str) else asked["count"]
    most = asked.get("contributions", 1)
    most = most if isinstance(most, dict) else dict.fromkeys(columns, most)
    known = 8 - ("structural_zero" in asked)
    for k in range(number):
        other = TABLE.copy()
        for row in chance.sample(range(known), rows if k % 2 else chance.randint(1, rows)):
            alone = chance.choice(columns) if asked.get("person_in") == "one column" else None
            for column in columns if alone is None else [alone]:
                other.loc[row, column] += most[column] if k % 2 else chance.randint(0, most[column])
        yield other


def numbers(table, asked, monkeypatch, seed):
    """The release, and what noise was given to: exact numbers and their noise."""
    seen = []

    def add_noise(values, noise, source, *, stream, at=0):
        seen.append((np.asarray(values).tolist(), noise))
        key = int.from_bytes(hashlib.sha256(f"{seed} {stream} {at}".encode()).digest()[:8], "big")
        return np.random.default_rng(key).integers(-2, 9, len(values))

    monkeypatch.setattr(room, "add_noise", add_noise)
    options = {"category": "place", "keep_none": True, "epsilon": 1} | asked
    return holdfast.privatize(table, seed=1, **options), seen


def loss(one, other):
    """The largest logarithm of the ratio of two probabilities of one and the same outcome."""
    assert [(len(values), noise) for values, noise in one] == [(len(v), n) for v, n in other]
    return sum(
        noise.epsilon * -(-abs(a - b) // noise.shift)
        for (mine, noise), (others, _) in zip(one, other, strict=True)
        for a, b in zip(mine, others, strict=True)
    )


@pytest.mark.parametrize("name", ASKED)
def test_no_neighbour_loses_more_than_is_promised_and_one_loses_just_that(name, monkeypatch):
    asked, found = ASKED[name], list[Fraction]()
    for seed in range(2):
        release, first = numbers(TABLE, asked, monkeypatch, seed)
        for other in neighbours(asked, 24):
            found.append(loss(first, numbers(other, asked, monkeypatch, seed)[1]))
    assert max(found) == release.promise.epsilon
    assert sum(charge.epsilon * charge.times for charge in charges_of(release.promise)) == max(
        found
    )
