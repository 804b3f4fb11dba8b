"""What is promised and measured comes back from release.json."""

import json
import pickle
from fractions import Fraction

import pytest

from holdfast.measure.measurement import Measurement, Sums, Tally, Totals
from holdfast.privacy.budget import Budget
from holdfast.privacy.noise import Noise
from holdfast.privacy.promise import Promise
from holdfast.release.record import (
    plain,
    plain_promise,
    read_measurement,
    read_noise,
    read_promise,
)
from holdfast.request.checks import read_persons
from plain_measurements import plain as everything

NOISE = Noise(epsilon=Fraction(1, 3))
SUMS = Sums(edges=[0, 2, 5], values=[-7, 30], noise=NOISE)
TALLY = Tally(groups=3, group=[0, 0, 2], value=[-4, 10**12, 0], rows=[1, 2, 3])
WITH_WHOLE = Totals(values=[1, 2, 3], noise=NOISE, whole=6, whole_noise=Noise(epsilon=Fraction(1)))
MEASUREMENTS = {
    "groups": Measurement(
        noise=NOISE, tally=TALLY, whole=SUMS, sums=(SUMS, None, SUMS), totals=WITH_WHOLE
    ),
    "totals of groups alone": Measurement(
        noise=NOISE, tally=TALLY, totals=Totals(values=[5, -1, 2], noise=NOISE)
    ),
    "plain": Measurement(
        noise=Noise.least(Fraction(2), 5),
        tally=Tally(groups=1, group=[0], value=[3], rows=[8]),
    ),
}


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_a_measurement_comes_back_from_plain_values(name):
    measurement = MEASUREMENTS[name]
    said = json.loads(json.dumps(plain(measurement, "tally")))
    again = read_measurement(said, measurement.tally)
    for other in (again, pickle.loads(pickle.dumps(measurement))):
        assert everything(other) == everything(measurement)


@pytest.mark.parametrize("noise", [NOISE, Noise.least(Fraction(2), 7)])
def test_noise_comes_back_from_plain_values(noise):
    assert read_noise(json.loads(json.dumps(plain(noise)))) == noise


@pytest.mark.parametrize(
    "said", [{}, {"person_in": "one column", "unit": "firm"}, {"weights": ["1/3", 2]}], ids=str
)
def test_a_promise_comes_back_from_plain_values(said):
    persons = read_persons(["a", "b"], rows=2, contributions=[1, 5], **said)
    budgets = tuple(
        Budget.divided(
            part,
            totals=Fraction(1, 10),
            whole=Fraction(1, 3),
            sums=Fraction(1, 7),
            contributions=most,
            person_rows=2,
        )
        for part, most in zip(persons.parts(Fraction(1)), (1, 5), strict=True)
    )
    promise = Promise(epsilon=Fraction(1), persons=persons, budgets=budgets, simulated=True)
    assert read_promise(["a", "b"], json.loads(json.dumps(plain_promise(promise)))) == promise
