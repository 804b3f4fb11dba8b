"""A kind of file is one class, and then read wherever files are."""

import json
from itertools import chain

import pytest

import holdfast
from command_line import run
from holdfast.errors import HoldfastError
from holdfast.page.folder import Folder
from holdfast.tables import formats
from holdfast.tables.csv import CsvTable
from holdfast.tables.look import look
from holdfast.tables.source import ListRows

ROWS = [{"place": f"p{row}", "n": str(row % 4)} for row in range(30)]


class JsonLines(formats.Format):
    """A JSON object in each line."""

    title = "JSON lines"
    endings = (".jsonl",)
    options = ("leave_out",)
    from_excel = True

    def records(self, path, options):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        numbered = ((number, number, list(line.values())) for number, line in enumerate(lines, 2))
        return [(1, 1, list(lines[0])), *(r for r in numbered if r[0] not in options.leave_out)]

    def open(self, path, options):
        (_, _, names), *rows = self.records(path, options)
        columns = [list(cells) for cells in zip(*(cells for _, _, cells in rows), strict=True)]
        return CsvTable(ListRows(tuple(names), columns), file=str(path))

    def row_numbers(self, path, options):
        return (number for number, _, _ in self.records(path, options)[1:])


@pytest.fixture
def declared():
    formats.FORMATS.append(JsonLines())
    yield
    formats.FORMATS.pop()


@pytest.fixture
def path(tmp_path):
    lines = chain(ROWS, [{"place": "Total", "n": "45"}])
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return tmp_path / "a.jsonl"


WORDS = {"count": "n", "category": "place", "epsilon": 1, "leave_out": [32]}


def test_it_is_looked_at_released_and_found_on_the_page(declared, path, capsys, monkeypatch):
    table = look(path)
    assert (table.rows, table.problem, table.part) == (31, "", {"last_row": 31})
    release = holdfast.privatize(path, **WORDS, out=path.parent / "out")
    assert release.rows == 30 and holdfast.verify(path.parent / "out")
    assert (path.parent / "out" / "rows.csv").read_bytes().startswith(b"\xef\xbb\xbf")  # for Excel
    assert Folder(path.parent).tables() == ["a.jsonl"]
    words = ("--count", "n", "--category", "place", "--epsilon", "1", "--leave-out", "32")
    words = (*words, "--out", path.parent / "again", "--json")
    code, printed, _ = run(capsys, monkeypatch, "privatize", path, *words)
    assert code == 0 and json.loads(printed)["rows"] == 30


def test_what_is_wrong_in_it_is_said_with_the_number_that_the_row_has_in_it(declared, path):
    path.write_text(path.read_text().replace('"n": "3"', '"n": "many"', 1))
    with pytest.raises(HoldfastError, match="row 5 of the file"):
        holdfast.privatize(path, **WORDS)
    with pytest.raises(HoldfastError, match="`sheet` is for Excel workbooks"):
        holdfast.privatize(path, **WORDS, sheet="one")


def test_without_its_class_nobody_reads_it(path):
    with pytest.raises(HoldfastError, match=r"must end in one of \.csv, "):
        holdfast.privatize(path, **WORDS)
    assert Folder(path.parent).tables() == []
