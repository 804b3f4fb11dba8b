"""The report: one set of numbers as a page, as Markdown, as JSON, as a workbook."""

import io
import json
import re
import zipfile
from fractions import Fraction

import numpy as np
import pytest

from holdfast.answers.answer import Answer
from holdfast.answers.report import Cover, written
from holdfast.answers.report.content import answer_of
from holdfast.release.common import CommonAnswer, common_answers, known_digits
from holdfast.request.questions import Unit
from hostile_names import NAMES, Page, rendered, shown
from private_tables import private_table

COUNTS = np.random.default_rng(2).poisson(np.repeat([1.0, 6.0], [300, 200]))
EVIL = '<img src=x onerror="alert(1)">|`a`\x1b[2J'
READABLE = [name for name in NAMES if name.strip()]
CELLS = {
    "county": ["=1+1", EVIL, *(f"c{row}" for row in range(2, 500))],
    "state": ["NE", "KS"] * 250,
    "fips": [f"{row:05d}" for row in range(500)],
    "people": [str(row) for row in range(500)],
}


@pytest.fixture(scope="module")
def release():
    return private_table(COUNTS, cells=CELLS, within="state", epsilon=1)


def test_every_form_says_the_numbers_of_answers_csv(release):
    content = json.loads(written(release, "json"))
    page, text = written(release, "html"), written(release, "md")
    for answer in common_answers(release):
        column = content["columns"][0]
        group = next((g for g in column["groups"] if g["name"] == answer.group), None)
        among = column["answers"] if group is None else group["answers"]
        said = next((a for a in among if a["question"] == answer.question), None)
        if said is None:
            assert group is not None
            continue
        assert said["estimate"] == answer.answer
        assert said["interval"] == [answer.low, answer.high]
        for form in (page, text.replace("\\", "")):
            assert f"{said['words']}" in form and said["interval_words"] in form


QUESTIONS = {
    "share with 0": "share zero",
    "share with 1 or more": "share at least 1",
    "share with 5 or more": "share at least 5",
    "mean": "mean",
    "total": "total",
    "median": "median",
    "quantile 0.9": "quantile 0.9",
    "rows": "rows at least 0",
}


def test_a_question_has_one_number_wherever_it_is_read(release):
    """In the table, by `ask`, in answers.csv and so in the report and the README."""
    found = {(a.group, a.question): a for a in common_answers(release)}
    for name, typed in QUESTIONS.items():
        for group in ("all rows", "NE", "KS"):
            answer = found[group, name]
            where = {} if group == "all rows" else {"where": f"state == {group}"}
            asked = release.ask(typed, **where)
            assert (asked.estimate, *asked.interval) == pytest.approx(
                (answer.answer, answer.low, answer.high)
            )
    state = np.array(CELLS["state"])
    assert found["NE", "mean"].answer == pytest.approx(release.counts[state == "NE"].mean())
    assert found["all rows", "share with 0"].answer == (release.counts == 0).mean()


def test_the_page_is_one_file_in_which_names_do_nothing(release):
    page = written(release, "html", cover=Cover(title=EVIL, by=EVIL))
    assert "<img src=x" not in page and "\x1b" not in page and "<script" not in page
    assert page.count("://") == page.count("http://www.w3.org/2000/svg")
    text = written(release, "md", cover=Cover(title=EVIL))
    assert "\\<img" in text and "\x1b" not in text


@pytest.fixture(scope="module", params=[(18, None), (2, EVIL)])
def hostile(request):
    """A release whose columns of counts, all that is published, labels and groups have hostile
    names, and the names of these columns: many columns, then many groups."""
    number, within = request.param
    labels = [name for name in NAMES for _ in range(2)]
    cells = {"=1+1": labels, EVIL: labels}
    columns = {name: COUNTS[: len(labels)] for name in READABLE[:number]}
    return private_table(columns, cells=cells, within=within, epsilon=10), list(columns)


@pytest.mark.parametrize("form", ["html", "md", "json", "xlsx"])
def test_forty_hostile_names_do_nothing_in_any_form_of_the_report(hostile, form):
    release, columns = hostile
    cover = Cover(title="".join(READABLE), by=EVIL, date=EVIL)
    text = written(release, form, cover=cover)
    if form == "xlsx":
        with zipfile.ZipFile(io.BytesIO(text)) as book:
            pages = [book.read(name) for name in book.namelist() if "/sheet" in name]
        assert len(pages) == 5 + (len(columns) == 2)  # one is of the groups
        assert not any(b"<f>" in x or b"hyperlink" in x for x in pages)
        return
    if form == "json":
        assert text.isascii() and "\x1b" not in text
        return
    assert all(sign.isprintable() or sign == "\n" for sign in text)
    page = rendered(text) if form == "md" else Page(text)
    allowed = {
        "h1",
        "h2",
        "h3",
        "p",
        "ul",
        "li",
        "code",
        "pre",
        "strong",
        "table",
        "thead",
        "tbody",
    }
    allowed |= {"tr", "th", "td"}
    if form == "html":
        allowed |= {"html", "head", "meta", "link", "title", "style", "body", "div", "details"}
        allowed |= {"summary", "svg", "rect", "g", "text", "line", "path"}
    assert set(page.tags) <= allowed and page.tags.count("h1") == 1 and not page.comments
    assert not {name for name in page.attributes if name.startswith("on") or name == "src"}
    for name in columns:
        assert shown(name)[:20].replace("`", "") in page.words.replace("`", "")


def test_a_report_says_what_it_must(release):
    text = written(release, "md", cover=Cover(title="Deaths", by="Health", date="2026"))
    assert text.startswith("# Deaths\n\nHealth · 2026\n")
    for words in ("SIMULATION", "What was promised", "What not to do", "How to cite", "By group"):
        assert words in text
    plain = private_table(COUNTS, epsilon=1)
    noise = plain.only.measurement.noise
    assert f"It is within {noise.quantile(0.9):,} of the true one" in written(plain, "md")


def test_the_factor_of_a_small_epsilon_is_above_1():
    content = json.loads(written(private_table(COUNTS, epsilon="0.0001"), "json"))
    assert "at most 1.00011 times as probable" in content["promise"]["words"]


def test_progress_moves(release):
    told = []
    written(release, "md", progress=lambda what, done: told.append(done))
    assert told == sorted(told) and told[-1] == 1 and len(told) >= 4


def test_figures_have_as_many_digits_as_are_known():
    content = json.loads(written(private_table(COUNTS[:67], epsilon=1), "json"))
    words = [a["words"] for a in content["columns"][0]["answers"]]
    assert all(len(word.replace(",", "").replace(".", "")) <= 5 for word in words), words
    assert known_digits(0.37313433, 0.3, 0.45) == "0.373"


def test_the_workbook_has_formats_a_chart_and_groups_as_rows(release):
    calamine = pytest.importorskip("python_calamine")
    zipfile = pytest.importorskip("zipfile")
    data = written(release, "xlsx")
    assert data == written(release, "xlsx")
    book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
    assert book.sheet_names == ["About", "Table", "Distribution", "Answers", "Groups"]
    table = book.get_sheet_by_name("Table").to_python()
    assert table[1][:4] == ["=1+1", "NE", "00000", 0] and table[1][4] == release.counts[0]
    assert table[3][0] == "c2" and table[3][3] == 2
    groups = book.get_sheet_by_name("Groups").to_python()
    assert [row[1:3] for row in groups[1:]] == [["KS", 250], ["NE", 250]]
    answers = {row[1]: row[2] for row in book.get_sheet_by_name("Answers").to_python()[1:]}
    zeros = (release.counts == 0).mean()
    assert answers["share with 0"] == pytest.approx(zeros, abs=0.001)
    files = zipfile.ZipFile(io.BytesIO(data)).namelist()
    assert "xl/charts/chart1.xml" in files
    assert b"0.0##%" in zipfile.ZipFile(io.BytesIO(data)).read("xl/styles.xml")


def test_cells_of_the_workbook_have_no_more_digits_than_are_known():
    book = zipfile.ZipFile(io.BytesIO(written(private_table(COUNTS, epsilon=10), "xlsx")))
    for name in ("xl/worksheets/sheet3.xml", "xl/worksheets/sheet4.xml"):
        cells = re.findall(r"<v>([0-9.]+)</v>", book.read(name).decode())
        assert cells and max(len(cell.partition(".")[2]) for cell in cells) <= 12, cells


def test_several_columns_stand_side_by_side():
    both = private_table({"murders": COUNTS, "rapes": COUNTS + 1}, cells=CELLS, epsilon=2)
    text = written(both, "md")
    assert "What it says of murders" in text and "What it says of rapes" in text
    assert len(json.loads(written(both, "json"))["columns"]) == 2
    page = written(both, "html")
    assert page.index("<svg") < page.index("What it says of murders")  # the picture has both


def test_counts_that_are_published_as_they_are_are_called_so():
    for epsilon, is_told in ((1, False), (10, True)):
        words = json.loads(written(private_table(COUNTS, epsilon=epsilon), "json"))["promise"]
        assert ("noisy counts of murders are the true ones" in words["words"]) == is_told


def test_rows_that_nobody_can_tell_to_be_the_highest_are_not_listed():
    counts = np.append(np.zeros(99, dtype=int), 5_000)
    for epsilon, are_listed in (("0.0001", False), (1, True)):
        release = private_table(counts, epsilon=epsilon)
        assert bool(json.loads(written(release, "json"))["columns"][0]["top_rows"]) == are_listed
        text = written(release, "md")
        assert ("Nobody can tell which they are" in text) != are_listed
        assert ("most likely among the" in text) == are_listed


def test_parts_of_a_budget_are_exact_decimals_that_add_up():
    release = private_table(COUNTS, epsilon="0.25", cells=CELLS, within="state")
    page, budget = written(release, "html"), release.only.budget
    parts = [part for part in (budget.counts, budget.sums, budget.whole) if part]
    words = [f"{float(part):.12g}" for part in parts]
    assert sum(map(Fraction, words)) == Fraction("0.25") and ">0.25<" in page
    assert all(f">{each}<" in page for each in words)
    assert ">1/3<" in written(private_table(COUNTS, epsilon="1/3"), "html")


def test_zero_has_no_sign():
    found = Answer.of("total", 0.0, np.zeros(50), unit=Unit.COUNT).to_dict()
    assert json.dumps(found["interval"]) == "[0.0, 0.0]"
    small = answer_of(CommonAnswer("n", "all rows", "mean", -1e-9, -0.01, 0.01, Unit.NUMBER))
    assert small.in_words(small.estimate) == "0.000"
