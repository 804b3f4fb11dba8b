"""Methods side by side: agencies' laws, the paper's, plain noise, and holdfast's own releases."""

import re
from fractions import Fraction

import numpy as np
import pytest

from holdfast import paper
from holdfast.errors import HoldfastError
from holdfast.plan.agencies import (
    promise_of,
    random_rounding,
    read_ptable,
    rounding,
    suppression,
    usual_ptable,
)
from holdfast.plan.compare import DISTANCE, ONE_COUNT, compare, find_methods
from holdfast.plan.simulation import KnownTable
from holdfast.privacy.noise import Noise

COUNTS = np.random.default_rng(4).negative_binomial(1, 0.25, 400)


@pytest.fixture(scope="module")
def found():
    names = ["holdfast", "paper", "truncated-geometric", "plain-noise", "rounding", "suppression"]
    return compare(COUNTS, epsilons=["0.5", "1"], methods=names, repetitions=6)


def test_plain_noise_is_off_by_the_mean_of_its_law(found):
    for epsilon in ("0.5", "1"):
        expected = Noise(epsilon=Fraction(epsilon)).mean_absolute
        off = found.non_private_errors["plain-noise", epsilon][ONE_COUNT]
        assert off == pytest.approx(expected, rel=0.1)


def test_holdfast_keeps_the_distribution_better_than_noise_and_than_the_paper(found):
    for epsilon in ("0.5", "1"):
        errors = {name: found.non_private_errors[name, epsilon] for name, _ in
                  found.non_private_errors if name != "suppression"}  # fmt: skip
        ours = errors.pop("holdfast")
        assert all(ours[DISTANCE] < other[DISTANCE] for other in errors.values())


def test_what_knows_no_epsilon_is_the_same_at_every_epsilon(found):
    errors = found.non_private_errors
    assert errors["rounding", "0.5"] == errors["rounding", "1"]


def test_it_says_everywhere_that_it_is_not_private(found):
    assert repr(found).startswith("Comparison(NOT PRIVATE")
    assert str(found).startswith("NOT PRIVATE")
    assert "non_private_errors" in found.to_dict()


def test_agencies_methods_are_told_what_they_promise(found):
    assert found.promises == [
        "rounding promises nothing: counts of 2 and 3, one person apart, are told apart for "
        "certain.",
        "suppression promises nothing: counts of 0 and 1, one person apart, are told apart for "
        "certain.",
    ]
    assert promise_of(random_rounding(base=5), 2, max_count=20).delta == Fraction(1, 5)
    assert promise_of(usual_ptable(), 2, max_count=20).certain > Fraction(1, 2)


@pytest.mark.parametrize("method", [suppression(), rounding(), random_rounding(), usual_ptable()])
def test_an_agency_draws_by_its_law(method):
    rng = np.random.default_rng(1)
    for count in (0, 3, 7):
        drawn = method.draw(np.full(20_000, count), rng)
        for shown, share in method.law(count).items():
            value = method.unseen if shown is None else shown
            assert (drawn == value).mean() == pytest.approx(float(share), abs=0.015)


def test_random_rounding_and_cell_keys_keep_the_mean():
    for method in (random_rounding(base=3), usual_ptable()):
        for count in (1, 4, 9):
            mean = sum(shown * share for shown, share in method.law(count).items())
            assert float(mean) == pytest.approx(count, abs=1e-9)


@pytest.mark.parametrize("count", range(1, 6))
def test_the_usual_perturbation_table_has_the_largest_entropy(count):
    """A quadratic in the exponent, but where equal probabilities stand for falling ones."""
    law = usual_ptable().law(count)
    noise, shares = np.array(sorted(law)) - count, np.array([float(law[j]) for j in sorted(law)])
    assert shares @ noise**2 <= 3 + 1e-9 and (noise[0], noise[-1]) == (-count, 5)
    up_to_zero = shares[noise <= 0]
    assert (np.diff(up_to_zero) > -1e-9).all()
    free = np.log(shares[np.searchsorted(shares[noise <= 0], up_to_zero[0] + 1e-9) :])
    assert np.abs(np.diff(free, 3)).max() < 1e-6


def test_a_perturbation_table_is_read_as_the_r_package_writes_it(tmp_path):
    path = tmp_path / "ptable.csv"
    path.write_text("i,j,p\n0,0,1\n1,0,0.25\n1,1,0.5\n1,2,0.25\n")
    cell_key = read_ptable(path)
    assert cell_key.law(5) == {4: Fraction(1, 4), 5: Fraction(1, 2), 6: Fraction(1, 4)}
    (method,) = find_methods([f"cell-key:{path}"])
    assert method.agency.law(7) == cell_key.law(7)
    path.write_text("i,j,p\n0,0,0.5\n")
    with pytest.raises(HoldfastError, match="must add up to 1"):
        read_ptable(path)


def test_methods_of_the_paper_and_of_one_s_own_are_compared():
    mine = paper.Method(
        name="mine",
        privatizer=paper.privatizers.CyclicLaplace(),
        constructor=paper.constructors.Heuristic(selector="max"),
    )
    assert [method.name for method in find_methods([mine, "heuristic-sandwich"])] == [
        *("mine", "heuristic-sandwich"),
    ]
    counts = COUNTS[:60]
    table = KnownTable(name="", counts=counts, group=np.zeros(60, dtype=np.int64))
    (method,) = find_methods([mine])
    released = method.publish(table, "1", 3)
    assert released.min() >= 0 and released.max() <= counts.max()


def test_groups_have_distances_of_their_own():
    group = np.repeat(["a", "b"], 200)
    frame = pytest.importorskip("pandas").DataFrame({"n": COUNTS, "group": group})
    found = compare(
        frame, count="n", within="group", epsilons=["1"], methods=["holdfast"], repetitions=2
    )
    assert "The same within groups" in str(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["magic"]}, "`methods` must be among holdfast, plain-noise"),
        ({"methods": []}, "`methods` is empty"),
        ({"epsilons": [0]}, "`epsilons` must be positive"),
        ({"repetitions": 0}, "`repetitions` must be a whole number"),
        ({"questions": "top 3"}, "cannot be planned for"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_words(options, message):
    with pytest.raises(HoldfastError, match=re.escape(message)):
        compare(COUNTS[:20], **{"methods": ["rounding"], "repetitions": 1} | options)
