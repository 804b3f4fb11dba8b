"""docs/optimum.md: every line runs, and the picture is the one that the code draws."""

import doctest
import re
from pathlib import Path

import numpy as np
import pytest

import optimum_picture
from holdfast.former.constructors import Heuristic

DOCS = Path(__file__).parents[2] / "docs"


def test_every_line_of_the_page_runs():
    page = (DOCS / "optimum.md").read_text(encoding="utf-8")
    text = re.sub(r"^```.*$", "", page, flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(text, {}, "optimum.md", "docs/optimum.md", 0)
    assert len(test.examples) > 30
    failures = []
    doctest.DocTestRunner(verbose=False).run(test, out=failures.append)
    assert not failures, "".join(failures)


def test_the_picture_is_up_to_date(tmp_path):
    optimum_picture.main(str(tmp_path))
    committed = (DOCS / optimum_picture.NAME).read_text(encoding="utf-8")
    assert committed == (tmp_path / optimum_picture.NAME).read_text(encoding="utf-8")
    assert f"]({optimum_picture.NAME})" in (DOCS / "optimum.md").read_text(encoding="utf-8")


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
    found = Heuristic(selector=leftmost)(z, epsilon=epsilon)
    assert found.gap < 1e-7 if held else found.gap > 1e-7


def test_the_page_gives_the_counts_that_its_code_prints():
    page = (DOCS / "optimum.md").read_text(encoding="utf-8")
    assert "[7, 29]" in page and "7 of the 31 counts" in page and "geometric has 29" in page
