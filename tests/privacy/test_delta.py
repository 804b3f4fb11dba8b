"""Delta: summed exactly, enlarged upwards, and said wherever epsilon is said."""

import itertools
import json
import math
import sys
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast
from bundles import forge
from holdfast.errors import HoldfastError
from holdfast.former.cli.screen import promise, screen
from holdfast.former.constructors import Constructor, Heuristic
from holdfast.former.privatizers import CumulativeIsotonic
from holdfast.former.release.promise import Privacy
from holdfast.privacy.budget import split_budget
from holdfast.privacy.delta import group_delta, rounded_up, total_delta
from holdfast.privacy.rational import exp_above, exp_below

COUNTS = np.random.default_rng(0).poisson(3, 300)


class Declares(CumulativeIsotonic):
    """A privatizer that declares a delta."""

    delta = Fraction(1, 10**6)


@given(st.fractions(min_value=0, max_value=30, max_denominator=10**9))
def test_e_to_the_x_lies_between_its_bounds(x):
    below, above = exp_below(x), exp_above(x)
    assert below <= above <= below * (1 + Fraction(1, 2**200))
    assert float(above) == pytest.approx(math.exp(x), rel=1e-12)


def test_e_is_below_its_upper_bound_to_sixty_digits():
    digits = "2.718281828459045235360287471352662497757247093699959574966967"
    assert Fraction(digits) < exp_above(Fraction(1)) < Fraction(digits) + Fraction(2, 10**60)


@given(
    st.fractions(min_value="1e-12", max_value="1e-3"),
    st.fractions(min_value="0.01", max_value=2, max_denominator=1000),
    st.integers(1, 12),
)
def test_group_privacy_enlarges_delta_and_never_rounds_down(delta, epsilon, steps):
    enlarged = group_delta(delta, epsilon, steps)
    least = delta * sum(exp_below(i * epsilon) for i in range(steps))
    assert least * (1 - Fraction(1, 2**190)) <= enlarged <= least * (1 + Fraction(2, 10**11))
    assert enlarged >= steps * delta


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 7), Fraction(13, 10)])
def test_e_is_bounded_from_the_safe_side(epsilon, monkeypatch):
    monkeypatch.setattr("holdfast.privacy.delta.DIGITS", 120)
    sharper = sum(exp_below(i * epsilon, bits=600) for i in range(5)) / 10**6
    assert group_delta(Fraction(1, 10**6), epsilon, 5) >= sharper


def test_one_step_leaves_delta_as_it_is():
    delta = Fraction(123456789123456789, 10**30)
    assert group_delta(delta, Fraction(1), 1) == delta
    assert group_delta(Fraction(0), Fraction(1), 50) == 0


def test_both_stages_count_each_with_its_own_epsilon():
    budget = split_budget(1, max_count=9, rows=1000, split="1/4", contributions=3)
    first, second = Fraction(1, 10**6), Fraction(1, 10**7)
    total = total_delta(budget, first, second)
    expected = 1e-6 * sum(math.exp(i / 12) for i in range(3))
    expected += 1e-7 * sum(math.exp(i / 4) for i in range(3))
    assert float(total) == pytest.approx(expected, rel=1e-10)
    assert total_delta(split_budget(1, max_count=9, rows=1000), first, second) == Fraction(
        11, 10**7
    )


def test_nothing_declared_is_pure_epsilon():
    assert CumulativeIsotonic().delta == Heuristic().promised_delta == 0
    budget = split_budget(1, max_count=9, rows=1000, contributions=5)
    assert total_delta(budget, Fraction(0), Fraction(0)) == 0


@pytest.mark.parametrize("delta", [-1, 1, 2, float("nan"), "x", None, True])
def test_a_bad_delta_of_a_privatizer_is_refused(delta):
    class Declares(CumulativeIsotonic):
        pass

    Declares.delta = delta
    with pytest.raises(HoldfastError, match="`delta`"):
        holdfast.privatize(COUNTS, epsilon=1, max_count=9, privatizer=Declares(), seed=1)


@pytest.mark.parametrize("number", [Fraction(1, 3), Fraction(2, 10**400), Fraction(10**20 + 1, 7)])
def test_what_is_shown_is_never_below_the_truth(number):
    shown = Fraction(rounded_up(number, 3))
    assert number <= shown <= number * Fraction(102, 100)
    assert len(Decimal(rounded_up(number, 3)).as_tuple().digits) <= 3


def test_a_total_of_one_or_more_is_refused_before_anything_is_drawn():
    class Hopeless(CumulativeIsotonic):
        delta = "0.4"

        def __call__(self, *args, **options):
            pytest.fail("was drawn")

    with pytest.raises(HoldfastError, match=r"total `delta`.*fewer contributions"):
        holdfast.privatize(
            COUNTS, epsilon=1, max_count=9, contributions=3, privatizer=Hopeless(), seed=1
        )


@pytest.mark.parametrize("contributions", [1, 4])
def test_a_release_with_delta_says_so_everywhere(tmp_path, contributions):
    release = holdfast.privatize(
        COUNTS,
        epsilon=1,
        max_count=9,
        contributions=contributions,
        privatizer=Declares(),
        seed=1,
    )
    privacy = release.privacy
    assert privacy.delta == group_delta(
        Fraction(1, 10**6), privacy.budget.unit_1, privacy.budget.steps
    )
    assert (privacy.delta > Fraction(4, 10**6)) == (contributions == 4)
    shown = f"delta = {rounded_up(privacy.delta, 3)}"
    assert shown in repr(release) and shown in privacy.promise
    with screen.capture() as captured:
        screen.print(promise(release))
    assert shown in " ".join(captured.get().split())

    folder = release.save(tmp_path / "release")
    text = (folder / "README.md").read_text()
    assert text.count(shown) == 2 and "not pure epsilon" in text
    assert shown in (folder / "distribution.svg").read_text()
    record = json.loads((folder / "release.json").read_text())["privacy"]
    assert Fraction(record["delta"]) == privacy.delta and shown in record["promise"]
    assert holdfast.load(folder).privacy == privacy


def test_a_release_without_delta_does_not_mention_it(tmp_path):
    release = holdfast.privatize(COUNTS, epsilon=1, max_count=9, seed=1)
    assert release.privacy.delta == 0
    folder = release.save(tmp_path / "release")
    assert "delta" not in repr(release) + (folder / "README.md").read_text()


def privacy(**changes):
    budget = split_budget(1, max_count=9, rows=1000, quantile=Fraction(1, 10))
    parts = {"stage_1_certified": budget.stage_1, "stage_2_certified": budget.stage_2}
    given = {"budget": budget, "quantile_certified": Fraction(1, 10), "simulated": False}
    return Privacy(**(given | parts | changes))


def test_quantile_and_delta_survive_the_record():
    whole = privacy(delta=Fraction(1, 3**40))
    assert whole.certified_epsilon == whole.epsilon == 1
    assert Privacy.from_dict(json.loads(json.dumps(whole.to_dict()))) == whole


@pytest.mark.parametrize(
    "changes",
    [{"quantile_certified": Fraction(1, 5)}, {"delta": Fraction(1)}, {"delta": Fraction(-1, 9)}],
    ids=str,
)
def test_what_promises_more_than_it_has_is_refused(changes):
    with pytest.raises(HoldfastError):
        privacy(**changes)


@pytest.mark.parametrize(
    "split, contributions, quantile",
    list(
        itertools.product(["paper", "1/3", "0.07"], [1, 2, 7], [0, Fraction(1, 20), Fraction(1, 3)])
    ),
)
def test_the_three_parts_add_up_exactly(split, contributions, quantile):
    budget = split_budget(
        "0.7", max_count=60, rows=1000, split=split, contributions=contributions, quantile=quantile
    )
    assert budget.quantile == quantile
    assert budget.quantile + budget.stage_1 + budget.stage_2 == Fraction(7, 10)
    with pytest.raises(HoldfastError, match="add up"):
        type(budget)(**{**vars(budget), "quantile": budget.quantile + Fraction(1, 10**30)})


@dataclass(frozen=True)
class Declaring(Constructor):
    delta: Fraction
    promised: Fraction

    @property
    def promised_delta(self):
        return self.promised

    def __call__(self, target, *, epsilon):
        return replace(Heuristic()(target, epsilon=epsilon), delta=self.delta)


def test_what_the_mechanism_declares_is_added():
    release = holdfast.privatize(
        COUNTS,
        epsilon=1,
        max_count=9,
        privatizer=Declares(),
        constructor=Declaring(Fraction(1, 10**7), Fraction(1, 10**6)),
        seed=1,
    )
    assert release.privacy.delta == Fraction(11, 10**7)


def test_a_mechanism_whose_delta_is_too_much_is_not_drawn_from(monkeypatch):
    path = sys.modules["holdfast.former.engines.steps"]
    monkeypatch.setattr(path, "RowSampler", lambda *args: pytest.fail("was drawn"))
    much = Declaring(Fraction(4, 10), Fraction(4, 10))
    with pytest.raises(HoldfastError, match="total `delta`"):
        holdfast.privatize(
            COUNTS, epsilon=1, max_count=9, contributions=3, constructor=much, seed=1
        )


@pytest.mark.parametrize("promised", [0, Fraction(1, 10**8)])
def test_a_mechanism_with_more_delta_than_its_constructor_declared_is_not_drawn_from(
    promised, monkeypatch
):
    path = sys.modules["holdfast.former.engines.steps"]
    monkeypatch.setattr(path, "RowSampler", lambda *args: pytest.fail("was drawn"))
    sly = Declaring(Fraction(1, 10**7), Fraction(promised))
    for constructor in (sly, lambda target, epsilon: sly(target, epsilon=epsilon)):
        with pytest.raises(HoldfastError, match="did not declare, and the release is withheld"):
            holdfast.privatize(COUNTS, epsilon=1, max_count=9, constructor=constructor, seed=1)


def test_a_bundle_whose_mechanism_declares_more_than_the_record_does_not_load(tmp_path):
    optimal = holdfast.constructors.Optimal(delta="1e-6")
    release = holdfast.privatize(COUNTS, epsilon=1, max_count=9, seed=1, constructor=optimal)
    folder = release.save(tmp_path / "release")
    forge(folder, privacy={"delta": "0", "promise": "epsilon = 1"})
    with pytest.raises(HoldfastError, match="delta is less than what the certificate's"):
        holdfast.load(folder)


def test_a_promise_in_words_is_never_below_the_promise(tmp_path):
    release = holdfast.privatize([0, 1, 2] * 50, epsilon="1/3", max_count=3, seed=1)
    assert release.privacy.promise == "epsilon = 0.333334"
    assert holdfast.verify(release.save(tmp_path / "release")).passed
