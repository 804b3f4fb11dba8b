"""Questions about two counts of the same rows."""

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former.analysis.pairs.joint_law import Pairs, channel_of
from holdfast.former.analysis.pairs.moments import Deviations, Moments, Powers, powers_of
from holdfast.former.analysis.pairs.questions import LINES, QUESTIONS

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
    slope, intercept = np.polyfit(FRAME.murder, FRAME.theft, 1)
    correlation = np.corrcoef(FRAME.murder, FRAME.theft)[0, 1]
    truth = {"correlation": correlation, "slope": slope, "intercept": intercept}
    truth["both zero"] = float(((FRAME.murder == 0) & (FRAME.theft == 0)).mean())
    answer = release.ask(question, OF, level=0.99)
    assert answer.interval[0] <= truth[question] <= answer.interval[1]
    wide = {"both zero": 0.4, "correlation": 0.3, "slope": 0.5, "intercept": 0.8}
    assert answer.interval[1] - answer.interval[0] < wide[question]


def test_the_noise_is_taken_out_of_the_relation():
    apart = holdfast.privatize(
        FRAME, count=list(OF), category="county", epsilon=1, max_count=[7, 9], seed=4
    )
    truth = np.corrcoef(FRAME.murder, FRAME.theft)[0, 1]
    shown = np.corrcoef(apart["murder"].counts, apart["theft"].counts)[0, 1]
    found = apart.ask("correlation", OF).estimate
    assert abs(found - truth) < abs(shown - truth) / 2


def test_released_counts_have_powers_whose_means_are_those_of_the_true_counts():
    one = holdfast.privatize(
        FRAME, count="theft", category="county", epsilon=3, max_count=9, seed=4
    )
    channel = channel_of(one)
    powers, likely = powers_of(one, channel), np.flatnonzero(one.target > 0.02)
    for power, values in ((1, powers.count), (2, powers.square)):
        means = channel.likelihood @ values
        np.testing.assert_allclose(means[likely], likely**power, atol=0.4 * power**2)


@pytest.mark.parametrize("question", LINES)
def test_what_a_pair_adds_is_the_derivative_of_the_answer(question):
    law, asked = law_of(FRAME), LINES[question]
    other = np.random.default_rng(1).random(law.shape)
    other /= other.sum()
    step, m = 1e-6, of_law(law)
    numeric = (asked.of(of_law((1 - step) * law + step * other)) - asked.of(m)) / step
    a, b = np.arange(8.0)[:, None], np.arange(10.0)[None, :]
    exact = Powers(count=a, square=a**2), Powers(count=b, square=b**2)
    adds = asked.contribution(Deviations.of_powers(*exact, m), m)
    assert numeric == pytest.approx((adds * (other - law)).sum(), rel=1e-3)


def test_the_error_is_that_of_the_draws_alone():
    sure, unsure = (
        holdfast.privatize(
            FRAME, count=list(OF), category="county", epsilon=e, max_count=[7, 9], seed=1
        )
        for e in (10, 2)
    )
    errors = [one.ask("correlation", OF).standard_error for one in (sure, unsure)]
    assert errors[0] < 0.4 * errors[1]


def of_law(law):
    a, b = np.arange(8.0), np.arange(10.0)
    one, other = law.sum(axis=1), law.sum(axis=0)
    means = one @ a, other @ b
    squares = one @ a**2 - means[0] ** 2, other @ b**2 - means[1] ** 2
    return Moments(
        mean=means[0],
        other_mean=means[1],
        variance=squares[0],
        other_variance=squares[1],
        covariance=a @ law @ b - means[0] * means[1],
    )


def test_every_step_of_the_climb_makes_the_released_pairs_likelier(release):
    pairs = Pairs.of(*(channel_of(one) for one in release.values()))

    def likelihood(law):
        expected = pairs.one.likelihood.T @ law @ pairs.other.likelihood
        return float(pairs.rows @ np.log(expected[pairs.first, pairs.second]))

    laws = [pairs.start]
    for _ in range(5):
        laws.append(pairs.fit(laws[-1], steps=1))
    found = [likelihood(law) for law in laws]
    assert all(np.diff(found) > 0)
    assert laws[-1].sum() == pytest.approx(1)


def test_the_line_of_one_on_the_other_is_not_that_of_the_other_on_the_one(release):
    one, other = release.ask("slope", OF), release.ask("slope", OF[::-1])
    rho = release.ask("correlation", OF).estimate
    assert one.estimate * other.estimate == pytest.approx(rho**2)
    assert release.ask("correlation", OF[::-1]).estimate == pytest.approx(rho)
    turned = release.ask("both zero", OF[::-1])
    assert turned.estimate == pytest.approx(release.ask("both zero", OF).estimate)


def test_groups_are_answered_each_and_small_ones_left_out(release):
    state = ["NE" if k % 3 == 0 else "CA" for k in range(ROWS)]
    state[:5] = ["TX"] * 5
    answers = release.ask("correlation", OF, by=state)
    assert set(answers) == {"NE", "CA"}
    assert any("1 group of fewer than 20 rows left out" in note for note in answers.notes)
    alone = release.ask("correlation", OF, where="state == 'CA'", level=0.99)
    truth = np.corrcoef(*FRAME[FRAME.state == "CA"][list(OF)].to_numpy().T)[0, 1]
    assert alone.interval[0] < truth < alone.interval[1]
    assert answers["NE"].standard_error > 0.8 * answers["CA"].standard_error


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
