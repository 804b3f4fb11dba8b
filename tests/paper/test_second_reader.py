"""The second reader: it finds what was changed, in arithmetic of its own."""

import ast
import hashlib
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from holdfast import paper
from holdfast.errors import HoldfastError
from holdfast.paper import second_reader
from holdfast.paper.constructors import Heuristic, Optimal
from holdfast.paper.constructors.baselines import TruncatedGeometric
from holdfast.paper.privatizers import CyclicLaplace

COUNTS = np.random.default_rng(0).poisson(3, 60)
TOTAL = 2**62


@pytest.fixture
def folder(tmp_path):
    result = paper.privatize(COUNTS, 1, 8, CyclicLaplace(), Heuristic(), split="1/4", seed=1)
    return result.save(tmp_path / "result")


def failed(folder: Path) -> str:
    return "; ".join(check.name for check in paper.verify(folder).checks if not check.passed)


def rewrite(folder: Path, change, *, sums: bool = True) -> None:
    """Change the record and the weights, with sums that fit."""
    record = json.loads((folder / "record.json").read_text())
    weights = np.load(folder / "weights.npy")
    weights = change(record, weights)
    if weights is not None:
        np.save(folder / "weights.npy", weights)
    if sums:
        for name in record["files"]:
            record["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "record.json").write_text(json.dumps(record))


def test_it_imports_nothing_that_made_the_folder():
    tree = ast.parse(Path(second_reader.__file__).read_text(encoding="utf-8"))
    names = [
        alias.name if isinstance(node, ast.Import) else node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    ]
    assert {name for name in names if name.startswith("holdfast")} == {
        *("holdfast.errors", "holdfast.verify.report")  # what a verification says
    }


def test_a_weight_too_many_is_found(folder):
    def change(record, weights):
        weights[3, 2] += 1
        return weights

    rewrite(folder, change)
    assert "every row adds up" in failed(folder)


def test_an_identity_is_not_private(folder):
    rewrite(folder, lambda record, weights: np.diag([TOTAL] * 8))
    assert "adjacent rows of the weights keep epsilon_2" in failed(folder)


def test_one_unit_beyond_the_bound_is_found():
    grow, low = second_reader.exp_below(Fraction(3, 4)), 2**55
    for extra, private in ((0, True), (1, False)):
        high = int(low * grow) + extra
        weights = [[high, TOTAL - high], [low, TOTAL - low]]
        assert second_reader._is_private(weights, grow, Fraction(0), TOTAL) == private


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("epsilon_2", "1/2", "add up to it"),
        ("epsilon_1", "-1/4", "add up to it"),
        ("epsilon", "2", "add up to it"),
        ("delta_1", "1", "below 1"),
        ("rows", 61, "the table has its rows"),
        ("certified_1", "1/2", "states no more than epsilon_1"),
        ("target", None, ""),
    ],
)
def test_a_record_that_claims_something_else_is_found(folder, name, value, words):
    def change(record, weights):
        record[name] = value

    rewrite(folder, change)
    if words:
        assert words in failed(folder)
    else:
        assert not failed(folder)  # claims less than it could


def test_a_fixed_point_that_is_not_kept_is_found(folder):
    def change(record, weights):
        record["target"] = record["z"] = [1 / 8] * 8

    rewrite(folder, change)
    assert "z is the fixed point" in failed(folder)


@pytest.mark.parametrize("part", [0, 1])
def test_a_certificate_that_is_not_the_worst_ratio_is_found(folder, part):
    def change(record, weights):
        top = int(record["certificate"]["worst"][part])
        record["certificate"]["worst"][part] = str(top + 1)

    rewrite(folder, change)
    assert "certificate" in failed(folder)


def test_a_certificate_that_proves_less_than_it_says_is_found(folder):
    def change(record, weights):
        record["certificate"]["epsilon"] = "1/100"

    rewrite(folder, change)
    assert "certificate" in failed(folder)


def test_a_table_with_another_count_is_found(folder):
    text = (folder / "table.csv").read_text().splitlines()
    (folder / "table.csv").write_text("\n".join([*text[:-1], "8", ""]))
    assert "the files have the sums" in failed(folder)
    rewrite(folder, lambda record, weights: None)
    assert "the table has its rows" in failed(folder)


def test_a_file_that_is_missing_or_damaged_is_a_sentence(folder):
    (folder / "weights.npy").write_bytes(b"x")
    with pytest.raises(HoldfastError, match="cannot be read"):
        paper.verify(folder)
    with pytest.raises(HoldfastError, match="cannot be read"):
        paper.verify(folder.parent)


def test_all_of_epsilon_in_one_stage_and_all_rows_alike_are_read_too(tmp_path):
    for n, constructor in ((1, TruncatedGeometric()), (5, TruncatedGeometric())):
        result = paper.privatize(COUNTS, 1, n, None, constructor, seed=1)
        assert paper.verify(result.save(tmp_path / str(n))).passed


def test_hundreds_of_counts_are_checked(tmp_path):
    counts = np.random.default_rng(1).integers(0, 600, 50)
    result = paper.privatize(counts, 1, 600, CyclicLaplace(), Optimal(), seed=1)
    assert paper.verify(result.save(tmp_path / "result")).passed
