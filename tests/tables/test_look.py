"""A first look at a table that is not ready: everything that trips a steward up is pointed out."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest

from holdfast.tables import look as looking
from holdfast.tables.look import look
from holdfast.tables.look_columns import ColumnKind, near_labels
from holdfast.tables.options import TableOptions
from open_tables import text_table

MESSY = """Deaths by county, 2023
Registrar
region;county;deaths;population
West;Wake;12;1.000.500
West;Guilford;-999;541.000
West;Guildford;3;12.000
East;Hyde;0;4.500
East;wake ;NA;1.200
East;Polk;7;20.000
East;Polk;7;20.000
 east;Onslow;8;205.000
East;Total;37;1.804.200

Source: us
"""


def texts(found):
    """What is said of a table, a line each."""
    return "\n".join(hint.text for hint in found.hints)


def look_at(table):
    """What a file looks like that holds a table."""
    data = table.to_csv(index=False).encode() if isinstance(table, pd.DataFrame) else None
    with TemporaryDirectory() as folder:
        path = Path(folder) / "in.csv"
        path.write_bytes(table.to_bytes() if data is None else data)
        return look(path)


def showing(monkeypatch, first, last):
    """Show so many rows."""
    monkeypatch.setattr(looking, "FIRST", first)
    monkeypatch.setattr(looking, "LAST", last)


def messy(folder):
    path = folder / "deaths.csv"
    path.write_text(MESSY)
    return path


def test_a_messy_file_is_described_with_what_to_do(tmp_path, monkeypatch):
    showing(monkeypatch, 2, 2)
    found = look(messy(tmp_path))
    assert found.part == {"header_row": 3, "last_row": 11} and found.problem == ""
    assert [column.name for column in found.columns] == ["region", "county", "deaths", "population"]
    kinds = [column.kind for column in found.columns]
    assert kinds == [ColumnKind.TEXT, ColumnKind.TEXT, ColumnKind.WHOLE, ColumnKind.NUMBERS]
    assert found.rows == 9 and found.non_private_counts == ("deaths",)
    assert [row.number for row in (*found.first, *found.last)] == [4, 5, 11, 12]
    assert found.first[1].cells == ("West", "Guilford", "-999", "541.000")
    assert found.last[1].cells == ("East", "Total", "37", "1.804.200")
    assert found.non_private_codes == {"deaths": ("-999", "NA")}
    region, county = found.columns[:2]
    assert dict(region.labels) == {" east": 1, "East": 4, "West": 3}
    assert region.near == ((" east", "East"),)
    assert county.totals == ("Total",) and ("wake ", "Wake") in county.near
    said = texts(found)
    for words in ("Name its rows", "'Total'", "'-999', 'NA'", "of one: ' east' and 'East'"):
        assert words in said
    assert found.suggested == {
        "header_row": ["3"],
        "last_row": ["11"],
        "missing": ["-999", "NA"],
        "count": ["deaths"],
    }


def test_a_point_that_may_stand_between_thousands_is_pointed_out(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("town,people,n\n" + "".join(f"T{k},{k + 1}.204,{k % 7}\n" for k in range(30)))
    assert "'people' has numbers such as 1.204: thousands to some" in texts(look(path))
    assert "thousands" not in texts(look(path, TableOptions(thousands=".")))


def test_labels_that_come_twice_are_named():
    rows = [[f"p{k}", str(k % 7)] for k in range(60)] + [["p3", "1"]]
    found = look_at(text_table(("place", "n"), rows))
    assert found.columns[0].repeated == ("p3",) and found.category_like == ("place",)
    assert "'place' has labels that come twice: 'p3'." in texts(found)
    once = look_at(text_table(("place", "n"), rows[:-1]))
    assert once.columns[0].repeated == () and once.category_like == ("place",)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_of_persons_is_known_with_how_to_count_them(suffix, tmp_path):
    people = {
        "person_id": [f"A{k:05d}" for k in range(200)],
        "county": [f"County {k % 13}" for k in range(200)],
        "born": [f"19{50 + k % 50}-01-02" for k in range(200)],
    }
    source = tmp_path / f"people.{suffix}"
    if suffix == "csv":
        pd.DataFrame(people).to_csv(source, index=False)
    else:
        pd.DataFrame(people).to_parquet(source)
    found = look(source)
    assert found.persons_by[0] == "county" and not found.non_private_counts
    assert "lists every 'county', those with nobody too" in texts(found)
    assert found.suggested == {"from_people": ["yes"], "by": ["county"]}
    assert (
        found.columns[2].kind in (ColumnKind.DATES, ColumnKind.TEXT) and found.category_like == ()
    )
    counted = pd.DataFrame(people).groupby("county").size().reset_index(name="n")
    assert look_at(counted).persons_by == ()


def test_a_file_that_numbers_persons_is_one_of_persons_whatever_else_it_counts():
    people = {"patient_id": np.arange(90), "ward": np.arange(90) % 4, "visits": np.arange(90) % 7}
    people["ward"] = [f"Ward {ward}" for ward in people["ward"]]
    found = look_at(pd.DataFrame(people))
    assert found.persons_by == ("ward",) and found.non_private_counts == ()
    assert look_at(pd.DataFrame(people).drop(columns="patient_id")).persons_by == ()


def test_persons_who_have_several_rows_are_counted_by_whose_they_are():
    people = {
        "person_id": [f"A{k // 2}" for k in range(90)],
        "ward": [f"W{k % 4}" for k in range(90)],
    }
    found = look_at(pd.DataFrame(people))
    assert found.suggested == {"from_people": ["yes"], "by": ["ward"], "per": ["person_id"]}
    assert found.columns[0].labels == ()  # nobody is listed


def test_visits_are_counted_first_by_the_patient_who_has_them():
    rows = [[str(k * k % 31), f"Clinic {k % 4}", f"2026-03-{1 + k % 28:02}"] for k in range(90)]
    found = look_at(text_table(("patient", "clinic", "date"), rows))
    assert found.suggested == {"from_people": ["yes"], "by": ["clinic"], "per": ["patient"]}


def test_numbers_with_a_zero_in_front_are_no_counts():
    rows = [[f"p{k}", f"{k % 7:05}", str(k % 7)] for k in range(40)]
    assert look_at(text_table(("place", "ward", "n"), rows)).non_private_counts == ("n",)


def test_dates_in_a_text_file_are_dates_and_no_category():
    rows = [[f"p{k}", f"19{50 + k % 50}-01-{1 + k % 28:02}", str(k % 5)] for k in range(40)]
    found = look_at(text_table(("place", "born", "n"), rows))
    assert found.columns[1].kind is ColumnKind.DATES and found.category_like == ("place",)


def test_identifiers_and_years_are_no_counts():
    rows = 40
    at = np.arange(rows)
    numbers = {"fips": 37000 + at, "year": 2023 + 0 * at, "phone": 9195550000 + at}
    numbers |= {"age": 20 + at % 31, "deaths": at % 9, "serial": at + 1000, "rate": at / 7}
    table = pd.DataFrame(numbers)
    assert look_at(table).non_private_counts == ("deaths",)


def test_a_heading_over_two_rows_is_noticed():
    rows = [["", "deaths", "births"], ["Kent", "3", "4"], ["Ely", "0", "2"], ["Rye", "1", "1"]]
    table = text_table(("county", "2022", "2023"), rows)
    assert look_at(table).two_headings
    assert "seem to go over two rows" in texts(look_at(table))
    assert not look_at(text_table(("county", "2022", "2023"), rows[1:])).two_headings


def test_the_sheets_of_a_workbook_are_a_choice(tmp_path):
    pytest.importorskip("python_calamine")
    xlsxwriter = pytest.importorskip("xlsxwriter")
    path = tmp_path / "counts.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for name in ("Notes", "Deaths"):
            sheet = book.add_worksheet(name)
            for at, row in enumerate([("county", "deaths"), ("Kent", 3), ("Ely", 0)]):
                sheet.write_row(at, 0, row)
    assert look(path).sheets == ("Notes", "Deaths") and look(path).rows == 0
    found = look(path, TableOptions(sheet="Deaths"))
    assert found.rows == 2 and found.first[0].cells == ("Kent", "3")
    assert [row.number for row in found.first] == [2, 3]


def workbook(path, rows):
    pytest.importorskip("python_calamine")
    with pytest.importorskip("xlsxwriter").Workbook(path) as book:
        sheet = book.add_worksheet("Visits")
        for at, row in enumerate(rows):
            sheet.write_row(at, 0, row)
    return path


CLINICS = [[f"Clinic {k}", ("East", "West")[k % 2], k % 6] for k in range(20)]


def test_the_rows_of_a_workbook_with_notes_and_totals_are_named(tmp_path):
    rows = [["Visits"], ["clinic", "region", "visits"], *CLINICS, ["Total", "", 47], [], ["Source"]]
    found = look(workbook(tmp_path / "in.xlsx", rows))
    assert found.problem == "" and found.part == {"last_row": 22} and found.rows == 21
    assert found.total_rows == () and found.non_private_counts == ("visits",)
    given = look(tmp_path / "in.xlsx", TableOptions(header_row=2))
    assert given.part == {"last_row": 22} and given.rows == 21


def test_a_total_among_the_rows_is_left_out_by_its_number(tmp_path):
    rows = [["clinic", "region", "visits"], *CLINICS[:9], ["Total", "East", 47], *CLINICS[9:]]
    found = look(workbook(tmp_path / "in.xlsx", [*rows, ["Total", "", 99]]))
    assert found.suggested["leave_out"] == ["11"] and found.suggested["last_row"] == ["22"]
    ending = look(tmp_path / "in.xlsx", TableOptions(last_row=23))
    assert ending.suggested["leave_out"] == ["11", "23"] and "last_row" not in ending.suggested


def test_columns_are_judged_without_the_totals_that_are_to_be_left_out(tmp_path):
    names = ["region", "clinic", "people", "visits"]
    rows = [[("East", "West")[k % 2], f"Clinic {k}", f"1,{k:03}", k % 6] for k in range(20)]
    rows += [["Total East", "", "9,500", 20], ["Grand total", "", "19,190", 47]]
    path = workbook(tmp_path / "in.xlsx", [names, *rows[:5], ["Total", "", "7", 3], *rows[5:]])
    found = look(path)
    assert found.category_like == ("clinic",) and found.suggested["category"] == ["clinic"]
    assert found.suggested["last_row"] == ["22"] and found.suggested["leave_out"] == ["7"]
    assert dict(found.columns[0].labels) == {"East": 10, "West": 10} and found.rows == 23
    assert "'Grand total'" in texts(found)


def test_a_total_below_codes_is_left_out(tmp_path):
    path = tmp_path / "in.csv"
    lines = ["zip,visits", *(f"{501 + k:05},{k % 6}" for k in range(30)), "Total,75"]
    path.write_text("\n".join(lines), encoding="utf-8")
    found = look(path)
    assert found.suggested["last_row"] == ["31"] and "Leave them out" in texts(found)


def test_a_workbook_that_cannot_be_read_is_shown_as_it_lies(tmp_path, monkeypatch):
    showing(monkeypatch, 3, 1)
    names = [["clinic", "", "visits"], ["name", "region", "2026"]]
    names[1][2] = "HIV"
    found = look(workbook(tmp_path / "in.xlsx", [["Visits"], *names, *CLINICS]))
    assert "stands under no column name" in found.problem and found.columns == ()
    assert [row.number for row in (*found.first, *found.last)] == [1, 2, 3, 23]
    assert found.first[2].cells == ("name", "region", "HIV")
    assert found.two_headings and "seem to go over two rows" in texts(found)


def test_names_of_columns_without_rows_are_told():
    words = "There are no rows below the names of the columns."
    assert texts(look_at(text_table(("place", "n"), []))) == words


@pytest.mark.parametrize("data", [b"", b"a,n\nx,1\ny,2,3\nz,4\n", b"\x00\x01", b'a,n\n"x,1\n'])
def test_what_cannot_be_read_is_told_and_not_raised(data, tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes(data)
    assert "in.csv" in look(path).problem and look(path).name == "in.csv"
    assert "cannot be read" in look(tmp_path / "nothing.csv").problem


def test_the_rows_of_a_large_file_are_counted_and_its_last_ones_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(looking, "LOOKED_AT", 100)
    path = tmp_path / "in.parquet"
    pd.DataFrame({"k": [f"p{k}" for k in range(5000)], "n": np.arange(5000) % 9}).to_parquet(path)
    found = look(path)
    assert found.rows == 5000 and found.last[-1].cells == ("p4999", "4")
    assert found.columns[0].different == 100


NEAR = {
    ("Saint Louis", "St. Louis County"): True,
    ("Dona Ana", "Doña Ana"): True,
    ("Mecklenberg", "Mecklenburg"): True,
    ("Guildford", "Guilford"): True,
    ("Onslwo", "Onslow"): True,
    ("District 11", "District 12"): False,
    ("Hyde", "Hude"): False,
    ("Kansas", "Arkansas"): False,
    ("Nash", "Cash"): False,
}


@pytest.mark.parametrize("pair", NEAR)
def test_labels_that_look_like_another_spelling(pair):
    few, many = pair
    assert near_labels({few: 1, many: 30, "Elsewhere": 9}) == ([pair] if NEAR[pair] else [])


def test_two_labels_of_as_many_rows_are_two_places():
    assert near_labels({"Johnson": 30, "Johnston": 25}) == []


def test_a_file_of_persons_tells_how_many_they_are(tmp_path):
    path = tmp_path / "visits.csv"
    rows = [f"p{k % 12},{'North' if k % 3 else 'South'}" for k in range(40)]
    path.write_text("\n".join(["patient_id,region", *rows]) + "\n")
    assert "40 rows seems to be about one of 12 in 'patient_id'" in texts(look(path))
