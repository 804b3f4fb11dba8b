"""`holdfast.privatize_stream`: two passes over a table that need not fit into memory."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack, overload

from holdfast.former.engines.options import RepeatableOptions, check_options, sorted_options
from holdfast.former.engines.several import refuse_for_one
from holdfast.former.engines.stages import check_parameters
from holdfast.former.engines.stream.passes import READING, Progress, Streaming, tally
from holdfast.former.engines.stream.several import stream_several
from holdfast.former.ledger.periods import period_notes, read_period
from holdfast.former.ledger.spending import find_account, pay_and_draw
from holdfast.former.release.bundle import new_folder
from holdfast.former.release.release import StreamedRelease
from holdfast.former.release.several import StreamedTableRelease
from holdfast.former.tables.columns import Wanted
from holdfast.former.tables.count_values import check_codes
from holdfast.former.tables.stream.open import open_source

Folder = str | os.PathLike[str]


class StreamOptions(RepeatableOptions, total=False):
    """What a stream takes beside `count`."""

    progress: Progress | None


@overload
def privatize_stream(
    source: Any, sink: Folder, *, count: str | None = None, **options: Unpack[StreamOptions]
) -> StreamedRelease: ...
@overload
def privatize_stream(
    source: Any, sink: Folder, *, count: Sequence[str], **options: Unpack[StreamOptions]
) -> StreamedTableRelease: ...
def privatize_stream(
    source: Any,
    sink: Folder,
    *,
    count: str | Sequence[str] | None = None,
    **options: Unpack[StreamOptions],
) -> StreamedRelease | StreamedTableRelease:
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
        order_by: As in `holdfast.privatize`. Released rows, and no true ones, are sorted in a
            temporary file beside the bundle where they are too many for memory.
        ledger, dataset: As in `holdfast.privatize`. A release is shown again for the same
            files, byte for byte; a query is drawn and paid for whenever it is run.
        progress: Called with what is being done and the share of it that is done.

    The others are those of `holdfast.privatize`, which has them all.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "deaths.csv").write_text("county,deaths\\nKent,3\\nEly,0\\nRye,1\\n")
    >>> options = {"count": "deaths", "category": "county", "epsilon": 1, "max_count": 10}
    >>> release = privatize_stream(folder / "deaths.csv", folder / "release", **options, seed=1)
    >>> release.rows, release.histogram.sum(), release.load().cells.columns
    (3, np.int64(3), ['county', 'deaths'])
    """
    check_options(options, StreamOptions)
    names, asked, shared, payer, told = sorted_options(options)
    say = options.get("progress") or (lambda _what, _done: None)
    if count is not None and not isinstance(count, str):
        return stream_several(source, Path(sink), count, names, asked | shared, payer, told, say)
    refuse_for_one(**shared)
    parameters = check_parameters(**asked)
    check_codes(names.get("missing", ()), parameters.highest)
    account = find_account(**payer, source=source, column=count, folder=sink)
    new_folder(sink)
    wanted = Wanted(count=count, within=parameters.within, **names)
    table = open_source(source, wanted)
    span = read_period(told.get("period"))
    seen = tally(
        table, parameters.highest, lambda done: say(READING, done), condense=account is not None
    )
    seen = replace(seen, notes=(*period_notes(span), *seen.notes))
    stages, members = parameters.for_table(seen.rows, seen.settle)
    recognised = account is not None and not stages.source.simulated
    digest = table.digest() if recognised else None
    run = Streaming(
        table=table,
        sink=Path(sink),
        stages=stages,
        seen=seen,
        say=say,
        members=members,
        digest=digest,
    )
    told |= wanted.for_ledger | {"period": span}
    request = stages.request(seen.structural_zeros, **told)
    return pay_and_draw(run, request, account)
