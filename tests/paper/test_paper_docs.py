"""The pages of the paper's room: every line runs, and every place and every test exists."""

import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from holdfast.paper.constructors import Heuristic
from holdfast.paper.experiments import EXPERIMENTS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.mark.parametrize(
    ("name", "least"), [("optimum", 25), ("paper", 4), ("tutorial-researcher", 10)]
)
def test_every_line_of_the_page_runs(name, least):
    page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    text = re.sub(r"^```.*$", "", page, flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(text, {}, name, f"docs/{name}.md", 0)
    assert len(test.examples) >= least
    failures = []
    doctest.DocTestRunner(verbose=False).run(test, out=failures.append)
    assert not failures, "".join(failures)


def rows_of_the_map():
    page = (DOCS / "paper.md").read_text(encoding="utf-8")
    lines = [line for line in page.splitlines() if line.startswith("| ") and "::" in line]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def exists(place: str) -> bool:
    """Whether `a.b.C` or `a.b.C.d` below holdfast is there."""
    parts = place.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module("holdfast." + ".".join(parts[:cut]))
        except ImportError:
            continue
        for name in parts[cut:]:
            if not hasattr(thing, name) and name not in getattr(thing, "__annotations__", {}):
                return False
            thing = getattr(thing, name, None)
        return True
    return False


def test_every_place_on_the_map_exists():
    rows = rows_of_the_map()
    assert len(rows) > 50
    for row in rows:
        places = re.findall(r"`(paper\.[\w.]+)`", row[1])
        names = re.findall(r"`EXPERIMENTS\[\"([\w-]+)\"\]`", row[1])
        assert places, row
        assert all(map(exists, places)), row
        assert set(names) <= set(EXPERIMENTS), row


def test_every_experiment_is_on_the_map_and_on_its_own_page():
    on_map = re.findall(r"`EXPERIMENTS\[\"([\w-]+)\"\]`", str(rows_of_the_map()))
    page = (DOCS / "reproduction.md").read_text(encoding="utf-8")
    assert set(on_map) == set(EXPERIMENTS) == set(re.findall(r"^\| `([\w-]+)` \|", page, re.M))


def test_every_name_of_the_notation_exists():
    page = (DOCS / "notation.md").read_text(encoding="utf-8")
    places = re.findall(r"`(paper\.[\w.]+)`", page)
    assert len(places) >= 40
    for place in places:
        assert exists(place), place
    assert not exists("paper.Result.evidence") and not exists("paper.no_such_room")


def test_every_test_on_the_map_exists():
    for row in rows_of_the_map():
        tests = re.findall(r"`([\w/]+\.py)::(\w+)`", row[2])
        assert tests, row
        for file, name in tests:
            text = (ROOT / "tests" / "paper" / file).read_text(encoding="utf-8")
            assert f"\ndef {name}(" in text, f"{file}::{name}"


def leftmost(z, r, c, A):
    return int(np.flatnonzero(c)[0])


@pytest.mark.parametrize("seed", range(60))
def test_left_to_right_is_optimal_exactly_under_the_conditions_of_the_page(seed):
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(2, 9)), float(rng.choice([0.1, 0.3, 0.7, 1.5, 3]))
    z = rng.dirichlet(np.full(n, rng.choice([0.6, 1, 5]))) + 1e-6
    z *= np.exp(-rng.choice([0, 0.5, 2]) * np.arange(n))
    z /= z.sum()
    decay = np.exp(-epsilon * np.abs(np.subtract.outer(range(n), range(n))))
    below, above = np.tril(decay, -1) @ z, np.triu(decay) @ z
    held = (below >= np.exp(-epsilon) * above)[1 : n - 1].all()
    gap = Heuristic(selector=leftmost)(z, epsilon=epsilon).gap
    assert gap < 1e-7 if held else gap > 1e-7


@pytest.mark.parametrize("part", ["theory", "constructors", "privatizers", "experiments", "cli"])
def test_each_part_can_be_imported_first(part):
    ran = subprocess.run([sys.executable, "-c", f"import holdfast.paper.{part}"])
    assert ran.returncode == 0
