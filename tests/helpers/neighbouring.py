"""Releases of neighbouring tables with the draws held fixed: not a byte of them may differ."""

import functools
import json
import shutil
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet

import holdfast.former as holdfast
from holdfast.former.constructors import Heuristic
from holdfast.former.mechanism.sampling import Sampler
from holdfast.former.release import bundle
from holdfast.former.tables import parquet_groups, text_rows
from holdfast.former.tables.stream import arrow_source, sorted_rows, text_source

TOP = 12
BLOCK, ROWS, GROUP, CHUNK = 512, 50, 64, 32  # in place of millions
SIZES = [1, 2, 31, 32, 33, 49, 50, 51, 63, 64, 65, 99, 100, 101, 127, 128, 129, 150, 192, 200]
SPELLINGS = ["{}", '"{}"', " {}", "{}\t", "00{}", "{}.0", '" {}.0000 "']
KINDS = [pa.int64(), pa.int32(), pa.float64(), pa.uint16(), pa.decimal128(19, 0)]


@functools.cache
def _construction(n):
    return Heuristic(selector="max")(np.full(n, 1 / n), epsilon="0.1")


def constructor(target, *, epsilon):
    """One mechanism for all."""
    return _construction(len(target))


class Fixed:
    """In place of noise and draws: what depends on the number of the row alone."""

    def __init__(self):
        self.row = 0

    def target(self, privatizer, histogram, *, epsilon, source):
        """z."""
        return np.full(len(histogram), 1 / len(histogram)), None

    def draw(self, counts, source):
        """Released counts."""
        rows = np.arange(self.row, self.row + len(counts))
        self.row += len(counts)
        return rows * 7919 % 97 % (TOP + 1)


@contextmanager
def held_fixed(small=True):
    """No draw depends on a count; with `small`, all thresholds are near."""
    with ExitStack() as stack:
        put = lambda *what: stack.enter_context(patch.object(*what))  # noqa: E731
        put(bundle, "_flush", lambda path: None)  # the disk may be slow
        if small:
            put(text_source, "BLOCK", BLOCK)
            put(arrow_source, "ROWS", ROWS)
            put(parquet_groups, "ROW_GROUP", GROUP)
            put(parquet_groups, "GROUP_BYTES", 40 * GROUP)
            put(text_rows, "CHUNK", CHUNK)
            put(sorted_rows, "RUN", 20_000)
            put(sorted_rows, "CHUNK", CHUNK)
        yield


def release(path: Path, folder: Path, way: str, **options) -> dict[str, bytes]:
    """The files of a release whose draws depend on the numbers of the rows alone."""
    fixed = Fixed()
    chosen = {"count": "n", "epsilon": 1, "max_count": TOP, "constructor": constructor, "seed": 1}
    chosen |= {"publish_anyway": ["row order", "totals"]} | options
    shutil.rmtree(folder, ignore_errors=True)
    with (
        patch("holdfast.former.engines.stages.measured_target", fixed.target),
        patch.object(Sampler, "__call__", lambda _, counts, source: fixed.draw(counts, source)),
    ):
        if way == "stream":
            holdfast.privatize_stream(path, folder, **chosen)
        else:
            holdfast.privatize(path, **chosen).save(folder, table_format=path.suffix[1:])
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def pair(rng, folder: Path, suffix: str):
    """Two neighbouring tables in files, and how they are released."""
    rows = int(rng.choice(SIZES))
    counts = rng.choice([0, 0, 1, 3, 9, 10, 99, 100, 999, 1000], rows) + rng.integers(0, 2, rows)
    other, at = counts.copy(), int(rng.integers(rows))
    other[at] = max(0, other[at] + int(rng.choice([-1, 1, 1])))
    gaps = rng.random(rows) < (0.1 if rows > 3 and rng.random() < 0.5 else 0)
    gaps[at] = False
    places = [f"p{row}" + " " * int(rng.integers(12)) for row in rng.permutation(rows)]
    notes = [str(rng.choice(['a"b', "x,y", "", "é", "1"])) for _ in range(rows)]
    files = []
    for name, numbers in (("one", counts), ("two", other)):
        path = folder / f"{name}.{suffix}"
        write = _write_text if suffix == "csv" else _write_parquet
        write(rng, path, places, notes, numbers, gaps)
        files.append(path)
    options = {"category": "place"} if rng.random() < 0.7 else {}
    options |= {"keep": ["note"]} if rng.random() < 0.7 else {}
    if options and rng.random() < 0.4:
        options["order_by"] = options.get("category", "note")
    options |= {"missing": [9999]} if gaps.any() else {}
    options["publish_anyway"] = ["row order", "totals", *options.get("keep", [])]
    options["publish_anyway"] += ["place"] * ("category" in options)
    return files, options


def _write_text(rng, path, places, notes, counts, gaps):
    spelt = [SPELLINGS[k].format(n) for k, n in zip(rng.integers(7, size=len(counts)), counts)]  # noqa: B905
    cells = ["9999" if gap else cell for gap, cell in zip(gaps, spelt, strict=True)]
    quoted = ['"' + note.replace('"', '""') + '"' for note in notes]
    lines = [",".join(row) for row in zip(places, cells, quoted, strict=True)]
    path.write_text("\n".join(["place,n,note", *lines, ""]), encoding="utf-8")


def _write_parquet(rng, path, places, notes, counts, gaps):
    """The same cells, laid out in whatever way: row groups, kinds, and dictionaries whose order
    is that of the counts."""
    kind = KINDS[rng.integers(len(KINDS))]
    numbers = pa.array(np.where(gaps, 9999, counts)).cast(kind)
    order = np.argsort(counts, kind="stable")
    where = np.empty(len(counts), dtype=np.int64)
    where[order] = np.arange(len(counts))
    labels = pa.array([places[at] for at in order])
    place = pa.DictionaryArray.from_arrays(pa.array(where), labels)
    table = pa.table({"place": place, "n": numbers, "note": notes})
    size = int(rng.integers(1, len(counts) + 1))
    pa.parquet.write_table(table, path, row_group_size=size, use_dictionary=bool(rng.integers(2)))


def difference(rng, folder: Path, suffix: str) -> str | None:
    """Where the releases of two neighbours differ, or those of one in memory and as a stream."""
    files, options = pair(rng, folder, suffix)
    made = {
        (way, path.stem): release(path, folder / "out", way, **options)
        for way in ("memory", "stream")
        for path in files
    }
    first = made["memory", "one"]
    for which, other in made.items():
        if "order_by" in options and which == ("stream", "one"):
            first = other  # a stream draws in the order of the source, and sorts what was drawn
        for name in first:
            if first[name] != other.get(name):
                return f"{suffix}, {which}, {name}, {json.dumps(options)}"
    return None
