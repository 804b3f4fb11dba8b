"""Counts that are not known stay missing; bad counts are told of all at once."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from holdfast.errors import HoldfastError
from open_tables import counts, missing, open_table, replaced, text_table, written

ROWS = 300
COUNTS = np.random.default_rng(2).poisson(2, ROWS)
GAPS = np.arange(ROWS) % 10 == 4
PLACES = [f"p{i}" for i in range(ROWS)]
OPTIONS = {"count": "n", "category": "place"}


def text(code="-999"):
    cells = [code if gap else str(count) for gap, count in zip(GAPS, COUNTS, strict=True)]
    return text_table(("place", "n"), [list(row) for row in zip(PLACES, cells, strict=True)])


CODED = np.where(GAPS, -999, COUNTS)
NULLS = [None if gap else int(count) for gap, count in zip(GAPS, COUNTS, strict=True)]
TABLES = {
    "text": (text(), ["-999"]),
    "empty text": (text(""), [""]),
    "two codes": (text(" NA "), ["-999", "NA"]),
    "a dash": (text("–"), "–"),
    "pandas": (pd.DataFrame({"place": PLACES, "n": CODED}), [-999]),
    "pandas with codes in text": (pd.DataFrame({"place": PLACES, "n": CODED}), ["-999"]),
    "pandas with gaps": (pd.DataFrame({"place": PLACES, "n": NULLS}), [None]),
    "polars": (pl.DataFrame({"place": PLACES, "n": NULLS}), [""]),
    "pyarrow": (pa.table({"place": PLACES, "n": CODED}), -999),
}


@pytest.mark.parametrize("kind", TABLES)
def test_rows_that_are_not_known_are_missing_and_not_measured(kind, tmp_path):
    source, codes = TABLES[kind]
    with pytest.raises(HoldfastError, match="must hold whole numbers"):
        open_table(source, **OPTIONS)
    table = open_table(source, **OPTIONS, missing=codes)
    assert table.rows == ROWS and table.missing == {"n": GAPS.sum()}
    assert table.measured["n"].tolist() == [ROWS - GAPS.sum()]
    (batch,) = table.batches()
    assert (batch.missing["n"] == GAPS).all() and (batch.measured["n"] == ~GAPS).all()
    assert (batch.counts["n"] == np.where(GAPS, -1, COUNTS)).all()
    assert (batch.group == np.where(GAPS, -1, 0)).all()
    back = replaced(table, np.full(ROWS, 7))
    assert type(back) is type(source)
    again = counts(back, missing=["", None], publish_anyway=["row order"], **OPTIONS)
    assert again == np.where(GAPS, -1, 7).tolist()
    lines = written(table, tmp_path / "out.csv").decode().splitlines()[1:]
    assert [line.endswith(",") for line in lines] == GAPS.tolist()


def test_a_row_is_in_a_group_where_one_of_its_counts_is_known():
    rows = [["a", "x", "1", ""], ["b", "x", "", "2"], ["c", "y", "", ""], ["d", "y", "5", "6"]]
    source = text_table(("k", "g", "n", "m"), rows)
    table = open_table(source, count=["n", "m"], category="k", within="g", missing="")
    (batch,) = table.batches()
    assert batch.group.tolist() == [0, 0, -1, 1] and table.partition.names == ("x", "y")
    assert {name: own.tolist() for name, own in table.measured.items()} == {
        "n": [1, 1],
        "m": [1, 1],
    }
    assert table.partition.sizes.tolist() == [2, 1] and table.missing == {"n": 2, "m": 2}


def test_bad_counts_are_told_of_all_at_once():
    cells = ["3", "", "-7", "2.5", "", "x", "1"]
    rows = [[f"p{i}", cell] for i, cell in enumerate(cells)]
    with pytest.raises(HoldfastError) as caught:
        open_table(text_table(("place", "n"), rows), count="n")
    said = str(caught.value)
    assert "5 rows do not: data row 2 is missing (one of 2 such rows), " in said
    assert ", data row 3 is negative, " in said
    assert ", data row 6 is text. " in said and "`missing`" in said
    assert "-7" not in said and "2.5" not in said
    with pytest.raises(
        HoldfastError, match=r"900 rows do not: data row 3 is negative \(one of 900 such"
    ):
        open_table(np.append([1, 2], np.full(900, -999)))
    with pytest.raises(
        HoldfastError, match=r"row 1 is missing \(one of 2 such rows\), data row 3 is"
    ):
        open_table(pd.DataFrame({"n": [None, None, -1.0, 2.0]}))


def test_a_table_of_nothing_but_gaps_is_refused():
    with pytest.raises(HoldfastError, match="no count that is known"):
        open_table([-999, -999], missing=[-999])


def test_minus_one_is_a_bad_count_also_where_codes_are_given():
    with pytest.raises(HoldfastError, match="data row 2 is negative"):
        open_table([-999, -1, 3], missing=[-999])


WRITTEN = ["1e3", "9,999", "1 000", "1.234", "12\u202f345", "1’000", "1_000.000"]


@pytest.mark.parametrize("code", [0, "3", 5.0, "05", 99, "999", 1e6, 2**60, *WRITTEN])
def test_a_code_that_a_count_may_be_is_refused_however_large(code):
    with pytest.raises(HoldfastError, match=r"which a count may be.*a row would vanish"):
        open_table(text(), **OPTIONS, missing=[code])


@pytest.mark.parametrize("code", [-1, "-999", "", "NA", 0.5, "*", None, "1/2", "nan", "inf"])
def test_a_code_that_no_count_can_be_is_taken(code):
    assert sum(missing(text(), **OPTIONS, missing=[code, "-999"])) == GAPS.sum()
