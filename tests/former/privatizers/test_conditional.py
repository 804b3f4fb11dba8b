"""A further count given those released: its laws are found through the blur of the release."""

import numpy as np
import pytest

from families import hump
from holdfast.former.constructors import Optimal
from holdfast.former.mechanism.blur import first_relation
from holdfast.former.privatizers.conditional import fit_conditional
from holdfast.former.privatizers.group_model import LEVEL, crossed, trends
from holdfast.former.privatizers.groups import group_sums

ROWS, BINS, CLASSES = 40_000, 31, 5


def noise(rng, epsilon, size):
    share = 1 - np.exp(-epsilon)
    return rng.geometric(share, size) - rng.geometric(share, size)


def two_counts(rng):
    """A of five classes and B that grows with A; A' is A, blurred towards its neighbours."""
    a = rng.integers(0, CLASSES, ROWS)
    b = np.minimum(rng.poisson(2 + 3 * a), BINS - 1)
    seen = np.where(rng.random(ROWS) < 0.5, a, rng.integers(0, CLASSES, ROWS))
    blur = 0.5 * np.eye(CLASSES) + 0.5 / CLASSES
    return a, b, seen, blur


def histograms(b, group):
    tables = np.zeros((CLASSES, BINS), dtype=np.int64)
    np.add.at(tables, (group, b), 1)
    return tables


def fitted(rng, blur_known=True):
    a, b, seen, blur = two_counts(rng)
    tables, epsilon = histograms(b, seen), 0.02
    noisy = [sums + noise(rng, epsilon, len(sums)) for sums in group_sums(tables, epsilon)]
    fit = fit_conditional(
        noisy,
        tables.sum(axis=1),
        epsilon,
        bins=BINS,
        blur=blur if blur_known else np.eye(CLASSES),
        cells=np.column_stack([np.zeros(CLASSES, int), np.arange(CLASSES)]),
    )
    return fit, tables, histograms(b, a)


def distance(laws, tables):
    return np.abs(np.cumsum(laws - tables / tables.sum(axis=1, keepdims=True), axis=1)).sum(axis=1)


def test_the_laws_behind_the_blur_are_found():
    fit, seen, true = fitted(np.random.default_rng(1))
    assert distance(fit.targets, true).max() < 0.5 < distance(fit.sources, true).max()
    assert distance(fit.sources, seen).max() < 0.3


def test_without_the_blur_the_laws_are_those_of_what_is_seen():
    fit, seen, true = fitted(np.random.default_rng(1), blur_known=False)
    assert distance(fit.targets, seen).max() < 0.5 < distance(fit.targets, true).max()


def test_the_marginal_law_is_that_of_all_rows():
    fit, seen, _ = fitted(np.random.default_rng(2))
    rows = seen.sum(axis=1)
    assert rows @ fit.targets == pytest.approx(rows @ fit.sources, rel=1e-4)
    assert fit.targets.sum(axis=1) == pytest.approx(1)


def class_blur(mechanism, law, classes):
    cells = [[0, k] for k in range(classes.max() + 1)]
    return first_relation([mechanism], [law], classes).blur(np.array(cells))


@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_the_blur_of_a_mechanism_is_bayes_rule_on_its_matrix(epsilon):
    law = hump(12)
    mechanism = Optimal()(law, epsilon=epsilon).mechanism
    classes = np.repeat([0, 1, 2], 4)
    joint = law[:, None] * mechanism.matrix
    for k in range(3):
        part = joint[:, classes == k]
        shares = [part[classes == c].sum() / part.sum() for c in range(3)]
        assert class_blur(mechanism, law, classes)[k] == pytest.approx(shares, rel=1e-9)


def test_a_class_that_is_never_released_says_what_it_is():
    law = np.array([0.5, 0.5, 0.0])
    mechanism = Optimal()(law, epsilon=1).mechanism
    blur = class_blur(mechanism, law, np.array([0, 0, 1]))
    assert blur.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_trends_over_two_columns_hold_those_of_each_and_one_constant():
    one = trends(4, ordered=True)
    both = crossed([one, trends(3, ordered=True)])
    assert both.values.shape == (12, 4 + 2 + 1) and (both.kinds == LEVEL).sum() == 1
    assert np.array_equal(both.values[::3, :4], one.values)
    assert np.array_equal(crossed([one]).values, one.values)
