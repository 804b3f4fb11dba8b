"""The byte kernel of CSV against the reader that keeps a table in memory."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import HoldfastError
from holdfast.tables.columns import Wanted
from holdfast.tables.csv import CsvTable, parse_csv
from holdfast.tables.stream import text_source
from holdfast.tables.table import read_table

cells = st.text(alphabet='ab ",;|\t\r\né', max_size=4)
counts = st.integers(0, 10**6)
rows = st.lists(st.tuples(cells, counts, cells), min_size=1, max_size=30)


@settings(max_examples=60)
@given(
    rows,
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.integers(1, 200),
    st.integers(0, 3),
)
def test_any_table_is_read_and_rewritten_as_in_memory(
    table, delimiter, newline, last, block, blanks
):
    text = CsvTable(
        ("name", "visits", "note"),
        [[name, str(count), note] for name, count, note in table],
        delimiter,
        newline,
    ).to_bytes()
    text = text.removesuffix(newline.encode()) if last else text + newline.encode() * blanks
    expected = parse_csv(text)
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "in.csv", Path(folder) / "out.csv"
        path.write_bytes(text)
        source = text_source.TextSource(path, Wanted(count="visits", keep=["name", "note"]))
        before, text_source.BLOCK = text_source.BLOCK, block
        try:
            read = np.concatenate([part.counts for part in source.read()])
            parts = list(source.rewrite(lambda c, *_: c * 7 % 1000, out, 2))
        finally:
            text_source.BLOCK = before
        assert read.tolist() == [count for _, count, _ in table]
        released = np.concatenate([part.released for part in parts]).tolist()
        assert released == [count * 7 % 1000 for _, count, _ in table]
        assert out.read_bytes() == expected.with_column("visits", released).to_bytes()


def outcome(read):
    try:
        return read()
    except HoldfastError as error:
        return str(error)


written = st.one_of(
    st.text(alphabet="0123 .,e-", max_size=9),
    st.from_regex(r"[ ]?[0-9]{1,4}([.,][0-9]{3}|[.]0{0,5}){0,2}", fullmatch=True),
)


@settings(max_examples=300)
@given(written)
def test_any_text_is_the_count_or_the_error_that_it_is_in_memory(cell):
    table = CsvTable(("name", "visits"), [["a", cell]])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "in.csv"
        path.write_bytes(table.to_bytes())
        source = text_source.TextSource(path, Wanted(count="visits"))
        streamed = outcome(lambda: next(iter(source.read())).counts.tolist())
        whole = outcome(lambda: read_table(table, count="visits").counts.tolist())
    assert streamed == (f"`{path}`: {whole}" if isinstance(whole, str) else whole)
