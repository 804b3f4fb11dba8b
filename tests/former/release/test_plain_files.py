"""What people without holdfast find in a bundle: intervals.csv, mechanism.csv, codebook.md."""

import csv
import json
import re
import shutil
import subprocess
from functools import partial

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast
from holdfast.former.engines.stream.engine import privatize_stream as stream
from holdfast.former.release import bundle, plain_files
from holdfast.former.release.recipes import cells, letters
from holdfast.former.release.row_laws import taken
from holdfast.former.release.row_prior import row_prior
from holdfast.former.release.share_recipes import share_cells

RANDOM = np.random.default_rng(4)
MANY, FEW = 3000, 30  # rows: enough for z to be known, and too few
AS_SHOWN = "44,34,76,1,,0,false,true,false,false,false,-1"  # commas, UTF-8, a file a sheet
ALWAYS_COMPUTE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item></oor:items>
"""
KINDS = {"on average": {}, "for every count": {"few": True}, "by group": {"within": "area"}}


def table(few=False):
    rows = FEW if few else MANY
    return pd.DataFrame(
        {
            "place": [f"p{k}" for k in range(rows)],
            "area": ["north" if k % 3 else "south, wet" for k in range(rows)],
            "n": RANDOM.geometric(0.4, rows) - 1,
        }
    )


def make(folder, few=False, **options):
    fixed = {"epsilon": 1, "max_count": 7, "count": "n", "category": "place", "seed": 1}
    if "within" in options:
        fixed["keep"] = ["area"]
    made = holdfast.privatize(table(few), **fixed | options)
    made.save(folder)
    return made


def lines_of(folder, name="intervals.csv"):
    return list(csv.DictReader((folder / name).read_text(encoding="utf-8").splitlines()))


def code(folder, language):
    """The recipes of a README: that for a row, and that for shares and means."""
    text = (folder / "README.md").read_text(encoding="utf-8")
    return "".join(re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))


def answers(made, group):
    """The share with 3 or more and the mean of the rows of a group, with the recipes' ends."""
    part = made if group is None else made.groups[group]
    counts = made.counts if group is None else made.counts[(made.table["area"] == group).to_numpy()]
    prior = row_prior(made, 0 if group is None else made.groups.names.index(group))[0]
    for f in (np.arange(8) >= 3, np.arange(8)):
        f, drawn = f.astype(float), part.mechanism.matrix
        spread = prior @ (drawn @ f**2 - (drawn @ f) ** 2)
        reach = 2.33 * np.sqrt(spread / len(counts))
        yield pytest.approx([f[counts].mean() + side * reach for side in (0, -1, 1)], abs=1e-6)


def wanted(folder, group=None):
    """Released count: the ends that intervals.csv has for it, in this group."""
    rows = [row for row in lines_of(folder) if group is None or row["group"] == group]
    return {int(row["released"]): (int(row["low"]), int(row["high"])) for row in rows}


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_csv_says_what_the_release_does(tmp_path, kind):
    made, rows = make(tmp_path / "out", **KINDS[kind]), made_lines(tmp_path / "out")
    found = made.intervals()
    assert made.summary()["category"] == "place"
    assert rows["label"] == made.table["place"].tolist()
    assert rows["released"] == [str(count) for count in made.counts]
    assert rows["low"] == [str(end) for end in found.low]
    assert rows["high"] == [str(end) for end in found.high]
    assert rows["expected"] == [f"{mean:.3f}" for mean in found.mean]
    stated = json.loads((tmp_path / "out" / "release.json").read_text())["intervals"]
    assert stated["every"] is (kind == "for every count")
    assert ">7+</text>" in (tmp_path / "out" / "distribution.svg").read_text()
    assert holdfast.verify(tmp_path / "out")


def made_lines(folder):
    rows = lines_of(folder)
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.mark.parametrize("kind", KINDS)
def test_the_pandas_recipe_gives_the_intervals(tmp_path, kind, monkeypatch):
    made = make(tmp_path / "out", **KINDS[kind])
    monkeypatch.chdir(tmp_path / "out")
    for group in ("north", "south, wet") if "within" in KINDS[kind] else (None,):
        names = {}
        exec(code(tmp_path / "out", "python").replace('"..."', repr(group)), names)
        expected = wanted(tmp_path / "out", group)
        assert len(expected) > 4
        assert {count: names["interval"](count) for count in expected} == expected
        if "few" not in KINDS[kind]:
            found = [list(names["answer"](of)) for of in (lambda n: n >= 3, lambda n: n)]
            assert found == list(answers(made, group))


@pytest.mark.skipif(
    not shutil.which("Rscript"), reason="R is not installed: its recipe is not tried"
)
@pytest.mark.parametrize("kind", KINDS)
def test_the_r_recipe_gives_the_intervals(tmp_path, kind):
    made = make(tmp_path / "out", **KINDS[kind])
    group = "south, wet" if "within" in KINDS[kind] else None
    expected = wanted(tmp_path / "out", group)
    script = code(tmp_path / "out", "r").replace('"..."', f'"{group}"')
    script += "".join(f'cat({count}, interval({count}), "\\n")\n' for count in expected)
    if "few" not in KINDS[kind]:
        script += "cat(answer(function(n) n >= 3), answer(identity))"
    (tmp_path / "recipe.R").write_text(script)
    done = subprocess.run(
        ["Rscript", tmp_path / "recipe.R"], cwd=tmp_path / "out", capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    if "few" not in KINDS[kind]:
        numbers = list(map(float, lines.pop().split()))
        assert [numbers[:3], numbers[3:]] == list(answers(made, group))
    found = [tuple(map(int, line.split())) for line in lines]
    assert {count: ends for count, *ends in found} == {k: list(v) for k, v in expected.items()}


@pytest.mark.skipif(
    not shutil.which("soffice"), reason="LibreOffice is not installed: its recipe is not tried"
)
def test_the_spreadsheets_recipe_gives_the_intervals(tmp_path):
    """All kinds in one workbook: LibreOffice takes seconds to start."""
    xlsxwriter = pytest.importorskip("xlsxwriter")
    expected, shares = {}, {}
    for kind, options in KINDS.items():
        folder = tmp_path / kind
        made = make(folder, **options)
        group = "south, wet" if "within" in options else None
        text = (folder / "README.md").read_text(encoding="utf-8")
        for place, formula, fill in cells(8, group is not None, kind == "for every count"):
            assert f"`{place}`: `{formula}`" in text and fill in text
        with xlsxwriter.Workbook(tmp_path / f"{kind.replace(' ', '-')}.xlsx") as book:
            expected |= _fill(book, folder, kind, group)
            if "few" not in options:
                shares[kind] = list(answers(made, group))
                _fill_shares(book, folder, group, text)
    (tmp_path / "profile" / "user").mkdir(parents=True)
    (tmp_path / "profile" / "user" / "registrymodifications.xcu").write_text(ALWAYS_COMPUTE)
    books = sorted(tmp_path.glob("*.xlsx"))
    subprocess.run(
        ["soffice", f"-env:UserInstallation=file://{tmp_path}/profile", "--headless",
         "--convert-to", f"csv:Text - txt - csv (StarCalc):{AS_SHOWN}",
         "--outdir", tmp_path, *books], check=True, capture_output=True,
    )  # fmt: skip
    found = {}
    for (kind, count), _ in expected.items():
        text = (tmp_path / f"{kind.replace(' ', '-')}-shows{count}.csv").read_text()
        rows = [line.split(",") for line in text.splitlines()]
        found[kind, count] = int(float(rows[1][4])), int(float(rows[2][4]))
    assert found == expected
    for kind, (share, mean) in shares.items():
        for name, asked in (("share", share), ("mean", mean)):
            text = (tmp_path / f"{kind.replace(' ', '-')}-{name}.csv").read_text()
            assert [float(line.split(",")[5]) for line in text.splitlines()[1:4]] == asked


def _fill_shares(book, folder, group, text):
    """The sheet `intervals`, and one for each question by the README's formulas."""
    rows = list(csv.reader((folder / "intervals.csv").read_text(encoding="utf-8").splitlines()))
    rows = [rows[0], *(row for row in rows[1:] if group is None or row[1] == group)]
    at, sheet = rows[0].index("released"), book.add_worksheet("intervals")
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            sheet.write(number, column, int(cell) if number and column == at else cell)
    for name, first in (("share", "=N(ROW()-2>=3)"), ("mean", "=ROW()-2")):
        own = book.add_worksheet(name)
        assert f"`{first}`" in text
        for place, formula, fill in share_cells(8, group is not None):
            assert f"`{place}`: `{formula}`" in text and fill in text
            _write(own, place, first if place == "A2" else formula, fill)


def _fill(book, folder, kind, group):
    """The sheet `mechanism`, and one for each released count by the README's formulas."""
    lines = list(csv.reader((folder / "mechanism.csv").read_text(encoding="utf-8").splitlines()))
    lines = [lines[0], *(line for line in lines[1:] if group is None or line[0] == group)]
    sheet = book.add_worksheet("mechanism")
    for row, line in enumerate(lines):
        for column, cell in enumerate(line):
            text = row == 0 or (group is not None and column == 0)
            sheet.write(row, column, cell if text else float(cell))
    expected = wanted(folder, group)
    for count in expected:
        own = book.add_worksheet(f"shows{count}")
        own.write("E1", count)
        for place, formula, fill in cells(len(lines) - 1, group is not None, kind[:3] == "for"):
            _write(sheet if place.startswith("mechanism!") else own, place, formula, fill)
    return {(kind, count): ends for count, ends in expected.items()}


def _write(sheet, place, formula, fill):
    """A formula and its copies, with the references moved as spreadsheets do."""
    column, row = re.fullmatch(r"([A-Z]+)(\d+)", place.removeprefix("mechanism!")).groups()
    row, at = int(row), _number(column)
    rows = range(row, int(fill.rpartition(" ")[2]) + 1) if fill.startswith("down") else [row]
    last = _number(fill.rpartition(" ")[2]) if fill.startswith("right") else at
    for r in rows:
        for c in range(at, last + 1):
            sheet.write_formula(r - 1, c - 1, _moved(formula, r - row, c - at))


def _moved(formula, down, right):
    def move(match):
        dollar, column, fixed, row = match.groups()
        column = column if dollar else letters(_number(column) + right)
        return f"{dollar}{column}{fixed}{row if fixed else int(row) + down}"

    return re.sub(r"(\$?)\b([A-Z]{1,3})(\$?)(\d+)\b", move, formula)


def _number(column):
    found = 0
    for letter in column:
        found = 26 * found + ord(letter) - 64
    return found


def test_rows_without_a_count_and_known_zeros_have_a_line_too(tmp_path):
    frame = table().astype({"n": object})
    frame.loc[[2, 5], "n"] = "NA"
    frame["zero"] = [k in (1, 7) for k in range(MANY)]
    frame.loc[[1, 7], "n"] = 0
    made = holdfast.privatize(
        frame, epsilon=1, max_count=7, count="n", category="place", missing="NA",
        structural_zero="zero", seed=1,
    )  # fmt: skip
    rows = made_lines(made.save(tmp_path / "out"))
    assert [rows[name][2] for name in ("label", "released", "expected", "low")] == [
        "p2",
        "",
        "",
        "",
    ]
    assert [rows[name][7] for name in ("released", "expected", "low", "high")] == [
        "0", "0.000", "0", "0",
    ]  # fmt: skip
    assert holdfast.verify(tmp_path / "out")
    assert "empty where it was not known" in (tmp_path / "out" / "codebook.md").read_text()


@pytest.mark.parametrize("within", [None, "area"])
def test_a_long_stream_has_a_line_for_each_released_count(tmp_path, within, monkeypatch):
    for module in ("bundle", "plain_files"):
        monkeypatch.setattr(f"holdfast.former.release.{module}.MOST_LINES", 1000)
    source, out = tmp_path / "in.csv", tmp_path / "out"
    table().to_csv(source, index=False)
    stream(source, out, epsilon=1, max_count=7, count="n", category="place", seed=1, within=within)
    rows = lines_of(out)
    assert len(rows) == (8 if within is None else 16) and "label" not in rows[0]
    assert holdfast.verify(out)
    release = holdfast.load(out)
    assert release.category == "place"
    for row in rows:
        law = release.posterior(int(row["released"]), group=row.get("group"))
        assert (int(row["low"]), int(row["high"])) == law.interval(0.9)


def test_large_counts_have_intervals_and_no_mechanism_csv(tmp_path):
    counts = RANDOM.geometric(0.01, 4000)
    for top, names in ((200, {"intervals.csv", "mechanism.csv"}), (201, {"intervals.csv"})):
        made = holdfast.privatize(counts, epsilon=1, max_count=top, seed=1)
        folder = made.save(tmp_path / str(top))
        assert {
            p.name for p in folder.iterdir() if p.name in ("intervals.csv", "mechanism.csv")
        } == names
        assert holdfast.verify(folder)
        assert ("With R:" in (folder / "README.md").read_text()) is (top == 200)


def test_without_a_stage_1_there_are_none(tmp_path):
    made = holdfast.privatize(
        table()["n"].to_numpy(), epsilon=1, max_count=7, seed=1,
        constructor=holdfast.baselines.TruncatedGeometric(),
    )  # fmt: skip
    folder = made.save(tmp_path / "out")
    assert not (folder / "intervals.csv").exists() and holdfast.verify(folder)


def test_ties_are_taken_together():
    uniform = np.full((4, 4), 0.25)
    assert taken(np.full(4, 0.25), uniform, 0.5).all()


def test_words_say_how_a_released_count_leaves_its_interval_and_what_is_not_there(tmp_path):
    make(tmp_path / "out")
    assert "leave the released count out" in (tmp_path / "out" / "codebook.md").read_text()
    make(tmp_path / "few", few=True)
    assert "Shares and means of so few rows need" in (tmp_path / "few" / "README.md").read_text()
    make(tmp_path / "long", max_count=300)
    text = (tmp_path / "long" / "README.md").read_text()
    assert "up to a max_count\nof 200 and 250,000 probabilities" in text and "```" not in text
    assert holdfast.verify(tmp_path / "long")


def test_a_bundle_with_the_first_words_still_verifies(tmp_path, monkeypatch):
    first = plain_files.intervals_record

    def unnumbered(facts):
        return {name: value for name, value in first(facts).items() if name != "words"}

    monkeypatch.setattr(bundle, "intervals_record", unnumbered)
    monkeypatch.setattr(bundle, "written", partial(bundle.written, first=True))
    make(tmp_path / "out")
    monkeypatch.undo()
    assert holdfast.verify(tmp_path / "out")
    text = (tmp_path / "out" / "README.md").read_text()
    assert "A share of rows, or a mean" not in text and "leave the released" not in text


def test_long_ranges_with_many_different_counts_do_without():
    few, many = [3, 40, 900] * 50, range(0, 20_000, 40)
    made = [holdfast.privatize(c, epsilon=4, max_count=20_000, seed=1) for c in (few, many)]
    found = [plain_files.intervals_record(release) for release in made]
    assert found[0] is not None and found[1] is None
