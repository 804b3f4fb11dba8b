"""The privacy loss of a release by group, computed: what noise is added to, and what is drawn.

All that is drawn is noise on integers and counts from integer weights. With the same noisy
integers, neighbouring tables have the same mechanisms; so the loss is at most the change of the
integers over their noise's scale, summed, plus the log-ratio of the weights of the changed row.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast
from holdfast.former.engines.stages import check_parameters
from holdfast.former.engines.steps import histogram_by, totals_by
from holdfast.former.tables.group_rows import partition
from holdfast.former.tables.groups import Within


class Recorder:
    """Gives the same noisy integers whatever they were, and keeps what they were."""

    simulated = True

    def __init__(self):
        self.seen = []
        self._rng = np.random.default_rng(7)

    def add_laplace(self, values, epsilon, sensitivity=1):
        self.seen.append((values.copy(), Fraction(epsilon) / sensitivity))
        return self._rng.integers(0, 9, len(values))

    def bits_62(self, size):
        raise AssertionError("nothing is drawn here")


def staged(counts, labels, *, double=False, **options):
    """Steps 1 to 3 for a table; `double` counts every row in two groups, which is a mistake."""
    counts, drawn = np.array(counts), np.ones(len(counts), dtype=bool)
    groups, members = partition(Within(("g",)), [labels], drawn)
    parameters = check_parameters(within="g", **options)
    stages = replace(parameters.for_rows(len(counts), groups), source=Recorder())
    histograms, totals = histogram_by(members, counts, stages), totals_by(members, counts, stages)
    if double:
        histograms = histograms + np.roll(histograms, 1, axis=0)
    found = stages(histograms, totals)
    return found, stages.source.seen, members


def loss(first, second, row, labels, **options):
    """The largest privacy loss between two tables that differ in one row, over all outputs."""
    (found, before, members), (_, after, _) = (
        staged(counts, labels, **options) for counts in (first, second)
    )
    noise = sum(
        int(np.abs(a - b).sum()) * epsilon
        for (a, epsilon), (b, _) in zip(before, after, strict=True)
    )
    weights = found.groups.at(int(members[row])).mechanism.weights.astype(float)
    top = found.top
    ratios = weights[min(first[row], top)] / weights[min(second[row], top)]
    return float(noise) + float(np.abs(np.log(ratios)).max())


def tables(seed, rows, groups, most):
    rng = np.random.default_rng(seed)
    return rng.integers(0, most, rows).tolist(), [f"g{k}" for k in rng.integers(0, groups, rows)]


@pytest.mark.parametrize("contributions", [1, 3])
@pytest.mark.parametrize(("rows", "groups"), [(1, 1), (3, 2), (6, 3), (120, 110)])
def test_one_person_in_one_row_of_one_group_loses_at_most_epsilon(rows, groups, contributions):
    options = {"epsilon": "0.9", "max_count": 4, "totals": "1/9", "contributions": contributions}
    worst = 0.0
    for seed in range(1 if rows > 9 else 2):
        counts, labels = tables(seed, rows, groups, 3)
        for row in range(min(rows, 2) if rows < 9 else 1):
            for more in {1, contributions}:
                other = [*counts]
                other[row] += more
                worst = max(worst, loss(counts, other, row, labels, **options))
    assert 0.5 < worst <= 0.9 * (1 + 1e-12)


@pytest.mark.parametrize("groups", [3, 40])
def test_one_person_changes_what_is_measured_of_groups_of_long_ranges_by_epsilon_at_most(groups):
    options = {"epsilon": "0.9", "max_count": 12_000, "split": "1/2", "totals": True}
    counts, labels = tables(3, 80, groups, 14_000)
    found, before, _ = staged(counts, labels, **options)
    for row, more in ((0, 1), (7, -1), (11, 1)):
        other = [*counts]
        other[row] += more
        _, after, _ = staged(other, labels, **options)
        pairs = zip(before, after, strict=True)
        spent = sum(int(np.abs(a - b).sum()) * epsilon for (a, epsilon), (b, _) in pairs)
        budget = found.stages.budget
        assert Fraction(9, 20) <= spent <= budget.stage_1 + budget.totals
    assert len(before) == (4 if groups > 30 else 2)  # of totals and of sums, also over the table


def test_a_row_in_two_groups_that_each_spend_all_of_epsilon_is_caught():
    options = {"epsilon": "0.9", "max_count": 4, "split": "1/2"}
    counts, labels = [0, 1, 2, 3, 1, 0], ["a", "a", "b", "b", "c", "c"]
    other = [1, *counts[1:]]
    assert loss(counts, other, 0, labels, **options) <= 0.9 * (1 + 1e-12)
    assert loss(counts, other, 0, labels, double=True, **options) > 1.2


def test_the_noise_of_all_groups_has_the_epsilon_that_is_stated():
    for groups in (3, 120):
        counts, labels = tables(1, 240, groups, 6)
        options = {"epsilon": 1, "max_count": 4, "totals": True}
        found, seen, _ = staged(counts, labels, **options)
        parts = [epsilon for _, epsilon in seen]
        budget = found.stages.budget
        whole = 1 + (groups > 30)  # totals of groups, and of the table
        assert sum(parts[:whole]) == budget.totals and sum(parts[whole:]) == budget.stage_1


def test_random_groupings_keep_every_distribution_and_that_of_the_table():
    rng = np.random.default_rng(3)
    for _ in range(12):
        rows, n = int(rng.integers(1, 60)), int(rng.integers(1, 12))
        labels = rng.integers(0, rng.integers(1, rows + 1), rows).astype(str)
        release = holdfast.privatize(
            frame(labels, rng, n),
            count="n", within="g", epsilon=float(rng.choice([0.05, 0.5, 3])), max_count=n,
            publish_anyway=["g", "row order", "totals"], seed=int(rng.integers(1000)),
        )  # fmt: skip
        groups = release.groups
        assert groups.mechanism.certified_epsilon <= release.privacy.budget.unit_2
        images = [part.integers.image(part.target) for part in groups.mechanism.parts]
        kept = np.array(images)[groups.mechanism.index]
        assert np.abs(kept - groups.targets).max() < 1e-9
        assert np.abs(groups.sizes @ kept / release.rows - release.target).max() < 1e-9
        assert math.isclose(release.target.sum(), 1)


def frame(labels, rng, n):

    return pd.DataFrame({"g": labels, "n": rng.integers(0, 2 * n, len(labels))})
