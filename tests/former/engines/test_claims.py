"""What a release says of its stages is checked on the objects that ran, not claimed by them."""

from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest
from typer.testing import CliRunner

import holdfast.former as holdfast
from holdfast.errors import CertificateError
from holdfast.former.cli import app
from holdfast.former.constructors import Construction, Heuristic
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.mechanism.weights import TOTAL
from holdfast.former.privatizers import CumulativeIsotonic, CyclicLaplace, Privatizer
from holdfast.former.privatizers.private_quantile import PrivateQuantile

COUNTS = np.random.default_rng(0).poisson(3, 500)


def test_a_constructor_that_shows_another_mechanism_at_every_look_is_read_once():
    class Turning(Construction):
        looks = 0

        @property
        def mechanism(self):
            type(self).looks += 1
            if self.looks > 1:  # what comes after the check gives the counts as they are
                return Mechanism(weights=np.full((10, 10), TOTAL // 10), epsilon=1)
            return self.true

    def turning(target, *, epsilon):
        made = Heuristic()(target, epsilon=epsilon)
        turned = Turning(**{part.name: getattr(made, part.name) for part in fields(made)})
        object.__setattr__(turned, "true", made.mechanism)
        return turned

    release = holdfast.privatize(COUNTS, epsilon=1, max_count=9, constructor=turning)
    assert Turning.looks == 1
    assert release.mechanism.fixed_point is not None


def test_a_mechanism_for_other_counts_than_the_targets_is_refused():
    def short(target, *, epsilon):
        return Heuristic()([0.5, 0.5], epsilon=epsilon)

    with pytest.raises(CertificateError, match="a row for every count"):
        holdfast.privatize(COUNTS, epsilon=1, max_count=9, constructor=short)


class NoNoise(Privatizer):
    """Says that it is private, and adds nothing."""

    def __call__(self, histogram, *, epsilon, rng=None):
        return np.asarray(histogram) / np.sum(histogram)

    def certified_epsilon(self, epsilon):
        return Fraction(epsilon)


def test_a_stage_1_that_only_claims_to_be_private_is_not_called_checked(tmp_path):
    release = holdfast.privatize(COUNTS, epsilon=1, max_count=9, privatizer=NoNoise())
    folder = release.save(tmp_path / "release")
    assert "its author's claim" in (folder / "README.md").read_text()
    assert "0x" not in release.methods[0]
    verification = holdfast.verify(folder)
    assert verification.claimed and not verification.damage
    shown = CliRunner().invoke(app, ["verify", str(folder)])
    assert shown.exit_code == 4
    assert "its author's word" in shown.output and "Everything" not in shown.output


def test_a_constructor_that_makes_no_construction_costs_nothing(tmp_path):
    holdfast.Ledger(tmp_path / "ledger").set_limit("d", epsilon=1)
    ledger = {"ledger": tmp_path / "ledger", "dataset": "d"}
    with pytest.raises(CertificateError, match="must return a holdfast"):
        holdfast.privatize(
            COUNTS,
            epsilon=1,
            max_count=9,
            constructor=lambda z, epsilon: Heuristic()(z, epsilon=epsilon).mechanism,
            **ledger,
        )
    assert holdfast.Ledger(tmp_path / "ledger").balance("d").epsilon_spent == 0


def test_nothing_put_on_a_privatizer_runs_under_holdfasts_name():
    stage_1 = CyclicLaplace()
    ran = []
    object.__setattr__(stage_1, "measure", lambda histogram, *_: ran.append(1) or histogram)
    object.__setattr__(stage_1, "certified_epsilon", lambda epsilon: Fraction(0))
    quantile = PrivateQuantile("0.9", highest=9)
    object.__setattr__(quantile, "draw", ran.append)
    release = holdfast.privatize(COUNTS, epsilon=1, max_count=quantile, privatizer=stage_1)
    assert not ran and release.privacy.stage_1_certified > 0


def test_a_privatizer_with_the_name_of_ours_is_not_recorded_as_ours(tmp_path):
    class Lookalike(CumulativeIsotonic):
        def __repr__(self):
            return "CumulativeSmooth(projection='smooth')"

    Lookalike.__qualname__ = "CumulativeSmooth"
    release = holdfast.privatize(COUNTS, epsilon=1, max_count=9, privatizer=Lookalike())
    assert release.methods[0].startswith("not holdfast's: ")
    assert release.privacy.stage_1_certified_by == "claimed by CumulativeSmooth, not checked"
    assert holdfast.verify(release.save(tmp_path / "a")).passed


def test_a_stage_1_that_is_certified_for_too_much_costs_nothing(tmp_path):
    class Greedy(Privatizer):
        def __call__(self, histogram, *, epsilon, rng=None):
            raise AssertionError("nothing is drawn")

        def certified_epsilon(self, epsilon):
            return 2 * Fraction(epsilon)

    holdfast.Ledger(tmp_path / "ledger").set_limit("d", epsilon=1)
    ledger = {"ledger": tmp_path / "ledger", "dataset": "d"}
    with pytest.raises(CertificateError, match="more epsilon than it is given"):
        holdfast.privatize(COUNTS, epsilon=1, max_count=9, privatizer=Greedy(), **ledger)
    assert holdfast.Ledger(tmp_path / "ledger").balance("d").epsilon_spent == 0
