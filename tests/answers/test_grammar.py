"""Questions as they are typed, on the command line and in Python."""

import numpy as np
import pytest

from holdfast.answers.grammar import EXAMPLES, parse
from holdfast.errors import HoldfastError
from holdfast.request.questions import examples
from private_tables import private_table

COUNTS = np.random.default_rng(3).poisson(3, 600)
CELLS = {
    "county": ["A", "B", "C", "Kent, DE", *(f"c{row}" for row in range(4, 600))],
    "state": ["NE", "KS"] * 300,
}


@pytest.fixture(scope="module")
def release():
    return private_table(COUNTS, cells=CELLS, epsilon=1)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("share zero", {"equal": 0}),
        ("share of rows with at least 1,000", {"at_least": 1000}),
        ("share > 3", {"at_least": 4}),
        ("share below 6", {"at_most": 5}),
        ("share between 2 and 5", {"between": (2, 5)}),
        ("rows zero", {"equal": 0}),
        ("how many rows have 3 or more?", {"at_least": 3}),
        ("zeros", {"equal": 0}),
        ("how many zeros", {"equal": 0}),
        ("number of zeros", {"equal": 0}),
        ("share 20+", {"at_least": 20}),
        ("90th percentile", {"at": 0.9}),
        ("quantile 0.9", {"at": 0.9}),
        ("quantiles 0.1, 0.5 and 0.9", {"at": [0.1, 0.5, 0.9]}),
        ("percentile 90", {"at": 0.9}),
        ("mean by state", {"by": "state"}),
        ("the mean by state, county", {"by": ["state", "county"]}),
        (
            "mean where state == NE and x < 3 by state",
            {"where": "state == NE and x < 3", "by": "state"},
        ),
        ("share zero where state == NE", {"equal": 0, "where": "state == NE"}),
    ],
)
def test_options_of_typed_questions(text, options):
    assert parse(text).options == options


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("average", "mean"),
        ("sum", "total"),
        ("sd", "standard deviation"),
        ("highest", "maximum"),
        ("top 10 counties", "top 10"),
        ("mean of Wake", "mean Wake"),
        ("total of A, B", "sum of A, B"),
    ],
)
def test_the_same_question_in_other_words(text, same):
    assert parse(text) == parse(same)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("shre zero", "did you mean 'share zero'"),
        ("standart deviaton", "did you mean 'standard deviation'"),
        ("percentage zero", "did you mean 'share zero'"),
        ("what share of counties have 3 or more", "did you mean 'share 3 or more'"),
        ("histogram", "holdfast report"),
        ("nb", "nb deaths ~ log"),
        ("share below 0", "no count is below 0"),
        ("", "the question is empty"),
        ("corelation", "did you mean 'correlation of A and B'"),
        ("rate", "deaths per 100,000 of population"),
        ("blah", "ask for example"),
        ("top 10 percent", "ask for example top 10"),
        ("top 10 rates", "is not a question"),
        ("top 10 murders per 1000", "is not a question"),
    ],
)
def test_what_is_no_question_gets_the_right_hint(text, hint):
    with pytest.raises(HoldfastError, match=hint):
        parse(text)


@pytest.mark.parametrize("text", [*examples(), *EXAMPLES])
def test_every_example_can_be_put_to_a_release(release, text):
    assert str(release.ask(text))


def test_rows_are_named_by_labels_and_by_what_columns_hold(release):
    assert release.ask("mean NE").estimate == release.ask("mean", where="state == NE").estimate
    assert release.ask("total of A, Kent, DE, B").rows == 3
    assert release.ask('total of "Kent, DE", B').rows == 2
    named = release.ask("share zero of NE")
    assert named.question == "share of rows equal to 0 of NE (300 rows)"
    assert "where state == NE (300 rows)" in str(release.ask("mean where state == NE"))
    assert release.ask("top 3 of NE").rows == release.top(3, where="state == NE").rows
    for text, message in (
        ("mean ne", "did you mean 'NE'"),
        ("mean state", "a column published"),
        ("top 10 of state", "a column published"),
    ):
        with pytest.raises(HoldfastError, match=message):
            release.ask(text)


def test_a_column_of_counts_may_be_named_after_the_question(release):
    name = release.columns[0].name
    assert str(release.ask(f"average {name}")) == str(release.ask("mean", of=name))


def test_a_formula_is_a_regression(release):
    fit = release.ask("ols murders ~ state")
    assert fit.family == "gaussian" and set(fit.params.keys()) == {"Intercept", "state[NE]"}
    assert release.ask("murders ~ state where state in (NE, KS)").family == "poisson"


def test_what_does_not_go_together_is_said(release):
    with pytest.raises(HoldfastError, match="`where` does not go with"):
        release.ask("row A", where="state == NE")
    with pytest.raises(HoldfastError, match=r"does not go with .*changes of A"):
        release.ask("row A", against=release)
    with pytest.raises(HoldfastError, match="needs an earlier release"):
        release.ask("changes")


def test_two_columns_for_one_question_are_refused():
    both = private_table({"murders": COUNTS, "rapes": COUNTS}, cells=CELLS)
    with pytest.raises(HoldfastError, match="name two columns"):
        both.ask("mean murders", of="rapes")
    assert both.ask("top 3 of rapes").rows == both.top(3, of="rapes").rows
