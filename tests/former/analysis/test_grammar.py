"""The small language of `holdfast ask`."""

import pytest

from analysis_releases import named
from holdfast.former import HoldfastError
from holdfast.former.analysis.grammar import EXAMPLES, parse


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("share zero", {"equal": 0}),
        ("share of zeros", {"equal": 0}),
        ("zeros", {"equal": 0}),
        ("above 2", {"at_least": 3}),
        ("Share  3", {"equal": 3}),
        ("share = 3", {"equal": 3}),
        ("share exactly 3", {"equal": 3}),
        ("share at least 3", {"at_least": 3}),
        ("share of rows with 3 or more", {"at_least": 3}),
        ("share >=3", {"at_least": 3}),
        ("share above 2", {"at_least": 3}),
        ("share more than 2?", {"at_least": 3}),
        ("share > 2", {"at_least": 3}),
        ("share at most 5", {"at_most": 5}),
        ("share 5 or less", {"at_most": 5}),
        ("share below 6", {"at_most": 5}),
        ("share < 6", {"at_most": 5}),
        ("share between 2 and 5", {"between": (2, 5)}),
        ("share≥3", {"at_least": 3}),
        ("share ≤ 5", {"at_most": 5}),
    ],
)
def test_shares(text, options):
    question = parse(text)
    assert question.method == "ask" and question.arguments == ("share",)
    assert question.options == options


@pytest.mark.parametrize(
    ("text", "method", "arguments", "options"),
    [
        ("mean", "ask", ("mean",), {}),
        ("What is the average?", "ask", ("mean",), {}),
        ("sum", "ask", ("total",), {}),
        ("quantile 0.9", "ask", ("quantile",), {"at": 0.9}),
        ("quantile 25%", "ask", ("quantile",), {"at": 0.25}),
        ("released 7", "posterior", (7,), {}),
        ("top 10", "top", (10,), {}),
        ("compare St. Louis, MO with Kent", "compare", ("St. Louis, MO", "Kent"), {}),
        ("total of Kent, Ely", "total_of", (["Kent", "Ely"],), {}),
    ],
)
def test_other_questions(text, method, arguments, options):
    question = parse(text)
    assert (question.method, question.arguments, question.options) == (method, arguments, options)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("shre zero", "did you mean 'share zero'"),
        ("share at lest 3", "did you mean 'share at least 3'"),
        ("meen", "did you mean 'mean'"),
        ("share betwen 2 and 5", "did you mean 'share between 2 and 5'"),
        ("quantile", "quantile 0.9"),
        ("share", "share zero; share at least 3"),
        ("how are you", "ask for example share zero"),
        ("", "ask for example"),
        ("share -1", "not a question"),
        ("share 1e99", "not a question"),
        ("drop table", "not a question"),
    ],
)
def test_what_is_no_question_gets_a_suggestion(text, words):
    with pytest.raises(HoldfastError, match=words):
        parse(text)


def test_every_example_can_be_put_to_a_release():
    release = named(epsilon=5)
    for example in EXAMPLES:
        text = example.replace("A", "place 0").replace("B", "place 1").replace("C", "place 2")
        answer = parse(text.replace("10", "3").replace("released 7", "released 0")).put_to(release)
        assert answer is not None


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("percent zero", "share zero"),
        ("how many rows have 3 or more", "share 3 or more"),
        ("proportion of rows with at least 3", "share at least 3"),
        ("percentile 90", "quantile 90%"),
        ("p90", "quantile 90%"),
        ("standard deviation", "variance"),
        ("maximum", "top 1"),
        ("top 3 rows", "top 3"),
        ("share at least 3 and at most 5", "share between 3 and 5"),
    ],
)
def test_a_question_in_other_words_is_told_in_ours(text, meant):
    with pytest.raises(HoldfastError, match=f"did you mean '{meant}'"):
        parse(text)
    parse(meant)


def test_what_is_no_question_is_answered_with_what_is():
    with pytest.raises(HoldfastError, match=r"the question is empty\. Hint: ask for example"):
        parse("  ")
    with pytest.raises(HoldfastError, match="`holdfast report` shows the whole distribution"):
        parse("histogram")
    with pytest.raises(HoldfastError, match="x…' is not a question"):
        parse("x" * 500)
    assert parse("compare Kent vs Ely").arguments == ("Kent", "Ely")
