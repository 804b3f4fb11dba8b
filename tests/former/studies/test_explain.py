"""`holdfast explain`: odds that are exact, and deployments that have a source."""

import json
import math
from pathlib import Path

import pytest

from command_line import run
from holdfast.errors import HoldfastError
from holdfast.former.studies.explain import deployments, explain


@pytest.mark.parametrize("epsilon", [0.1, 1, 5, 20])
@pytest.mark.parametrize("before", [0.001, 0.3, 0.5, 0.99])
def test_odds_grow_by_e_to_the_epsilon(epsilon, before):
    after = explain(epsilon).suspicion(before)
    assert after / (1 - after) == pytest.approx(before / (1 - before) * math.exp(epsilon), rel=1e-5)


def test_the_best_guess_is_that_of_the_worst_mechanism():
    # randomised response tells the truth with probability e^ε / (1 + e^ε): nothing tells more
    assert explain("1").guess == pytest.approx(math.e / (1 + math.e))


@pytest.mark.parametrize("epsilon", [0, -1, 101, "x"])
def test_a_wrong_epsilon_is_refused(epsilon):
    with pytest.raises(HoldfastError):
        explain(epsilon)


def test_every_deployment_has_its_source():
    known = deployments()
    assert len(known) >= 8
    assert [d.epsilon for d in known] == sorted(d.epsilon for d in known)
    assert all(d.source.startswith("deployments/") and ".yaml at " in d.source for d in known)


def test_the_command_explains_in_words_and_in_json(capsys, monkeypatch):
    code, said, _ = run(capsys, monkeypatch, "explain", "--epsilon", "1", "--delta", "1e-6")
    assert code == 0
    assert "2.72 times as probable" in said and "73 times in 100" in " ".join(said.split())
    assert "delta" in said and "2020 Census" in " ".join(said.split())
    code, said, _ = run(capsys, monkeypatch, "explain", "--epsilon", "1/2", "--json")
    assert json.loads(said)["factor"] == pytest.approx(math.exp(0.5))


def test_the_page_for_directors_has_the_figures_that_are_computed():
    page = (Path(__file__).parents[2] / "docs" / "epsilon.md").read_text(encoding="utf-8")
    for before, name in (
        (0.001, "1 in 1,000"),
        (0.01, "1 in 100"),
        (0.1, "1 in 10"),
        (0.5, "even odds"),
    ):
        row = next(line for line in page.splitlines() if line.startswith(f"| {name} "))
        for epsilon, cell in zip(("0.5", 1, 2, 5), row.split("|")[2:], strict=False):
            after = 100 * explain(epsilon).suspicion(before)
            assert float(cell.strip(" %")) == pytest.approx(after, abs=0.06 if after < 10 else 0.5)
    for known in deployments():
        assert f"| {known.epsilon:g} |" in page and known.by in page
