"""From a file to a release, by forms alone."""

import contextlib
import html
import re
import shlex
import shutil

import pytest

import holdfast
from page_visitor import COUNTIES, problem_of, words_of


def test_a_file_is_shown_before_anything_is_asked(visitor):
    page = words_of(visitor.get(visitor.start()).text)
    assert "NOT PRIVATE" in page and "C000 AL 1000 0" in page and "300 rows" in page
    assert "C299" in page and "What would happen" not in page


def test_the_form_has_every_field_of_a_request_but_two(visitor):
    from holdfast.page.form import ELSEWHERE
    from holdfast.request import FIELDS

    page = visitor.get(visitor.start()).text
    assert ELSEWHERE == ("query", "keep_none")
    for name in FIELDS:
        asked = f'name="{name}"' in page or f'name="{name}.others"' in page
        assert asked is (name not in ELSEWHERE), name


def test_the_first_panel_is_open_and_the_others_are_folded(visitor):
    page = visitor.get(visitor.start()).text
    assert page.count('<details class="panel">') == 6
    assert page.index("A first release") < page.index('<details class="panel">')


def test_what_would_happen_is_said_before_anything_is_spent(visitor, folder):
    draft = visitor.start()
    page = visitor.fill(draft, within=["state"])
    said = words_of(page.text)
    assert "What would happen" in said and "300 rows" in said and "2 groups" in said
    assert "Withheld: 'population'" in said and problem_of(page) == ""
    assert not (folder / "out").exists()


def test_an_error_stands_beside_the_form_and_the_preview_stays(visitor):
    page = visitor.fill(visitor.start(), epsilon="-1")
    assert "“Epsilon” must be positive" in problem_of(page)
    assert "C000" in page.text and 'value="-1"' in page.text
    assert 'aria-invalid="true"' in page.text


def test_a_folded_panel_with_an_error_is_open(visitor):
    page = visitor.fill(visitor.start(), rows="many")
    assert "“Most rows of a person” must be a whole number" in problem_of(page)
    assert '<details class="panel" open>' in page.text


def test_one_button_makes_a_release_that_holds(visitor, folder, at_once):
    draft = visitor.start()
    visitor.fill(draft, keep=["state"], within=["state"])
    page = visitor.press(draft)
    said = words_of(page.text)
    assert "The release is made" in said and "was recomputed and holds" in said
    assert holdfast.verify(folder / "out").passed
    assert "share with 0" in said and "By group" in said
    assert "holdfast privatize deaths.csv --count deaths" in said


def test_a_second_press_makes_nothing(visitor, folder, at_once):
    draft = visitor.start()
    visitor.fill(draft)
    visitor.press(draft)
    before = (folder / "out" / "release.json").read_bytes()
    page = visitor.post(f"{draft}/run", {"seen": "0" * 24, "sure": "yes"})
    assert "The release is made" in page.text
    assert (folder / "out" / "release.json").read_bytes() == before


def test_the_button_of_an_older_page_starts_nothing(visitor, folder, at_once):
    draft = visitor.start()
    visitor.fill(draft)
    page = visitor.post(f"{draft}/run", {"seen": "0" * 24})
    assert "Nothing was started" in page.text
    assert not (folder / "out").exists()


def test_the_button_of_a_page_from_before_the_file_changed_starts_nothing(visitor, folder, at_once):
    draft = visitor.start()
    seen = re.search(r'name="seen" value="(\w+)"', visitor.fill(draft).text)
    (folder / "deaths.csv").write_text("county,deaths\nA,1\nB,2\n")
    visitor.post(f"{draft}/run", {"seen": seen[1], "sure": "yes"})
    assert not (folder / "out").exists()


def test_a_doubt_must_be_ticked(visitor, folder, at_once):
    draft = visitor.start()
    page = visitor.fill(draft, epsilon="10")
    assert "Before paying" in page.text
    seen = re.search(r'name="seen" value="(\w+)"', page.text)
    visitor.post(f"{draft}/run", {"seen": seen[1]})
    assert not (folder / "out").exists()
    visitor.press(draft)
    assert (folder / "out").exists()


def test_a_dropped_file_is_released_into_the_folder(visitor, folder, at_once):
    draft = visitor.drop("../x/Kreise ä.csv", b"k;n\nA;1\nB;2\nC;0\n")
    visitor.fill(draft, {"count": "n", "category": "k", "epsilon": "1", "out": "mine"})
    assert "The release is made" in visitor.press(draft).text
    assert (folder / "mine" / "README.md").is_file()


def test_a_file_that_is_no_table_is_refused(visitor):
    reply = visitor.post("/drafts", files={"upload": ("a.exe", b"MZ")})
    assert reply.status_code == 400 and "no table" in reply.text


def test_sheets_of_a_workbook_are_a_choice(visitor, folder):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    pytest.importorskip("python_calamine")
    book = xlsxwriter.Workbook(folder / "b.xlsx")
    for name in ("Notes", "Deaths"):
        sheet = book.add_worksheet(name)
        for row, cells in enumerate([("county", "deaths"), ("A", 3), ("B", 0), ("C", 1)]):
            sheet.write_row(row, 0, cells)
    book.close()
    draft = visitor.start("b.xlsx")
    page = visitor.get(draft).text
    assert '<button name="sheet" value="Deaths">' in page and "What is to be released" not in page
    page = visitor.post(draft, {"sheet": "Deaths", "go": "look"}).text
    assert "3 rows" in words_of(page) and "NOT PRIVATE" in page


def test_a_table_below_a_title_is_found_and_its_rows_are_filled_in(visitor, folder):
    lines = ["Deaths by county", "", "county,deaths", *(f"C{i},{i % 4}" for i in range(20))]
    (folder / "titled.csv").write_text("\n".join(lines) + "\n")
    page = visitor.get(visitor.start("titled.csv")).text
    assert 'name="header_row" inputmode="decimal" value="3"' in page


def test_a_total_at_the_end_is_filled_in_as_left_out(visitor, folder):
    rows = "".join(f"C{i},{i * i * 7 % 11}\n" for i in range(30))
    (folder / "total.csv").write_text(f"county,n\n{rows}Total,150\n")
    page = visitor.get(visitor.start("total.csv")).text
    assert re.search(r'name="last_row" [^>]*value="31"', page)


def test_codes_that_may_mean_not_known_are_boxes(visitor, folder):
    rows = "".join(f"C{i},{i * i * 7 % 11}\n" for i in range(30))
    (folder / "codes.csv").write_text(f"county,n\nX,-999\nY,\n{rows}")
    draft = visitor.start("codes.csv")
    assert 'name="missing" value="-999"' in visitor.get(draft).text
    fields = {"count": "n", "category": "county", "epsilon": "1", "out": "o"}
    page = visitor.fill(draft, fields, missing=["-999", "blank cells"])
    assert problem_of(page) == "" and "without a count of 'n'" in words_of(page.text)
    assert "--missing &#39;&#39;" in page.text


def test_what_gives_the_counts_away_can_be_ticked(visitor, folder):
    lines = [f"C{i},{i * 7 % 11},{i * 7 % 11 + 5}" for i in range(40)]
    (folder / "leak.csv").write_text("county,n,more\n" + "\n".join(lines) + "\n")
    draft = visitor.start("leak.csv")
    fields = {"count": "n", "category": "county", "epsilon": "1", "out": "o", "keep": ["more"]}
    page = visitor.fill(draft, fields)
    assert "more" in problem_of(page) and 'name="publish_anyway" value="more"' in page.text
    assert problem_of(visitor.fill(draft, fields, publish_anyway=["more"])) == ""


def test_persons_are_counted_first(visitor, folder, at_once):
    (folder / "people.csv").write_text(
        "id,county\n" + "".join(f"p{i},C{i % 4}\n" for i in range(40))
    )
    (folder / "list.csv").write_text("county\n" + "".join(f"C{i}\n" for i in range(6)))
    draft = visitor.start("people.csv")
    page = visitor.get(draft).text
    assert 'name="from_people" value="yes" checked' in page
    fields = {"from_people": "yes", "by": ["county"], "categories": "list.csv"}
    page = visitor.fill(draft, fields | {"epsilon": "1", "out": "o"})
    assert problem_of(page) == "" and "6 rows" in words_of(page.text)
    assert "The release is made" in visitor.press(draft).text


def test_a_ledger_is_started_chosen_and_pays(visitor, folder, at_once):
    from holdfast import Ledger

    draft = visitor.start()
    visitor.fill(draft)
    fields = {"file": "budget", "dataset": "deaths", "limit": "3"}
    page = visitor.post(f"{draft}/ledger", fields)
    assert "has spent epsilon 0 of 3; 3 is left" in words_of(page.text)
    page = visitor.press(draft)
    assert "has spent epsilon 2 of 3; 1 is left" in words_of(page.text)
    assert float(Ledger(folder / "budget.ledger").balance("deaths").epsilon_left) == 1
    again = visitor.post(f"{draft}/copy").url.path
    page = visitor.fill(again, ledger="budget.ledger", dataset="deaths", out="out2", epsilon="1.5")
    assert "cannot afford" in page.text and "Make the release" not in page.text
    assert not (folder / "out2").exists()


def test_a_limit_that_is_there_is_not_changed(visitor, folder):
    from holdfast import Ledger

    Ledger(folder / "b.ledger").set_limit("deaths", epsilon=1)
    draft = visitor.start()
    reply = visitor.post(f"{draft}/ledger", {"file": "b.ledger", "dataset": "deaths", "limit": "9"})
    assert reply.status_code == 400
    assert Ledger(folder / "b.ledger").balance("deaths").epsilon_limit == 1


def test_a_copy_goes_on_with_what_was_filled_in(visitor, at_once):
    draft = visitor.start()
    visitor.fill(draft)
    visitor.press(draft)
    page = visitor.post(f"{draft}/copy")
    assert page.url.path != draft and 'value="deaths" checked' in page.text


def test_drafts_are_listed_with_how_far_they_are(visitor, at_once):
    draft = visitor.start()
    assert f'href="{draft}"' in visitor.get("/").text
    visitor.fill(draft)
    assert "deaths, epsilon 2" in visitor.get("/").text
    visitor.press(draft)
    page = visitor.get("/").text
    assert f'href="{draft}/run"' in page and "released" in page and 'value="out"' in page


def test_a_draft_can_be_removed(visitor):
    draft = visitor.start()
    assert draft not in visitor.post(f"{draft}/forget").text
    assert visitor.get(draft).status_code == 400


def test_a_seed_is_a_rehearsal(visitor, at_once):
    draft = visitor.start()
    assert "A rehearsal" in visitor.fill(draft, seed="1").text
    assert "SIMULATION" in visitor.press(draft).text


def test_the_recipe_counts_persons_as_the_page_does(visitor, folder, at_once, monkeypatch):
    people = "".join(f"p{i},C{i * i % 5}\n" for i in range(40))
    (folder / "people.csv").write_text(f"id,county\n{people}")
    (folder / "list.csv").write_text("county\n" + "".join(f"C{i}\n" for i in range(6)))
    fields = {"from_people": "yes", "by": ["county"], "categories": "list.csv", "epsilon": "1"}
    draft = visitor.start("people.csv")
    page = visitor.fill(draft, fields | {"out": "out", "seed": "3"})
    python = html.unescape(re.findall(r"<code>(.*?)</code>", page.text, re.DOTALL)[1])
    visitor.press(draft)
    made = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
    shutil.rmtree(folder / "out")
    monkeypatch.chdir(folder)
    exec(python, {})
    assert {path.name: path.read_bytes() for path in (folder / "out").iterdir()} == made


RUNS = [
    {},
    {"keep": ["state", "population"], "within": ["state"], "within.others": "population:3"},
    {"contributions.others": "3", "rows": "2", "unit": "household"},
    {"totals": "yes", "split": "0.1", "within": ["state"], "keep": ["state"],
     "contributions.others": "2"},
    {"totals.others": "0.2", "top": "4", "epsilon": "10", "seed": "0"},
    {"subset": "state=NE", "keep": ["state"], "period": "2025-09..2026-08", "last_row": "200"},
    {"leave_out.others": "2, 3 5", "last_row": "100", "header_row": "1"},
    {"missing": ["-999"], "order_by": "county", "person_in": "one column"},
    {"missing.others": "-999\nunknown", "order_by": "state", "keep": ["state"], "period": "2026"},
    {"count": ["deaths", "population"], "weights.others": "deaths=2\npopulation=1",
     "contributions.others": "deaths=1\npopulation=4",
     "publish_anyway.others": "row order"},
    {"count": ["deaths", "population"], "publish_anyway.others": "row order",
     "person_in": "one column"},
    {"table_format": "parquet", "repeated_categories": "yes", "epsilon": "0.3",
     "contributions.others": "deaths=2"},
    {"epsilon": "1/3", "keep": ["population"], "within.others": "population:auto"},
    {"epsilon": "0.05", "seed": "123456789", "split": "1/5"},
    {"thousands": ",", "decimal": ".", "unit": "establishment", "leave_out.others": "10",
     "publish_anyway.others": "row order", "keep": ["population", "state"]},
]  # fmt: skip


@pytest.mark.parametrize("more", RUNS)
def test_the_recipe_gives_the_release_of_the_page(visitor, folder, at_once, monkeypatch, more):
    """The same seed, the same bytes."""
    from holdfast.cli import commands

    monkeypatch.setenv("COLUMNS", "120")  # as wide as in tests of commands, which share a console
    draft = visitor.start()
    page = visitor.fill(draft, COUNTIES | {"seed": "7"} | more)
    assert problem_of(page) == ""
    command, python = map(html.unescape, re.findall(r"<code>(.*?)</code>", page.text, re.DOTALL))
    assert "The release is made" in visitor.press(draft).text
    made = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
    monkeypatch.chdir(folder)
    for how in ("command", "python"):
        shutil.rmtree(folder / "out")
        if how == "python":
            exec(python, {})
        else:
            words = shlex.split(command)[1:]
            monkeypatch.setattr("sys.argv", ["holdfast", *words])
            with contextlib.suppress(SystemExit):
                commands()(words, standalone_mode=False)
        again = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
        assert again == made, how


def test_a_file_of_persons_is_asked_first_how_to_count_them(visitor, folder):
    rows = "".join(f"P{i // 2},{'ABC'[i % 3]},{i % 5}\n" for i in range(60))
    (folder / "people.csv").write_text(f"person_id,ward,visits\n{rows}")
    page = visitor.get(visitor.start("people.csv")).text
    assert page.index("A file with a row for every person") < page.index("A first release")
    assert re.search(r'name="by" value="ward" checked', page)
    assert '<option value="person_id" selected>' in page and 'name="count"' not in page


def test_what_is_wrong_stands_where_the_page_is_shown_again(visitor):
    draft = visitor.start("deaths.csv")
    reply = visitor.post(draft, {"epsilon": "-1", "go": "check"})
    place = reply.text.index('id="happens"')
    assert "must be positive" in words_of(reply.text[place : place + 400])


def test_a_field_is_called_by_what_it_means(visitor):
    page = visitor.get(visitor.start())
    for label in ("Folder for the release", "Whose row it is", "Columns to count by"):
        assert label in words_of(page.text)


def test_what_is_counted_is_not_offered_to_be_published_as_it_is(visitor):
    page = visitor.fill(visitor.start()).text
    assert 'name="keep" value="state"' in page and 'name="within" value="state"' in page
    assert 'name="keep" value="deaths"' not in page and 'name="within" value="deaths"' not in page


def test_a_ledger_that_is_not_there_opens_the_place_to_start_one(visitor):
    draft = visitor.start()
    assert "<details><summary>Choose or start a ledger" in visitor.fill(draft).text
    page = visitor.fill(draft, ledger="budget.ledger", dataset="deaths")
    assert "start one under “Choose or start a ledger”" in problem_of(page)
    assert "<details open><summary>Choose or start a ledger" in page.text
