"""`holdfast audit`: what it shows, and its exit codes."""

import json
import sys

import pytest

import holdfast.former as holdfast
from holdfast.errors import CertificateError
from holdfast.former.cli import main

MODULE = """
import random
rng = random.Random(1)
def coin(bit):
    return bit if rng.random() < 0.75 else 1 - bit
def failing(bit):
    raise KeyError("424242")
seven = 7
"""


@pytest.fixture
def cli(capsys, monkeypatch, tmp_path):
    def run(*words):
        monkeypatch.setattr(sys, "argv", ["holdfast", "audit", *map(str, words)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "coins_to_audit.py").write_text(MODULE)
    yield run
    sys.modules.pop("coins_to_audit", None)


COIN = ("coins_to_audit:coin", "--table", "0", "--neighbour", "1", "--draws", "4000")


def test_a_false_claim_ends_with_code_1(cli):
    code, out, _ = cli(*COIN, "--epsilon", "0.5")
    assert code == 1
    assert "VIOLATION" in out and "claimed" in out and "epsilon 0.5" in out


def test_a_true_claim_ends_with_code_0_and_no_promise(cli):
    code, out, _ = cli(*COIN, "--epsilon", "1.2")
    assert code == 0
    assert "no proof" in out and "VIOLATION" not in out


def test_json_is_one_object(cli):
    code, out, _ = cli(*COIN, "--epsilon", "0.5", "--json")
    record = json.loads(out)
    assert code == 1 and record["violation"] is True and record["epsilon"] == "1/2"
    assert 0.5 < record["lower_bound"] < 1.0986 and record["draws"] == 4000


def test_a_release_is_audited_exactly(cli):
    holdfast.privatize([0, 1, 2, 0], epsilon=1, max_count=4, split="1/2").save("release")
    code, out, _ = cli("release", "--json")
    record = json.loads(out)
    assert code == 0 and record["exact"] and record["epsilon"] == "1/2"
    assert 0 <= record["lower_bound"] <= 0.5
    assert "The claim holds for the matrix." in cli("release")[1]


def test_an_honest_release_with_a_delta_is_not_refuted(cli):
    import holdfast.former as holdfast

    gaussian = holdfast.baselines.DiscreteGaussian(delta="1e-2")
    counts = [0, 1, 2, 3] * 100
    release = holdfast.privatize(
        counts, epsilon=3, max_count=20, contributions=3, constructor=gaussian, seed=1
    )
    release.save("release")
    code, out, err = cli("release")
    assert code == 0 and "VIOLATION" not in out, err


def test_a_release_whose_certificate_fails_is_a_violation(cli, monkeypatch):
    def refuse(folder):
        raise CertificateError("output 2 tells inputs 0 and 1 apart.")

    monkeypatch.setattr(holdfast, "load", refuse)
    code, out, _ = cli("release")
    assert code == 1 and "output 2 tells" in out and "VIOLATION" in out


def test_the_pipeline_is_audited(cli):
    usual = ("--epsilon", "1", "--split", "1/2", "--draws", "400", "--confidence", "0.999999")
    code, out, _ = cli("--pipeline", *usual)
    assert code == 0 and "400 per table" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name one thing"),
        (("release", "--pipeline"), "name one thing"),
        (("--pipeline",), "--epsilon"),
        (("--pipeline", "--epsilon", "1", "--privatizer", "none"), "`privatizer`"),
        (("nowhere",), "no folder"),
        (("coins_to_audit:coin",), "--table"),
        (("coins_to_audit:nothing", "--table", "0", "--neighbour", "1"), "cannot be imported"),
        (("no_such_module:coin", "--table", "0", "--neighbour", "1"), "cannot be imported"),
        (("coins_to_audit:seven", "--table", "0", "--neighbour", "1"), "not a function"),
        (("coins_to_audit:coin", "--table", "a b", "--neighbour", "1"), "JSON"),
        (("coins_to_audit:coin", "--table", "[1, 2]", "--neighbour", "[1,2]"), "are the same"),
        (("--pipeline", "--epsilon", "1", "--neighbour", "[0, 1, 2]"), "are the same"),
        (("coins_to_audit:failing", "--table", "0", "--neighbour", "1"), "KeyError"),
    ],
)
def test_a_command_that_cannot_be_run_ends_with_code_2(cli, words, message):
    code, _, errors = cli(*words)
    assert code == 2
    assert message in errors and "424242" not in errors
