"""`holdfast.privatize_stream`: two passes over a table that need not fit into memory."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.constructors import Construction
from holdfast.engines.several import refuse_for_one
from holdfast.engines.stages import arguments_of, check_parameters
from holdfast.engines.stream.passes import READING, Progress, Streaming, tally
from holdfast.engines.stream.several import stream_several
from holdfast.ledger.periods import period_notes, read_period
from holdfast.ledger.spending import find_account, pay_and_draw
from holdfast.privatizers import Privatizer
from holdfast.release.bundle import new_folder
from holdfast.tables.columns import Wanted
from holdfast.tables.count_values import check_codes
from holdfast.tables.stream.open import open_source


def privatize_stream(
    source: Any,
    sink: str | os.PathLike[str],
    *,
    epsilon: Any,
    max_count: Any,
    count: str | Sequence[str] | None = None,
    category: str | None = None,
    keep: Sequence[str] = (),
    publish_anyway: Sequence[str] = (),
    order_by: str | None = None,
    repeated_categories: bool = False,
    missing: Sequence[Any] = (),
    structural_zero: str | None = None,
    contributions: Any = 1,
    privatizer: Privatizer | None = None,
    constructor: Callable[..., Construction] | None = None,
    split: Any = None,
    seed: int | None = None,
    ledger: Any = None,
    dataset: str | None = None,
    progress: Progress | None = None,
    within: Any = None,
    totals: Any = None,
    subset: Any = None,
    period: Any = None,
    corrects: Any = None,
    rows: int = 1,
    unit: str = "person",
    joint: bool = False,
    person_in: str = "all columns",
    weights: Any = None,
) -> Any:
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
        progress: Called with what is being done and the share of it that is behind.

    The others are those of `holdfast.privatize`.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "deaths.csv").write_text("county,deaths\\nKent,3\\nEly,0\\nRye,1\\n")
    >>> options = {"count": "deaths", "category": "county", "epsilon": 1, "max_count": 10}
    >>> release = privatize_stream(folder / "deaths.csv", folder / "release", **options, seed=1)
    >>> release.rows, release.histogram.sum(), release.load().cells.columns
    (3, np.int64(3), ['county', 'deaths'])
    """
    names, options, shared, payment = arguments_of(locals())
    say = progress or (lambda _what, _done: None)
    if count is not None and not isinstance(count, str):
        return stream_several(source, Path(sink), count, names, options | shared, say, **payment)
    refuse_for_one(**shared)
    parameters = check_parameters(**options)
    check_codes(missing, parameters.highest)
    account = find_account(ledger, dataset, source=source, column=count, folder=sink)
    new_folder(sink)
    wanted = Wanted(count=count, within=parameters.within, **names)
    table = open_source(source, wanted)
    span = read_period(period)
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
    request = replace(
        stages.request(seen.structural_zeros),
        subset=wanted.subset,
        period=span,
        corrects=corrects,
        same_counts=wanted.same_counts,
    )
    return pay_and_draw(run, request, account)
