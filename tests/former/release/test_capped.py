"""A max_count that is too low does not look like accuracy: from z alone it is said."""

from functools import cache

import numpy as np
import pytest

import holdfast.former as holdfast
from command_line import table
from holdfast.former.constructors import Heuristic

COUNTS = np.random.default_rng(5).permutation(np.append(np.arange(2000) % 5, [40] * 900))


@cache
def released(max_count):
    return holdfast.privatize(
        COUNTS, max_count=max_count, epsilon=2, constructor=Heuristic(), seed=1
    )


def said(release):
    return [note for note in release.notes if "which stands for" in note]


def test_from_two_per_cent_on_a_note_says_how_many_rows_are_at_the_top():
    (note,) = said(released(9))
    share = released(9).target[-1]
    assert f"about {round(share * 2900)} rows ({share:.0%}) have a count of 9" in note
    assert "9 or more" in note and "capped" in note
    assert not said(released(45))


def test_where_most_rows_are_at_the_top_that_comes_first_and_says_what_to_do():
    first, *others = released(1).notes
    assert first.startswith("most rows are at or above max_count: about")
    assert first.endswith("choose a higher max_count next time")
    assert not said(released(9))[0].startswith("most rows") and "most rows" not in str(others)


@pytest.mark.parametrize("stream", [(), ("--stream",)], ids=["whole", "streamed"])
def test_the_command_line_warns_where_most_rows_are_at_the_top(cli, stream):
    lines = [f"p{i},{n},{n % 2}" for i, n in enumerate(COUNTS.tolist())]
    name = table("place,n,m\n" + "\n".join(lines) + "\n")
    usual = ("privatize", name, "--category", "place", "--keep-none", "--epsilon", "4", *stream)
    _, _, err = cli(*usual, "--count", "n", "--max-count", "1", "--out", "a")
    err = " ".join(err.split())
    assert err.startswith("WARNING: most rows are at or above max_count: about")
    assert err.count("most rows") == 1 and "next time; this budget is spent." in err
    _, _, err = cli(*usual, "--count", "n", "--max-count", "9", "--out", "b")
    assert "WARNING" not in err and "larger max_count" in " ".join(err.split())
    tops = ("--max-count", "n=1", "--max-count", "m=3", "--out", "c")
    _, _, err = cli(*usual, "--count", "n", "--count", "m", *tops)
    assert err.startswith("WARNING: column n: most rows") and err.count("WARNING") == 1
    _, _, err = cli(*usual, "--count", "n", "--max-count", "1", "--out", "d", "--seed", "1")
    assert err.startswith("WARNING: most rows") and "is spent" not in err


def test_the_bundle_speaks_of_capped_counts(tmp_path):
    text = " ".join((released(9).save(tmp_path / "a") / "README.md").read_text().split())
    assert "on average from the true one capped at 9" in text and "have 9 or more" in text
    assert "their order is published as well" in text
    assert "their order" in released(9).privacy.neighbours
    assert holdfast.verify(tmp_path / "a").passed


@pytest.mark.parametrize("question", ["mean", "total"])
def test_answers_about_capped_counts_are_named_so(question):
    named = released(9).ask(question).question
    assert named == f"{question} of counts capped at 9, a lower bound"
    assert "capped" not in released(45).ask(question).question


def test_other_answers_about_capped_counts_are_named_so():
    release = released(9)
    assert release.ask("variance").question == "variance of counts capped at 9"
    assert release.ask("gini").question == "Gini coefficient of counts capped at 9"
    assert "capped" not in release.ask("share", equal=0).question
