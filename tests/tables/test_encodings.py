"""One definition of what a CSV file is: read alike in blocks of any size, or refused."""

import csv

import numpy as np
import pytest

from holdfast.errors import HoldfastError
from holdfast.tables import csv_file
from holdfast.tables.csv_text import LONGEST_CELL
from open_tables import counts, counts_of, open_table, parse_csv, refusal, replaced, written
from ugly_csv import ugly

OPTIONS = {"count": "n", "keep": ["place"]}
ROWS = b"".join(b"p%d,%d\n" % (row, row * row * 7 % 5) for row in range(60))
ANYWAY = ["row order", "totals"]


def test_ugly_files_are_read_alike_in_blocks_of_any_size_and_in_memory(tmp_path, monkeypatch):
    rng, accepted = np.random.default_rng(18), 0
    for number in range(400):
        data, codes = ugly(rng), ((), ("",), ("NA", "-9"))[number % 3]
        block = int(rng.choice([4, 16, 64])) if len(data) < 10_000 else 1 << 16
        whole = outcome(lambda: parse_csv(data), tmp_path, codes)  # noqa: B023
        path = tmp_path / "in.csv"
        path.write_bytes(data)
        found = []
        for size in (block, 1 << 23):
            monkeypatch.setattr(csv_file, "BLOCK", size)
            found.append(outcome(lambda: path, tmp_path, codes))  # noqa: B023
        assert found[0] == found[1], data[:300]
        assert (found[0] is None) == (whole is None), data[:300]
        same = found[0] == whole or b"\xef\xbb\xbf" in data or not data.isascii()
        assert same, data[:300]  # what is published decides how bytes are read
        accepted += whole is not None
    assert 80 < accepted < 320


def outcome(source, folder, missing):
    """The columns, the counts and what is written again, or None where that is refused."""
    try:
        source = source()
        usual = {"count": "n", "missing": missing}
        names = open_table(source, **usual, publish_anyway=ANYWAY).withheld
        kept = [name for name in names if names.count(name) == 1 and name != ""][::2]
        table = open_table(source, **usual, keep=kept, publish_anyway=[*ANYWAY, *kept])
        (folder / "out.csv").unlink(missing_ok=True)
        return table.published, counts_of(table).tolist(), written(table, folder / "out.csv")
    except HoldfastError:
        return None


REFUSED = {
    "a long cell": (b"place,n\n" + b"x" * (LONGEST_CELL + 1) + b",1\n" + ROWS, "131,072"),
    "a long cell in quotes": (
        b'place,n\n"' + b'""' * (LONGEST_CELL + 1) + b'",1\n' + ROWS,
        "131,072",
    ),
    "two byte order marks": (b"\xef\xbb\xbf" * 2 + b"place,n\n" + ROWS, "byte order mark"),
    "a blank line before one": (b"\n\xef\xbb\xbfplace,n\n" + ROWS, "byte order mark"),
    "byte 0x81": (b"place,n\nx\x81,1\n" + ROWS, "text table"),
    "a control character in Windows-1252": (b"place,n\n\xe9\x01,1\n" + ROWS, "text table"),
    "NUL": (b"place,n\nx\0,1\n" + ROWS, "text table"),
    "UTF-16 cut off": (b"\xff\xfe" + ("place,n\n" + "x,1\n" * 9).encode("utf-16-le")[:-1], "text"),
    "a blank header": (b" \n5\n3\n", "empty"),
    "a header that does not end": (b'"' + b"x\n" * (1 << 21) + b"y", "CSV"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_table_is_refused(case, tmp_path):
    data, said = REFUSED[case]
    path = tmp_path / "in.csv"
    path.write_bytes(data)
    assert said in refusal(path, **OPTIONS)


LATIN = "place,n\nÅland,1\n".encode("latin-1") + ROWS
READ = {
    "a header in UTF-8, a body in Latin-1": "Städte".encode() + b",n,place\nx,1,\xe9\n",
    "cells of the longest kind": b"place,n\n" + "é".encode() * LONGEST_CELL + b",1\n" + ROWS,
    "Latin-1": LATIN,
    "control characters in UTF-8": "place,n\nÅ\x01\x0c,1\n".encode() + ROWS,
    "UTF-16": b"\xff\xfe" + LATIN.decode("latin-1").encode("utf-16-le"),
    "a byte order mark inside": "n,place\n1,\ufeffx\n".encode(),
}


@pytest.mark.parametrize("case", READ)
def test_what_is_a_table_is_read_in_any_blocks_and_written_again(case, tmp_path, monkeypatch):
    path, data = tmp_path / "in.csv", []
    path.write_bytes(READ[case])
    for size in (64, 1 << 23):
        monkeypatch.setattr(csv_file, "BLOCK", size)
        data.append(written(open_table(path, **OPTIONS), tmp_path / f"{size}.csv"))
    assert data[0] == data[1]
    assert parse_csv(data[0]).column("place") == parse_csv(READ[case]).column("place")


# No count decides how labels are read


def labels(tmp_path, data, **options):
    path = tmp_path / "in.csv"
    path.write_bytes(data)
    table = open_table(path, **OPTIONS | options)
    return replaced(table, counts_of(table)).column("place")


def test_a_count_that_is_no_utf_8_changes_no_label(tmp_path):
    rows = "place,n,more\nÃ…land,999,x\n".encode() + ROWS.replace(b"\n", b",y\n")
    assert labels(tmp_path, rows)[0] == "Ã…land"
    assert labels(tmp_path, rows, missing="–")[0] == "Ã…land"
    dashed = rows.replace(b"999", b"\x96")  # a dash in Windows-1252
    assert labels(tmp_path, dashed, missing="–")[0] == "Ã…land"
    assert labels(tmp_path, rows.replace(b",x\n", b",\xe9\n"))[0] == "Ã…land"  # a withheld cell
    (tmp_path / "in.csv").write_bytes(rows.replace(b"999", b"1\xa0000"))
    assert "row 2 of the file may have a mark between thousands" in refusal(
        tmp_path / "in.csv", **OPTIONS
    )


def test_a_label_that_is_no_utf_8_is_read_as_windows_1252(tmp_path):
    data = b"place,n,more\n\xc5land,1,\xc3\xa9\n" + ROWS.replace(b"\n", b",y\n")
    assert labels(tmp_path, data)[0] == "Åland"
    table = open_table(tmp_path / "in.csv", count="n", keep=["place", "more"])
    assert replaced(table, counts_of(table)).column("more")[0] == "Ã©"
    assert b"\xc3\x85land" in written(table, tmp_path / "out.csv")  # and written as UTF-8


def test_a_name_that_is_no_utf_8_decides_as_well(tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes(b"St\xe4dte,n\n\xc3\xa9,1\nx,0\n")
    table = open_table(path, count="n", keep="Städte")
    assert replaced(table, [1, 0]).column("Städte") == ["Ã©", "x"]


@pytest.mark.parametrize("odd", [b'q"', b'"q"', b"q"])
def test_it_is_so_where_python_reads_the_rows_too(odd, tmp_path):
    data = b"place,n\n" + "Ã…land,".encode() + b"\x96\n" + odd + b",1\nb,0\n"
    assert labels(tmp_path, data, missing="–")[0] == "Ã…land"


def test_the_limit_of_a_cell_is_ours_whatever_pythons_is(tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes(REFUSED["a long cell"][0])
    before = csv.field_size_limit(1 << 30)
    try:
        assert "131,072" in refusal(path, **OPTIONS)
    finally:
        csv.field_size_limit(before)


def test_records_that_are_longer_than_a_block_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_file, "BLOCK", 100)
    path = tmp_path / "in.csv"
    path.write_bytes(b'place,n\n"' + b"x\n" * 500 + b'",3\n' + b"y" * 1000 + b",0\n")
    assert counts(path, **OPTIONS) == [3, 0]


def test_quotes_that_are_not_closed_are_refused_before_all_is_read(tmp_path, monkeypatch):
    from holdfast.tables import csv

    monkeypatch.setattr(csv_file, "BLOCK", 1 << 12)
    monkeypatch.setattr(csv, "BLOCK", 1 << 12)
    monkeypatch.setattr(csv, "LONGEST_RECORD", 1 << 13)
    path = tmp_path / "in.csv"
    path.write_bytes(b'place,n\na,1\n"b,2\n' + b"c,3\n" * 9000)
    assert "near row 3 of the file" in refusal(path, **OPTIONS)


def test_only_what_is_published_decides_whether_a_file_has_a_mark_for_excel(tmp_path):
    for name, text, marked in (("a", "Köln,x", True), ("b", "Koln,é", False)):
        path = tmp_path / f"{name}.csv"
        path.write_bytes(f"place,note,n\n{text},3\nBonn,,0\n".encode("cp1252"))
        style = open_table(path, count="n", category="place").source.style
        assert (style.encoding, style.bom == b"\xef\xbb\xbf") == ("utf-8", marked)
