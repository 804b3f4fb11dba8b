"""A CSV file with more in it than its table: what is found, what is read, what is refused."""

import pytest

import holdfast
from holdfast.errors import HoldfastError
from holdfast.tables.csv_part import Lines, find_lines, records_of
from holdfast.tables.formats import TEXT
from holdfast.tables.groups import classes
from holdfast.tables.options import TableOptions
from open_tables import counts, open_table, read_file, refusal, replaced, written

ROWS = "".join(f"Kreis {i};NE;{i % 4};{i},5\n" for i in range(20))
TABLE = "Kreis;Land;Fälle;Quote\n" + ROWS
FILES = {
    "nothing": (TABLE, Lines()),
    "blank lines at the end": (TABLE + "\n  \n\n", Lines()),
    "a title": ("Fälle 2023\n" + TABLE, Lines(2)),
    "a title with a comma, and a source": ("Fälle, 2023\nQuelle: Amt\n\n" + TABLE, Lines(4)),
    "a title filled up with delimiters": ("Fälle;;;\n;;;\n" + TABLE, Lines(3)),
    "a line of years above the names": (";;2023;2023\n" + TABLE, Lines(2)),
    "what Excel says of the delimiter": ("sep=;\n" + TABLE, Lines(2)),
    "notes": (TABLE + "\nQuelle: Amt\n* vorläufig\n", Lines(None, 21)),
    "a note filled up with delimiters": (TABLE + ";;;\nQuelle: Amt;;;\n", Lines(None, 21)),
    "all of it": ("Fälle\n\n" + TABLE + "\n\nQuelle\n", Lines(3, 23)),
    "a total, which may be a row": (TABLE + "Summe;;30;\n", Lines()),
    "a column without a name": (TABLE.replace("Kreis;Land", ";Land"), Lines()),
    "no name for the rows": (";n\na;1\nb;2\n", Lines()),
    "no numbers, and no name for the rows": (";Kreis;Land\na;K;L\nb;M;N\n", Lines()),
    "one column": ("Fälle 2023\ncount\n1\n2\n", Lines()),
}


@pytest.mark.parametrize("case", FILES)
@pytest.mark.parametrize("encoding", ("utf-8", "cp1252", "utf-8-sig", "utf-16"))
def test_the_lines_of_a_table_are_found_whatever_stands_around_them(case, encoding):
    text, lines = FILES[case]
    assert find_lines(records_of(text.encode(encoding))) == lines


def test_the_lines_that_are_named_are_a_table_of_their_own(tmp_path):
    data = "Fälle\r\n\r\n" + TABLE.replace("\n", "\r\n") + "Summe;;30;\r\nQuelle\r\n"
    (tmp_path / "a.csv").write_bytes(data.encode())
    (tmp_path / "b.csv").write_bytes(TABLE.replace("\n", "\r\n").encode())
    names = {"count": "Fälle", "keep": ["Kreis", "Land"]}
    part = open_table(tmp_path / "a.csv", header_row=3, last_row=23, **names)
    whole = open_table(tmp_path / "b.csv", **names)
    assert part.rows == 20
    assert written(part, tmp_path / "c.csv") == written(whole, tmp_path / "d.csv")
    some = open_table(tmp_path / "a.csv", header_row=3, last_row=23, leave_out=[4, 6], **names)
    assert replaced(some, [0] * 18).column("Kreis")[:3] == ["Kreis 1", "Kreis 3", "Kreis 4"]


NUMBERS = {
    "a comma": (",", None, "1,204", "1204"),
    "a point": (".", None, "1.204.000", "1204000"),
    "a space": (" ", None, "1 204", "1204"),
    "a space that does not break": (" ", None, "1\u202f204", "1204"),
    "an apostrophe": ("'", None, "1'204", "1204"),
    "a decimal comma": (None, ",", "3,0", "3.0"),
    "both": (".", ",", "-1.204,50", "-1204.50"),
    "three decimals after a point": (None, ".", "3.000", "3"),
    "three decimals after a comma": (None, ",", "3,000", "3"),
    "three decimals beside commas": (",", None, "1,204.000", "1204"),
    "no thousands": (",", None, "1,20", "1,20"),
    "a code that begins with 0": (".", None, "01.001", "01.001"),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_marks_are_taken_out_of_numbers_and_of_nothing_else(case, tmp_path):
    thousands, decimal, cell, plain = NUMBERS[case]
    rows = "".join(f"Kent, East;{cell};{k}\n" for k in range(3))
    (tmp_path / "a.csv").write_text(f"a;x;n\n{rows}")
    marks = {"thousands": thousands, "decimal": decimal}
    table = open_table(tmp_path / "a.csv", count="n", keep=["a", "x"], **marks)
    (batch,) = table.batches(published=True)
    assert batch.rows.cells("x") == [cell] * 3 and batch.rows.numbers("x") == [plain] * 3
    assert batch.rows.cells("a") == batch.rows.numbers("a") == ["Kent, East"] * 3


MARKED = {
    "decimals": ({"decimal": "."}, "{}.000", "{}.000"),
    "decimal commas": ({"decimal": ","}, "{},000", "{},0"),
    "thousands": ({"thousands": "."}, "{}.100", "{}.000"),
    "both": ({"thousands": ".", "decimal": ","}, "{}.100", "{}.000,000"),
}


@pytest.mark.parametrize("case", MARKED)
def test_marks_of_numbers_leave_other_columns_as_they_are(tmp_path, case):
    part, code, count = MARKED[case]
    (tmp_path / "a.csv").write_text(
        "code;kept;state;n;m\n"
        + "".join(
            f"{code.format(i + 1)};{code.format(7 * i % 40)};{code.format(1 + i % 2)};"
            f"{count.format(1 + i * i % 7)};{count.format(1 + i * i % 5)}\n"
            for i in range(40)
        )
    )
    asked = {"category": "code", "keep": ["kept"], "within": "state", "order_by": "code"}
    table = open_table(tmp_path / "a.csv", count=["n", "m"], **asked, **part)
    thousand = 1000 if "thousands" in part else 1
    (batch,) = table.batches()
    assert batch.counts["n"].tolist() == [(1 + i * i % 7) * thousand for i in range(40)]
    back = table.replace({name: batch.counts[name] for name in ("n", "m")})
    before = read_file(tmp_path / "a.csv")
    for name in ("code", "kept", "state"):
        assert back.column(name) == before.column(name)  # 9 before 10: in the order of numbers
    assert all(map(str.isdecimal, back.column("n")))


def test_numbers_that_make_classes_keep_their_marks_in_the_table(tmp_path):
    rows = "".join(f"{i}.000;{1 + i}.204,5;{i * i % 7}\n" for i in range(60))
    (tmp_path / "a.csv").write_text("code;people;n\n" + rows)
    names = {"count": "n", "category": "code", "within": classes("people", 2)}
    table = open_table(tmp_path / "a.csv", thousands=".", decimal=",", **names)
    back = replaced(table, [0] * 60)
    assert back.column("code") == [f"{i}.000" for i in range(60)]
    assert back.column("people") == [f"{1 + i}.204,5" for i in range(60)]
    assert table.partition.names == ("1204.5 to 30204.5", "31204.5 to 60204.5")


def towns(folder, cells):
    """A file of towns with such numbers of people."""
    rows = "".join(f"T{i};{cell};{i * i % 7}\n" for i, cell in enumerate(cells))
    (folder / "towns.csv").write_text("town;people;n\n" + rows)
    return folder / "towns.csv"


POINTS = [f"{1 + i}.{37 * i % 1000:03d}" if i % 3 else str(900 - i) for i in range(60)]


@pytest.mark.parametrize("asked", [{"keep": "people"}, {"within": classes("people", 2)}])
def test_a_point_that_may_stand_between_thousands_is_refused_until_it_is_said(tmp_path, asked):
    path, names = towns(tmp_path, POINTS), {"count": "n", "category": "town"}
    assert "with `thousands`, --thousands . or with `decimal`" in refusal(path, **names, **asked)
    for said in ({"thousands": "."}, {"decimal": "."}):
        assert open_table(path, **names, **asked, **said).rows == 60
    assert open_table(path, **names).rows == 60  # it is withheld


@pytest.mark.parametrize("other", ["0.512", "12.5", "n/a", "1.234.567"])
def test_a_column_that_tells_what_its_points_mean_is_read(tmp_path, other):
    path = towns(tmp_path, [*POINTS, other])
    assert open_table(path, count="n", category="town", keep="people").rows == 61


def test_a_release_reads_numbers_as_they_were_said_to_be_written_and_publishes_them_so(tmp_path):
    marks = {"thousands": ".", "decimal": ","}
    said = {"epsilon": 1, "count": "n", "category": "town", "keep": "people", "seed": 1}
    path = towns(tmp_path, [f"{1 + i}.204,5" for i in range(60)])
    holdfast.privatize(path, **said, **marks, within=classes("people", 2)).save(tmp_path / "r")
    release = holdfast.load(tmp_path / "r")
    assert release.cells["people"][3] == "4.204,5" and holdfast.verify(tmp_path / "r")
    assert release.ask("mean", where="people < 10000").rows == 9
    assert release.regress("n ~ people").names == ("Intercept", "people")
    release.by(classes("people", 3)).save(tmp_path / "again")
    assert holdfast.verify(tmp_path / "again")


@pytest.mark.parametrize(
    "cells",
    [
        [f"1.{i * 37 % 211:03d}" for i in range(100)] + ["rund 3,5"],  # 1 to a reader without marks
        [f"{1000 + i * 37 % 211}" for i in range(100)] + ["5"],
    ],
    ids=["marked", "plain"],
)
def test_a_kept_column_that_tells_the_counts_is_found_with_marks_and_without(tmp_path, cells):
    rows = "".join(f"c{i};{cell};{1000 + i * 37 % 211}\n" for i, cell in enumerate(cells))
    (tmp_path / "a.csv").write_text("code;kept;n\n" + rows)
    names = {"count": "n", "category": "code", "keep": "kept"}
    with pytest.raises(HoldfastError, match="given away: 'kept'"):
        open_table(tmp_path / "a.csv", thousands=".", **names)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"header_row": 0}, "`header_row` must be"),
        ({"header_row": 2}, "`header_row` must be"),
        ({"header_row": 99}, "`header_row` must be"),
        ({"last_row": 1}, "`last_row` must be"),
        ({"last_row": 99}, "the file has 5 lines"),
        ({"header_row": 3, "leave_out": [3]}, "from 4 to 5, got 3"),
        ({"header_row": 3, "leave_out": [6]}, "from 4 to 5, got 6"),
        ({"thousands": "x"}, "`thousands` must be"),
        ({"thousands": ",", "decimal": ","}, "another mark"),
        ({"decimal": "x"}, "`decimal` must be"),
        ({"sheet": "S"}, "`sheet` is for Excel workbooks"),
    ],
)
def test_what_cannot_be_a_part_is_refused(tmp_path, part, words):
    (tmp_path / "a.csv").write_text("Title\n\na,n\nx,1\ny,2\n")
    with pytest.raises(HoldfastError, match=words):
        open_table(tmp_path / "a.csv", **{"header_row": 3, "count": "n"} | part)


def test_a_file_with_a_title_and_a_total_is_read(tmp_path):
    text = "Deaths\ncounty,deaths\n" + "".join(f'C{i},"1,{i * i % 7:03d}"\n' for i in range(40))
    (tmp_path / "a.csv").write_text(text + 'Total,"40,780"\n')
    records = TEXT.records(tmp_path / "a.csv", TableOptions())
    assert TEXT.part(records) == {"header_row": 2}
    part = {"header_row": 2, "last_row": 42, "thousands": ",", "count": "deaths"}
    assert open_table(tmp_path / "a.csv", category="county", **part).rows == 40
    assert open_table(tmp_path / "a.csv", category="county", **part, leave_out=[3]).rows == 39


def test_a_sheet_ends_at_its_last_row(tmp_path):
    pytest.importorskip("python_calamine")
    xlsxwriter = pytest.importorskip("xlsxwriter")
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        for at, row in enumerate([("county", "deaths"), ("A", 1), ("B", 2), (), ("Source",)]):
            sheet.write_row(at, 0, row)
        sheet.merge_range("A5:A6", "Source")
    assert "--last-row" in refusal(path, count="deaths")
    assert counts(path, count="deaths", last_row=3) == [1, 2]
    assert counts(path, count="deaths", last_row=3, leave_out=[2]) == [2]
    assert "from 2 to 3, got 1" in refusal(path, last_row=3, leave_out=[1])
    assert "`last_row` must be" in refusal(path, last_row=1)
    assert "for CSV files" in refusal(path, thousands=",")


def test_an_error_numbers_rows_as_leave_out_takes_them(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('\n\ncounty,n\n"Kent\nEast",1\nEly,2.5\nYork,4\n')
    names = {"count": "n", "category": "county"}
    assert "row 6 of the file is not a whole number" in refusal(path, **names)
    assert counts(path, **names, leave_out=[6]) == [1, 4]


def test_a_row_of_one_column_may_be_an_empty_line_and_is_numbered(tmp_path):
    (tmp_path / "a.csv").write_text("\nn\n1\n\n3\nx\n")
    said = refusal(tmp_path / "a.csv")
    assert "row 4 of the file is missing" in said and "row 6 of the file is text" in said


def test_what_is_no_csv_is_named_by_its_row_in_the_file(tmp_path):
    (tmp_path / "a.csv").write_text('\n\nT\na,n\nx,1\ny,2\n"z,3\n')
    said = refusal(tmp_path / "a.csv", count="n", header_row=4, leave_out=[5])
    assert "near row 7 of the file" in said
    (tmp_path / "a.csv").write_text('\n\na,n\nx,1\n"y,2\n')
    assert "near row 5 of the file" in refusal(tmp_path / "a.csv", count="n")
