"""Text tables: written back byte for byte, their counts read strictly, what is broken refused."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.tables.csv_text import MAX_COLUMNS
from open_tables import counts, open_table, parse_csv, refusal, replaced, text_table


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("bom", "encoding"),
    [
        *[(b"", "utf-8"), (b"\xef\xbb\xbf", "utf-8"), (b"", "cp1252")],
        *[(b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")],
    ],
)
def test_a_text_table_is_written_back_byte_for_byte(delimiter, newline, bom, encoding):
    lines = [["county", "n", "note"], ["Zürich", "3", ""], [" Ely ", "0", '"a\r\n,;\t|""b"']]
    text = "".join(delimiter.join(line) + newline for line in lines)
    data = bom + text.encode(encoding)
    table = parse_csv(data)
    assert table.columns == ["county", "n", "note"]
    assert table.rows == [["Zürich", "3", ""], [" Ely ", "0", 'a\r\n,;\t|"b']]
    again = b"\xef\xbb\xbf" + text.encode() if encoding == "cp1252" else data
    assert table.to_bytes() == again
    released = replaced(open_table(table, count="n", keep=["county", "note"]), [3, 0])
    assert released.to_bytes() == again


cells = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6)


@settings(deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda w: st.lists(st.lists(cells, min_size=w, max_size=w), min_size=1, max_size=4)
    ),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from([(b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le")]),
)
def test_any_cells_survive_writing_and_reading(rows, delimiter, newline, coding):
    header = tuple(f"name{i};,|" for i in range(len(rows[0])))
    table = text_table(header, rows, delimiter, newline, coding[1], coding[0])
    again = parse_csv(table.to_bytes())
    assert (tuple(again.columns), again.rows) == (header, rows)
    assert again.to_bytes() == table.to_bytes()


def test_a_single_column_of_commas_survives_any_delimiter():
    table = text_table(("note",), [["a,b"], ["c\td"]], "\t")
    assert parse_csv(table.to_bytes()).rows == table.rows


@pytest.mark.parametrize(
    ("line", "delimiter"),
    [
        ('x;"a,b"', ";"),
        ('"a,b,c";y', ";"),
        ('"a\n,,";y', ";"),
        ("x\ty,z\tw", "\t"),
        ("a|b", "|"),
        ("n", ","),
        ('"a;b"', ","),
    ],
)
def test_the_delimiter_is_read_from_the_header_outside_quotes(line, delimiter):
    width = {",": 1, "\t": 3}.get(delimiter, 2)
    table = parse_csv(f"{line}\n{delimiter.join('1' * width)}\n".encode())
    assert table.style.delimiter == delimiter and len(table.columns) == width


def test_blank_lines_at_the_ends_are_ignored_and_blank_cells_are_not():
    assert parse_csv(b"\r\n\na,b\n1,2\n\n  \n\n").rows == [["1", "2"]]
    assert parse_csv(b"n\n1\n\n2\n\n").rows == [["1"], [""], ["2"]]
    assert parse_csv(b"a,b\n1,2").rows == [["1", "2"]]


def test_thousands_of_columns_are_simply_read():
    header = ",".join(f"c{i}" for i in range(2_000))
    table = parse_csv(f"{header}\n{','.join('7' * 2_000)}\n".encode())
    others = [c for c in table.columns if c != "c1234"]
    back = replaced(open_table(table, count="c1234", keep=others), [8])
    assert back.rows[0][1234] == "8" and back.rows[0].count("7") == 1_999


def test_repeated_names_matter_only_where_they_are_used():
    table = parse_csv(b"x,x,n\n424242,2,3\n")
    assert counts(table, count="n") == [3]
    assert "2 columns are called 'x'" in refusal(table, count="x")
    assert "`category`: 2 columns" in refusal(table, count="n", category="x")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b" \r\n\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"a,n\n", "no rows"),
        (b"a,n\nx,424242\0\n", "does not look like a text table"),
        (bytes(range(256)), "does not look like a text table"),
        (b"\x89PNG\r\n\x1a\n\x01", "does not look like a text table"),
        (b"a,n\n\x81\xff,1\n", "does not look like a text table"),
        (b"\xff\xfe\x00", "does not look like a text table"),
        (b"a,n\nx,1\ny,424242,3\n", "row 3 of the file has 3 cells, the header has 2"),
        (b"a,n\nx,1\n\ny,424242\n", "below row 2 of the file is an empty line"),
        (b'a,n\nx,"424242\n', "near row 2 of the file"),
        (b'a,n\nx,"424242"5\n', "near row 2 of the file"),
        (b"a,n\n" + b"x" * 200_000 + b",424242\n", "near row 2 of the file"),
        (b",".join([b"c"] * (MAX_COLUMNS + 1)) + b"\n", "at most 100,000"),
    ],
    ids=lambda v: str(v[:20]),
)
def test_a_file_that_is_no_text_table_is_refused(tmp_path, data, said):
    path = tmp_path / "table.csv"
    path.write_bytes(data)
    assert said in refusal(path, count="n")


# Counts as text


@pytest.mark.parametrize(
    ("cell", "count"),
    [
        *[("3", 3), (" 3\t", 3), ("3.0", 3), ("003.00", 3), ("3.0000", 3), ("0", 0)],
        *[("0" * 40 + "7", 7), ("9007199254740992", 2**53), ("9007199254740992.0", 2**53)],
    ],
)
def test_digits_and_integral_decimals_are_counts(cell, count):
    assert counts(text_table(("n",), [[cell]])) == [count]


BAD_CELLS = {
    "is missing": ["", "  ", "NA", "n/a", "null", "None", "NaN", ".", "-", "#N/A"],
    "is infinite": ["inf", "-inf", "Infinity"],
    "is negative": ["-424242", "-424242.5", "-.5"],
    "is not a whole number": ["424242.5", ".5", "1.0000000000000000000001"],
    "is larger than 2^53": ["9007199254740993", "9223372036854775807", "9" * 5000],
    "may have a mark between thousands": [
        *["3.000", "0.000", "003.000", "424242.000", "1.000.000", "1.234", " 12.000\t"],
        *["1,000", "1 234", "1\u202f234", "1'234", "1_000", "1,234,567"],
    ],
    "is written with an exponent": ["1e3", "1E+06", "4.2e5"],
    "is text": [
        *["1,23", "1,000.5", "0x10", "+5", "424242 people", "true", "٣", "3."],
        *["2020-01-01", "--3", "\xa03", "-0", "3\n"],
    ],
}


@pytest.mark.parametrize(
    ("cell", "problem"),
    [(cell, problem) for problem, cells in BAD_CELLS.items() for cell in cells],
)
def test_everything_else_is_refused_by_kind_and_row(cell, problem):
    table = text_table(("county", "n"), [["a", "1"], ["b", cell], ["c", cell]])
    message = refusal(table, count="n")
    assert f"row 2 {problem}" in message and "`count` column 'n'" in message
    assert len(cell) < 4 or cell not in message
