"""A question is declared once, and then asked wherever questions are."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import holdfast
from command_line import run
from holdfast.answers.grammar import parse
from holdfast.answers.report import written
from holdfast.errors import HoldfastError
from holdfast.fit import functionals
from holdfast.plan.questions import read_target
from holdfast.release.common import common_answers
from holdfast.request.questions import (
    COUNTS,
    LEVEL,
    QUESTIONS,
    CommonLine,
    Question,
    Unit,
    examples,
    find_question,
)
from page_visitor import visit, words_of

DOCS = Path(__file__).parents[2] / "docs"


def doubled(values, rows):
    """What is asked: twice the mean."""
    return 2 * functionals.mean(values, rows)


@pytest.fixture
def declared(monkeypatch):
    """A function among the functionals and an entry in the table: all that a question needs."""
    monkeypatch.setattr(functionals, "doubled", doubled, raising=False)
    question = Question(
        name="doubled mean",
        words="twice the mean count",
        estimator="doubled",
        spellings=("twice",),
        common=(CommonLine("doubled mean"),),
    )
    monkeypatch.setitem(QUESTIONS, question.name, question)


@pytest.fixture
def folder(tmp_path):
    lines = [f"p{row},{'N' if row % 3 else 'S'},{row * 7 % 11}" for row in range(120)]
    (tmp_path / "in.csv").write_text("\n".join(["place,state,n", *lines]) + "\n")
    holdfast.privatize(
        tmp_path / "in.csv", count="n", category="place", within="state", epsilon=1,
        out=tmp_path / "out",
    )  # fmt: skip
    return tmp_path / "out"


def test_it_is_asked_in_python_and_stands_in_the_files_of_a_release(declared, folder):
    release = holdfast.load(folder)
    answer = release.ask("doubled mean")
    assert answer.estimate == pytest.approx(2 * release.counts.mean())
    assert str(release.ask("Twice")) == str(answer) != str(release.ask("mean"))
    assert answer.question == "twice the mean count"
    for typed in ("twice by state", "doubled mean where state == N", "doubled mean of p3"):
        assert "twice the mean count" in str(release.ask(typed))
    with (folder / "answers.csv").open(encoding="utf-8-sig") as file:
        lines = [line for line in csv.DictReader(file) if line["question"] == "doubled mean"]
    assert [line["group"] for line in lines] == ["all rows", "N", "S"]
    assert float(lines[0]["answer"]) == pytest.approx(answer.estimate, abs=0.01)
    assert holdfast.verify(folder)
    said = json.loads(written(release, "json"))["columns"][0]["answers"]
    assert "doubled mean" in [each["question"] for each in said]
    assert read_target("twice within 0.5, 9 in 10").asked.question.name == "doubled mean"


def test_it_is_asked_on_the_command_line_and_its_help_names_it(
    declared, folder, capsys, monkeypatch
):
    code, printed, _ = run(capsys, monkeypatch, "ask", folder, "doubled mean")
    assert (code, printed.strip()) == (0, str(holdfast.load(folder).ask("doubled mean")))
    shown = " ".join(run(capsys, monkeypatch, "ask", "--help")[1].split())
    assert f"· {' · '.join(examples()[-2:])} · top 10" in shown and "doubled mean" in shown
    assert (
        "did you mean 'doubled mean'" in run(capsys, monkeypatch, "ask", folder, "doubld mean")[2]
    )


def test_it_is_asked_on_the_page_whose_form_names_it(declared, folder, tmp_path, monkeypatch):
    (tmp_path / "private").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "private"))
    with visit(folder.parent) as visitor:
        address = visitor.post("/releases", {"path": "out"}).url.path
        form = visitor.get(f"{address}/ask").text
        assert '<option value="doubled mean">' in form and "doubled mean, top 10" in words_of(form)
        page = words_of(visitor.get(f"{address}/ask?question=doubled+mean").text)
        assert str(holdfast.load(folder).ask("doubled mean")).splitlines()[0] in page
        assert "doubled mean" in words_of(visitor.get(address).text)


def test_without_its_declaration_nobody_knows_it(folder, capsys, monkeypatch):
    with pytest.raises(HoldfastError, match="is not a question that holdfast knows"):
        holdfast.load(folder).ask("doubled mean")
    assert "doubled" not in run(capsys, monkeypatch, "ask", "--help")[1]


@pytest.mark.parametrize(
    ("takes", "typed", "options", "words"),
    [
        (COUNTS, "amount at least 3", {"at_least": 3}, "amount with 3 or more"),
        (COUNTS, "total in between 2 and 5", {"between": (2, 5)}, "amount from 2 to 5"),
        (LEVEL, "amount 0.9", {"at": 0.9}, "amount 0.9"),
        (LEVEL, "amount 10%", {"at": 0.1}, "amount 0.1"),
    ],
)
def test_what_it_takes_is_read_as_for_others(monkeypatch, takes, typed, options, words):
    question = Question(
        name="amount", words="amount {}", estimator="total", takes=takes, begins=("total in",)
    )
    monkeypatch.setitem(QUESTIONS, "amount", question)
    call = parse(typed)
    assert (call.arguments, call.options) == (("amount",), options)
    assert find_question("amount", options).words == words


def test_every_line_of_answers_csv_can_be_typed(folder):
    release = holdfast.load(folder)
    lines = [line for line in common_answers(release) if line.group == "all rows"]
    assert len(lines) > 12
    for line in lines:
        answer = release.ask(line.question)
        assert (answer.estimate, *answer.interval) == (line.answer, line.low, line.high)
        assert answer.unit is line.unit


def test_every_question_is_where_people_look_for_it():
    page = " ".join((DOCS / "answers.md").read_text(encoding="utf-8").split())
    for typed in examples():
        assert f"`{typed}`" in page, typed
    for name, question in QUESTIONS.items():
        assert name in holdfast.Release.ask.__doc__
        assert np.isfinite(question.asked(dict.fromkeys(question.takes[:1], 1)).functional(
            np.array([0, 1, 7]), np.array([[2.0, 1.0, 1.0]])
        )).all()  # fmt: skip
        assert Unit(question.unit)
