"""Tables opened for a test: their counts, their marks, and what is said where they are refused."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest

from holdfast.errors import HoldfastError
from holdfast.release.csv_files import cells_of, texts_of
from holdfast.request import FIELDS
from holdfast.request.checks import checked
from holdfast.tables import table as tables
from holdfast.tables.arrow_files import ParquetGroups, rows_in_group
from holdfast.tables.cell_text import Texts, lines
from holdfast.tables.csv import CsvTable
from holdfast.tables.csv_text import CsvStyle
from holdfast.tables.formats import open_source
from holdfast.tables.groups import Within
from holdfast.tables.options import TableOptions
from holdfast.tables.source import ListRows


def read_file(path):
    """The whole table in a file, in memory."""
    return open_source(path, TableOptions()).held()


def open_table(source, **words):
    """The table of a request that says this, opened."""
    values = {name: checked(FIELDS[name], value) for name, value in words.items() if name in FIELDS}
    values["within"] = values.get("within") or Within(())
    return tables.open_table(source, TableOptions(**words | values))


def text_table(names, rows, *style, **named):
    """A text table of these rows."""
    columns = [list(cells) for cells in zip(*rows, strict=True)] or [[] for _ in names]
    return CsvTable(ListRows(tuple(names), columns), CsvStyle(*style, **named))


def parse_csv(data):
    """The text table in the bytes of a file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "text.csv"
        path.write_bytes(data)
        source = open_source(path, TableOptions())
        source.settle(source.columns, ())
        return source.held()


def counts_of(table, name=None):
    """The counts of a column, all batches together."""
    name = table.counts[0] if name is None else name
    return np.concatenate([batch.counts[name] for batch in table.batches()])


def counts(source, **options):
    """The counts of the only column of a source, as a list."""
    return counts_of(open_table(source, **options)).tolist()


def zeros(source, **options):
    """Which rows are publicly known to be zero."""
    parts = [batch.structural_zero for batch in open_table(source, **options).batches()]
    return np.concatenate(parts).tolist()


def missing(source, **options):
    """Which rows have no count."""
    table = open_table(source, **options)
    return np.concatenate([b.missing[table.counts[0]] for b in table.batches()]).tolist()


def replaced(table, new):
    """The table with other counts in its only column of them."""
    return table.replace({table.counts[0]: np.asarray(new)})


def groups(source, **options):
    """The name of the group of each row, None where no count is measured."""
    table = open_table(source, **options)
    names = [*table.partition.names, None]
    return [names[group] for batch in table.batches() for group in batch.group.tolist()]


def changed_counts(own):
    """Other counts, which follow from these."""
    return own * 7 % 1000


def written(table, path):
    """The bytes of a file to which a table was written batch by batch, with other counts, as a
    release writes its own."""
    parquet = path.suffix == ".parquet"
    with path.open("xb") as sink:
        file = None
        for batch in table.batches(published=True):
            columns = [_column(batch, name) for name in table.published]
            if not parquet:
                _write_lines(sink, table, batch, columns)
                continue
            rows = pa.table([_as_arrow(column) for column in columns], names=[*table.published])
            if file is None:
                file = ParquetGroups(sink, rows.schema, rows_in_group(len(columns)))
            file.write(rows)
        if file is not None:
            file.__exit__(None, None, None)
    return path.read_bytes()


def _column(batch, name):
    if name not in batch.counts:
        return batch.rows.column(name)
    new = np.where(batch.structural_zero, 0, changed_counts(batch.counts[name]))
    return [None if gap else int(n) for n, gap in zip(new, batch.missing[name], strict=True)]


def _as_arrow(column):
    return pa.array(column.to_pylist() if isinstance(column, Texts) else column)


def _write_lines(sink, table, batch, columns):
    style = table.source.style
    if not batch.start:
        names = tuple(str(name) or "count" for name in table.published)
        sink.write(text_table(names, [], *vars(style).values()).to_bytes())
    texts = [cells_of(texts_of(column)) for column in columns]
    for some in lines(texts, style.delimiter if len(columns) > 1 else ",", style.newline):
        sink.write(some.decode().encode(style.encoding))


def refusal(source, secret="424242", **options):
    """What the error says; it never holds the distinctive value, nor chains a library's error."""
    with pytest.raises(HoldfastError) as caught:
        open_table(source, **options)
    message = str(caught.value)
    assert secret not in message
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return message
