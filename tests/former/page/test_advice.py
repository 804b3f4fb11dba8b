"""What the page tells a steward to do about a table, and does at a press."""

import re
import shutil

import pytest

from holdfast.former.ledger.ledger import Ledger
from page_visits import COUNTY_ROLES, problem_of, words_of

ROWS = [(f"C{i}", "NE" if i % 2 else "IA", i * i * 31 % 7) for i in range(60)]
HEADER = "county,state,deaths\n"
BODY = "".join(f"{c},{s},{n}\n" for c, s, n in ROWS)
SUM = sum(n for *_, n in ROWS)
ROLES = {"role:county": "category", "role:deaths": "count"}


def columns_of(visitor, folder, text, roles=ROLES):
    (folder / "messy.csv").write_text(text)
    draft = visitor.start(path="messy.csv")
    return visitor.post(f"{draft}/columns", roles), draft


def test_the_last_rows_of_a_file_are_shown_with_their_numbers(visitor, folder):
    _, draft = columns_of(visitor, folder, "Deaths in 2023\n" + HEADER + BODY + f"Sum,,{SUM}\n")
    page = words_of(visitor.get(f"{draft}/file").text)
    assert "is the last one a total? row county state deaths 3 C0 IA 0" in page
    assert f"62 C59 NE 6 63 Sum {SUM}" in page


@pytest.mark.parametrize("label", ("Total", "Whole country"))
def test_a_total_is_named_by_its_row_and_left_out_at_a_press(visitor, folder, label):
    page, draft = columns_of(visitor, folder, HEADER + BODY + f'"{label}",,{SUM}\n')
    assert "'totals'" not in problem_of(page) and "Row 62: " + label in words_of(page.text)
    assert f"{SUM:,}" not in words_of(re.sub(r'<div class="private">.*?</div>', "", page.text))
    link = re.search(r'href="([^"]*unfold=yes)#leave_out"', page.text)[1]
    assert "<details open>" in visitor.get(link).text
    page = visitor.post(f"{draft}/mend", {"row": "62"})
    assert problem_of(page) == "" and "in order: 60 rows." in page.text
    assert 'name="leave_out" value="62"' in visitor.get(f"{draft}/file").text.replace("  ", " ")


def test_a_total_in_a_workbook_has_the_number_that_excel_shows(visitor, folder):
    pytest.importorskip("python_calamine")
    from xlsxwriter import Workbook

    with Workbook(folder / "messy.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(1, 0, ["county", "deaths"])
        for at, (county, _, deaths) in enumerate([*ROWS, ("Total", "", SUM)]):
            sheet.write_row(2 + at, 0, [county, deaths])
    draft = visitor.start(path="messy.xlsx")
    assert "Row 63: Total" in words_of(visitor.post(f"{draft}/columns", ROLES).text)


def test_categories_that_repeat_are_told_apart_by_another_column(visitor, folder):
    text = HEADER + BODY + "C1,IA,3\nC2,NE,4\n"
    page, draft = columns_of(visitor, folder, text)
    assert "Together with state, every row has a name of its own" in page.text
    assert "such as “C1”" in page.text
    page = visitor.post(f"{draft}/columns", ROLES | {"together": "state"})
    assert page.url.path == f"{draft}/protected"
    page = visitor.get(f"{draft}/columns").text
    assert "Published unchanged: county, state" in page
    assert 'name="repeated" value="yes" checked' in page and 'name="together"' not in page


def test_no_column_is_offered_where_none_tells_rows_apart(visitor, folder):
    page, _ = columns_of(visitor, folder, HEADER + BODY + "C1,NE,3\n")
    assert problem_of(page) and "Together with" not in page.text


def test_the_order_of_the_file_is_said_and_counts_are_not_offered_for_it(visitor, folder):
    rows = "".join(f"C{i:02d},{'IA' if i < 30 else 'NE'},{n}\n" for i, (*_, n) in enumerate(ROWS))
    page, _ = columns_of(visitor, folder, HEADER + rows)
    page = visitor.get(page.url.path.replace("protected", "columns")).text
    offered = re.search(r'<select name="order_by".*?</select>', page, re.DOTALL)[0]
    assert "now in the order of county" in offered and ">state<" in offered
    assert "deaths" not in offered


def test_groups_that_are_too_small_come_with_what_can_be_done(visitor, folder):
    rows = "".join(f"C{i},{'A' if i < 96 else 'BC'[i % 2]},{i * i * 31 % 7}\n" for i in range(100))
    (folder / "states.csv").write_text(HEADER + rows)
    draft = visitor.start(path="states.csv")
    page = words_of(visitor.fill(draft, ROLES | {"role:state": "group"}).text)
    told = re.search(r"(\d) of 3 groups have fewer than (\d+) rows", page)
    assert told[1] == "2" and 2 < int(told[2]) <= 96
    assert "The smallest, with their rows: B (2), C (2)" in page and "such as regions" in page
    enough = re.search(r"choose epsilon (\d+) or more", page)
    assert enough is None or "groups have fewer" not in words_of(
        visitor.fill(draft, ROLES | {"role:state": "group"}, epsilon=enough[1]).text
    )


def test_an_earlier_release_of_the_same_data_is_told_where_no_ledger_adds_up(
    visitor, folder, bundle
):
    (folder / "deaths.csv").write_bytes((bundle.parent / "deaths.csv").read_bytes())
    draft = visitor.start(path="deaths.csv")
    assert "nobody adds up" not in words_of(visitor.fill(draft).text)
    shutil.copytree(bundle, folder / "last_week")
    page = words_of(visitor.get(f"{draft}/release").text)
    assert "last_week (epsilon 2)" in page and "epsilon 4 in all" in page
    (folder / "last_week" / "release.json").write_text('{"privacy": []}')
    assert "nobody adds up" not in words_of(visitor.get(f"{draft}/release").text)


def test_a_new_ledger_does_not_hide_releases_that_it_does_not_know_of(visitor, folder, bundle):
    (folder / "deaths.csv").write_bytes((bundle.parent / "deaths.csv").read_bytes())
    shutil.copytree(bundle, folder / "last_week")
    Ledger(folder / "new.ledger").set_limit("deaths", epsilon=9)
    draft = visitor.start(path="deaths.csv")
    page = visitor.fill(draft, ledger="new.ledger", dataset="deaths")
    assert "last_week (epsilon 2)" in words_of(page.text)


def test_a_rate_that_would_be_published_takes_a_tick_too(visitor, folder):
    lines = [f"C{i},{i % 7},{(i * 37) % 11 + 0.25}" for i in range(60)]
    (folder / "rates.csv").write_text("\n".join(["county,deaths,robbery_rate", *lines]) + "\n")
    draft = visitor.start(path="rates.csv")
    roles = {"role:county": "category", "role:deaths": "count", "role:robbery_rate": "keep"}
    page = visitor.post(f"{draft}/columns", roles)
    assert "robbery_rate: numbers that would be published" in problem_of(page)


def test_drafts_that_are_no_different_are_listed_and_removed_as_one(visitor):
    for _ in range(2):
        visitor.fill(visitor.start(path="deaths.csv"))
    assert len(visitor.site.state.names("drafts")) == 2
    assert visitor.get("/").text.count("Remove the draft of") == 1
    draft = visitor.site.state.names("drafts")[0]
    visitor.post(f"/drafts/{draft}/forget")
    assert visitor.site.state.names("drafts") == []


def test_looking_at_a_file_again_goes_on_with_its_draft(visitor):
    assert visitor.start(path="deaths.csv") == visitor.start(path="deaths.csv")


def test_an_epsilon_that_nobody_chose_is_explained_and_not_filled_in(visitor):
    draft = visitor.start(path="deaths.csv")
    visitor.post(f"{draft}/columns", {"role:county": "category", "role:deaths": "count"})
    page = visitor.post(f"{draft}/protected", {"contributions": "1"}).text
    assert "1 is a common place to start" in page and "73%" in page
    assert 'name="epsilon" inputmode="decimal" size="6" list="epsilons" value=""' in page
    page = visitor.post(f"{draft}/file", {"rows": "counts", "path": "", "go": "stay"})
    assert "Nothing is named yet" in problem_of(page) and "`" not in problem_of(page)


def test_small_groups_are_told_for_every_column_of_counts(visitor, folder):
    rows = "".join(
        f"C{i},{'A' if i < 96 else 'BC'[i % 2]},{i * i * 31 % 7},{'' if i in (1, 97) else i % 5}\n"
        for i in range(100)
    )
    (folder / "states.csv").write_text("county,state,deaths,births\n" + rows)
    draft = visitor.start(path="states.csv")
    roles = ROLES | {"role:state": "group", "role:births": "count", "blank": "yes"}
    page = words_of(visitor.fill(draft, roles).text)
    assert "deaths: 2 of 3 groups have fewer than" in page
    assert "births: 2 of 3 groups have fewer than" in page and "C (1), B (2)" in page
    assert page.count("You can:") == 1


def test_rows_without_a_count_are_told_wherever_rows_are_counted(visitor, folder):
    rows = "".join(f"C{i},{'' if i < 3 else i % 5},{i % 7}\n" for i in range(40))
    (folder / "gaps.csv").write_text("county,deaths,births\n" + rows)
    draft = visitor.start(path="gaps.csv")
    last = words_of(visitor.fill(draft, ROLES | {"blank": "yes"}).text)
    assert "Published: 40 rows, of which 3 without a count; counts from 0 to 4" in last
    page = words_of(visitor.get(f"{draft}/columns").text)
    assert "in order: 40 rows, of which 3 without a count." in page
    visitor.post(f"{draft}/columns", ROLES | {"role:births": "count", "blank": "yes"})
    page = words_of(visitor.get(f"{draft}/columns").text)
    assert "deaths: 40 rows, of which 3 without a count; births: 40 rows." in page


@pytest.mark.parametrize("role", ("keep", "classes"))
def test_numbers_that_would_be_published_as_they_are_take_a_tick(visitor, role):
    draft = visitor.start(path="deaths.csv")
    roles = {"role:county": "category", "role:deaths": "count", "role:population": role}
    page = visitor.post(f"{draft}/columns", roles)
    assert page.url.path == f"{draft}/columns"
    assert "population: numbers that would be published without any protection" in problem_of(page)
    assert "population may be known to everybody" in page.text and "in order:" not in page.text
    page = visitor.post(f"{draft}/columns", roles | {"public": "population"})
    assert page.url.path == f"{draft}/protected"
    page = visitor.get(f"{draft}/columns").text
    assert 'name="public" value="population" checked' in page


def test_rows_are_named_by_their_numbers_in_the_file(visitor, folder):
    text = "Deaths, 2023\n\n" + HEADER + BODY + "X,NE,many\n"
    page, _ = columns_of(visitor, folder, text)
    assert "row 64 is text" in problem_of(page) and "data row" not in problem_of(page)


def test_rows_that_were_left_out_are_said_with_where_the_table_ends(visitor, folder):
    text = "Deaths\n\n" + HEADER + BODY + f"Total,,{SUM}\n\nSource: us\n"
    _, draft = columns_of(visitor, folder, text)
    page = words_of(visitor.post(f"{draft}/mend", {"row": "64"}).text)
    assert "found to end in row 63" in page and "Left out inside it, as you said: row 64" in page


def test_what_is_wrong_keeps_the_steps_below_it_closed(visitor):
    draft = visitor.start(path="deaths.csv")
    visitor.fill(draft)
    page = visitor.post(f"{draft}/columns", {"role:county": "count"})
    assert problem_of(page) and f'href="{draft}/protected"' not in page.text
    assert visitor.get(f"{draft}/budget").url.path == f"{draft}/columns"
    visitor.post(f"{draft}/columns", COUNTY_ROLES)
    assert visitor.get(f"{draft}/release").url.path == f"{draft}/release"


def test_what_is_typed_is_kept_before_it_is_sent(visitor):
    draft = visitor.start(path="deaths.csv")
    visitor.fill(draft)
    kept = visitor.post(f"{draft}/release", {"out": "deaths 2023", "go": "keep"})
    assert kept.status_code == 204
    assert 'value="deaths 2023"' in visitor.get(f"{draft}/release").text


def test_drafts_of_the_same_file_are_told_apart(visitor):
    for epsilon in ("1", "2"):
        visitor.fill(visitor.start(path="deaths.csv"), epsilon=epsilon)
    page = words_of(visitor.get("/").text)
    assert "deaths; epsilon 1" in page and "deaths; epsilon 2" in page


def test_what_is_no_number_among_the_counts_is_named_where_codes_are(visitor, folder):
    text = HEADER + BODY + "X,NE,n/a\nY,NE,*\nZ,NE,n/a\n"
    page, draft = columns_of(visitor, folder, text)
    assert "these are not numbers: “n/a”, “*”." in words_of(page.text)
    page = visitor.post(f"{draft}/columns", ROLES | {"missing": "n/a *"})
    assert page.url.path == f"{draft}/protected"
