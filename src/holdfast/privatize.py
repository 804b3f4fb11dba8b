"""The paper's framework in its five steps."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from holdfast.bound import certified_bound, plan, settle
from holdfast.composition import parts_of
from holdfast.constructors import Automatic, Construction
from holdfast.delta import declared_delta, total_delta
from holdfast.histogram import histogram_of_counts, top_code
from holdfast.mechanism import check_mechanism
from holdfast.private_quantile import PrivateQuantile
from holdfast.privatizers import CumulativeSmooth, Privatizer, Skipped, certifier
from holdfast.randomness import Randomness, randomness
from holdfast.release import Privacy, Release
from holdfast.sampling import draw
from holdfast.spending import Request, release_once
from holdfast.table import CountTable, read_table
from holdfast.usefulness import bound_notes, usefulness_notes

Constructor = Callable[..., Construction]


def privatize(
    table: Any,
    *,
    epsilon: Any,
    max_count: int | PrivateQuantile,
    count: str | None = None,
    category: str | None = None,
    structural_zero: str | Sequence[Any] | None = None,
    contributions: int = 1,
    privatizer: Privatizer | None = None,
    constructor: Constructor | None = None,
    split: Any = None,
    seed: int | None = None,
    ledger: Any = None,
    dataset: str | None = None,
) -> Release:
    """A private table of counts whose distribution of counts holds fast.

    The promise: whoever sees the release learns almost the same whether or not one person
    is counted, for people who add at most `contributions` to one row. N (the number of
    rows), a given `max_count`, the structural zeros and all other columns are public: those
    columns are published as they are.

    Parameters:
        table: 1-D array-like of counts; a pandas, polars or pyarrow table or a DuckDB
            relation; or the path of a CSV or Parquet file.
        epsilon: The whole budget: int, float, str, Decimal or Fraction; kept exact.
        max_count: The highest count that is published; higher ones are top-coded. Choose it
            without looking at the data, or let `PrivateQuantile(0.99)` find it for a part of
            the budget.
        count: Name of the count column, when `table` has columns.
        category: Name of the category column; only to check it and to find structural zeros.
        structural_zero: Rows publicly known to be zero: a column's name, a boolean mask, or
            a list of categories. They pass through and do not count towards N.
        contributions: How much one person may add to one row, at the most.
        privatizer: Stage 1; default `CumulativeSmooth()`.
        constructor: Stage 2; default `Automatic()`: the optimum up to max_count = 500. A
            baseline that needs no distribution gets the whole budget, unless `privatizer` or
            `split` is given.
        split: Stage 1's share of the budget; default the paper's rule of thumb.
        seed: Makes the run a simulation, and the release says so. Leave it out for real data.
        ledger: A `Ledger` or its path: the run is paid from it before anything is drawn, and
            one that was made before is shown again instead. Goes with `dataset`.
        dataset: The name in the ledger under which all releases of these data are counted.

    >>> release = privatize([0, 0, 3, 1, 0, 7], epsilon="1.0", max_count=10, seed=1)
    >>> len(release.counts), release.privacy.simulated
    (6, True)
    """
    source = randomness(seed)
    constructor = Automatic() if constructor is None else constructor
    one_stage = split is None and privatizer is None and getattr(constructor, "one_stage", False)
    if privatizer is None:
        privatizer = Skipped() if one_stage else CumulativeSmooth()
    rows = read_table(table, count=count, category=category, structural_zero=structural_zero)
    options: dict[str, Any] = {"epsilon": epsilon, "split": split, "one_stage": one_stage}
    options["contributions"] = contributions
    open_rows = int((~rows.structural_zero).sum())
    _, budget = plan(max_count, open_rows, **options)
    if hasattr(constructor, "for_release"):  # both numbers are public
        constructor = constructor.for_release(rows=open_rows, steps=budget.steps)
    total_delta(budget, privatizer, None)  # what cannot be done is refused before any draw
    certified_bound(max_count, budget)
    privatizer.certified_epsilon(budget.unit_1)
    steps = partial(five_steps, rows, max_count, options, privatizer, constructor, source)
    if ledger is None and dataset is None:
        return steps()
    parameters = {
        "epsilon": budget.epsilon,
        "bound": budget.bound,
        "stage_1": budget.stage_1,
        "contributions": contributions,
        "max_count": max_count,
        "privatizer": privatizer,
        "constructor": constructor,
    }
    parts = parts_of(budget, privatizer, constructor)
    request = Request(rows=rows, parts=parts, parameters=parameters)
    return release_once(ledger, dataset, request, steps, simulated=source.simulated)


def five_steps(
    rows: CountTable,
    max_count: int | PrivateQuantile,
    options: dict[str, Any],
    privatizer: Privatizer,
    constructor: Constructor,
    source: Randomness,
) -> Release:
    """From a checked table to a release: everything that is drawn is drawn in here."""
    open_rows = ~rows.structural_zero
    counts = rows.counts[open_rows]
    top, budget, bound = settle(max_count, counts, source, **options)
    counts = top_code(counts, top)

    histogram = histogram_of_counts(counts, top)  # step 1: the distribution of counts
    target = privatizer(histogram, epsilon=budget.unit_1, rng=source)  # step 2: z
    construction = constructor(target, epsilon=budget.unit_2)  # step 3: T, from z alone
    check_mechanism(construction.mechanism, budget.unit_2, declared_delta(construction))
    delta = total_delta(budget, privatizer, construction.mechanism)
    released = np.zeros(len(rows.counts), dtype=np.int64)
    released[open_rows] = draw(construction.mechanism, counts, source)  # step 4
    if options["one_stage"]:
        target = histogram_of_counts(released[open_rows], top) / len(counts)

    return Release(  # step 5: users ask the released table, or z and T
        counts=released,
        table=rows.replace(released),
        target=target,
        mechanism=construction.mechanism,
        privacy=Privacy(
            budget=budget,
            bound_certified=certified_bound(max_count, budget),
            stage_1_certified=budget.steps * privatizer.certified_epsilon(budget.unit_1),
            stage_2_certified=budget.steps * construction.mechanism.certified_epsilon,
            stage_1_certified_by=certifier(privatizer),
            delta=delta,
            simulated=source.simulated,
        ),
        rows=int(open_rows.sum()),
        structural_zeros=int((~open_rows).sum()),
        bound=bound,
        methods=(repr(privatizer), construction.description),
        count_column=rows.column,
        unchanged_columns=rows.others,
        notes=(
            *rows.notes,
            *bound_notes(bound, len(counts)),
            *usefulness_notes(construction.mechanism, target, budget, len(counts)),
        ),
    )
