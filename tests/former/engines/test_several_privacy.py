"""The privacy loss of several columns, computed for neighbours of tiny tables.

All that is drawn is noise on integers and counts from integer weights. Given the same noisy
integers and the same counts released before, neighbouring tables have the same mechanisms. So the
loss is the change of the integers over their noise's scale, summed, plus the log-ratio of the
weights of the changed cells, at the worst outputs.
"""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

import holdfast.former as holdfast
from holdfast.former.engines import steps
from holdfast.former.engines.several import SeveralParameters
from holdfast.former.mechanism.grouped import GroupedMechanism
from holdfast.former.tables.csv import CsvTable

ROWS, TOP = 3, 2
NAMES = ("a", "b")
EPSILON = Fraction(1)


class Script:
    """Gives the same noisy integers and the same releases whatever the counts, and keeps what the
    counts came to."""

    simulated = True

    def __init__(self, seed):
        self.noise, self.shown = np.random.default_rng(seed), np.random.default_rng(seed + 1)
        self.measured, self.kernels = [], []

    def add_laplace(self, values, epsilon, sensitivity=1):
        self.measured.append((values.copy(), Fraction(epsilon) / sensitivity))
        return self.noise.integers(0, ROWS + 1, len(values))

    def sampler(self, mechanism):
        def draw(counts, members, source):
            self.kernels.append((members, mechanism))
            return self.shown.integers(0, TOP + 1, len(counts))

        return draw


def table_of(columns):
    return CsvTable(NAMES, [list(map(str, row)) for row in zip(*columns, strict=True)])


def run(columns, seed, monkeypatch, **options):
    """All that a release would draw from, in order."""
    script = Script(seed)
    for_rows = SeveralParameters.for_rows

    def scripted(self, rows, groups):
        found = for_rows(self, rows, groups)
        for one in found.columns:
            object.__setattr__(one, "source", script)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(SeveralParameters, "for_rows", scripted)
        patched.setattr(steps, "RowSampler", script.sampler)
        holdfast.privatize(
            table_of(columns),
            count=list(NAMES),
            max_count=TOP,
            epsilon=EPSILON,
            split="1/3",
            publish_anyway=["row order", "totals"],
            seed=0,
            **options,
        )
    return script


def kernel_of(members, mechanism, row):
    if isinstance(mechanism, GroupedMechanism):
        return mechanism[int(members[row])]
    return mechanism


def loss(first, second, seed, monkeypatch, **options):
    """The largest privacy loss between two tables, over all outputs of the changed cells."""
    one, other = (run(columns, seed, monkeypatch, **options) for columns in (first, second))
    found = Fraction(0)
    for (a, epsilon), (b, same) in zip(one.measured, other.measured, strict=True):
        assert epsilon == same
        found += int(np.abs(a - b).sum()) * epsilon
    total = float(found)
    for k, (before, after) in enumerate(zip(first, second, strict=True)):
        (members, mechanism), (_, again) = one.kernels[k], other.kernels[k]
        assert mechanism.digest == again.digest  # from what is public alone
        for row in range(ROWS):
            if before[row] != after[row]:
                kernel = kernel_of(members, mechanism, row)
                upper, lower = kernel.row(before[row]), kernel.row(after[row])
                total += max(math.log(int(p) / int(q)) for p, q in zip(upper, lower, strict=True))
    return total


def neighbours(columns, rows, contributions, person_in):
    """All tables that one person may make of a table."""
    moves = range(-contributions, contributions + 1)
    for chosen in itertools.combinations(range(ROWS), rows):
        for steps_ in itertools.product(itertools.product(moves, repeat=2), repeat=rows):
            if person_in == "one column" and any(0 not in step for step in steps_):
                continue
            changed = [list(column) for column in columns]
            for row, step in zip(chosen, steps_, strict=True):
                for k in range(2):
                    changed[k][row] += step[k]
            if changed != columns and min(map(min, changed)) >= 0 and max(map(max, changed)) <= TOP:
                yield changed


CASES = [
    {"rows": rows, "contributions": contributions, "person_in": person_in, "joint": joint}
    for rows, contributions in ((1, 1), (2, 1), (1, 2))
    for person_in in ("all columns", "one column")
    for joint in (False, True)
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_whole_pipeline_loses_at_most_epsilon(case, monkeypatch):
    rng = random.Random(str(case))
    for seed in range(2):
        columns = [[rng.randint(0, TOP) for _ in range(ROWS)] for _ in NAMES]
        every = list(neighbours(columns, case["rows"], case["contributions"], case["person_in"]))
        for other in rng.sample(every, min(len(every), 6)):
            assert loss(columns, other, seed, monkeypatch, **case) <= float(EPSILON) + 1e-9


@pytest.mark.parametrize("joint", [False, True])
def test_a_person_in_both_columns_is_not_protected_by_the_promise_for_one(joint, monkeypatch):
    columns = [[0, 1, 2], [0, 2, 1]]
    worst = max(
        loss(columns, other, 1, monkeypatch, person_in="one column", joint=joint)
        for other in neighbours(columns, 1, 1, "all columns")
    )
    assert worst > float(EPSILON) + 0.1
