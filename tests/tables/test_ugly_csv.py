"""One definition of what a CSV file is: what is paid for can be read, by memory and verifier."""

import csv

import numpy as np
import pytest

import holdfast
from holdfast.errors import HoldfastError
from holdfast.former.constructors import Heuristic
from holdfast.tables.columns import LONGEST_NAMES
from holdfast.tables.csv_text import LONGEST_CELL
from ugly_csv import outcome, ugly

OPTIONS = {"count": "n", "keep": ["place"], "epsilon": 1, "max_count": 6}
OPTIONS |= {"constructor": Heuristic(selector="max")}
ROWS = b"".join(b"p%d,%d\n" % (row, row * 7 % 5) for row in range(60))


def test_memory_stream_and_verifier_agree_on_ugly_files(tmp_path):
    rng, accepted = np.random.default_rng(18), 0
    for number in range(300):
        data, codes = ugly(rng), ((), ("",), ("NA", "-9"))[number % 3]
        block = int(rng.choice([4, 16, 64])) if len(data) < 10_000 else 1 << 16
        good, said = outcome(data, tmp_path, codes, block)
        assert said is None, (said, data[:300])
        accepted += good
    assert 60 < accepted < 240


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
    "a header that does not end": (b'"' + b"x\n" * (1 << 21) + b"y", "CSV|4 MiB|131,072"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_table_is_refused_by_both_before_anything_is_paid(case, tmp_path):
    data, said = REFUSED[case]
    path = tmp_path / "in.csv"
    path.write_bytes(data)
    ledger = holdfast.Ledger(tmp_path / "book")
    ledger.set_limit("d", epsilon=1)
    paid = OPTIONS | {"ledger": ledger, "dataset": "d"}
    for run in (
        lambda: holdfast.privatize(path, **paid),
        lambda: holdfast.privatize_stream(path, tmp_path / "a", **paid),
    ):
        with pytest.raises(HoldfastError, match=said):
            run()
    assert ledger.balance("d").epsilon_left == 1


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
def test_what_is_a_table_is_read_by_both_and_verifies(case, tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes(READ[case])
    release = holdfast.privatize_stream(path, tmp_path / "a", **OPTIONS, seed=1)
    holdfast.privatize(path, **OPTIONS, seed=1).save(tmp_path / "b")
    tables = [(tmp_path / name / "table.csv").read_bytes() for name in "ab"]
    assert tables[0] == tables[1] and holdfast.verify(tmp_path / "a").passed
    assert release.load().rows == release.rows


def test_what_is_left_of_windows_1252_is_not_taken_for_utf_8(tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes("secret,Ã©,n\né,Ã©,1\nx,y,2\n".encode("cp1252"))  # kept alone, it is UTF-8
    options = OPTIONS | {"keep": ["Ã©"], "seed": 1}
    holdfast.privatize_stream(path, tmp_path / "a", **options)
    assert holdfast.verify(tmp_path / "a").passed
    assert holdfast.load(tmp_path / "a").cells.column("Ã©") == ["Ã©", "y"]


def test_the_limit_of_a_cell_is_ours_whatever_pythons_is(tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes(REFUSED["a long cell"][0])
    before = csv.field_size_limit(1 << 30)
    try:
        with pytest.raises(HoldfastError, match="131,072"):
            holdfast.privatize(path, **OPTIONS)
    finally:
        csv.field_size_limit(before)


@pytest.mark.parametrize("parameter", ["count", "category", "order_by", "structural_zero"])
def test_an_empty_name_is_refused(parameter, tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes(b"place,,n\na,1,0\nb,2,0\n")
    for run in (
        lambda **options: holdfast.privatize(path, **options),
        lambda **options: holdfast.privatize_stream(path, tmp_path / "a", **options),
    ):
        with pytest.raises(HoldfastError, match=f"`{parameter}` must name a column, got an empty"):
            run(**OPTIONS | {parameter: ""})


@pytest.mark.parametrize("letter", ["x", "\x01", "`", "é", "🌍"])
def test_names_that_are_too_long_for_a_bundle_are_refused_before_anything_is_paid(letter, tmp_path):
    rows = {name: ["a", "b", "c"] for name in ("place",)} | {"n": [1, 2, 0]}
    options = OPTIONS | {"keep": [], "seed": 1}
    for long, fits in ((letter * (LONGEST_NAMES // 12 - 1), True), (letter * LONGEST_NAMES, False)):
        table = pd_table(rows | {long: ["d", "e", "f"]})
        run = lambda: holdfast.privatize(table, **options | {"keep": [long]})  # noqa: B023, E731
        if not fits:
            with pytest.raises(HoldfastError, match="too long for a release"):
                run()
        else:
            run().save(tmp_path / "a")
            assert holdfast.verify(tmp_path / "a").passed


def pd_table(columns):
    import pandas as pd

    return pd.DataFrame(columns)
