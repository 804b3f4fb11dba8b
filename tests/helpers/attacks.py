"""Mutations of a bundle by forgers who repair the sums, and bundles that would wear a reader out.

A weak forger edits and repairs the sums. A strong one also writes anew what people read. What
passes all the same is listed in `MAY_PASS` with its reason.
"""

import json
import math
import struct
import zlib
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bundles import (
    forge,
    read_record,
    repair,
    repair_sums,
    rewrite_texts,
    without_plain_files,
    write_record,
)

MAY_PASS = {
    "holdfast": "nobody but the maker knows which version it was",
    "notes": "words of the maker, marked as notes wherever they are shown",
    "methods.1": "the weights are checked, not what they are said to be made by",
    "max_count_found.method": "words of the maker",
    "max_count_found.q": "the quantile that was asked for leaves no trace but its result",
    "max_count_found.highest": "as long as it lies between max_count and a million",
    "privacy.stage_1_certified": "vouched for by whoever it names, for its budget to 1e-9",
    "privacy.bound_certified": "vouched for by OpenDP, for its budget to 1e-9",
    "target": "by less than 1e-9, which the projection may be off by",
    "expected_change_of_a_count": "by less than a millionth",
    "measurement": "by what the projection cuts off",
    "receipt": "only the ledger that paid knows its entries",
    "fixed_point": "a claim that is not made although it holds",
    "schema": "texts of schema 2 are held to their main points alone; verify warns of it",
}


def leaves(value, path=()):
    """The places of all texts and numbers in a record, long lists by their ends."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        yield path, value
        for k in sorted({0, 1, len(value) // 2, len(value) - 1} & set(range(len(value)))):
            yield from leaves(value[k], (*path, k))
    else:
        yield path, value


def edits(value):
    """Other values for a leaf."""
    if isinstance(value, bool) or value is None:
        return [not value, 0, "true"]
    if isinstance(value, int | float):
        return [value + 1, value - 1, value * 2, -value, 0, value + 1e-7, str(value), None]
    if isinstance(value, list):
        return [
            value[1:],
            [*value, value[-1]] if value else ["exact, no noise"],
            value[::-1],
            [],
            None,
        ]
    odd = [value + " ", value[::-1], "", "0", "exact, no noise", value.upper(), value + "\v", None]
    try:
        return [*odd, str(Fraction(value) / 2), str(Fraction(value) * 2)]
    except ValueError:
        return odd


def record_mutations(record):
    """Records that differ in one leaf, each with the place of the leaf."""
    for path, value in leaves(record):
        if path[:1] == ("files",):
            continue
        for other in edits(value):
            if other == value and type(other) is type(value):
                continue
            changed = json.loads(json.dumps(record))
            inner = changed
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = other
            yield path, changed


def text_mutations(text, random, count):
    """Texts that differ in a line: gone, twice, another order, one letter, a sentence more."""
    lines = text.split("\n")
    for _ in range(count):
        k, kind, changed = int(random.integers(len(lines))), int(random.integers(5)), lines.copy()
        if kind == 0:
            del changed[k]
        elif kind == 1:
            changed.insert(k, "The counts are exact: no noise.")
        elif kind == 2:
            changed[k] = changed[k] + " "
        elif kind == 3:
            changed[k] = changed[k].replace("0", "9", 1).replace("a", "e", 1) + "."
        else:
            changed[k - 1], changed[k] = changed[k], changed[k - 1]
        if changed != lines:
            yield "\n".join(changed)


def plant_record(bundle, record, *, strong):
    """Put a record into a bundle, with sums that fit; a strong forger writes the texts anew."""
    write_record(bundle, record)
    if strong:
        try:
            rewrite_texts(bundle)
            return
        except Exception:  # a record that nothing can be written from
            write_record(bundle, record)
    repair_sums(bundle)


def reason(path):
    """Why a mutation at this place may pass; None if it may not."""
    dotted = ".".join(map(str, path))
    return next(
        (MAY_PASS[key] for key in MAY_PASS if dotted == key or dotted.startswith(f"{key}.")), None
    )


# Bundles that would wear a reader out ----------------------------------------------------------


def backticks(bundle):
    """80,000 backticks in the name of a column."""
    _rename(bundle, "`" * 80_000)


def many_columns(bundle, number=600_000):
    """As many columns as a record has room for, all without a name."""
    names = [""] * number
    record = read_record(bundle) | {"columns": [*names, "n"], "unchanged_columns": names}
    (bundle / "release.json").write_text(json.dumps(record, separators=(",", ":")))
    table = bundle / "table.csv"
    lines = table.read_text().splitlines()
    rows = [line.rpartition(",")[2] for line in lines[1:21]]
    commas = "," * number
    table.write_text("".join(f"{commas}{cell}\n" for cell in ["n", *rows]))
    repair_compactly(bundle)


def repair_compactly(bundle):
    """The sums repaired, and the record left without spaces."""
    repair(bundle)
    record = read_record(bundle)
    (bundle / "release.json").write_text(json.dumps(record, separators=(",", ":")))
    repair_sums(bundle)


def many_chunks(bundle, columns=1_000, groups=100):
    """A Parquet table of many columns in many groups of rows."""
    without_plain_files(bundle)
    names = [f"c{k}" for k in range(columns - 1)]
    counts = [
        int(line.rpartition(",")[2]) for line in (bundle / "table.csv").read_text().split()[1:]
    ]
    texts = dict.fromkeys(names, ["x"] * len(counts))
    (bundle / "table.csv").unlink()
    table = pa.table({**texts, "n": counts})
    pq.write_table(table, bundle / "table.parquet", row_group_size=len(counts) // groups)
    record = read_record(bundle)
    record["files"]["table.parquet"] = record["files"].pop("table.csv")
    forge(bundle, columns=[*names, "n"], unchanged_columns=names, files=record["files"])
    repair(bundle)


def long_method(bundle):
    """4 MB of brackets in the place of a method."""
    forge(bundle, methods=["(" * 4_000_000, ""])


def heavy_weights(bundle, n=8_000):
    """Weights that are all above 2^62."""
    column = np.zeros((8, n), dtype=np.uint8)
    column[7, 0] = 255
    _plant_weights(bundle, n, column.tobytes() * n)


def tied_weights(bundle, n=8_192):
    """Weights whose ratios are all the same, nearly e^epsilon, for a claim with a delta."""
    record = read_record(bundle)
    epsilon, privacy = record["certificate"]["epsilon"], record["privacy"]
    small = int((1 << 62) / (n / 2 * (1 + math.exp(Fraction(epsilon)))))
    large = round(small * math.exp(Fraction(epsilon)))
    columns = [np.where((np.arange(n) + j) % 2, small, large) for j in (0, 1)]
    rest = (1 << 62) - n // 2 * (small + large)
    pair = b"".join(map(_folded, columns))
    first = _folded(columns[0] + rest) + _folded(columns[1])
    _plant_weights(bundle, n, first + pair * (n // 2 - 1))
    certified = Fraction(privacy["stage_1_certified"]) + Fraction(epsilon)
    claim = {"delta": "1/2", "certified_epsilon": epsilon}
    forge(
        bundle,
        certificate=claim | dict.fromkeys(("worst_ratio", "inputs", "output")),
        privacy={
            "stage_2_certified": epsilon,
            "certified_epsilon_decimal": f"{float(certified):.12g}",
        },
        mechanism_delta="1/2",
    )


def endless_row(bundle, cells=(1 << 26) - 9):
    """A row of as many empty cells as a line may hold."""
    table = bundle / "table.csv"
    table.write_text(table.read_text() + "," * cells + "\n")
    repair(bundle)


def endless_header(bundle, cells=(1 << 26) - 9):
    """A header of as many empty cells as a line may hold."""
    table = bundle / "table.csv"
    table.write_text("," * cells + "\n" + table.read_text())
    repair(bundle)


WORST = {
    "80,000 backticks in a column's name": backticks,
    "600,000 columns, all that a record has room for": many_columns,
    "Parquet, 1,000 columns in 100 groups": many_chunks,
    "a method of 4 MB": long_method,
    "a row of 67 million cells": endless_row,
    "a header of 67 million cells": endless_header,
    "weights above 2^62, n = 8,000": heavy_weights,
    "ties and a delta, n = 8,192": tied_weights,
}


def _rename(bundle, name):
    record = read_record(bundle)
    table = bundle / "table.csv"
    table.write_text(table.read_text().replace("place", name, 1))
    columns = [name if column == "place" else column for column in record["columns"]]
    forge(bundle, columns=columns, unchanged_columns=columns[:1])


def _folded(column):
    differences = np.diff(column, prepend=np.int64(0))
    folded = ((differences << 1) ^ (differences >> 63)).astype("<i8")
    return folded.view(np.uint8).reshape(len(column), 8).T.tobytes()


def _plant_weights(bundle, n, planes):
    packed = zlib.compress(planes, 1)
    header = struct.pack("<8sIIQQ", b"holdfast", 1, n, 1 << 62, len(packed))
    (bundle / "mechanism.weights").write_bytes(header + packed)
    forge(bundle, max_count=n - 1, target=[1.0, *[0.0] * (n - 1)])
    repair(bundle)
