"""`holdfast.privatize_stream`: two passes over a table that need not fit into memory."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.bundle import complete, new_bundle, new_folder
from holdfast.errors import HoldfastError
from holdfast.histogram import histogram_of_counts, top_code
from holdfast.private_quantile import PrivateQuantile
from holdfast.privatizers import Privatizer
from holdfast.release import StreamedRelease
from holdfast.sampling import THREADS, Sampler
from holdfast.stages import Constructor, Staged, Stages, stages
from holdfast.streaming.pipeline import Counts, Marks, Part, Source

Progress = Callable[[str, float | None], None]
TEXT, PARQUET = (".csv", ".tsv", ".txt"), (".parquet", ".pq")
READING, DRAWING = "Reading", "Drawing and writing"


def privatize_stream(
    source: Any,
    sink: str | os.PathLike[str],
    *,
    epsilon: Any,
    max_count: int | PrivateQuantile,
    count: str | None = None,
    category: str | None = None,
    structural_zero: str | None = None,
    contributions: int = 1,
    privatizer: Privatizer | None = None,
    constructor: Constructor | None = None,
    split: Any = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> StreamedRelease:
    """`holdfast.privatize` for a table of any size: from a file to a bundle, batch by batch.

    The first pass counts how many rows have each count, the second draws. Between them the
    source must not change: its histogram is taken again while drawing, and where it differs
    nothing is released. The promise and the bundle are those of `holdfast.privatize`.

    Parameters:
        source: The path of a CSV or Parquet file or of a folder of Parquet files, whose Hive
            partitions become columns; or a DuckDB relation, which is run twice.
        sink: New folder for the bundle. The table in it is CSV for CSV and Parquet otherwise.
        structural_zero: A column of true and false that marks rows publicly known to be zero.
        category: Name of the category column; only to check that it is there.
        progress: Called with what is being done and the share of it that is behind.

    The others are those of `holdfast.privatize`.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "deaths.csv").write_text("county,deaths\\nKent,3\\nEly,0\\nRye,1\\n")
    >>> options = {"count": "deaths", "epsilon": 1, "max_count": 10, "seed": 1}
    >>> release = privatize_stream(folder / "deaths.csv", folder / "release", **options)
    >>> release.rows, release.histogram.sum(), release.load().table.columns
    (3, np.int64(3), ['county', 'deaths'])
    """
    asked = stages(
        epsilon=epsilon,
        max_count=max_count,
        contributions=contributions,
        privatizer=privatizer,
        constructor=constructor,
        split=split,
        seed=seed,
    )
    new_folder(sink)
    table = open_source(source, count, {"category": category, "structural_zero": structural_zero})
    say = progress or (lambda _what, _done: None)
    seen = tally(table.read(), asked.highest, lambda done: say(READING, done))
    asked = asked.for_rows(seen.rows)
    return draw_stream(table, sink, asked, seen, say)


@dataclass(frozen=True, kw_only=True)
class Tally:
    """What the first pass found. Not for release."""

    histogram: NDArray[np.int64] = field(repr=False)
    structural_zeros: int

    @property
    def rows(self) -> int:
        """Rows that go through the mechanism."""
        return int(self.histogram.sum())


def tally(parts: Iterator[Part], highest: int, say: Callable[[float | None], None]) -> Tally:
    """The histogram of all counts that go through the mechanism."""
    histogram, zeros = np.zeros(highest + 1, dtype=np.int64), 0
    for part in parts:
        histogram += _open_histogram(part.counts, part.marks, highest)
        zeros += 0 if part.marks is None else int(part.marks.sum())
        say(part.done)
    if not histogram.any():
        raise HoldfastError(
            "`structural_zero` marks every row, so there is nothing to release."
            if zeros
            else "`table` has no rows. Hint: give one row per category, zeros included."
        )
    return Tally(histogram=histogram, structural_zeros=zeros)


def draw_stream(
    table: Source, sink: str | os.PathLike[str], asked: Stages, seen: Tally, say: Progress
) -> StreamedRelease:
    """The second pass, into a bundle that is there when all of it is."""
    with new_bundle(sink) as folder:
        say("Building the mechanism", None)
        staged = asked(seen.histogram)
        drawing = Drawing(staged)
        threads = 1 if asked.source.simulated else THREADS  # seeded draws go by row order
        again = np.zeros_like(seen.histogram)
        released = np.zeros(staged.top + 1, dtype=np.int64)
        try:
            for part in table.rewrite(drawing, folder / f"table.{table.suffix}", threads):
                again += _open_histogram(part.counts, part.marks, asked.highest)
                released += np.bincount(part.released, minlength=staged.top + 1)
                say(DRAWING, part.done)
        except OSError as error:
            raise HoldfastError(
                f"`{Path(sink).parent}` cannot be written to ({error.strerror or error}); nothing "
                "was released. Hint: make room, or choose another folder."
            ) from None
        zeros = int(released.sum()) - int(again.sum())
        if (again != seen.histogram).any() or zeros != seen.structural_zeros:
            raise HoldfastError(
                "`source` changed while it was read; nothing was released. "
                "Hint: copy it to a place where nobody writes, and begin again."
            )
        drawn = released - np.eye(1, staged.top + 1, dtype=np.int64)[0] * zeros
        release = StreamedRelease(
            histogram=released,
            folder=Path(sink),
            structural_zeros=zeros,
            count_column=table.column,
            unchanged_columns=tuple(name for name in table.columns if name != table.column),
            **staged.facts(drawn),
        )
        complete(release, folder, table.columns)
    return release


class Drawing:
    """Step 4 for a batch: rows publicly known to be zero pass through."""

    def __init__(self, staged: Staged) -> None:
        self._sampler = Sampler(staged.construction.mechanism)
        self._top, self._source = staged.top, staged.stages.source

    def __call__(self, counts: Counts, marks: Marks) -> Counts:
        """The released counts of a batch."""
        if marks is None:
            return self._sampler(top_code(counts, self._top), self._source)
        released = np.zeros(len(counts), dtype=np.int64)
        released[~marks] = self._sampler(top_code(counts[~marks], self._top), self._source)
        return released


def _open_histogram(counts: Counts, marks: Marks, highest: int) -> NDArray[np.int64]:
    return histogram_of_counts(counts if marks is None else counts[~marks], highest)


def open_source(source: Any, count: str | None, names: dict[str, str | None]) -> Source:
    """A table that can be read twice, from what the steward gave."""
    from holdfast.streaming.arrow_source import ArrowSource, open_duckdb, open_parquet
    from holdfast.streaming.text_source import TextSource

    for parameter, name in names.items():
        if name is not None and (not isinstance(name, str) or name == count):
            raise HoldfastError(
                f"`{parameter}` must name a column of its own. Hint: a table that is streamed "
                "says in a column of true and false which rows are publicly known to be zero."
            )
    if not isinstance(source, str | os.PathLike):
        if type(source).__name__ != "DuckDBPyRelation":
            raise HoldfastError(
                f"`source` must be a path or a DuckDB relation, got {type(source).__name__}. "
                "Hint: what is in memory already goes to `holdfast.privatize`."
            )
        return ArrowSource(open_duckdb(source), count, names)
    path = Path(source)
    if path.is_dir() or path.suffix.lower() in PARQUET:
        return ArrowSource(open_parquet(path), count, names)
    if path.suffix.lower() not in TEXT:
        raise HoldfastError(
            f"`{path}` must be a folder or end in one of {', '.join(TEXT + PARQUET)}. "
            "Hint: save the table as CSV or Parquet."
        )
    return TextSource(path, count, names)
