"""`holdfast privatize`: a file of counts in, a release bundle out."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from holdfast.errors import HoldfastError
from holdfast.former.cli.choices import (
    CONSTRUCTORS,
    NAMES,
    USUAL,
    by_column,
    find_constructor,
    find_privatizer,
    max_count_of,
    subset_of,
    totals_of,
    within_of,
)
from holdfast.former.cli.columns import (
    counts_named,
    naming_the_lines,
    numbering_rows,
    refuse_surprise,
    roles_of,
)
from holdfast.former.cli.count import counted
from holdfast.former.cli.dry_run import say_plan
from holdfast.former.cli.ledger import account_dict
from holdfast.former.cli.options import Text, Texts, says, whole
from holdfast.former.cli.payment import (
    accounts,
    check_paid_for,
    say_corrected,
    say_what_was_spent,
    saying_if_it_counted,
    saying_if_it_is_kept,
    told,
    warn_of_same_counts,
)
from holdfast.former.cli.released import say_notes, show, show_several
from holdfast.former.cli.screen import counted_twice, working, working_with_kernels
from holdfast.former.cli.several import plan_several
from holdfast.former.cli.streams import asked_source, is_streamed, watched
from holdfast.former.tables.formats import release_format


def privatize(
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV, Parquet or Excel file, one row per category; a folder of Parquet files; or, "
            "with --query, a DuckDB database."
        ),
    ],
    epsilon: Annotated[str, says("The whole privacy budget, such as 1.0 or 1/2.")],
    max_count: Annotated[
        list[str],
        says(
            "Highest count published, up to 1,000,000: a generous number chosen without looking "
            "at the data, or quantile:0.99 to find it privately for a part of the budget; auto is "
            "quantile:0.999. With several counts one for all, or COLUMN=NUMBER for each."
        ),
    ],
    count: Annotated[
        Texts, says("Name of the count column; more than once to release several counts together.")
    ] = None,
    joint: Annotated[
        bool,
        says("Keep the relation between several counts; single counts change more.", "--joint"),
    ] = False,
    person_in: Annotated[
        str,
        says(
            "Where one person may be counted: 'all columns' of counts, which divides epsilon "
            "between them, or 'one column' of a row."
        ),
    ] = "all columns",
    weight: Annotated[
        Texts, says("A column's part of epsilon, as COLUMN=2; once for each.")
    ] = None,
    rows: Annotated[str, says("In how many rows one person may be, at the most.")] = "1",
    unit: Annotated[str, says("Who is protected: person, household, establishment.")] = "person",
    category: Annotated[
        Text, says("Name of the category column, which is published as it is.")
    ] = None,
    keep: Annotated[
        Texts, says("Another column to publish as it is; more than once for several.")
    ] = None,
    within: Annotated[
        Texts,
        says(
            "Public column whose groups each keep their distribution; population:8 for 8 classes "
            "of a number, population:auto for as many as the table bears; more than once to cross "
            "them. It is published as it is."
        ),
    ] = None,
    totals: Annotated[
        bool, says("Measure totals, not capped, of the table and of each group.", "--totals")
    ] = False,
    totals_share: Annotated[
        Text, says("What --totals take of the budget; default: a tenth.")
    ] = None,
    subset: Annotated[
        Text,
        says(
            "Release only the rows with one label in a public column, such as state=NE; a ledger "
            "charges other labels of the column side by side. The column is published."
        ),
    ] = None,
    keep_none: Annotated[
        bool, says("Withhold all columns but the category.", "--keep-none")
    ] = False,
    publish_anyway: Annotated[
        Texts,
        says(
            "A column that gives the counts away, 'row order', 'totals', or 'same counts' as those "
            "of another period: publish it all the same."
        ),
    ] = None,
    order_by: Annotated[Text, says("Publish in the order of this public column.")] = None,
    repeated_categories: Annotated[
        bool, says("A category may have several rows.", "--repeated-categories")
    ] = False,
    from_people: Annotated[
        bool, says("Rows are persons: count them first; see --by.", "--from-people")
    ] = False,
    by: Annotated[Texts, says("With --from-people: column of categories.")] = None,
    categories: Annotated[
        Path | None, says("With --from-people: file that lists every category.")
    ] = None,
    per: Annotated[Text, says("With --from-people: column that says whose row it is.")] = None,
    out: Annotated[Path | None, says("New folder for the release.")] = None,
    missing: Annotated[
        Texts,
        says(
            "Code for a count that is not known, such as -999 or ''; more than once for several. "
            "Such rows are published as missing."
        ),
    ] = None,
    structural_zero: Annotated[
        Text, says("Column that marks rows publicly known to be zero.")
    ] = None,
    contributions: Annotated[
        Texts,
        says(
            "How much one person may add to one row, at the most; default 1. With several counts "
            "one for all, or COLUMN=NUMBER for each."
        ),
    ] = None,
    quantile_epsilon: Annotated[
        Text, says("What a quantile as --max-count takes of the budget.")
    ] = None,
    bound_epsilon: Annotated[Text, typer.Option(hidden=True)] = None,  # its name at first
    split: Annotated[Text, says("Stage 1's share of the budget, or 'paper' for its rule.")] = None,
    privatizer: Annotated[Text, says(f"Stage 1: {', '.join(NAMES)}; default: {USUAL}")] = None,
    constructor: Annotated[str, says(f"Stage 2: {', '.join(CONSTRUCTORS)}.")] = "optimal",
    delta: Annotated[
        Text, says("For optimal (default: 0) or discrete-gaussian (default: 1 / (rows + 1)).")
    ] = None,
    ledger: Annotated[
        Path | None, says("Ledger that pays for the release; with --dataset.")
    ] = None,
    dataset: Annotated[Text, says("Name of these data in the ledger.")] = None,
    purpose: Annotated[Text, says("Why this is released, for the ledger's history.")] = None,
    period: Annotated[
        Text,
        says(
            "The time that the counts are of, such as 2026, 2026-Q1, 2026-07 or 2025-09..2026-08; "
            "a ledger may have a limit for each."
        ),
    ] = None,
    corrects: Annotated[
        Path | None,
        says(
            "A release whose rows these are, with labels corrected or columns added: its counts "
            "are written again beside them, unpaid."
        ),
    ] = None,
    stream: Annotated[
        bool | None,
        says("Read and write in batches, never the whole table; default: from about 16 MiB on."),
    ] = None,
    query: Annotated[Text, says("SQL whose result is the table, for a DuckDB database.")] = None,
    sheet: Annotated[Text, says("Sheet of an Excel workbook that has several.")] = None,
    header_row: Annotated[
        int | None, says("Row with the names of the columns; default: the first, in Excel found.")
    ] = None,
    last_row: Annotated[
        int | None, says("Last row of the table; totals and notes below are left out.")
    ] = None,
    leave_out: Annotated[
        list[int] | None,
        says("Row of the table to leave out, such as that of a total; more than once."),
    ] = None,
    thousands: Annotated[
        Text, says("Mark between thousands in a CSV file: ',' '.' ' ' or \"'\".")
    ] = None,
    decimal: Annotated[Text, says("Mark before decimals in a CSV file: ',' or '.'.")] = None,
    dry_run: Annotated[
        bool, says("Check everything; draw and write nothing.", "--dry-run")
    ] = False,
    as_json: Annotated[bool, says("Print one JSON object.", "--json")] = False,
    seed: Annotated[
        int | None, says("SIMULATION ONLY: repeatable draws that protect nobody.")
    ] = None,
) -> None:
    """Turn a table of counts into a private one, with its certificate, in a new folder.

    Examples:

    [bold]holdfast privatize homicides.csv --count homicides --category county
    --max-count 50 --epsilon 1.0 --out release[/bold]

    [bold]holdfast privatize schools.parquet --count teachers --category school --keep state
    --max-count 80
    --epsilon 0.5 --dry-run[/bold]

    [bold]holdfast privatize visits.csv --count visits --category shop --max-count quantile:0.99
    --epsilon 1.0 --quantile-epsilon 0.05 --out release[/bold]

    [bold]holdfast privatize homicides.csv --count homicides --category county --within state
    --totals --max-count 50 --epsilon 1.0 --out release[/bold]

    [bold]holdfast privatize visits/ --count visits --category shop --max-count 100
    --epsilon 1 --out release[/bold] streams a folder of Parquet files; so does
    [bold]warehouse.duckdb --query "FROM visits"[/bold].

    With [bold]--ledger budget.ledger --dataset homicides[/bold] the release is paid for before
    anything is drawn, and one that was made before is written again instead of drawn again.
    [bold]--period 2026[/bold] says of which year the counts are, [bold]--corrects release[/bold]
    that only labels or columns beside them have changed.
    """
    import holdfast.former as holdfast
    from holdfast.former.engines.looking import check_room
    from holdfast.former.engines.several import refuse_for_one
    from holdfast.former.release.bundle import new_folder
    from holdfast.former.tables.files import read_part

    if out is None and not dry_run:
        raise HoldfastError("`--out` is missing. Hint: name a new folder, or use --dry-run.")
    if out is not None:
        new_folder(out)
    options: dict[str, Any] = {
        "epsilon": epsilon,
        "max_count": by_column(
            max_count,
            "max_count",
            lambda text: max_count_of(text, quantile_epsilon or bound_epsilon),
        ),
        "contributions": by_column(
            contributions or ["1"], "contributions", lambda text: whole(text, "contributions")
        ),
        "rows": whole(rows, "rows"),
        "unit": unit,
        "split": split,
        "totals": totals_of(totals, totals_share),
    }
    stage_1 = None if privatizer is None else find_privatizer(privatizer)
    stages = {"privatizer": stage_1, "constructor": find_constructor(constructor, delta)}
    names: dict[str, Any] = {
        **counts_named(count),
        "category": category,
        "keep": keep or (),
        "publish_anyway": publish_anyway or (),
        "order_by": order_by,
        "repeated_categories": repeated_categories,
        "missing": tuple(missing or ()),
        "structural_zero": structural_zero,
    }
    check_paid_for(ledger, dataset, purpose, corrects)
    marks: dict[str, Any] = {"sheet": sheet, "header_row": header_row, "last_row": last_row}
    marks |= {"leave_out": leave_out, "thousands": thousands, "decimal": decimal}
    part = _part(marks, whole_file=not stream and query is None)
    streamed = not from_people and not part and is_streamed(file, stream, query)
    names["within"] = within_of(within)
    if subset is not None:
        names["subset"] = subset_of(subset)
    if from_people:
        _refuse_with_people(count, category, keep, stream, query)
        table, named = counted(read_part(file, part) if part else file, by, categories, per)
        opened: Any = nullcontext(table)
        names |= named
    elif by or categories or per:
        raise HoldfastError("`--by`, `--categories` and `--per` go with `--from-people`.")
    else:
        with naming_the_lines(file, part):
            opened = asked_source(file, query) if streamed else nullcontext(read_part(file, part))

    def roles(source: Any) -> Any:
        with naming_the_lines(file, part):
            return roles_of(source, names, streamed=streamed)

    numbered = nullcontext() if from_people else numbering_rows(file, part)
    weights = by_column(weight, "weight", str) if weight else None
    shared: dict[str, Any] = {"joint": joint, "person_in": person_in, "weights": weights}
    if "other_counts" in names:
        options |= shared
    else:
        refuse_for_one(**shared)
    said = contributions is not None or options["rows"] > 1 or per is not None
    whom = "" if said else counted_twice(unit)
    if dry_run:
        account = accounts(ledger, dataset, period, names.get("subset"))
        with numbered, opened as source:
            refuse_surprise(roles(source), keep_none=keep_none)
            if "other_counts" in names:
                alone = plan_several(
                    source, count or [], names, options | stages, account, as_json, whom
                )
            else:
                alone = _plan(source, names, options | stages, account, streamed, as_json, whom)
        warn_of_same_counts(ledger, dataset, period, alone)
        return
    check_room(file, out, options["max_count"])
    payer = None if ledger is None else told(ledger, file, count, out, purpose)
    paid: dict[str, Any] = {"seed": seed, "ledger": payer, "dataset": dataset}
    paid |= {"period": period, "corrects": corrects}
    chosen = names | options | paid | stages
    if chosen.pop("other_counts", None):
        chosen["count"] = count
    with saying_if_it_counted(), numbered, opened as source:
        refuse_surprise(roles(source), keep_none=keep_none)
        if streamed:
            with watched(quiet=as_json) as progress:
                release: Any = holdfast.privatize_stream(
                    source, out or "", progress=progress, **chosen
                )
            folder = release.folder
        else:
            with working_with_kernels("Privatizing …", quiet=as_json):
                release = holdfast.privatize(source, **chosen)
            with working("Writing …", quiet=as_json), saying_if_it_is_kept(ledger, seed):
                folder = release.save(out or "", table_format=release_format(file))
    if as_json:
        extra: dict[str, Any] = {"folder": str(folder)}
        if ledger is not None:
            extra["repeated"] = release.repeated
            extra |= account_dict(accounts(ledger, dataset, period))
        typer.echo(json.dumps(release.summary() | extra))
        return
    several = "other_counts" in names
    say_notes(release.notes, release.columns if several else {"": release})
    (show_several if several else show)(release, folder, whom)
    say_corrected(corrects, folder)
    if ledger is not None and not release.privacy.simulated:
        say_what_was_spent(release, accounts(ledger, dataset, period))


def _part(marks: dict[str, Any], *, whole_file: bool) -> dict[str, Any]:
    """Which part of a file is the table, as far as it is said."""
    part = {name: value for name, value in marks.items() if value is not None}
    if part and not whole_file:
        raise HoldfastError(
            f"`--{min(part).replace('_', '-')}` is for files that are read whole. "
            "Hint: leave out --stream and --query."
        )
    return part


def _plan(
    source: Any,
    names: dict[str, Any],
    options: dict[str, Any],
    account: Any,
    streamed: bool,
    as_json: bool,
    whom: str,
) -> dict[str, bytes]:
    """Check everything, and say what a run would spend; draws nothing. The counts, condensed."""
    from holdfast.former.engines.looking import look_at_file, look_at_stream
    from holdfast.former.engines.stages import check_parameters

    parameters = check_parameters(**options, within=names.get("within"))
    look = look_at_stream if streamed else look_at_file
    seen = look(source, names, parameters)
    say_plan(seen, parameters.for_rows(seen.rows, seen.groups), account, as_json, whom)
    return seen.alone


def _refuse_with_people(*others: Any) -> None:
    if any(other is not None for other in others):
        raise HoldfastError(
            "`--from-people` makes the columns of the table: leave out --count, --category, "
            "--keep, --stream and --query."
        )
