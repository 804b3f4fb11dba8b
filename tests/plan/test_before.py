"""What is said before paying: what is published, parts of the budget, what may be a slip."""

import json
from fractions import Fraction

import numpy as np
import pytest

from holdfast.engine.privatize import opened
from holdfast.errors import HoldfastError
from holdfast.plan import concerns
from holdfast.plan.before import COUNTED, NEVER_COUNTED, before, protected
from holdfast.request import Request
from holdfast.request.checks import read_persons
from holdfast.tables.groups import classes
from open_tables import text_table


def schools(rows=60):
    """A table with what stewards have: codes, places, other counts, two columns of counts."""
    rng = np.random.default_rng(1)
    names = ["school", "state", "zip", "ENROLLMENT", "lat", "teachers", "aides", "phone"]
    cells = [
        [
            f"school {row}",
            ["NE", "KS", "KS "][0 if row % 2 else 1 + (row == 0)],
            f"0{6800 + row}",
            str(200 + 7 * row % 191),
            f"{40 + row / 7:.3f}",
            str(rng.poisson(20)),
            str(rng.poisson(3)),
            str(4_020_000_000 + int(rng.integers(9_999_999))),
        ]
        for row in range(rows)
    ]
    return text_table(tuple(names), cells)


def said(**options):
    """What is said of a run on that table."""
    request = Request.read(
        **{"epsilon": "0.5", "count": "teachers", "category": "school"} | options
    )
    with opened(schools(), request) as table:
        found = before(table, request)
    json.dumps(found.to_dict())
    return found


def test_what_is_published_and_what_is_withheld_is_named():
    text = "\n".join(said(keep="state").paragraphs)
    assert "Published as it is: 'school', 'state', and the order of the rows." in text
    assert "Withheld: 'zip', 'ENROLLMENT', 'lat', 'aides', 'phone'." in text


def test_several_counts_are_said_with_all_parts_of_their_budgets():
    found = said(count=["teachers", "aides"], totals="0.1", split="0.2", keep="state")
    lines = found.paragraphs[2].splitlines()
    assert lines[0] == "A run would spend epsilon = 0.5:"
    assert lines[2].split("  ")[0] == "column"
    for line, name in zip(lines[3:], ("teachers", "aides"), strict=True):
        column, *numbers = line.split()
        assert column == name
        epsilon, counts, sums, totals = map(Fraction, numbers[:4])
        assert (epsilon, counts + sums + totals) == (Fraction(1, 4), Fraction(1, 4))


def test_another_count_of_people_that_is_kept_is_asked_about():
    assert any(
        "'ENROLLMENT' holds whole numbers" in doubt for doubt in said(keep="ENROLLMENT").doubts
    )
    assert not said(keep=["state", "zip", "lat"]).doubts
    assert not said(keep="ENROLLMENT", publish_anyway="ENROLLMENT").doubts


def test_a_kept_column_that_gives_the_counts_with_a_withheld_one_is_pointed_out():
    table = schools()
    names = (*table.columns, "POPULATION")
    rows = [[*row, str(int(row[3]) + int(row[5]))] for row in table.rows]
    request = Request.read(epsilon=1, count="teachers", category="school", keep="POPULATION")
    with opened(text_table(names, rows), request) as open_:
        (doubt,) = before(open_, request).doubts
    assert "gives the counts with 'ENROLLMENT', which is withheld here" in doubt
    people = Request.read(epsilon=1, count="teachers", category="school", keep="people")
    with opened(text_table((*table.columns, "people"), rows), people) as open_:
        gives, counts_people = before(open_, people).doubts
    assert "gives the counts" in gives and "another count of people" in counts_people
    rows = [[*row[:-1], row[3]] for row in rows]
    with opened(text_table(names, rows), request) as open_:
        assert before(open_, request).doubts == ()


@pytest.mark.parametrize("name", ["corporate", "flats", "platform_users"])
def test_a_name_that_holds_that_of_a_place_is_asked_about(name):
    assert concerns.people_beside(name, list(range(100, 140))) is not None


def warned(columns, **options):
    """What is doubted of a run on a table of such columns."""
    rows = [list(map(str, row)) for row in zip(*columns.values(), strict=True)]
    request = Request.read(epsilon=1, **options)
    with opened(text_table(tuple(columns), rows), request) as table:
        return before(table, request).doubts


@pytest.mark.parametrize("name", ["rate", "per_100k", "percent", "Quote", "Sterberate"])
def test_a_kept_column_named_like_a_rate_is_warned_of(name):
    rng = np.random.default_rng(5)
    table = {"place": [f"p{k}" for k in range(40)], "n": rng.poisson(5, 40)}
    asked = {"count": "n", "category": "place", "keep": name}
    for decimals in (rng.random(40).round(3), [f"{k * k % 17},5" for k in range(40)]):
        (doubt,) = warned(table | {name: decimals}, **asked)
        assert doubt.startswith(f"'{name}' is named like a rate")
    assert not warned(table | {"lat": rng.random(40)}, **asked | {"keep": "lat"})


def test_rows_that_nobody_can_tell_apart_are_warned_of():
    table = {"place": [f"p{k}" for k in range(40)], "n": np.random.default_rng(5).poisson(5, 40)}
    (doubt,) = warned(table, count="n", keep_none=True)
    assert "nobody will know whose count a row is" in doubt
    assert not warned(table, count="n", category="place")


def test_a_count_that_is_the_sum_of_the_others_is_said_before_paying():
    rng = np.random.default_rng(5)
    men, women, place = rng.poisson(5, 40), rng.poisson(5, 40), [f"p{k}" for k in range(40)]
    table = {"place": place, "men": men, "women": women, "deaths": men + women}
    asked = {"count": ["deaths", "men", "women"], "category": "place"}
    (doubt,) = warned(table, **asked)
    assert doubt.startswith("'deaths' is the sum of 'men', 'women'") and "spares epsilon" in doubt
    table["deaths"] = men + women + (np.arange(40) == 3)
    assert not warned(table, **asked)


def test_nines_are_asked_about_before_paying():
    rows = [[f"p{k}", "99" if k % 9 == 3 else str(k * k % 7)] for k in range(40)]
    request = Request.read(epsilon=1, count="n", category="place")
    with opened(text_table(("place", "n"), rows), request) as table:
        (doubt,) = before(table, request).doubts
    assert doubt.startswith("'n' has nines far above all other counts")
    assert "99" not in doubt and doubt.endswith("(NOT PRIVATE: seen in the counts)")


def test_a_column_of_telephone_numbers_is_no_column_of_counts():
    (doubt,) = said(count="phone", keep="state").doubts
    assert "looks like numbers that name things" in doubt
    assert not said(keep="state").doubts


def test_noise_above_every_count_is_said_where_rows_are_few():
    (doubt,) = said(epsilon="0.01", keep="state").doubts
    assert "drowns the counts of 'teachers', and 60 rows are too few" in doubt
    assert doubt.endswith("(NOT PRIVATE: seen in the counts)")
    assert not said(epsilon="0.3", keep="state").doubts
    counts = np.arange(20) % 4
    assert concerns.drowned("n", counts, 9, 900, Fraction(1, 10)) is not None
    assert concerns.drowned("n", counts, 9, 1000, Fraction(1, 10)) is None


def test_an_epsilon_that_explain_calls_large_is_said():
    bare, doubt = said(epsilon=8, keep="state").doubts
    assert bare.startswith("Most noisy counts of 'teachers' are the true ones")
    assert "It is large: 0.1 to 5 is usual" in doubt


def test_groups_are_listed_with_their_rows_and_small_ones_and_slips_are_said():
    found = said(within="state")
    groups = found.paragraphs[2]
    assert groups.startswith("The table has 3 groups (state)")
    assert (
        "NE: 30" in groups and "KS: 29" in groups and "KS : 1" in groups.replace("KS: 1", "KS : 1")
    )
    small, near = found.notes
    assert "1 of 3 groups has fewer than 20 rows" in small
    assert "differ by little" in near


def test_what_groups_cost_is_said_in_words_and_numbers():
    found = said(within="state", split="0.2")
    assert "They cost nothing" in found.paragraphs[2]
    headings, _numbers = found.paragraphs[3].splitlines()[2:]
    assert headings.endswith("single counts  distribution")
    assert found.paragraphs[4] == "In 9 of 10 rows noise is within ± 6 for 'teachers'."
    found = said(within="state", split="0.9")
    assert "The share named by split is divided" in found.paragraphs[2]
    headings, numbers = found.paragraphs[3].splitlines()[2:]
    assert headings.endswith("single counts  distribution  groups")
    counts, whole, groups = map(Fraction, numbers.split()[2:5])
    options = {"count": "teachers", "category": "school", "within": "state"}
    with opened(schools(600), request := Request.read(epsilon="0.1", **options)) as table:
        assert "is taken from single counts" in before(table, request).paragraphs[2]
    assert abs(counts + whole + groups - Fraction("0.5")) < Fraction("0.001") and groups > 0


def test_rows_below_the_last_one_are_counted_and_the_row_of_an_odd_cell_is_that_of_the_file(
    tmp_path,
):
    path = tmp_path / "t.csv"
    lines = [
        "Deaths in 2025",
        "place,people,n",
        *(f'p{row},"1,{row:03}",{row % 3}' for row in range(30)),
    ]
    path.write_text("\n".join([*lines, "", "Total,,29", "Source: us"]))
    words = {"epsilon": 1, "category": "place", "count": "n", "header_row": 2, "keep": "people"}
    for last, below in ((32, "2 rows"), (20, "14 rows")):
        request = Request.read(**words, last_row=last)
        with opened(path, request) as table:
            first = before(table, request, file=path).paragraphs[0]
            assert first.endswith(f"Left out, below row {last} of the file: {below}.")
            assert "Left out" not in before(table, request).paragraphs[0]
    request = Request.read(**words, last_row=32, within=classes("people", 4))
    said = "have classes; row 3 of the file holds no number as it is written"
    with pytest.raises(HoldfastError, match=said), opened(path, request):
        pass


def test_it_is_said_whether_a_second_run_pays_again(tmp_path):
    assert said(keep="state").paragraphs[-1] == NEVER_COUNTED
    paid = said(keep="state", ledger=tmp_path / "ledger", dataset="schools")
    assert paid.paragraphs[-1] == COUNTED


def test_words_say_to_whom_the_promise_is():
    firms = read_persons(["a", "b"], rows=2, unit="firm", person_in="one column")
    assert protected(firms) == (
        "one firm that adds at most 1 to a or 1 to b in each of at most 2 rows"
    )
    one, more = read_persons(["count"]), read_persons(["count"], rows=1200, contributions=5)
    assert protected(one) == "one person who adds at most 1 to one row"
    assert protected(more) == "one person who adds at most 5 to each of at most 1,200 rows"


def test_who_is_protected_is_asked_where_nobody_said_it():
    asks = "may be counted more than once"
    assert asks in "".join(said(keep="state").paragraphs)
    assert asks not in "".join(said(keep="state", contributions=5).paragraphs)


def test_labels_that_differ_by_a_slip_are_pointed_out():
    assert "'Wake Co.' and 'Wake'" in concerns.near_duplicates({"Wake": 30, "Wake Co.": 2})
    assert concerns.near_duplicates({"District 12": 3, "District 13": 4, "NE": 2, "NC": 1}) is None


def test_few_rows_are_not_judged():
    assert concerns.identifiers("phone", np.arange(10) + 5_550_000) is None
    assert concerns.people_beside("ENROLLMENT", ["3", "9"]) is None


def test_a_second_count_of_people_is_found_whatever_stands_for_a_missing_one():
    counts = [str(300 + row) for row in range(40)]
    for code in ("-999", "-1", "k.A.", "-", "inf", "3.5", "007"):
        assert concerns.people_beside("ENROLLMENT", [code, *counts]) is not None
        assert concerns.people_beside("ENROLLMENT", [*[code] * 60, *counts]) is not None
    assert concerns.people_beside("deaths", [0, 1, 2, 0] * 10) is not None  # small, and with 0
    assert concerns.people_beside("urban", [1, 2, 3] * 10) is None
    assert concerns.people_beside("flag", [0, 1] * 20) is None
    decimal_commas = [f"{row},{row * 37 % 90 + 10}" for row in range(1, 200)]
    assert concerns.people_beside("size", decimal_commas) is None
    grouped = [f"{row}.{row * 37 % 900 + 100}" for row in range(1, 200)]
    assert concerns.people_beside("size", grouped) is not None
    assert concerns.people_beside("Einwohner", grouped) is None
    assert concerns.people_beside("mean age", [f"{row / 7:.2f}" for row in range(200)]) is None


def test_whose_rows_are_counted_once_is_said_of_a_file_of_persons():
    people = text_table(("id", "ward"), [[f"{row // 2}", "AB"[row % 2]] for row in range(20)])
    options = {"epsilon": 1, "from_people": True, "by": "ward", "categories": ["A", "B"]}

    def paragraphs(**more):
        request = Request.read(**options, **more)
        with opened(people, request) as table:
            return "".join(before(table, request).paragraphs)

    assert "Every row of the file is taken for another person" in paragraphs()
    assert "Rows with the same 'id' are taken for one person's" in paragraphs(per="id")
