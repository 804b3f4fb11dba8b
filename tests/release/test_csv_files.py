"""CSV files of a bundle: what is written is read again, as Python's csv reads it."""

import csv
import io
import random

import pytest

from holdfast.errors import HoldfastError
from holdfast.release import csv_files
from holdfast.release.csv_files import Dialect, labels_of, read_columns, whole_numbers
from holdfast.tables.cell_text import Texts

SIGNS = [
    "a",
    "Ä",
    "7",
    "-",
    "=1+1",
    "'",
    '"',
    ",",
    ";",
    "\t",
    "|",
    "\n",
    "\r\n",
    "\r",
    "\ufeff",
    "",
    "💥",
]


def read(data, names, dialect=None):
    """Cells by column, and how many rows came at a time."""
    batches = list(read_columns(io.BytesIO(data), "x.csv", dialect or Dialect(), names))
    columns = [
        [cell for batch in batches for cell in batch[k].to_pylist()] for k in range(len(names))
    ]
    return columns, [len(batch[0]) for batch in batches]


@pytest.fixture(params=[1, 7, 200, 1 << 20])
def piece(request, monkeypatch):
    monkeypatch.setattr(csv_files, "PIECE", request.param)
    return request.param


def test_what_is_written_is_read_in_pieces_of_any_size(piece):
    chance = random.Random(piece)
    for _ in range(60):
        dialect = Dialect(
            delimiter=chance.choice(",;\t|"),
            newline=chance.choice(["\n", "\r\n"]),
            bom=chance.random() < 0.5,
        )
        width, some = chance.randint(1, 4), chance.choice([SIGNS, SIGNS[:4]])
        names = [f"{chance.choice(some)}{k}" for k in range(width)]
        rows = [["".join(chance.choices(some, k=chance.randint(0, 4))) for _ in names]
                for _ in range(chance.randint(0, 30))]  # fmt: skip
        text = "\ufeff" * dialect.bom + "".join(map(dialect.line, [names, *rows]))
        columns, sizes = read(text.encode(), names, dialect)
        labels = [labels_of(Texts.of(column)).to_pylist() for column in columns]
        assert list(map(list, zip(*labels, strict=True))) == rows
        assert piece > 200 or max(sizes, default=0) * width <= 2 * piece + 200


def test_whatever_a_file_holds_python_s_csv_reads_the_same_or_it_is_refused():
    chance, refused = random.Random(5), 0
    for _ in range(3000):
        text = "a,b\n" + "".join(
            chance.choices(["x", '"', ",", ",", "\n", "\r\n", "\r", "é"], k=12)
        )
        try:
            rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))[1:]
        except csv.Error:
            rows = [[]]
        try:
            columns, _ = read(text.encode(), ["a", "b"])
        except HoldfastError:
            assert any(len(row) != 2 for row in rows)
            refused += 1
        else:
            assert list(map(list, zip(*columns, strict=True))) == rows
    assert 100 < refused < 2990


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (b"a\n1\n\n2\n", ["a"]),
        (b"a\n1\n\n", ["a"]),
        (b"a,b\n1\n", ["a", "b"]),
        (b"a,b\n1,\xff\n", ["a", "b"]),
        (b'a,b\n1,"\xff"x\n', ["a", "b"]),
        (b"a,b\n1,\0\n", ["a", "b"]),
        (b"b,a\n", ["a", "b"]),
        (b"\xef\xbb\xbfa,b\n", ["a", "b"]),
        (b'a,b\n1,"2', ["a", "b"]),
        (b"", ["a", "b"]),
    ],
)
def test_what_no_release_holds_is_refused(piece, data, names):
    with pytest.raises(HoldfastError, match=r"`x\.csv`"):
        read(data, names)


@pytest.mark.parametrize("record", [b"x", b'"x\n",'])
def test_a_record_without_end_is_not_read_to_its_end(monkeypatch, record):
    monkeypatch.setattr(csv_files, "LONGEST_RECORD", 1 << 16)
    monkeypatch.setattr(csv_files, "PIECE", 1 << 14)
    data = io.BytesIO(b"a,b\n1,2\n" + record * (1 << 20))
    with pytest.raises(HoldfastError, match="record of more than 65,536 characters"):
        list(read_columns(data, "rows.csv", Dialect(), ["a", "b"]))
    assert data.tell() < 1 << 19


@pytest.mark.parametrize(
    "cell", ["01", "-0", "+1", "1.0", "1e3", " 1", "-", "٣", "9" * 19, "1" * 40]
)
def test_a_number_has_one_spelling(cell):
    assert whole_numbers(Texts.of(["-12", "", "0", str(2**62)]), "x.csv").tolist() == [
        -12,
        0,
        0,
        2**62,
    ]
    with pytest.raises(HoldfastError, match="no whole number"):
        whole_numbers(Texts.of(["3", cell]), "x.csv")
