"""The steward's five steps: what they show, refuse, keep, and do once."""

import io
import re
import shlex
import subprocess
import sys
import zipfile

import pytest

import holdfast.former as holdfast
from holdfast.former.ledger.ledger import Ledger
from holdfast.former.page.chosen import Chosen
from holdfast.former.page.recipe import of_run
from holdfast.former.tables.files import read_file, write_file
from page_visits import BUDGET, COUNTY_ROLES, problem_of, words_of, write_counties

BY_POPULATION = {"role:population": "classes", "classes": "3", "public": "population"}


def test_the_way_from_a_file_to_a_verified_release(visitor, folder, at_once):
    draft = visitor.start(path="deaths.csv")
    assert visitor.post(f"{draft}/columns", COUNTY_ROLES).url.path == f"{draft}/protected"
    page = visitor.get(f"{draft}/columns")
    assert "300 rows. Published unchanged: county. Withheld: population" in page.text
    assert visitor.post(f"{draft}/protected", {"contributions": "1"}).url.path == f"{draft}/budget"
    page = visitor.post(f"{draft}/budget", BUDGET)
    assert page.url.path == f"{draft}/release" and "88% sure" in page.text
    page = visitor.press(draft, out="out")
    assert "recomputed and holds" in page.text and "It is in the folder out" in page.text
    assert holdfast.verify(folder / "out")
    assert (folder / "out" / "table.csv").read_text().startswith("county,deaths\n")


def test_a_second_press_draws_nothing(reader, made, bundle):
    folder = bundle.parent
    drawn = (folder / "made" / "table.csv").read_bytes()
    seen = {"seen": "whatever", "out": "other"}
    assert reader.post(f"{made}/run", seen).url.path == f"{made}/run"
    assert reader.post(f"{made}/budget", BUDGET | {"epsilon": "3"}).url.path == f"{made}/run"
    assert (folder / "made" / "table.csv").read_bytes() == drawn
    assert not (folder / "other").exists()


def test_a_page_that_is_older_than_the_draft_releases_nothing(visitor, folder, at_once):
    draft = visitor.start(path="deaths.csv")
    visitor.fill(draft)
    old = re.search(r'name="seen" value="(\w+)"', visitor.get(f"{draft}/release").text)[1]
    visitor.post(f"{draft}/budget", BUDGET | {"epsilon": "3"})  # in another tab
    page = visitor.post(f"{draft}/run", {"seen": old, "out": "out"})
    assert page.url.path == f"{draft}/release" and not (folder / "out").exists()


def test_going_back_and_reloading_lose_nothing_not_even_what_is_wrong(visitor):
    draft = visitor.start(path="deaths.csv")
    visitor.fill(draft, epsilon="much", max_count="12", zeros="33")
    for _ in range(2):
        page = visitor.get(f"{draft}/budget")
        assert 'value="much"' in page.text and 'value="33"' in page.text
        assert "must be a finite number" in problem_of(page)
    page = visitor.post(f"{draft}/budget", BUDGET | {"epsilon": "0.7", "go": "back"})
    assert page.url.path == f"{draft}/protected"
    assert 'value="0.7"' in visitor.get(f"{draft}/budget").text
    columns = visitor.get(f"{draft}/columns").text
    assert '<option value="count" selected>' in columns


def test_no_step_is_reached_before_those_above_it(visitor):
    draft = visitor.start(path="deaths.csv")
    assert visitor.get(f"{draft}/release").url.path == f"{draft}/columns"
    assert visitor.post(f"{draft}/release", {}).status_code == 400


WRONG_COLUMNS = {
    "no count": ({"role:county": "category"}, "No column has the role “the counts”"),
    "two categories": (
        {"role:deaths": "category", "role:population": "category"},
        "“names the row” is one column",
    ),
    "text as count": ({"role:county": "count"}, "county"),
    "a column that is not there": ({"role:nowhere": "count"}, "must be a column of the table"),
    "classes of no number": (
        COUNTY_ROLES | {"role:population": "classes", "classes": "x"},
        "“Number of classes” must be a whole number",
    ),
}


@pytest.mark.parametrize("case", WRONG_COLUMNS)
def test_wrong_columns_are_said_in_words(visitor, case):
    fields, words = WRONG_COLUMNS[case]
    draft = visitor.start(path="deaths.csv")
    page = visitor.post(f"{draft}/columns", fields)
    assert page.url.path == f"{draft}/columns" and words in problem_of(page)


WRONG_BUDGETS = {
    "no epsilon": ({"epsilon": ""}, "“Epsilon” is missing"),
    "too much": ({"epsilon": "11"}, "promises one person almost nothing"),
    "no highest count": ({"max_count": ""}, "The highest count that is published is missing"),
    "a word": ({"max_count": "many"}, "published must be a whole number"),
    "a quantile of 1": ({"top": "quantile", "quantile": "1"}, "must lie above 0 and below 1"),
    "a ledger without a name": ({"ledger": "b.ledger"}, "go together"),
    "no such ledger": ({"ledger": "b.ledger", "dataset": "d"}, "There is no “b.ledger”"),
    "no such prior": ({"prior": "file", "prior_file": "no.csv"}, "There is no “no.csv”"),
    "a guess in words": ({"prior": "shape", "zeros": "some", "mean": "3"}, "must be a number"),
}


@pytest.mark.parametrize("case", WRONG_BUDGETS)
def test_wrong_budgets_are_said_in_words(visitor, case):
    fields, words = WRONG_BUDGETS[case]
    draft = visitor.start(path="deaths.csv")
    page = visitor.fill(draft, **fields)
    assert page.url.path == f"{draft}/budget" and words in problem_of(page)


@pytest.mark.parametrize("person", ("0", "-1", "two", ""))
def test_a_contribution_is_a_number_from_1(visitor, person):
    draft = visitor.start(path="deaths.csv")
    visitor.post(f"{draft}/columns", COUNTY_ROLES)
    page = visitor.post(f"{draft}/protected", {"contributions": person})
    assert page.url.path == f"{draft}/protected" and "“One person adds at most”" in problem_of(page)


@pytest.mark.parametrize(("out", "words"), [("../out", "cannot be the name"), ("old", "exists")])
def test_a_release_goes_into_a_new_folder_right_here(visitor, folder, at_once, out, words):
    (folder / "old").mkdir()
    draft = visitor.start(path="deaths.csv")
    visitor.fill(draft)
    page = visitor.press(draft, out=out)
    assert page.url.path == f"{draft}/release" and words in problem_of(page)
    assert not (folder.parent / "out").exists()


def test_what_gives_the_counts_away_is_told_and_takes_a_tick(visitor, folder):
    rows = [f"C{i},{(i * i) % 7 * 3 + 1},{(i * i) % 7}" for i in range(200)]
    (folder / "leaky.csv").write_text("county,rate,deaths\n" + "\n".join(rows) + "\n")
    draft = visitor.start(path="leaky.csv")
    roles = {"role:county": "category", "role:rate": "keep", "role:deaths": "count"}
    page = visitor.post(f"{draft}/columns", roles)
    assert "would be given away" in problem_of(page)
    assert 'name="anyway" value="rate"' in page.text
    page = visitor.post(f"{draft}/columns", roles | {"anyway": "rate"})
    assert page.url.path == f"{draft}/protected"


def test_a_dropped_file_stays_until_another_one_is_named(visitor, folder):
    data = (folder / "deaths.csv").read_bytes()
    files = {"upload": ("../../Zählung.csv", data)}
    page = visitor.post("/drafts", {"rows": "counts"}, files=files)
    draft = page.url.path.rpartition("/")[0]
    assert page.url.path == f"{draft}/file" and "deaths" in page.text
    page = visitor.post(f"{draft}/file", {"rows": "counts", "path": "", "go": "stay"})
    assert "Dropped: Zählung.csv" in page.text and "C000" in page.text
    page = visitor.post(f"{draft}/file", {"rows": "counts", "path": "deaths.csv", "go": "stay"})
    assert "Dropped:" not in page.text


def test_a_dropped_file_that_is_no_table_is_refused(visitor):
    page = visitor.post("/drafts", {"rows": "counts"}, files={"upload": ("a.pdf", b"%PDF")})
    assert page.url.path.endswith("/file") and "is not a table that holdfast reads" in problem_of(
        page
    )


@pytest.mark.parametrize("kind", ("parquet", "xlsx"))
def test_parquet_and_excel_go_the_same_way(visitor, folder, at_once, kind):
    pytest.importorskip("python_calamine" if kind == "xlsx" else "pyarrow")
    table = read_file(folder / "deaths.csv")
    if kind == "parquet":
        write_file(table, folder / "deaths.parquet")
    else:
        write_workbook(table, folder / "deaths.xlsx")
    draft = visitor.start(path=f"deaths.{kind}", sheet="Deaths" if kind == "xlsx" else "")
    visitor.fill(draft)
    assert "recomputed and holds" in visitor.press(draft, out="out").text
    assert (folder / "out" / ("table.parquet" if kind == "parquet" else "table.csv")).exists()


def write_workbook(table, path):
    """Two sheets, the first with two blank rows above the table."""
    from xlsxwriter import Workbook

    with Workbook(path, {"strings_to_numbers": True}) as book:
        for name, top in (("Deaths", 2), ("Other", 0)):
            sheet = book.add_worksheet(name)
            for at, row in enumerate([table.columns, *table.rows]):
                sheet.write_row(top + at, 0, row)


def test_people_are_counted_first(visitor, folder, at_once):
    people = [f"{i},{'ABC'[i % 3]}" for i in range(60)]
    (folder / "people.csv").write_text("person,county\n" + "\n".join(people) + "\n")
    draft = visitor.start(path="people.csv", rows="people")
    page = visitor.post(f"{draft}/columns", {"role:county": "by"})
    assert "The list of categories is missing" in problem_of(page)
    fields = {"role:county": "by", "role:person": "per", "listed": "A\nB\nC\nD"}
    page = visitor.post(f"{draft}/columns", fields)
    assert page.url.path == f"{draft}/protected"
    visitor.post(f"{draft}/protected", {"contributions": "1"})
    visitor.post(f"{draft}/budget", BUDGET)
    assert "recomputed and holds" in visitor.press(draft, out="out").text
    assert (folder / "out" / "table.csv").read_text().count("\n") == 5


def test_groups_and_totals_are_released_and_shown(visitor, folder, at_once):
    rows = [f"C{i},{'ABC'[i % 3]},{(i * i) % 5}" for i in range(240)]
    (folder / "states.csv").write_text("county,state,deaths\n" + "\n".join(rows) + "\n")
    draft = visitor.start(path="states.csv")
    roles = {"role:county": "category", "role:state": "group", "role:deaths": "count"}
    visitor.fill(draft, roles, totals="yes")
    page = visitor.get(f"{draft}/release").text
    assert "3 groups of 80 to 80 rows" in page and "on totals" in page
    page = words_of(visitor.press(draft, out="out").text)
    assert "recomputed and holds" in page and "By group" in page and "add up to" in page
    assert holdfast.load(folder / "out").groups["A"].rows == 80


def test_a_ledger_is_shown_pays_once_and_refuses(visitor, folder, at_once):
    ledger = Ledger(folder / "b.ledger")
    ledger.set_limit("deaths", epsilon=3)
    paid = {"ledger": "b.ledger", "dataset": "deaths"}
    first = visitor.start(path="deaths.csv")
    visitor.fill(first, **paid)
    assert "spent epsilon 0 of 3; 3 is left" in visitor.get(f"{first}/budget").text
    page = visitor.press(first, out="first").text
    assert "spent epsilon 2 of 3; 1 is left" in page and "made before" not in page
    again = visitor.start(path="deaths.csv")
    visitor.fill(again, **paid)
    assert "the ledger will refuse it" in visitor.get(f"{again}/release").text
    page = visitor.press(again, out="second").text
    assert "This release was made before" in page and "1 is left" in page
    other = visitor.start(path="deaths.csv")
    visitor.fill(other, **paid, max_count="6")
    page = words_of(visitor.press(other, out="third").text)
    assert "holdfast refused" in page and "cannot afford this" in page
    assert "Nothing was drawn or spent" in page and not (folder / "third").exists()
    assert ledger.balance("deaths").epsilon_spent == 2


def test_the_counts_of_another_period_are_asked_about_on_the_page(visitor, folder, at_once):
    ledger = Ledger(folder / "b.ledger")
    ledger.set_limit("deaths", epsilon=2, per_period=True)
    paid = {"ledger": "b.ledger", "dataset": "deaths"}
    first = visitor.start(path="deaths.csv")
    page = visitor.fill(first, **paid, period="2025-Q1..2025-Q4").text
    assert "--period 2025" in words_of(page) and "Is this the right file?" not in page
    assert "recomputed and holds" in visitor.press(first, out="first").text
    again = visitor.start(path="deaths.csv")
    page = words_of(visitor.fill(again, **paid, period="2026").text)
    assert "By the ledger, the counts for 2026 are, row by row, those" in page
    page = words_of(visitor.press(again, out="second").text)
    assert "holdfast refused" in page and not (folder / "second").exists()
    visitor.fill(again, **paid, period="2026", same="yes")
    assert "recomputed and holds" in visitor.press(again, out="second").text
    assert "these are the counts of 2026" in holdfast.load(folder / "second").notes
    wrong = visitor.start(path="deaths.csv")
    assert "must be a year" in words_of(visitor.fill(wrong, **paid, period="26").text)


def test_parts_of_a_table_are_paid_side_by_side(visitor, folder, at_once):
    rows = [f"C{i},{'AB'[i % 2]},{i * i * 31 % 5}" for i in range(100)]
    (folder / "states.csv").write_text("county,state,deaths\n" + "\n".join(rows) + "\n")
    ledger = Ledger(folder / "b.ledger")
    ledger.set_limit("deaths", epsilon=3)
    roles = {"role:county": "category", "role:state": "", "role:deaths": "count"}
    for label in "AB":
        draft = visitor.start(path="states.csv")
        part = {"subset_column": "state", "subset_label": label}
        page = visitor.fill(draft, roles, ledger="b.ledger", dataset="deaths", **part)
        assert "Published: 50 rows;" in page.text and "3 is left" in page.text
        assert f"--subset state={label}" in words_of(page.text)
        assert "recomputed and holds" in visitor.press(draft, out=label).text
    assert ledger.balance("deaths").epsilon_spent == 2
    draft = visitor.start(path="states.csv")
    page = visitor.fill(draft, roles, subset_label="A")
    assert "“Only the rows where” is a column and a label in it" in problem_of(page)
    page = visitor.fill(draft, roles, subset_column="state", subset_label="C")
    assert "no row has the label 'C'" in problem_of(page)


def test_several_columns_of_counts_are_released_under_one_promise(visitor, folder, at_once):
    rows = [f"C{i},{i * i * 31 % 5},{i * 7 % 6}" for i in range(80)]
    (folder / "crimes.csv").write_text("county,murders,thefts\n" + "\n".join(rows) + "\n")
    draft = visitor.start(path="crimes.csv")
    roles = {"role:county": "category", "role:murders": "count", "role:thefts": "count"}
    page = visitor.post(f"{draft}/columns", roles)
    assert "possibly in several of the columns" in page.text
    page = visitor.post(f"{draft}/protected", {"contributions": "1", "rows": "2"})
    assert "at most 1 to each of at most 2 rows" in visitor.get(f"{draft}/protected").text
    page = visitor.post(f"{draft}/budget", BUDGET | {"epsilon": "4", "max_count": "4 5 6"})
    assert "must have one value for each of the 2 columns" in problem_of(page)
    page = visitor.post(f"{draft}/budget", BUDGET | {"epsilon": "4", "max_count": "4 5"})
    words = words_of(page.text)
    assert "It spends epsilon 4 on any one person, in all" in words and "The column thefts" in words
    assert "--max-count murders=4 --max-count thefts=5" in words and "--rows 2" in words
    page = visitor.press(draft, out="out").text
    assert "recomputed and holds" in page and "Columns of counts in this release" in page
    assert "any one person who is in at most 2 rows, and adds to each at most: murders 1" in page
    assert page.index("What was promised") < page.index("Columns of counts in this release")
    whole, first = re.findall(r'href="(/releases/\w+)"', page)[:2]
    column = visitor.get(first).text
    assert "learns almost the same" in column and "released together with thefts" in column
    assert visitor.get(f"{first}/ask?what=mean").text.count("You ask: mean") == 1
    for address in (whole, first):
        assert visitor.get(f"{address}/report").text.startswith("<!doctype html>")
        archive = zipfile.ZipFile(io.BytesIO(visitor.get(f"{address}/get/zip").content))
        assert {"out/table.csv", "out/release.json", "again.py"} <= set(archive.namelist())
        assert b"RUNNING THIS SPENDS EPSILON AGAIN" in archive.read("again.py")
        assert visitor.get(f"{address}/get/table").text.startswith("county,murders,thefts\n")
    assert visitor.get(f"{whole}/ask").status_code == 400
    data = visitor.get(f"{whole}/get/zip").content
    page = visitor.post("/releases", {"path": ""}, files={"upload": ("r.zip", data)})
    assert "recomputed and holds" in page.text and "Columns of counts" in page.text
    assert visitor.site.folder.releases() == ["out"]


def test_after_a_refusal_the_steps_are_open_again(visitor, folder, at_once):
    draft = visitor.start(path="deaths.csv")
    visitor.fill(draft)
    write_counties(folder / "later.csv")
    seen = re.search(r'name="seen" value="(\w+)"', visitor.get(f"{draft}/release").text)[1]
    (folder / "deaths.csv").write_text("county,population,deaths\nA,1,-5\n")
    page = visitor.post(f"{draft}/run", {"seen": seen, "out": "out"})
    assert page.url.path == f"{draft}/release" and problem_of(page)
    write_counties(folder / "deaths.csv")
    assert "recomputed and holds" in visitor.press(draft, out="out").text


def test_what_is_released_can_be_changed_in_a_copy(reader, made):
    page = reader.post(f"{made}/copy")
    copy = page.url.path.rpartition("/")[0]
    assert copy != made and '<option value="count" selected>' in page.text
    assert 'value="deaths-release"' in reader.get(f"{copy}/release").text


def test_a_draft_can_be_removed(visitor):
    draft = visitor.start(path="deaths.csv")
    assert "Draft of deaths.csv" in visitor.get("/").text
    assert "Draft of" not in visitor.post(f"{draft}/forget").text
    assert visitor.get(f"{draft}/file").status_code == 400


@pytest.fixture
def quick_plan(monkeypatch):
    """Few budgets, few repetitions: what is shown, not how exactly."""
    monkeypatch.setattr("holdfast.former.page.expected.EPSILONS", (1,))
    monkeypatch.setattr("holdfast.former.page.expected.FEW_EPSILONS", (1,))
    monkeypatch.setattr("holdfast.former.page.expected.REPETITIONS", 2)


def test_the_picture_of_errors_comes_from_the_guess_and_not_from_the_file(visitor, quick_plan):
    draft = visitor.start(path="deaths.csv")
    page = visitor.fill(draft, prior="shape", zeros="40", mean="2", go="stay")
    assert page.url.path == f"{draft}/budget" and "points on average" in page.text
    assert "a group" not in page.text
    assert "holdfast plan --categories 300 --max-count 4 --prior zeros:0.4+geometric:2" in (
        words_of(page.text)
    )


@pytest.mark.parametrize("role", ("group", "classes"))
@pytest.mark.parametrize("prior", ("shape", "file"))
def test_with_groups_the_picture_shows_the_error_of_one(visitor, folder, role, prior, quick_plan):
    rows = [f"C{i},{i % 3},{i * i * 31 % 5}" for i in range(60)]
    for name in ("states.csv", "last_year.csv"):
        (folder / name).write_text("county,state,deaths\n" + "\n".join(rows) + "\n")
    draft = visitor.start(path="states.csv")
    roles = {"role:county": "category", "role:state": role, "role:deaths": "count"}
    roles |= {"classes": "3", "public": "state"}
    public = {"prior_file": "last_year.csv", "prior_count": "deaths"}
    guess = {"prior": prior, "zeros": "40", "mean": "2", "go": "stay"}
    page = words_of(visitor.fill(draft, roles, **public, **guess).text)
    off = re.search(r"total of a group is off by ([\d.]+) on average", page)[1]
    assert 0 < float(off) < 20


def test_with_too_many_groups_no_picture_of_one_is_drawn(visitor, folder, quick_plan, monkeypatch):
    monkeypatch.setattr("holdfast.former.page.expected.MOST_CELLS", 10)
    draft = visitor.start(path="deaths.csv")
    roles = COUNTY_ROLES | BY_POPULATION
    page = visitor.fill(draft, roles, prior="shape", zeros="40", mean="2", go="stay")
    assert "No picture of the error of a group" in page.text


def test_columns_of_counts_have_pictures_of_what_each_is_given(visitor, folder, quick_plan):
    rows = [f"C{i},{i * i * 31 % 5},{i % 7}" for i in range(60)]
    (folder / "two.csv").write_text("county,deaths,births\n" + "\n".join(rows) + "\n")
    draft = visitor.start(path="two.csv")
    roles = {"role:county": "category", "role:deaths": "count", "role:births": "count"}
    guess = {"prior": "shape", "zeros": "40", "mean": "2", "go": "stay"}
    same = words_of(visitor.fill(draft, roles, **guess, epsilon="1").text)
    assert same.count("points on average") == 1 and "deaths, births" in same
    assert "--epsilon 0.5" in same  # what one of two columns is given
    page = words_of(visitor.fill(draft, roles, **guess, epsilon="1", max_count="4 6").text)
    assert page.count("points on average") == 2
    joint = words_of(visitor.fill(draft, roles, **guess, epsilon="1", joint="yes").text)
    assert "Kept together, single counts change more" in joint


def test_the_picture_is_of_what_one_person_adds(visitor, quick_plan):
    draft = visitor.start(path="deaths.csv")
    visitor.fill(draft)
    visitor.post(f"{draft}/protected", {"contributions": "2", "rows": "2"})
    guess = {"prior": "shape", "zeros": "40", "mean": "2", "go": "stay"}
    page = words_of(visitor.post(f"{draft}/budget", BUDGET | guess | {"epsilon": "1"}).text)
    assert "--epsilon 0.25" in page


def test_a_folder_without_a_name_is_asked_for(visitor):
    draft = visitor.start(path="deaths.csv")
    visitor.fill(draft)
    assert "The new folder has no name" in problem_of(visitor.press(draft, out=""))


def test_a_hint_to_leave_columns_apart_says_which_box(visitor, folder):
    rows = [f"C{i},{i % 5},{'' if i == 3 else i % 7}" for i in range(60)]
    (folder / "two.csv").write_text("county,deaths,births\n" + "\n".join(rows) + "\n")
    draft = visitor.start(path="two.csv")
    roles = {"role:county": "category", "role:deaths": "count", "role:births": "count"}
    page = visitor.fill(draft, roles | {"blank": "yes"}, joint="yes")
    assert "untick “Keep how the columns of counts go together”" in problem_of(page)


def test_the_command_and_the_python_shown_do_the_same(visitor, folder, at_once, cli, monkeypatch):
    text = (folder / "deaths.csv").read_text()
    (folder / "deaths.csv").write_text(f"Deaths, 2023\n{text}Total,,1\n")
    draft = visitor.start(path="deaths.csv", last_row="302", thousands=",")
    roles = COUNTY_ROLES | BY_POPULATION
    visitor.fill(draft, roles, totals="yes")
    page = visitor.get(f"{draft}/release").text
    command, python = (
        words for words in re.findall(r"<pre[^>]*><code>(.*?)</code>", page, re.DOTALL)
    )
    monkeypatch.chdir(folder)
    code, _, errors = cli(*shlex.split(words_of(command))[1:])
    monkeypatch.chdir(folder)
    assert code == 0, errors
    source = python.replace("&#39;", "'").replace("&#34;", '"')
    source = source.replace("'release'", "'by_python'")
    exec(compile(source, "shown", "exec"), {})
    records = [holdfast.load(place).summary() for place in ("release", "by_python")]
    for record in records:
        assert record["privacy"]["epsilon"] == "2" and record["rows"] == 300
        assert record["unchanged_columns"] == ["county", "population"]


def test_a_large_file_is_previewed_by_its_head_and_streamed(visitor, at_once, monkeypatch):
    monkeypatch.setattr("holdfast.former.engines.looking.LARGE", 50)
    draft = visitor.start(path="deaths.csv")
    visitor.fill(draft)
    assert "holdfast.privatize_stream" in visitor.get(f"{draft}/release").text
    assert "recomputed and holds" in visitor.press(draft, out="out").text


def test_a_large_file_is_streamed_with_groups_and_totals_too(tmp_path, monkeypatch):
    monkeypatch.setattr("holdfast.former.engines.looking.LARGE", 50)
    table = write_counties(tmp_path / "deaths.csv", rows=60)
    asked = {"count": "deaths", "within": ["state"], "totals": True}
    run = Chosen(source=str(table), part={}, people=None, arguments=asked)
    recipe = of_run(run, tmp_path)
    assert run.streamed and "privatize_stream" in recipe.python
    assert "--no-stream" not in recipe.command


def test_the_heavy_parts_are_not_needed_for_the_first_page():
    code = (
        "import sys, holdfast.page.app, holdfast.page.server\n"
        "heavy = {'numba', 'scipy', 'opendp', 'pyarrow', 'pandas', 'narwhals', 'numpy'}\n"
        "print(*sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"numpy", "narwhals"}
