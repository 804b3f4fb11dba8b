"""r/holdfast.R reads a bundle as holdfast does, to the last digit; skipped where R is not there."""

import re
import shutil
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from test_tutorials import masked

import holdfast.former as holdfast
from holdfast.former.constructors import Heuristic
from holdfast.former.tables.csv import CsvTable
from r_session import r

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(
    not shutil.which("Rscript"), reason="R is not installed: r/holdfast.R is not tried"
)
NAMES = ("low", "high", "expected", "median", "probability_zero")
SHOW = """
release <- hf_read("out")
cat(hf_row_integers(release, {row}), "\\n")
write.table(format(hf_intervals(release, {level}), digits = 15, scientific = FALSE, trim = TRUE),
            row.names = FALSE, col.names = FALSE, quote = FALSE)
"""
SAME = """
same <- function(release) {
  names <- c("low", "high", "expected")
  stopifnot(all(hf_intervals(release)[names] == release$intervals[names]))
}
"""


def table(rows=1500, delimiter=",", top=60):
    counts = np.random.default_rng(5).geometric(0.2, rows).clip(max=top + 3) - 1
    flags = np.where(counts == 0, np.arange(rows) % 2, 0)
    cells = [[f"é{k}", str(c), str(f)] for k, (c, f) in enumerate(zip(counts, flags, strict=True))]
    return CsvTable(("näme", "n", "zero"), cells, delimiter)


CASES = {
    "curves": {"max_count": 30, "epsilon": "1"},
    "many counts": {"max_count": 300, "epsilon": "0.123456789"},
    "a large epsilon": {"max_count": 12, "epsilon": "29/3"},
    "weights": {"max_count": 20, "epsilon": "0.7", "constructor": Heuristic()},
    "few rows": {"max_count": 9, "epsilon": "1"},
    "rather few rows": {"max_count": 9, "epsilon": "1"},
    "known zeros": {"max_count": 20, "epsilon": "1", "structural_zero": "zero"},
}


@pytest.mark.parametrize("case", CASES)
def test_r_gives_the_rows_and_the_intervals_to_the_last_digit(case, tmp_path):
    level, row = (0.8, 5) if case == "weights" else (0.9, 3)
    rows = {"few rows": 40, "rather few rows": 400}.get(case, 1500)
    source = table(rows, delimiter=";" if case == "weights" else ",")
    made = holdfast.privatize(source, count="n", category="näme", seed=1, **CASES[case])
    made.save(tmp_path / "out")
    show = SAME + SHOW.format(row=row, level=level) + "same(release)"
    printed, errors = r(show, tmp_path)
    assert not errors, errors
    weights, *rows = printed.splitlines()
    assert weights.split() == [str(w) for w in made.mechanism.row(row).tolist()]
    wanted = list(made.intervals(level).columns().values())
    assert [[float(cell) for cell in line.split()] for line in rows] == [
        list(map(float, line)) for line in zip(*wanted, strict=True)
    ]


def test_r_reads_the_shares_of_a_long_range(tmp_path):
    made = holdfast.privatize(table(300), count="n", max_count=12_000, epsilon=1, seed=1)
    made.save(tmp_path / "out")
    show = 'release <- hf_read("out"); cat(sprintf("%.17g", release$target))'
    printed, errors = r(show, tmp_path)
    assert not errors, errors
    assert np.array_equal(np.array(printed.split(), dtype=np.float64), made.target)


GROUPED = {
    "by name": "area",
    "by class": holdfast.classes("people", 3),
    "crossed": ["area", holdfast.classes("people", 2)],
}


@pytest.mark.parametrize("case", GROUPED)
def test_r_reads_groups_and_totals_and_gives_their_intervals(case, tmp_path):
    random = np.random.default_rng(3)
    cells = [[f"p{k}", "é" if k % 3 else "TX", str(1000 + 37 * k % 991), str(random.poisson(2))]
             for k in range(300)]  # fmt: skip
    made = holdfast.privatize(
        CsvTable(("place", "area", "people", "n"), cells), count="n", category="place", seed=1,
        keep=["area", "people"], within=GROUPED[case], totals=True, epsilon=4, max_count=9,
    )  # fmt: skip
    made.save(tmp_path / "out")
    printed, errors = r(
        SAME
        + SHOW.format(row="2, 1", level=0.9)
        + "same(release)\n"
        + "for (f in list(hf_row, hf_posterior))\n"
        + '  stopifnot(grepl("is by group", try(f(release, 2), silent = TRUE)))\n'
        + 'cat(release$totals$total, release$groups$total, "\n")\n'
        + 'cat(sprintf("%.17g", hf_target(release, 2)), "\n")',
        tmp_path,
    )
    assert not errors, errors
    weights, *rows, totals, target = printed.splitlines()
    groups = made.groups
    assert weights.split() == [str(w) for w in groups.at(0).mechanism.row(2).tolist()]
    assert totals.split() == [str(made.totals.whole.value), *(
        str(group.total.value) for group in groups.values())]  # fmt: skip
    assert list(map(float, target.split())) == groups.at(1).target.tolist()
    wanted = made.intervals()
    ends = list(zip(wanted.low.tolist(), wanted.high.tolist(), strict=True))
    assert [tuple(map(int, line.split()[:2])) for line in rows] == ends


def test_r_reads_several_counts_that_were_drawn_together(tmp_path):
    random = np.random.default_rng(3)
    cells = [[f"p{k}", "é" if k % 3 else "TX", *map(str, random.poisson(2, 2))] for k in range(400)]
    made = holdfast.privatize(
        CsvTable(("place", "area", "n", "m"), cells), count=["n", "m"], category="place", seed=1,
        keep=["area"], joint=True, epsilon=4, max_count=9,
    )  # fmt: skip
    made.save(tmp_path / "out")
    printed, errors = r(
        SAME + 'release <- hf_read("out")\nfor (one in release$columns) same(one)\nrelease\n'
        'cat(release$table$m, "\n", hf_read("out/1-n")$counts, "\n")',
        tmp_path,
    )
    assert not errors, errors
    *_, about, second, first = printed.splitlines()
    assert about == "A private table of several counts (n, m): 400 rows, epsilon = 4 in all"
    assert first.split() == [str(count) for count in made["n"].counts]
    assert second.split() == [str(count) for count in made["m"].counts]


def test_missing_counts_are_missing_in_r(tmp_path):
    source = CsvTable(("n",), [[str(k % 4)] if k % 9 else ["NA"] for k in range(90)])
    holdfast.privatize(source, epsilon=1, max_count=5, missing="NA", seed=1).save(tmp_path / "out")
    printed, errors = r('x <- hf_read("out"); cat(which(is.na(x$counts)) - 1)', tmp_path)
    assert not errors, errors
    assert printed.split() == [str(k) for k in range(0, 90, 9)]


def test_a_damaged_file_is_refused_in_r(tmp_path):
    holdfast.privatize([0, 1, 2] * 9, epsilon=1, max_count=3, seed=1).save(tmp_path / "out")
    path = tmp_path / "out" / "table.csv"
    path.write_bytes(path.read_bytes().replace(b"\n1", b"\n2", 1))
    _, errors = r('hf_read("out")', tmp_path)
    assert "`table.csv` is damaged" in errors


def test_the_ten_questions_of_the_page_run(tmp_path):
    path = files("holdfast") / "data" / "county_homicides_1996.csv"
    options = {"count": "homicides", "category": "county", "keep": ["population"]}
    holdfast.privatize(path, epsilon=1, max_count=50, seed=1, **options).save(tmp_path / "release")
    page = (ROOT / "docs" / "r.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```r\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 10
    code = 'cat("====\\n")\n'.join(block.replace('source("holdfast.R")', "") for block in blocks)
    printed, errors = r(code, tmp_path)
    assert not errors, errors
    for block, said in zip(blocks, printed.split("====\n"), strict=True):
        wanted = "".join(line[3:] + "\n" for line in block.splitlines() if line.startswith("#> "))
        assert masked(wanted).split() == masked(said).split()
