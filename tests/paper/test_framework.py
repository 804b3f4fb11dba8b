"""The paper's five steps, what they write, and that whatever is written can be read again."""

import itertools
import json
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from holdfast import paper
from holdfast.errors import BudgetError, CertificateError, HoldfastError, Spent, spent_by
from holdfast.ledger.ledger import Ledger
from holdfast.paper.constructors import (
    Construction,
    Constructor,
    Frontier,
    Heuristic,
    LinearProgram,
    Optimal,
    UnfixedOptimum,
)
from holdfast.paper.constructors.baselines import DiscreteGaussian, Staircase, TruncatedGeometric
from holdfast.paper.framework import paper_rule
from holdfast.paper.privatizers import (
    ClassicLaplace,
    Cumulative,
    CyclicGaussian,
    CyclicLaplace,
    Hierarchical,
    PrivateQuantile,
    Privatizer,
    Privelet,
)
from holdfast.privacy.randomness import Simulation

COUNTS = np.random.default_rng(0).poisson(3, 120)
LAW = np.arange(1, 10) / 45
PRIVATIZERS = [
    None,
    CyclicLaplace(),
    CyclicGaussian(delta="1e-6"),
    ClassicLaplace(),
    Privelet(),
    Hierarchical(branching=3),
    Cumulative(projection="clip"),
]
CONSTRUCTORS = [
    Optimal(),
    Optimal(target=LAW),
    Optimal(delta="1e-6"),
    Optimal(target=LAW, delta="0.01", error="squared"),
    Heuristic(),
    Heuristic(selector=lambda z, r, c, a: int(np.argmax(c))),
    UnfixedOptimum(),
    Frontier(price="0.3"),
    Frontier(price=1),
    LinearProgram(),
    TruncatedGeometric(),
    Staircase(),
    DiscreteGaussian(),
    DiscreteGaussian(delta="1e-6"),
]


@pytest.mark.parametrize("constructor", CONSTRUCTORS, ids=lambda part: repr(part)[:40])
@pytest.mark.parametrize("privatizer", PRIVATIZERS, ids=lambda part: repr(part)[:30])
def test_whatever_is_written_can_be_read_again_and_holds(privatizer, constructor, tmp_path):
    if privatizer is None and not constructor.one_stage:
        with pytest.raises(HoldfastError, match="`privatizer` is missing"):
            paper.privatize(COUNTS, "0.9", 9, privatizer, constructor)
        return
    result = paper.privatize(COUNTS, "0.9", 9, privatizer, constructor, split="1/3", seed=1)
    folder = result.save(tmp_path / "result", {"place": [f"p{k}" for k in range(120)]})
    loaded = paper.load(folder)
    np.testing.assert_array_equal(loaded.counts, result.counts)
    np.testing.assert_array_equal(loaded.z, result.z)
    np.testing.assert_array_equal(loaded.mechanism.weights, result.mechanism.weights)
    assert loaded.certificate == result.certificate
    for name in (
        *("epsilon", "epsilon_n", "epsilon_1", "epsilon_2", "delta_1", "delta_2"),
        *("privatizer", "constructor", "certified_1", "simulated"),
    ):
        assert getattr(loaded, name) == getattr(result, name)
    assert result.epsilon_1 + result.epsilon_2 == Fraction(9, 10)
    assert result.epsilon_1 == (0 if privatizer is None else Fraction(3, 10))
    assert (result.delta_1 > 0) == ("Gaussian" in repr(privatizer))
    report = paper.verify(folder)
    assert report.passed, [check.name for check in report.checks if not check.passed]
    assert report.simulated


def test_a_law_of_ones_own_is_not_written_as_a_fixed_point(tmp_path):
    result = paper.privatize(COUNTS, 1, 9, CyclicLaplace(), Optimal(target=LAW), seed=1)
    folder = result.save(tmp_path / "result")
    record = json.loads((folder / "record.json").read_text())
    np.testing.assert_allclose(record["target"], LAW)
    np.testing.assert_allclose(record["source"], result.z, atol=1e-12)
    assert result.mechanism.fixed_point is None
    assert any("to the law that is claimed" in c.name for c in paper.verify(folder).checks)


def test_step_3_sees_z_alone_and_step_2_the_histogram_alone():
    seen = {}

    def stage_1(histogram, *, epsilon, rng):
        seen.update(histogram=np.array(histogram), epsilon_1=epsilon)
        return np.full(6, 1 / 6)

    def stage_2(target, *, epsilon):
        seen.update(target=target, epsilon_2=epsilon)
        return Optimal()(target, epsilon=epsilon)

    result = paper.privatize([0, 1, 1, 9, 30], "2", 6, stage_1, stage_2, split="1/4", seed=1)
    assert seen["histogram"].tolist() == [1, 2, 0, 0, 0, 2]
    assert (seen["epsilon_1"], seen["epsilon_2"]) == (Fraction(1, 2), Fraction(3, 2))
    np.testing.assert_array_equal(seen["target"], np.full(6, 1 / 6))
    assert len(result.counts) == 5 and result.counts.max() <= 5
    assert result.distribution.sum() == pytest.approx(1)


def test_the_split_is_the_rule_of_thumb_unless_it_is_given():
    result = paper.privatize(COUNTS, 1, 9, CyclicLaplace(), Optimal(), seed=1)
    assert result.epsilon_1 == paper_rule(Fraction(1)) == Fraction(17, 125)
    for epsilon, share in [("0.1", 0.506), ("0.48", 0.240), ("1", 0.136), ("5", 0.106)]:
        assert float(paper_rule(Fraction(epsilon))) == share
    for split in (0, 1, -1, "x"):
        with pytest.raises(HoldfastError, match="`split`"):
            paper.privatize(COUNTS, 1, 9, CyclicLaplace(), Optimal(), split=split)


def test_the_bound_n_can_be_found_privately_for_a_part_of_the_budget(tmp_path):
    counts = np.random.default_rng(1).poisson(6, 3000)
    quantile = PrivateQuantile("0.9", epsilon="0.1", highest=60)
    result = paper.privatize(counts, 1, quantile, CyclicLaplace(), Optimal(), seed=1)
    assert 8 <= result.n <= 14
    assert result.epsilon_n == Fraction(1, 10)
    assert result.epsilon_n + result.epsilon_1 + result.epsilon_2 == 1
    folder = result.save(tmp_path / "result")
    assert paper.load(folder).epsilon_n == Fraction(1, 10) and paper.verify(folder).passed


def test_bad_options_are_refused_before_anything_is_drawn(monkeypatch):
    drawn = "holdfast.paper.mechanism.mechanism.draw", "holdfast.privacy.gaussian.add_gaussian"
    for name in ("holdfast.privacy.randomness.Simulation.add_laplace", *drawn):
        monkeypatch.setattr(name, lambda *a, **k: pytest.fail("was drawn"))
    quantile = PrivateQuantile(0.9, epsilon="0.1")
    for options in (
        {"split": 2},
        {"epsilon": 0},
        {"epsilon": "0.1"},
        {"counts": [[1]]},
        {"counts": [0.5]},
        {"counts": [-1]},
        {"privatizer": "CyclicLaplace"},
        {"constructor": Optimal},
        {"n": "x"},
        {"n": 0},
        {"n": 10_001},
    ):
        asked = {
            "counts": COUNTS,
            "epsilon": 1,
            "n": quantile,
            "privatizer": CyclicLaplace(),
            "constructor": Optimal(),
        }
        with pytest.raises(HoldfastError):
            paper.privatize(**(asked | options), seed=1)


def test_a_quantile_derived_from_ours_is_no_bound():
    class Sly(PrivateQuantile):
        def __call__(self, counts, *, epsilon, rng=None):
            return int(np.max(counts))

    with pytest.raises(HoldfastError, match="`n`"):
        paper.privatize(COUNTS, 1, Sly(0.9), CyclicLaplace(), Optimal(), seed=1)


class Own(Privatizer):
    """A privatizer of one's own that draws no noise, and says that it is ours."""

    def __call__(self, histogram, *, epsilon, rng=None):
        return np.asarray(histogram) / np.sum(histogram)

    def __repr__(self):
        return "CyclicLaplace(projection='clip')"


class Derived(CyclicLaplace):
    def measure(self, histogram, epsilon, source):
        return np.cumsum(histogram)[:-1]


class OwnConstructor(Constructor):
    def __call__(self, target, *, epsilon):
        return replace(Heuristic()(target, epsilon=epsilon), method="Optimal()")


@pytest.mark.parametrize("privatizer", [Own(), Derived(), lambda h, *, epsilon, rng: h / h.sum()])
def test_a_privatizer_of_ones_own_is_never_recorded_under_our_name(privatizer, tmp_path):
    result = paper.privatize(COUNTS, 1, 9, privatizer, Optimal(), seed=1)
    assert result.privatizer.startswith("not holdfast's: ") and result.certified_1 is None
    notes = paper.verify(result.save(tmp_path / "result")).warnings
    assert notes == ("nobody checked that the privatizer keeps what its author claims",)


def test_a_constructor_of_ones_own_is_never_recorded_under_our_name():
    def optimal(target, *, epsilon):
        return replace(Heuristic()(target, epsilon=epsilon), method="Optimal()")

    for constructor in (OwnConstructor(), optimal):
        result = paper.privatize(COUNTS, 1, 9, CyclicLaplace(), constructor, seed=1)
        assert result.constructor.startswith("not holdfast's: ")
    mine = Heuristic(selector=lambda z, r, c, a: int(np.argmax(c)))
    named = paper.privatize(COUNTS, 1, 9, CyclicLaplace(), mine, seed=1).constructor
    assert "one's own" in named


def test_what_is_put_on_an_object_of_ours_does_not_run_under_our_name(monkeypatch):
    spoiled = CyclicLaplace()
    object.__setattr__(spoiled, "measure", lambda *a: pytest.fail("ran"))
    result = paper.privatize(COUNTS, 1, 9, spoiled, Optimal(), seed=1)
    assert result.privatizer == "CyclicLaplace(projection='clip')"


def test_a_constructor_cannot_bring_another_mechanism_or_more_epsilon():
    def generous(target, *, epsilon):
        return Heuristic()(target, epsilon=10)

    def approximate(target, *, epsilon):
        return Optimal(delta="0.1")(target, epsilon=epsilon)

    def short(target, *, epsilon):
        return Optimal()(target[:-1] / np.sum(target[:-1]), epsilon=epsilon)

    def uncertified(target, *, epsilon):
        mechanism = SimpleNamespace(epsilon=Fraction(0), sample=lambda counts, rng: counts)
        return SimpleNamespace(mechanism=mechanism, method="open")

    def leaky(target, *, epsilon):
        return Construction(
            matrix=np.eye(9), epsilon=epsilon, target=None, count_error=0.0, method="x"
        )

    for constructor in (generous, approximate, short, uncertified, leaky):
        with pytest.raises((CertificateError, TypeError)):
            paper.privatize(COUNTS, 1, 9, CyclicLaplace(), constructor, seed=1)


def test_a_z_that_is_no_distribution_of_n_counts_is_refused():
    for z in ([0.5, 0.6], np.full(8, 1 / 8), np.full(9, -1.0)):
        with pytest.raises((HoldfastError, CertificateError)):
            paper.privatize(COUNTS, 1, 9, lambda h, *, epsilon, rng, z=z: z, Optimal(), seed=1)


def test_a_source_cannot_hide_that_it_is_seeded():
    class Sly(Simulation):
        simulated = False

    with pytest.raises(HoldfastError, match="`rng`"):
        paper.privatize(COUNTS, 1, 9, CyclicLaplace(), Optimal(), seed=Sly(1))


def test_a_real_release_is_of_the_operating_systems_entropy_and_differs_every_time():
    first, second = (
        paper.privatize(COUNTS, "0.5", 9, CyclicLaplace(), Optimal()) for _ in range(2)
    )
    assert not first.simulated and not np.array_equal(first.counts, second.counts)
    repeated = [
        paper.privatize(COUNTS, "0.5", 9, CyclicLaplace(), Optimal(), seed=3) for _ in range(2)
    ]
    np.testing.assert_array_equal(repeated[0].counts, repeated[1].counts)


def test_a_folder_is_not_written_over(tmp_path):
    result = paper.privatize(COUNTS, 1, 9, CyclicLaplace(), Optimal(), seed=1)
    result.save(tmp_path / "result")
    with pytest.raises(HoldfastError, match="exists already"):
        result.save(tmp_path / "result")
    with pytest.raises(HoldfastError, match="a cell for every row"):
        result.save(tmp_path / "other", {"place": ["a"]})
    with pytest.raises(HoldfastError, match="no column `count`"):
        result.save(tmp_path / "other", {"count": COUNTS.tolist()})
    assert [path.name for path in tmp_path.iterdir()] == ["result"]
    with pytest.raises(HoldfastError, match="no whole result"):
        paper.load(tmp_path)


@pytest.fixture
def ledger(tmp_path):
    made = Ledger(tmp_path / "budget.ledger")
    made.set_limit("deaths", epsilon=2, delta="1e-3")
    return made


@pytest.mark.parametrize(
    ("constructor", "delta"),
    [
        (Optimal(target=LAW), 0),
        (Optimal(target=LAW, delta="1e-6"), "1e-6"),
        (DiscreteGaussian(), Fraction(1, 121)),
    ],
    ids=repr,
)
def test_a_ledger_pays_first_and_what_it_paid_for_can_be_read_again(
    constructor, delta, ledger, tmp_path
):
    ledger.set_limit("deaths", epsilon=2, delta="0.01")
    privatizer = None if constructor.one_stage else CyclicLaplace()
    words = {"ledger": ledger, "dataset": "deaths"}
    result = paper.privatize(COUNTS, "1.5", 9, privatizer, constructor, **words)
    (spend,) = ledger.spends("deaths")
    assert (spend.epsilon, spend.delta, spend.state) == (Fraction("1.5"), Fraction(delta), "done")
    folder = result.save(tmp_path / "result")
    assert paper.load(folder).constructor == result.constructor and paper.verify(folder).passed
    with pytest.raises(BudgetError):
        paper.privatize(COUNTS, "1.5", 9, privatizer, constructor, **words)
    assert len(ledger.spends("deaths")) == 1


def test_what_fails_after_the_noise_stays_paid_and_what_fails_before_is_not_paid(ledger):
    words = {"ledger": str(ledger.path), "dataset": "deaths"}

    def fails(target, *, epsilon):
        assert len(ledger.spends("deaths")) == 1  # on disk before anything is measured
        raise RuntimeError("stage 2")

    for options in ({"n": 0}, {"split": 2}, {"seed": 1}):
        asked = {"epsilon": 1, "n": 9, "privatizer": CyclicLaplace(), "constructor": Optimal()}
        with suppress(HoldfastError):
            paper.privatize(COUNTS, **(asked | options), **words)
        assert ledger.spends("deaths") == []
    with pytest.raises(RuntimeError) as failed:
        paper.privatize(COUNTS, 1, 9, CyclicLaplace(), fails, **words)
    assert spent_by(failed.value) is Spent.YES
    assert [spend.state for spend in ledger.spends("deaths")] == ["abandoned"]
    assert ledger.balance("deaths").epsilon_left == 1


def test_the_methods_of_comparisons_are_released_by_name():
    for (name, method), seed in zip(paper.METHODS.items(), itertools.count()):
        result = method.privatize(COUNTS, epsilon=1, n=9, seed=seed)
        assert result.epsilon == 1 and len(result.counts) == 120
        assert (result.epsilon_1 == 0) == (method.privatizer is None) and method.name == name
