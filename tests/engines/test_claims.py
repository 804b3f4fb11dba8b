"""What a release says of its stages is checked on the objects that ran, not claimed by them."""

from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest

import holdfast
from holdfast.constructors import Construction, Heuristic
from holdfast.errors import CertificateError
from holdfast.mechanism.mechanism import Mechanism
from holdfast.mechanism.weights import TOTAL
from holdfast.privatizers import CumulativeIsotonic, CyclicLaplace
from holdfast.privatizers.private_quantile import PrivateQuantile

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
