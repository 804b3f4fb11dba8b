"""A CSV file with more in it than its table: what is found, what is read, what is refused."""

import pytest

import holdfast
from holdfast.errors import HoldfastError
from holdfast.tables.csv_part import Lines, find_lines, parse_part
from holdfast.tables.files import find_part, read_file, read_part

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
    assert find_lines(text.encode(encoding)) == lines


def test_the_lines_that_are_named_are_a_table_of_their_own():
    data = ("Fälle\r\n\r\n" + TABLE.replace("\n", "\r\n") + "Summe;;30;\r\nQuelle\r\n").encode()
    found = parse_part(data, Lines(3, 23))
    assert found == parse_part(TABLE.replace("\n", "\r\n").encode(), Lines())
    assert len(found.rows) == 20 and found.newline == "\r\n"
    part = parse_part(data, Lines(3, 23, (4, 6)))
    assert [row[0] for row in part.rows][:3] == ["Kreis 1", "Kreis 3", "Kreis 4"]


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
def test_marks_are_taken_out_of_numbers_and_of_nothing_else(case):
    thousands, decimal, cell, plain = NUMBERS[case]
    data = f"a;n\nKent, East;{cell}\n".encode()
    table = parse_part(data, Lines(), thousands, decimal)
    assert table.rows[0] == ["Kent, East", cell]
    assert [table.numbers(name) for name in table.columns] == [["Kent, East"], [plain]]


MARKED = {
    "decimals": ({"decimal": "."}, "{}.000", "{}.000"),
    "decimal commas": ({"decimal": ","}, "{},000", "{},0"),
    "thousands": ({"thousands": "."}, "{}.100", "{}.000"),
    "both": ({"thousands": ".", "decimal": ","}, "{}.100", "{}.000,000"),
}


@pytest.mark.parametrize("several", [False, True], ids=["one count", "two counts"])
@pytest.mark.parametrize("case", MARKED)
def test_marks_of_numbers_leave_other_columns_as_they_are(tmp_path, case, several):
    part, code, count = MARKED[case]
    (tmp_path / "a.csv").write_text(
        "code;kept;state;n;m\n"
        + "".join(
            f"{code.format(i + 1)};{code.format(7 * i % 40)};{code.format(1 + i % 2)};"
            f"{count.format(1 + i * i % 7)};{count.format(1 + i * i % 5)}\n"
            for i in range(40)
        )
    )
    table = holdfast.read_csv(tmp_path / "a.csv", **part)
    thousand = 1000 if "thousands" in part else 1
    asked = {"category": "code", "keep": ["kept"], "within": "state", "order_by": "code"}
    asked |= {"epsilon": 4, "max_count": 9 * thousand, "seed": 1}
    if several:
        asked["person_in"] = "one column"
    release = holdfast.privatize(table, count=["n", "m"] if several else "n", **asked)
    release.save(tmp_path / "release")
    written, found = read_file(tmp_path / "a.csv"), read_file(tmp_path / "release" / "table.csv")
    for name in ("code", "kept", "state"):
        assert found.column(name) == written.column(name)  # 9 before 10: in the order of numbers
    assert all(map(str.isdecimal, found.column("n")))
    assert holdfast.verify(tmp_path / "release").passed


def test_numbers_that_make_classes_are_published_without_their_marks_and_the_release_says_so(
    tmp_path,
):
    rows = "".join(f"{i}.000;{1 + i}.204,5;{i * i % 7}\n" for i in range(60))
    (tmp_path / "a.csv").write_text("code;people;n\n" + rows)
    table = holdfast.read_csv(tmp_path / "a.csv", thousands=".", decimal=",")
    names = {"count": "n", "category": "code", "within": holdfast.classes("people", 2)}
    release = holdfast.privatize(table, epsilon=4, max_count=9, seed=1, **names)
    assert release.cells.column("code") == [f"{i}.000" for i in range(60)]
    assert release.cells.column("people") == [f"{1 + i}204.5" for i in range(60)]
    assert any("people makes classes" in note for note in release.notes)
    release.save(tmp_path / "release")
    assert holdfast.verify(tmp_path / "release").passed


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
    table = holdfast.read_csv(tmp_path / "a.csv", thousands=".")
    names = {"count": "n", "category": "code", "keep": "kept"}
    with pytest.raises(HoldfastError, match="given away: 'kept'"):
        holdfast.privatize(table, epsilon=4, max_count=2000, **names)


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
        ({"sheet": "S"}, "`sheet` is for workbooks"),
    ],
)
def test_what_cannot_be_a_part_is_refused(tmp_path, part, words):
    (tmp_path / "a.csv").write_text("Title\n\na,n\nx,1\ny,2\n")
    with pytest.raises(HoldfastError, match=words):
        read_part(tmp_path / "a.csv", part)


def test_a_file_with_a_title_and_a_total_is_released(tmp_path, cli):
    text = "Deaths\ncounty,deaths\n" + "".join(f'C{i},"1,{i * i % 7:03d}"\n' for i in range(40))
    (tmp_path / "a.csv").write_text(text + 'Total,"40,780"\n')
    assert find_part(tmp_path / "a.csv") == {"header_row": 2}
    table = holdfast.read_csv(tmp_path / "a.csv", header_row=2, last_row=42, thousands=",")
    release = holdfast.privatize(table, epsilon=2, max_count=5, count="deaths", category="county")
    assert release.rows == 40
    words = ["--header-row", "2", "--last-row", "42", "--thousands", ",", "--dry-run", "--json"]
    words += ["--leave-out", "3"]
    names = ["--count", "deaths", "--category", "county", "--max-count", "5", "--epsilon", "2"]
    code, _, said = cli("privatize", str(tmp_path / "a.csv"), *names, "--dry-run")
    assert code == 2 and "more in it than its table. Try it with --header-row 2." in said
    code, said, _ = cli("privatize", str(tmp_path / "a.csv"), *names, *words)
    assert code == 0 and '"rows": 39' in said
    code, _, said = cli("privatize", str(tmp_path / "a.csv"), *names, *words, "--stream")
    assert code == 2 and "leave out --stream" in said


def test_a_sheet_ends_at_its_last_row(tmp_path):
    pytest.importorskip("python_calamine")
    xlsxwriter = pytest.importorskip("xlsxwriter")
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        sheet = book.add_worksheet()
        for at, row in enumerate([("county", "deaths"), ("A", 1), ("B", 2), (), ("Source",)]):
            sheet.write_row(at, 0, row)
        sheet.merge_range("A5:A6", "Source")
    with pytest.raises(HoldfastError, match="--last-row"):
        holdfast.read_excel(tmp_path / "a.xlsx")
    assert len(holdfast.read_excel(tmp_path / "a.xlsx", last_row=3).rows) == 2
    left = holdfast.read_excel(tmp_path / "a.xlsx", last_row=3, leave_out=[2])
    assert left.rows == [["B", "2"]]
    with pytest.raises(HoldfastError, match="from 2 to 3, got 1"):
        holdfast.read_excel(tmp_path / "a.xlsx", last_row=3, leave_out=[1])
    with pytest.raises(HoldfastError, match="`last_row` must be"):
        holdfast.read_excel(tmp_path / "a.xlsx", last_row=1)
    with pytest.raises(HoldfastError, match="for CSV files"):
        read_part(tmp_path / "a.xlsx", {"thousands": ","})


BELOW_A_TITLE = '\n\ncounty,n\n"Kent\nEast",1\nEly,2.5\nYork,4\n'


@pytest.mark.parametrize("stream", [(), ("--stream",)], ids=["whole", "streamed"])
def test_an_error_numbers_rows_as_leave_out_takes_them(tmp_path, cli, stream):
    (tmp_path / "a.csv").write_text(BELOW_A_TITLE)
    words = ["privatize", str(tmp_path / "a.csv"), "--count", "n", "--category", "county"]
    words += ["--max-count", "5", "--epsilon", "1", "--dry-run"]
    code, _, said = cli(*words, *stream)
    assert code == 2 and "row 6 of the file is not a whole number" in " ".join(said.split())
    code, said, _ = cli(*words, "--leave-out", "6")
    assert code == 0 and "2 rows" in said


def test_a_row_of_one_column_may_be_an_empty_line_and_is_numbered(tmp_path, cli):
    (tmp_path / "a.csv").write_text("\nn\n1\n\n3\nx\n")
    words = ["privatize", str(tmp_path / "a.csv"), "--count", "n", "--max-count", "5"]
    _, _, said = cli(*words, "--epsilon", "1", "--dry-run")
    said = " ".join(said.split())
    assert "row 4 of the file is missing" in said and "row 6 of the file is text" in said


def test_what_is_no_csv_is_named_by_its_line_in_the_file(tmp_path):
    (tmp_path / "a.csv").write_text('\n\nT\na,n\nx,1\ny,2\n"z,3\n')
    with pytest.raises(HoldfastError, match="near line 7"):
        holdfast.read_csv(tmp_path / "a.csv", header_row=4, leave_out=[5])
    with pytest.raises(HoldfastError, match="near line 5"):
        parse_part(b'\n\na,n\nx,1\n"y,2\n', Lines())
