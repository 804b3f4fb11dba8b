"""The audit: it catches what is broken, passes what is sound, and its bound is honest."""

import dataclasses
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import audit_cases
import holdfast.former as holdfast
from audit_cases import BROKEN, EPSILON, RARE, SOUND
from holdfast.errors import HoldfastError
from holdfast.former.constructors import Heuristic
from holdfast.former.privatizers import CumulativeIsotonic
from holdfast.former.studies.audit import RepeatedRelease
from holdfast.former.studies.audit.bounds import clopper_pearson, loss_bound

SURE = 1 - 1e-6


@pytest.fixture(autouse=True)
def repeatable(monkeypatch):
    monkeypatch.setattr(audit_cases, "generator", np.random.default_rng(20))


def run(item, **options):
    usual = {"epsilon": EPSILON, "delta": item.delta, "draws": 20_000, "confidence": SURE}
    return holdfast.audit(
        item.mechanism, item.table, item.neighbour, batched=True, **usual | options
    )


@pytest.mark.parametrize("item", BROKEN, ids=lambda item: item.name)
def test_every_broken_mechanism_is_caught(item):
    assert run(item).violation


def test_a_table_emitted_whole_once_in_a_thousand_is_caught():
    found = run(RARE, draws=120_000, confidence=0.99)
    assert found.violation and "the whole output" in found.event


def test_rows_that_share_their_noise_are_found_without_knowing_where_the_tables_differ():
    item = next(item for item in BROKEN if item.name == "shared noise")
    hidden = ([item.table], [item.neighbour])  # a table of tables: the draws must say where
    found = holdfast.audit(
        lambda table, size: item.mechanism(table[0], size), *hidden,
        epsilon=1, draws=20_000, batched=True,
    )  # fmt: skip
    assert found.violation


def test_the_shelf_has_at_least_twelve_kinds():
    assert len({item.mechanism for item in BROKEN}) >= 12


@pytest.mark.parametrize("item", SOUND, ids=lambda item: item.name)
def test_no_sound_mechanism_is_accused(item):
    assert not run(item, draws=30_000).violation


@pytest.mark.parametrize("item", SOUND[:4], ids=lambda item: item.name)
def test_a_budget_that_is_used_up_is_seen_to_be(item):
    found = run(item, draws=30_000, confidence=0.99)
    assert 0.85 < found.lower_bound <= 1
    assert run(item, draws=30_000, epsilon="0.8").violation


def test_our_mechanism_and_opendps_geometric_pass():
    ours = audit_cases.ours([0.4, 0.3, 0.2, 0.1])
    for mechanism, tables in ((ours, (0, 1)), (audit_cases.opendp_geometric(), (5, 6))):
        found = holdfast.audit(
            mechanism, *tables, epsilon=1, draws=40_000, batched=True, confidence=SURE
        )
        assert not found.violation
        assert found.lower_bound > 0.85


def test_opendps_geometric_with_half_the_noise_is_caught():
    mechanism = audit_cases.opendp_geometric(epsilon=2)
    found = holdfast.audit(mechanism, 5, 6, epsilon=1, draws=10_000, batched=True)
    assert found.violation


class Geometric:
    """Noise behind a method that takes one number, which is how diffprivlib's mechanisms look."""

    def __init__(self, *, epsilon, sensitivity):
        self.share = 1 - math.exp(-epsilon / sensitivity)
        self.rng = np.random.default_rng(11)

    def randomise(self, value):
        first, second = self.rng.geometric(self.share, 2)
        return int(value + first - second)


def test_a_method_of_an_object_is_a_mechanism():
    for epsilon, refuted in ((1, False), (2, True)):
        mechanism = Geometric(epsilon=epsilon, sensitivity=1)
        found = holdfast.audit(mechanism.randomise, 5, 6, epsilon=1, draws=8000, confidence=SURE)
        assert found.violation is refuted and found.lower_bound > 0.7


def test_mechanisms_of_diffprivlib_are_audited_as_they_are():
    mechanisms = pytest.importorskip(
        "diffprivlib.mechanisms", reason="diffprivlib is not here", exc_type=ImportError
    )
    for epsilon, refuted in ((1, False), (2, True)):
        mechanism = mechanisms.Geometric(epsilon=epsilon, sensitivity=1)
        found = holdfast.audit(mechanism.randomise, 5, 6, epsilon=1, draws=8000, confidence=SURE)
        assert found.violation is refuted and found.lower_bound > 0.7


def test_a_function_of_one_table_is_drawn_again_and_again():
    rng = np.random.default_rng(3)

    def truthful(answer):
        return "yes" if rng.random() < (0.9 if answer else 0.1) else "no"

    found = holdfast.audit(truthful, True, False, epsilon=1, draws=4000)
    assert found.violation
    assert found.lower_bound < math.log(9)
    assert not holdfast.audit(truthful, True, False, epsilon="2.3", draws=4000).violation


def test_nothing_is_found_where_there_is_nothing():
    # measured on the draws that it was chosen on, "seen on one side only" would be infinite
    rng = np.random.default_rng(4)
    for _ in range(10):
        found = holdfast.audit(
            lambda table, size: rng.normal(size=(size, 3)),
            0,
            1,
            draws=2000,
            batched=True,
            confidence=0.999,
        )
        assert found.lower_bound == 0


def test_the_bound_is_above_the_truth_no_more_often_than_stated():
    wrong = sum(run(SOUND[3], draws=1000, confidence=0.8).violation for _ in range(200))
    assert wrong <= 60  # 40 are allowed for; more than 60 of 200 has a chance of 0.0005


def test_both_directions_are_tried():
    def one_way(table, size):
        chance = 0.01 if table == "a" else 0.1
        return (audit_cases.generator.random(size) < chance).astype(int)

    forwards = holdfast.audit(one_way, "b", "a", epsilon=1, draws=20_000, batched=True)
    backwards = holdfast.audit(one_way, "a", "b", epsilon=1, draws=20_000, batched=True)
    assert forwards.direction == "table over neighbour"
    assert backwards.direction == "neighbour over table"
    assert forwards.violation and backwards.violation


def test_delta_forgives_what_it_may_and_no_more():
    def leak(table, size):
        lost = audit_cases.generator.random(size) < 0.02
        return np.where(lost, 100 + table, audit_cases.randomised_response(table, size))

    assert holdfast.audit(leak, 0, 1, epsilon=1, draws=20_000, batched=True).violation
    for delta, caught in ((0.03, False), (0.01, True)):
        found = holdfast.audit(
            leak, 0, 1, epsilon=1, delta=delta, draws=40_000, batched=True, confidence=SURE
        )
        assert found.violation is caught


def test_impossible_outputs_and_reused_seeds_are_named():
    by_name = {item.name: item for item in BROKEN}
    assert any("never for" in text for text in run(by_name["float noise"]).findings)
    reused = run(by_name["reused seed"], epsilon=5)
    assert reused.reused and reused.violation and "reused seed" in reused.findings[0]
    assert not run(SOUND[0]).reused


@pytest.mark.parametrize(
    "shape",
    [
        lambda bit: {"a": bit, "b": 3},
        lambda bit: [bit] * (1 + bit),
        lambda bit: (np.array([bit, 1]), "text", None),
        lambda bit: {bit},
        lambda bit: float("nan") if bit else 1.0,
        lambda bit: float("inf") if bit else [1, 2],
        lambda bit: np.array([[bit, 0], [0, bit]]),
    ],
)
def test_outputs_of_any_kind_are_compared(shape):
    rng = np.random.default_rng(6)

    def mechanism(bit):
        return shape(int(bit) if rng.random() < 0.95 else 1 - int(bit))

    found = holdfast.audit(mechanism, 0, 1, epsilon=1, draws=1000)
    assert found.violation and found.lower_bound < math.log(19)


def test_a_release_is_compared_by_its_target_and_counts():
    @cache  # a seed makes them all the same
    def release(counts):
        return holdfast.privatize(
            counts,
            epsilon=1,
            max_count=2,
            privatizer=audit_cases.NoStageOne(),
            constructor=Heuristic(),
            seed=1,
        )

    assert holdfast.audit(release, (0, 1), (1, 1), epsilon=1, draws=400).violation


def test_clopper_pearson_agrees_with_scipy():
    from scipy.stats import binomtest

    for hits, draws in ((0, 50), (3, 50), (50, 50), (700, 10_000)):
        exact = binomtest(hits, draws).proportion_ci(0.98, method="exact")
        assert clopper_pearson(hits, draws, 0.01) == pytest.approx((exact.low, exact.high))


def test_a_bound_needs_mass():
    assert loss_bound(3, 0, 1000, delta=0, miss=0.01) < 0.5
    assert loss_bound(300, 0, 1000, delta=0.5, miss=0.01) == 0


@pytest.mark.parametrize("seed", range(12))
def test_a_repeated_release_draws_what_privatize_draws(seed):
    counts = [0, 1, 4]
    release = holdfast.privatize(
        counts, epsilon=1, max_count=4, privatizer=CumulativeIsotonic(), seed=seed
    )
    repeated = RepeatedRelease(
        epsilon=1, max_count=4, rows=3, privatizer=CumulativeIsotonic(), seed=seed
    )
    targets, released, measured = repeated(counts, 1)
    assert targets[0].tolist() == release.target.tolist()
    assert measured[0].tolist() == release.measurement.tolist()
    assert released[0].tolist() == release.counts.tolist()


def test_a_repeated_release_has_the_defaults_of_privatize():
    release = holdfast.privatize([0, 1, 4], epsilon=1, max_count=4, seed=1)
    targets, released, _ = RepeatedRelease(epsilon=1, max_count=4, rows=3, seed=1)([0, 1, 4], 1)
    assert targets[0].tolist() == release.target.tolist()
    assert released[0].tolist() == release.counts.tolist()


def test_a_whole_release_keeps_its_budget_and_uses_it():
    repeated = RepeatedRelease(
        epsilon=1,
        max_count=4,
        rows=3,
        split="7/10",
        privatizer=CumulativeIsotonic(),
        seed=3,
    )
    table, neighbour = [0, 1, 2], [1, 1, 2]
    found = holdfast.audit(
        repeated,
        table,
        neighbour,
        epsilon=1,
        draws=16_000,
        batched=True,
        features=repeated.stage_2_loss(table, neighbour),
    )
    assert 0.6 < found.lower_bound < 1
    assert repeated.stages.budget.stage_1 + repeated.stages.budget.stage_2 == 1


def test_a_release_with_too_little_noise_is_caught():
    class Half(CumulativeIsotonic):
        def __call__(self, histogram, *, epsilon, rng=None):
            return super().__call__(histogram, epsilon=3 * epsilon, rng=rng)

    repeated = RepeatedRelease(
        epsilon=1, max_count=4, rows=3, split="7/10", privatizer=Half(), seed=3
    )
    found = holdfast.audit(repeated, [0, 1, 2], [1, 1, 2], epsilon=1, draws=2000, batched=True)
    assert found.violation


def test_a_release_whose_measurement_has_too_little_noise_is_caught():
    release = holdfast.privatize([0, 1, 4], epsilon=1, max_count=4, seed=1)
    noise = np.random.default_rng(8)

    def leaky(table, scale):
        exact = np.cumsum(np.bincount(table, minlength=5))[:-1]
        noisy = exact + noise.geometric(scale, 4) - noise.geometric(scale, 4)
        return dataclasses.replace(release, measurement=noisy)

    tables = [0, 1, 4], [1, 1, 4]
    for scale, caught in ((1 - np.exp(-1), False), (1 - np.exp(-3), True)):
        found = holdfast.audit(
            lambda table, scale=scale: leaky(table, scale), *tables, epsilon=1, draws=600
        )
        assert found.violation is caught
        assert "output[2]" in found.event or not caught


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"draws": 10}, "`draws`"),
        ({"draws": True}, "`draws`"),
        ({"confidence": 1}, "`confidence`"),
        ({"delta": 1}, "`delta`"),
        ({"delta": "a little"}, "`delta`"),
        ({"epsilon": -1}, "`epsilon`"),
        ({"features": lambda outputs: outputs[0][:5]}, "`features`"),
    ],
)
def test_what_cannot_be_used_is_refused(options, words):
    with pytest.raises(HoldfastError, match=words):
        run(SOUND[0], **{"draws": 400} | options)


def test_a_batched_mechanism_must_return_what_was_asked_for():
    with pytest.raises(HoldfastError, match="batched"):
        holdfast.audit(lambda table, size: table, 0, 1, draws=400, batched=True)


def test_without_a_claim_there_is_an_estimate_and_no_verdict():
    found = run(BROKEN[0], epsilon=None)
    assert found.lower_bound > 1.5 and not found.violation
    assert found.to_dict()["epsilon"] is None


def test_progress_is_reported():
    seen = []
    run(SOUND[0], draws=1000, progress=seen.append)
    assert seen == sorted(seen) and seen[-1] == 2000


def test_a_claim_is_kept_as_an_exact_number():
    assert run(SOUND[0], epsilon="1/3").epsilon == Fraction(1, 3)


def test_rare_outputs_are_not_taken_for_a_reused_seed():
    def rare(table, size):
        return (audit_cases.generator.random(size) < 0.01).astype(int)

    assert not any(holdfast.audit(rare, 0, 1, draws=1000, batched=True).reused for _ in range(50))


@pytest.mark.parametrize("odd", [None, "text", [1, 2, 3], (4, 5), {}])
def test_an_output_of_another_kind_now_and_then_accuses_nobody(odd):
    rng = np.random.default_rng(8)

    def mechanism(table):
        return odd if rng.random() < 0.01 else int(rng.integers(5))

    for _ in range(2):
        found = holdfast.audit(mechanism, 0, 1, draws=1000, confidence=SURE)
        assert found.lower_bound == 0
