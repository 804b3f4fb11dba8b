"""`holdfast.privatize_stream`: two passes over a table that need not fit into memory."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.engines.stages import Constructor, stages
from holdfast.engines.stream.kept_counts import read_kept
from holdfast.engines.stream.passes import READING, Progress, Run, tally
from holdfast.errors import COUNTED, HoldfastError
from holdfast.ledger.kept import check_room, kept_release
from holdfast.ledger.ledger import ABANDONED, DONE, Ledger, check_name, open_ledger
from holdfast.ledger.spending import UNTOUCHED, Request, mark_done, pay
from holdfast.privatizers import Privatizer
from holdfast.privatizers.private_quantile import PrivateQuantile
from holdfast.release.bundle import new_folder
from holdfast.release.release import StreamedRelease
from holdfast.tables.columns import Wanted
from holdfast.tables.stream.open import open_source


def privatize_stream(
    source: Any,
    sink: str | os.PathLike[str],
    *,
    epsilon: Any,
    max_count: int | PrivateQuantile,
    count: str | None = None,
    category: str | None = None,
    keep: Sequence[str] = (),
    publish_anyway: Sequence[str] = (),
    repeated_categories: bool = False,
    structural_zero: str | None = None,
    contributions: int = 1,
    privatizer: Privatizer | None = None,
    constructor: Constructor | None = None,
    split: Any = None,
    seed: int | None = None,
    ledger: Any = None,
    dataset: str | None = None,
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
        category: Name of the category column, which is published. Labels that repeat are looked
            for among the first ten million.
        ledger, dataset: As in `holdfast.privatize`. A release is shown again for the same
            files, byte for byte; a query is drawn and paid for whenever it is run.
        progress: Called with what is being done and the share of it that is behind.

    The others are those of `holdfast.privatize`.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "deaths.csv").write_text("county,deaths\\nKent,3\\nEly,0\\nRye,1\\n")
    >>> options = {"count": "deaths", "category": "county", "epsilon": 1, "max_count": 10}
    >>> release = privatize_stream(folder / "deaths.csv", folder / "release", **options, seed=1)
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
    if (ledger is None) != (dataset is None):
        raise HoldfastError("`ledger` and `dataset` go together: give both, or neither.")
    new_folder(sink)
    wanted = Wanted(
        count=count,
        category=category,
        keep=keep,
        publish_anyway=publish_anyway,
        repeated_categories=repeated_categories,
        structural_zero=structural_zero,
    )
    table = open_source(source, wanted)
    say = progress or (lambda _what, _done: None)
    seen = tally(table, asked.highest, lambda done: say(READING, done))
    asked = asked.for_rows(seen.rows)
    run = Run(table=table, sink=Path(sink), asked=asked, seen=seen, say=say)
    if ledger is None or dataset is None:
        return run.draw()
    if asked.source.simulated:
        return run.draw(notes=(UNTOUCHED,))
    return paid(run, ledger, check_name(dataset))


def paid(run: Run, ledger: Any, dataset: str) -> StreamedRelease:
    """Recorded in the ledger first, then drawn and kept there; or shown again if kept."""
    book, request, rows = open_ledger(ledger), run.request, run.table.digest()
    words = request.words
    if rows is None:  # a query may give its rows in another order the next time
        return drawn(run, book, pay(book, dataset, request, words), request)
    run = replace(run, rows=rows)
    fingerprint = book.fingerprint(run.seen.digest.content(words, rows))
    kept = kept_release(book, dataset, fingerprint, request, read_kept)
    if kept is not None:
        return run.show_again(kept)
    check_room(book, fingerprint)
    spend = pay(book, dataset, request, words, fingerprint)
    return drawn(run, book, spend, request, book.folder(spend, fingerprint))


def drawn(
    run: Run, book: Ledger, spend: int, request: Request, keep: Path | None = None
) -> StreamedRelease:
    """The release that was paid for, kept where that is said."""
    try:
        release = run.draw(keep=keep, paid=request)
    except BaseException as error:
        error.add_note(COUNTED)
        with suppress(HoldfastError):  # if even this fails it stays open, and counts as well
            book.finish(spend, DONE if keep is not None and keep.is_dir() else ABANDONED)
        raise
    mark_done(book, spend)
    return release
