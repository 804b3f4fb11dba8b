"""The NumPy scanner of CSV against Python's `csv`: the same rows or none, and the same bytes."""

import csv
import io
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import HoldfastError
from holdfast.tables import cell_text, csv_file, spans
from holdfast.tables import csv as tables_csv
from holdfast.tables.cell_text import Texts, lines
from holdfast.tables.csv_scan import scan
from holdfast.tables.source import ListRows
from holdfast.tables.spans import any_among, numbered
from open_tables import counts, counts_of, open_table, parse_csv, text_table

NAMES = ("name", "visits", "note")


def by_python(text, width):
    """The records of a text, or None where it is none of so many columns."""
    try:
        rows = [
            row or [""]
            for row in csv.reader(io.StringIO(text, newline=""), delimiter=",", strict=True)
        ]
    except csv.Error:
        return None
    return rows if all(len(row) == width for row in rows) else None


@settings(max_examples=600, deadline=None)
@given(st.text(alphabet='a1é",\n\r', max_size=24), st.integers(1, 3), st.booleans())
def test_any_bytes_are_the_rows_that_python_reads_or_none(text, width, final):
    rows = scan(text.encode(), NAMES[:width], ",", final=final) if text else None
    if rows is None:
        return
    read = by_python(text.encode()[: rows.used].decode() if not final else text, width)
    found = [rows.cells(name) for name in NAMES[:width]]
    assert read is not None
    assert found == [list(column) for column in zip(*read, strict=True)] or (not read and not rows)


plain = st.text(alphabet="ab1é;|\t '", max_size=4)
odd = st.text(alphabet='ab ",;|\t\r\né', max_size=4)
counted = st.integers(0, 10**6)


@settings(max_examples=100, deadline=None)
@given(
    st.one_of(*(st.lists(st.tuples(c, counted, c), min_size=1, max_size=30) for c in (plain, odd))),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.integers(1, 200),
    st.integers(0, 3),
)
def test_any_table_is_read_as_python_does(rows, delimiter, newline, last, block, blanks):
    table = text_table(NAMES, [[a, str(n), b] for a, n, b in rows], delimiter, newline)
    text = table.to_bytes()
    text = text.removesuffix(newline.encode()) if last else text + newline.encode() * blanks
    anyway = ["name", "note", "row order", "totals"]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder) / "in.csv"
        path.write_bytes(text)
        patch.setattr(csv_file, "BLOCK", block)
        read = open_table(path, count="visits", keep=["name", "note"], publish_anyway=anyway)
        assert counts_of(read).tolist() == [n for _, n, _ in rows]
        for at, name in ((0, "name"), (2, "note")):
            batches = list(read.batches(published=True))
            assert [cell for b in batches for cell in b.rows.cells(name)] == [
                row[at] for row in rows
            ]
            columns = [batch.rows.column(name) for batch in batches]
            found = [c.to_pylist() if isinstance(c, Texts) else c for c in columns]
            assert [cell for cells in found for cell in cells] == [row[at] for row in rows]


label = st.text(alphabet="ab1é漢 =", max_size=5)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(label, label, label), min_size=1, max_size=20), st.data())
def test_columns_of_texts_become_lines(rows, draw):
    block = "".join(",".join(row) + "\n" for row in rows).encode()
    spans_of = scan(block, NAMES, ",")
    few = draw.draw(st.lists(label, min_size=1, max_size=4, unique=True))
    places = np.array(draw.draw(st.lists(st.integers(0, len(few) - 1), min_size=len(rows),
                                         max_size=len(rows))))  # fmt: skip
    columns = {name: spans_of.column(name) for name in NAMES} | {"few": Texts.of(few)[places]}
    cells = dict(zip(NAMES, zip(*rows, strict=True), strict=True))
    cells |= {"few": [few[place] for place in places]}
    chosen = draw.draw(st.lists(st.sampled_from([*columns]), min_size=1, max_size=5))
    start = draw.draw(st.integers(0, len(rows)))
    some = slice(start, draw.draw(st.integers(start, len(rows))))
    for name in columns:
        assert columns[name][some].to_pylist() == list(cells[name][some])
    few_lines, wide = draw.draw(st.integers(1, 9)), draw.draw(st.sampled_from([0, cell_text.WIDE]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cell_text, "AT_A_TIME", few_lines)
        patch.setattr(cell_text, "WIDE", wide)
        written = b"".join(lines([columns[name][some] for name in chosen], ";", "\r\n"))
    wanted = zip(*(cells[name][some] for name in chosen), strict=True)
    blank = '""' if len(chosen) == 1 else ""
    assert written.decode() == "".join((";".join(row) or blank) + "\r\n" for row in wanted)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_texts_of_arrow_are_its_own(kind):
    column = pa.array(["a", None, "bé", "", "c"], kind).slice(1, 3)
    assert Texts.of_arrow(column).to_pylist() == ["", "bé", ""]
    assert Texts.of_arrow(pa.array([1, 2])) is None


@settings(max_examples=200, deadline=None)
@given(st.lists(odd, min_size=1, max_size=12))
def test_cells_are_the_same_labels_with_and_without_quotes(cells):
    table = text_table(("a", "b"), [[cell, "x"] for cell in cells])
    rows = scan(table.to_bytes()[4:], ("a", "b"), ",", final=True)
    if rows is None:
        return
    slow = ListRows(("a", "b"), [cells, ["x"] * len(cells)])
    assert rows.cells("a") == cells and (rows.keys("a") == slow.keys("a")).all()
    codes, found = rows.codes("a")
    assert [found[code] for code in codes] == cells and len(set(found)) == len(found)


@settings(max_examples=100, deadline=None)
@given(*[st.lists(st.sampled_from([1, 2, 3, 2**63, 2**63 + 1]), min_size=1)] * 2)
def test_keys_with_the_same_first_bits_are_told_apart(some, few):
    keys = np.array(some, dtype=np.uint64)
    numbers, rows = numbered(keys)
    assert (keys[rows][numbers] == keys).all() and len(rows) == len(set(some))
    assert any_among(keys, np.array(few, dtype=np.uint64)) == bool(set(some) & set(few))


def outcome(read):
    try:
        return read()
    except HoldfastError as error:
        return str(error).partition("data row 1")[2] or str(error).partition("row 2 of the file")[2]


numbers = st.one_of(
    st.text(alphabet="0123 .,e-", max_size=9),
    st.from_regex(r"[ ]?[0-9]{1,17}([.,][0-9]{3}|[.]0{0,5}){0,2}", fullmatch=True),
)


@settings(max_examples=300, deadline=None)
@given(numbers)
def test_any_text_is_the_count_or_the_error_that_it_is_in_memory(cell):
    table = text_table(("name", "visits"), [["a", cell]])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "in.csv"
        path.write_bytes(table.to_bytes())
        streamed = outcome(lambda: counts(path, count="visits"))
        assert streamed == outcome(lambda: counts(table, count="visits"))


def test_plain_blocks_are_not_left_to_python(monkeypatch):
    monkeypatch.setattr(tables_csv.BlockReader, "_as_lists", None)
    data = b'name,visits\r\n"a, ""b""",3\r\nc,"4"\r\n'
    assert parse_csv(data).rows == [['a, "b"', "3"], ["c", "4"]]


@settings(max_examples=100, deadline=None)
@given(st.binary(min_size=1, max_size=60), st.data())
def test_spans_are_put_together(data, draw):
    block = np.frombuffer(data, np.uint8)
    place = st.integers(0, len(block))
    pairs = draw.draw(st.lists(st.tuples(place, place).map(sorted), max_size=9))
    starts, stops = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    joined = spans.joined(block, starts, stops)
    assert joined.tobytes() == b"".join(data[a:b] for a, b in pairs)
