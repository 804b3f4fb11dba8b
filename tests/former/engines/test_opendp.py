"""holdfast inside OpenDP: chained, composed and accounted for there."""

import math
import sys
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former.constructors import Heuristic, Optimal

dp.enable_features("contrib", "honest-but-curious")
SPACE = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
MECHANISM = Optimal()([0.4, 0.3, 0.2, 0.1], epsilon="1/3").mechanism


def pipeline(**changes):
    usual = {"epsilon": "0.5", "max_count": 3, "constructor": Heuristic(selector="min")}
    return holdfast.opendp_measurement(**(usual | changes))


@pytest.mark.parametrize("d_in", [0, 1, 2, 7, 10**6])
def test_the_privacy_maps_state_distance_times_epsilon_rounded_up(d_in):
    for measurement, unit in (
        (MECHANISM.as_opendp(), MECHANISM.certified_epsilon),
        (pipeline(epsilon="1/3"), Fraction(1, 3)),
    ):
        stated = measurement.map(d_in)
        assert Fraction(stated) >= d_in * unit
        assert d_in == 0 or Fraction(math.nextafter(stated, 0)) < d_in * unit
        assert measurement.check(d_in, stated)
        assert d_in == 0 or not measurement.check(d_in, math.nextafter(stated, 0))


def test_the_maps_are_true_for_the_matrix():
    measurement, matrix = MECHANISM.as_opendp(), MECHANISM.matrix
    for far in (1, 2, 3):
        loss = np.abs(np.log(matrix[far:]) - np.log(matrix[:-far])).max()
        assert loss <= measurement.map(far) + 1e-12


def test_draws_follow_the_mechanism():
    measurement = MECHANISM.as_opendp()
    drawn = np.array(measurement([2] * 20_000))
    shares = np.bincount(drawn, minlength=4) / len(drawn)
    sigma = np.sqrt(MECHANISM.matrix[2] * (1 - MECHANISM.matrix[2]) / len(drawn))
    assert (np.abs(shares - MECHANISM.matrix[2]) < 5.5 * sigma).all()
    assert (np.abs(shares - MECHANISM.matrix[0]) > 5.5 * sigma).any()


def test_counts_out_of_range_are_clamped_so_the_domain_is_all_of_i64():
    drawn = MECHANISM.as_opendp()([-5, 2**62])
    assert len(drawn) == 2 and set(drawn) <= {0, 1, 2, 3}
    assert len(pipeline()([-5, 2**62])) == 2
    assert MECHANISM.as_opendp()([]) == []


def test_it_composes_with_itself_and_with_opendps_own_noise():
    measurement = MECHANISM.as_opendp()
    laplace = dp.m.make_laplace(*SPACE, scale=2.0)
    together = dp.c.make_composition([measurement, pipeline(), laplace])
    outputs = together([0, 1, 3])
    assert [len(output) for output in outputs] == [3, 3, 3]
    parts = measurement.map(1) + pipeline().map(1) + laplace.map(1)
    assert together.map(1) == pytest.approx(parts, rel=1e-12)
    assert together.map(1) >= parts


def test_opendps_accountant_refuses_what_would_overspend():
    measurement = pipeline()
    compositor = dp.c.make_adaptive_composition(
        *SPACE, dp.max_divergence(), d_in=1, d_mids=[0.5, 0.4]
    )
    queryable = compositor([0, 1, 3, 2])
    assert len(queryable(measurement)) == 4
    with pytest.raises(dp.OpenDPException, match="insufficient budget"):
        queryable(measurement)


def test_people_become_a_private_table_in_one_chain():
    counted = dp.t.make_count_by_categories(
        dp.vector_domain(dp.atom_domain(T=str)),
        dp.symmetric_distance(),
        categories=["Ely", "Kent", "Rye"],
        null_category=False,
        TOA="i64",
        MO="L1Distance<i64>",
    )
    chain = counted >> pipeline()
    assert len(chain(["Kent", "Kent", "Ely"])) == 3
    assert chain.map(1) == 0.5 and chain.map(3) == 1.5


def test_the_whole_release_can_be_asked_for():
    release = pipeline(output="release", split="1/4")([0, 1, 3, 2, 9])
    assert isinstance(release, holdfast.Release)
    assert release.privacy.budget.stage_1 == Fraction(1, 8)
    assert not release.privacy.simulated and release.counts.max() <= 3


def test_opendp_asks_its_users_to_say_that_they_trust_it():
    dp.disable_features("honest-but-curious")
    try:
        with pytest.raises(dp.OpenDPException, match="honest-but-curious"):
            MECHANISM.as_opendp()
    finally:
        dp.enable_features("honest-but-curious")


def test_a_delta_becomes_opendps_approximate_measure():
    gaussian = holdfast.baselines.DiscreteGaussian(delta="1e-6")
    mechanism = gaussian([0.4, 0.3, 0.2, 0.1], epsilon="1/3").mechanism
    measurement = mechanism.as_opendp()
    epsilon, delta = measurement.map(2)
    assert Fraction(epsilon) >= Fraction(2, 3)
    exact = (1 + math.exp(1 / 3)) * float(mechanism.delta)
    assert exact <= delta < exact * 1.0001
    p, q = mechanism.matrix[0], mechanism.matrix[2]
    assert np.maximum(p - math.exp(epsilon) * q, 0).sum() <= delta
    assert dp.c.make_composition([measurement] * 2).map(1)[1] >= 2 * mechanism.delta
    assert measurement.map(10**6)[1] == 1 and measurement.map(0) == (0, 0)


def test_the_pipeline_is_for_stages_of_pure_epsilon():
    gaussian = holdfast.privatizers.CumulativeGaussian(delta="1e-6")
    for given in ({"privatizer": gaussian}, {"constructor": holdfast.baselines.DiscreteGaussian()}):
        with pytest.raises(HoldfastError, match="pure epsilon"):
            pipeline(**given)


def test_bad_parameters_are_refused_before_anything_is_made():
    for wrong in ({"epsilon": 0}, {"max_count": 0}, {"output": "everything"}):
        with pytest.raises(HoldfastError):
            pipeline(**wrong)


def test_a_constructor_that_brings_a_delta_is_refused_before_a_count_is_drawn(monkeypatch):
    gaussian = holdfast.baselines.DiscreteGaussian(delta="1e-2")
    drawn = []
    monkeypatch.setattr("holdfast.former.mechanism.sampling.draw", lambda *_: drawn.append(1))
    monkeypatch.setattr(
        sys.modules["holdfast.former.engines.steps"], "RowSampler", lambda *_: drawn.append(1)
    )
    measurement = pipeline(constructor=lambda z, epsilon: gaussian(z, epsilon=epsilon))
    with pytest.raises(Exception, match="withheld"):
        measurement([0, 1, 2, 3])
    assert not drawn


def test_a_baseline_of_one_stage_stays_one_stage():
    geometric = holdfast.baselines.TruncatedGeometric()
    release = pipeline(constructor=geometric, output="release")([0, 1, 2, 3])
    assert release.privacy.budget.stage_1 == 0


def test_a_negative_distance_has_no_loss():
    gaussian = holdfast.baselines.DiscreteGaussian(delta="1e-2")
    approximate = gaussian([0.4, 0.3, 0.2, 0.1], epsilon="1/3").mechanism
    for mechanism in (MECHANISM, approximate):
        with pytest.raises(Exception, match=r"d_in|distance|negative"):
            mechanism.as_opendp().map(-1)
