"""Excel workbooks: what a sheet says is read as it is meant, or refused with a word on what to do.

The sheets are those that people send: a title on top, numbers as text, merged cells, dates, notes.
"""

import io
import re
import zipfile
from datetime import date, datetime

import pytest

from holdfast.errors import HoldfastError
from holdfast.tables import excel_parts
from holdfast.tables.csv_part import Lines
from holdfast.tables.excel import numbered_rows
from open_tables import counts, missing, open_table, read_file, text_table

xlsxwriter = pytest.importorskip("xlsxwriter")
pytest.importorskip("python_calamine")

PLAIN = [["county", "deaths"], ["Kent", 3], ["Ely", 0]]


def read(data, **options):
    """The table in the bytes of a workbook."""
    header, rows = numbered_rows(data, **options)
    return text_table(header, [cells for _, cells in rows])


def book(*sheets, edit=None):
    """The bytes of a workbook; a sheet is rows, or a function that fills a page."""
    sink = io.BytesIO()
    with xlsxwriter.Workbook(sink, {"in_memory": True}) as made:
        for number, sheet in enumerate(sheets):
            page = made.add_worksheet(f"S{number + 1}")
            if callable(sheet):
                sheet(page, made)
            else:
                fill(page, sheet)
    return sink.getvalue() if edit is None else edited(sink.getvalue(), edit)


def fill(page, rows, top=0, left=0):
    for at, row in enumerate(rows):
        page.write_row(top + at, left, row)


def edited(data, change):
    """The workbook with the XML of its first sheet changed, as other programs write it."""
    sink = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(sink, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, change(part) if name.endswith("sheet1.xml") else part)
    return sink.getvalue()


def refused(*sheets, edit=None, **options):
    with pytest.raises(HoldfastError) as refusal:
        read(book(*sheets, edit=edit), **options)
    assert "Hint" in str(refusal.value)
    return str(refusal.value)


def test_a_plain_sheet_is_a_table(tmp_path):
    path = tmp_path / "counts.xlsx"
    path.write_bytes(book(PLAIN))
    assert read_file(path).to_bytes() == b"county,deaths\nKent,3\nEly,0\n"
    assert counts(path, count="deaths", category="county") == [3, 0]


def test_titles_and_empty_rows_and_columns_around_the_table_are_passed_over():
    def page(sheet, made):
        sheet.merge_range("A1:D1", "Deaths by county", made.add_format())
        sheet.write("A2", "Source: the registrar")
        fill(sheet, PLAIN, top=4, left=2)

    assert read(book(page)).to_bytes() == b"county,deaths\nKent,3\nEly,0\n"


def test_numbers_stored_as_text_are_counts_and_codes_keep_their_zeros():
    table = read(book([["code", "deaths"], ["01001", "3"], ["01003", " 0"]]))
    assert table.column("code") == ["01001", "01003"]
    assert counts(table, count="deaths") == [3, 0]


@pytest.mark.parametrize("cell", ["1,204", "<4", "3 (est.)", date(2024, 3, 1), True, 2.5])
def test_what_is_no_count_is_refused_by_row_and_never_shown(cell):
    def page(sheet, made):
        fill(sheet, PLAIN)
        style = made.add_format({"num_format": "yyyy-mm-dd"}) if isinstance(cell, date) else None
        sheet.write(2, 1, cell, style)

    with pytest.raises(HoldfastError, match=r"data row 2 (is|may have)") as refusal:
        open_table(read(book(page)), count="deaths")
    assert str(cell) not in str(refusal.value)


def test_dates_are_written_as_dates():
    def page(sheet, made):
        day = made.add_format({"num_format": "dd/mm/yy"})
        fill(sheet, [["day", "deaths"], [None, 3], [None, 0]])
        sheet.write_datetime(1, 0, date(2024, 3, 1), day)
        sheet.write_datetime(2, 0, datetime(2024, 3, 1, 6, 30), day)

    assert read(book(page)).column("day") == ["2024-03-01", "2024-03-01 06:30:00"]


def test_a_label_merged_over_rows_belongs_to_each_of_them():
    def page(sheet, made):
        fill(sheet, [["state", "county", "n"], ["", "a", 1], ["", "b", 2], ["NE", "c", 3]])
        sheet.merge_range("A2:A3", "AL", made.add_format())

    assert read(book(page)).column("state") == ["AL", "AL", "NE"]


@pytest.mark.parametrize("cells, what", [("B2:B3", 7), ("A2:B2", "Kent"), ("A1:B1", "both")])
def test_other_merged_cells_are_refused(cells, what):
    def page(sheet, made):
        fill(sheet, [["county", "deaths", "pop"], ["Kent", 3, 10], ["Ely", 0, 20]])
        sheet.merge_range(cells, what, made.add_format())

    assert f"cells {cells}" in refused(page)


def test_a_formula_has_the_value_that_was_computed_last():
    def page(sheet, made):
        fill(sheet, PLAIN)
        sheet.write_formula("B3", "=1+1", value=2)

    assert read(book(page)).column("deaths") == ["3", "2"]


def test_a_formula_that_was_never_computed_is_refused():
    def page(sheet, made):
        fill(sheet, PLAIN)
        sheet.write_formula("B3", "=1+1", value=2)

    said = refused(page, edit=lambda xml: xml.replace(b"<v>2</v>", b""))
    assert "cell B3 holds a formula" in said


def test_a_cell_with_an_error_is_no_count_unless_it_is_named_as_missing():
    def page(sheet, made):
        fill(sheet, PLAIN)
        sheet.write_formula("B3", "=NA()", value="#N/A")

    table = read(book(page))
    with pytest.raises(HoldfastError, match="data row 2 is missing"):
        open_table(table, count="deaths")
    assert missing(table, count="deaths", missing=["#N/A"]) == [False, True]


def test_hidden_rows_are_refused():
    def page(sheet, made):
        fill(sheet, PLAIN)
        sheet.set_row(2, None, None, {"hidden": True})

    assert "row 3 of the sheet is hidden" in refused(page)


def test_a_note_below_the_table_is_refused():
    assert "row 4 of the sheet is blank" in refused([*PLAIN, [], ["Source: the registrar"]])


def test_cells_beside_the_table_are_refused():
    assert "cell C2 stands under no column name" in refused([PLAIN[0], ["Kent", 3, "see note"]])


def test_a_heading_of_two_rows_needs_the_row_of_the_names():
    rows = [["", "1996", "1997"], ["county", "deaths", "births"], ["Kent", 3, 4]]
    assert "stands under no column name" in refused(rows)
    table = read(book(rows), lines=Lines(header_row=2))
    assert table.to_bytes() == b"county,deaths,births\nKent,3,4\n"
    assert "header_row" in refused(rows, lines=Lines(header_row=9))


def test_a_line_break_in_a_column_name_is_a_space():
    assert read(book([["number of\n deaths"], [3]])).columns == ["number of deaths"]


def test_one_of_several_sheets_is_named(tmp_path):
    path = tmp_path / "counts.xlsx"
    path.write_bytes(book([["notes"], ["x"]], PLAIN))
    with pytest.raises(HoldfastError, match=r"several sheets: 'S1', 'S2'.*--sheet"):
        read_file(path)
    assert open_table(path, count="deaths", sheet="S2").withheld == ("county",)
    assert "it has 'S1'" in refused(PLAIN, sheet="s9")


def test_a_hidden_sheet_is_read_only_if_it_is_named():
    def page(sheet, made):
        fill(sheet, [["true counts"], [9]])
        sheet.hide()

    data = book(PLAIN, page)
    assert read(data).columns == ["county", "deaths"]
    assert read(data, sheet="S2").columns == ["true counts"]


def test_an_empty_sheet_is_refused():
    with pytest.raises(HoldfastError, match="no sheet with cells"):
        read(book([]))
    assert "the sheet is empty" in refused([], PLAIN, sheet="S1")


def test_what_is_no_workbook_is_refused(tmp_path):
    path = tmp_path / "counts.xlsx"
    path.write_bytes(b"county,deaths\nKent,3\n")
    with pytest.raises(HoldfastError, match=r"cannot be read as an Excel workbook\. Hint"):
        read_file(path)
    with pytest.raises(HoldfastError, match=re.escape(".xls` must end in")):
        read_file(tmp_path / "counts.xls")


def test_cells_without_addresses_are_counted():
    def bare(xml):
        return re.sub(rb' r="[A-Z]*[0-9]+"', b"", xml)

    def page(sheet, made):
        fill(sheet, PLAIN)
        sheet.write_formula("B3", "=NA()", value="#N/A")

    assert read(book(page, edit=bare)).column("deaths") == ["3", "#N/A"]


SPELLINGS = {
    "single quotes": lambda xml: xml.replace(b't="e"', b"t = 'e'"),
    "a character by its number": lambda xml: xml.replace(b't="e"', b't="&#101;"'),
    "no declaration": lambda xml: xml.partition(b"?>")[2].lstrip(),
    "UTF-16": lambda xml: xml.replace(b"UTF-8", b"UTF-16").decode().encode("utf-16"),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_an_error_is_seen_however_the_sheet_is_spelt(spelling):
    def page(sheet, made):
        fill(sheet, PLAIN)
        sheet.write_formula("B3", "=NA()", value="#N/A")

    def without_formula(xml):
        return SPELLINGS[spelling](xml.replace(b"<f>NA()</f>", b""))

    assert excel_parts.read_marks(book(page, edit=without_formula))["S1"].errors == {(2, 1): "#N/A"}


@pytest.mark.parametrize("last", [b"<v>0</v>", b"<f>A1</f><v>0</v>"])
def test_formulas_without_a_value_are_those_of_cells_alone(last):
    sparkline = b"<extLst><ext><x:sparkline><x:f>S1!B2</x:f></x:sparkline></ext></extLst>"

    def edit(xml):
        xml = re.sub(rb'(<c r="B3"[^>]*>).*?</c>', rb"\1" + last + b"</c>", xml)
        xml = re.sub(rb'(<c r="B2"[^>]*>).*?</c>', rb"\1<f>A1</f>\n<v></v>\n</c>", xml)
        return xml.replace(b"</worksheet>", sparkline + b"</worksheet>")

    marks = excel_parts.read_marks(book(PLAIN, edit=edit))["S1"]
    assert marks.uncomputed == [(1, 1)] and not marks.errors and not marks.hidden


def after_cells(more):
    return lambda xml: xml.replace(b"</sheetData>", b"</sheetData>" + more)


def among_cells(more):
    return lambda xml: xml.replace(b"</sheetData>", more + b"</sheetData>")


FAR = {
    "a cell": among_cells(b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
    "an error": among_cells(b'<row r="1048576"><c r="XFD1048576" t="e"><v>#N/A</v></c></row>'),
    "a cell in a row that lies": among_cells(b'<row r="4"><c r="XFD1048576"><v>1</v></c></row>'),
    "two cells": among_cells(b'<row r="9"><c r="XFD9"/></row><row r="9999"><c r="A9999"/></row>'),
    "another prefix": among_cells(b"<x:row xmlns:x='y' r='9'><x:c r='xfe&#57;'/></x:row>"),
    "cells without names": among_cells(b"<row>" + b"<c><v>1</v></c>" * 16385 + b"</row>"),
    "a row": among_cells(b'<row r="1048577"><c><v>1</v></c></row>'),
    "merged cells": after_cells(b'<mergeCells><mergeCell ref="A10:XFD1048576"/></mergeCells>'),
}


@pytest.mark.parametrize("what", FAR)
def test_a_sheet_that_would_fill_the_memory_is_refused_by_its_name(what):
    with pytest.raises(HoldfastError, match=r"sheet 'S1': .* too large .* Hint: delete what"):
        excel_parts.read_marks(book(PLAIN, PLAIN, edit=FAR[what]))


def test_the_extent_of_a_sheet_is_checked_before_it_is_read(monkeypatch):
    monkeypatch.setattr(excel_parts, "_CELLS", 20)
    assert "sheet 'S2': what stands in cell K2 makes" in refused(PLAIN, [["n"], [1] * 11])
    small = after_cells(b'<mergeCells><mergeCell ref="A4:B10"/></mergeCells>')
    assert read(book(PLAIN, edit=small)).column("deaths") == ["3", "0"]
    assert "cell C10" in refused(PLAIN, edit=lambda xml: small(xml).replace(b"B10", b"C10"))


def test_what_the_sheet_says_of_its_own_extent_is_not_believed():
    def boast(xml):
        return re.sub(rb'<dimension ref="[^"]*"', b'<dimension ref="A1:XFD1048576"', xml)

    assert read(book(PLAIN, edit=boast)).column("deaths") == ["3", "0"]


def test_a_workbook_is_measured_unpacked_whatever_size_it_states(monkeypatch):
    monkeypatch.setattr(excel_parts, "_BYTES", 10**6)
    assert "its size when unpacked" in refused(PLAIN, edit=after_cells(b" " * 10**6))
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"<workbook>" + b" " * 10**6)
    stated = (10**6 + len("<workbook>")).to_bytes(4, "little")
    lie = sink.getvalue().replace(stated, (9).to_bytes(4, "little"))
    assert lie != sink.getvalue()
    with pytest.raises(HoldfastError, match="its size when unpacked"):
        read(lie)


def test_loose_elements_are_limited(monkeypatch):
    monkeypatch.setattr(excel_parts, "_LOOSE", 100)
    assert "what stands beside the cells" in refused(PLAIN, edit=after_cells(b"<a/>" * 101))
    assert "number of its rows" in refused(PLAIN, edit=among_cells(b'<row r="0"/>'))


def test_entities_are_refused():
    doctype = b'<!DOCTYPE l [<!ENTITY a "1">]><worksheet'
    said = refused(PLAIN, edit=lambda xml: xml.replace(b"<worksheet", doctype, 1))
    assert "cannot be read as an Excel workbook" in said


def test_a_locked_workbook_is_refused():
    data = bytes.fromhex("d0cf11e0a1b11ae1") + "EncryptedPackage".encode("utf-16-le")
    with pytest.raises(HoldfastError, match=r"locked with a password\. Hint"):
        read(data)
