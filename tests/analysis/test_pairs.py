"""Questions about two counts of the same rows."""

import numpy as np
import pandas as pd
import pytest

import holdfast
from holdfast.analysis.pairs.joint_law import Pairs, channel_of
from holdfast.analysis.pairs.questions import QUESTIONS
from holdfast.errors import HoldfastError

ROWS = 600
CHANCE = np.random.default_rng(2)
MURDER = np.minimum(CHANCE.poisson(CHANCE.gamma(1, 1.5, ROWS)), 7)
FRAME = pd.DataFrame(
    {
        "county": [f"c{k}" for k in range(ROWS)],
        "state": np.where(np.arange(ROWS) % 3 == 0, "NE", "CA"),
        "murder": MURDER,
        "theft": np.minimum(CHANCE.binomial(2 * MURDER, 0.5), 9),
    }
)
OF = ("murder", "theft")


def law_of(frame):
    law = np.zeros((8, 10))
    np.add.at(law, (frame.murder, frame.theft), 1 / len(frame))
    return law


@pytest.fixture(scope="module", params=[False, True])
def release(request):
    return holdfast.privatize(
        FRAME, count=list(OF), joint=request.param, category="county", keep=["state"], epsilon=3,
        max_count=[7, 9], seed=4,
    )  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_about_pairs_are_those_of_the_true_pairs(release, question):
    truth = QUESTIONS[question].of(law_of(FRAME))
    answer = release.ask(question, OF, level=0.99)
    assert answer.interval[0] <= truth <= answer.interval[1]
    wide = {"both zero": 0.4, "correlation": 0.3, "slope": 0.5, "intercept": 0.8}
    assert answer.interval[1] - answer.interval[0] < wide[question]


def test_the_noise_is_taken_out_of_the_relation():
    apart = holdfast.privatize(
        FRAME, count=list(OF), category="county", epsilon=1, max_count=[7, 9], seed=4
    )
    truth = np.corrcoef(FRAME.murder, FRAME.theft)[0, 1]
    shown = np.corrcoef(apart["murder"].counts, apart["theft"].counts)[0, 1]
    found = apart.ask("correlation", OF).estimate
    assert abs(found - truth) < abs(shown - truth) / 3


@pytest.mark.parametrize("question", QUESTIONS)
def test_how_an_answer_changes_with_the_law_is_its_derivative(question):
    law, asked = law_of(FRAME), QUESTIONS[question]
    other = np.random.default_rng(1).random(law.shape)
    other /= other.sum()
    step = 1e-6
    numeric = (asked.of((1 - step) * law + step * other) - asked.of(law)) / step
    assert numeric == pytest.approx((asked.slope(law) * (other - law)).sum(), rel=1e-3)


def test_every_step_of_the_climb_makes_the_released_pairs_likelier(release):
    pairs = Pairs.of(*(channel_of(one) for one in release.values()))

    def likelihood(law):
        rows, columns = pairs.weights.nonzero()
        expected = (pairs.one.likelihood.T @ law @ pairs.other.likelihood)[rows, columns]
        return float(pairs.weights[rows, columns] @ np.log(expected))

    laws = [pairs.start]
    for _ in range(5):
        laws.append(pairs.fit(laws[-1], steps=1))
    found = [likelihood(law) for law in laws]
    assert all(np.diff(found) > 0)
    assert laws[-1].sum() == pytest.approx(1)


def test_the_line_of_one_on_the_other_is_not_that_of_the_other_on_the_one(release):
    one, other = release.ask("slope", OF), release.ask("slope", OF[::-1])
    rho = release.ask("correlation", OF).estimate
    assert one.estimate * other.estimate == pytest.approx(rho**2, rel=0.02)
    assert release.ask("correlation", OF[::-1]).estimate == pytest.approx(rho, rel=1e-6)


def test_groups_are_answered_each_and_small_ones_left_out(release):
    state = ["NE" if k % 3 == 0 else "CA" for k in range(ROWS)]
    state[:5] = ["TX"] * 5
    answers = release.ask("correlation", OF, by=state)
    assert set(answers) == {"NE", "CA"}
    assert any("1 group of fewer than 20 rows left out" in note for note in answers.notes)
    alone = release.ask("correlation", OF, where="state == 'NE'")
    truth = np.corrcoef(*FRAME[FRAME.state == "NE"][list(OF)].to_numpy().T)[0, 1]
    assert alone.interval[0] - 0.05 < truth < alone.interval[1] + 0.05


def test_one_column_of_several_is_asked_as_any_other(release):
    assert release.ask("mean", "theft").estimate == release["theft"].ask("mean").estimate


WRONG = [
    (("median", OF), "one of both zero, correlation"),
    (("slope", ("murder", "murder")), "must name two columns"),
    (("slope", ("murder", "rape")), "no column of counts 'rape'"),
]


@pytest.mark.parametrize(("asked", "words"), WRONG)
def test_what_cannot_be_asked_of_pairs_is_refused(release, asked, words):
    with pytest.raises(HoldfastError, match=words):
        release.ask(*asked)
