"""`holdfast privatize`: a file of counts in, a release bundle out."""

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from holdfast.cli.options import asks_for_a_run, explained, words_of
from holdfast.cli.screen import aside, is_watched, note, show, watched, working
from holdfast.errors import HoldfastError, LeakError, Spent, listed_names, one_line, spent_by
from holdfast.request import Request

if TYPE_CHECKING:
    from holdfast.plan.before import Before
    from holdfast.tables.table import Table

MOST_BYTES = 1 << 26  # of a file whose lines are looked at once more


@asks_for_a_run
@explained
def privatize(file: Path, dry_run: bool = False, as_json: bool = False, **said: Any) -> None:
    """Publish a table of counts: noise on every count, and the distribution of counts kept.

    Without --epsilon it shows what the file looks like, and what to name.

    Examples:

        holdfast privatize homicides.csv --dry-run

        holdfast privatize homicides.csv --count homicides --category county
        --keep state --epsilon 1 --dry-run

        holdfast privatize homicides.csv --count homicides --category county
        --keep state --epsilon 1 --out release

        holdfast privatize visits.xlsx --header-row 3 --count visits
        --category clinic --within region --missing -999 --contributions 5
        --epsilon 1 --out release

    Options:

    FILE: CSV, Parquet or Excel file, one row per category; a folder of Parquet files; or, with
        --query, a DuckDB database.
    --dry-run: Check everything and say what a run would do; nothing is spent.
    --json
    """
    from holdfast.cli.look import say_look
    from holdfast.engine.privatize import opened
    from holdfast.plan.before import before

    words = words_of(said)
    if "epsilon" not in words:
        file.stat()  # raises where there is none, which matters more than what was not said
        if not _is_large(file):
            say_look(file, Request.from_words(words | {"epsilon": ["1"]}).table_options)
            if dry_run or "out" not in words:
                return
    request = Request.from_words(words)
    out = None if dry_run else _place(request)
    with report_spending(), ExitStack() as stack:
        with with_hints(file, request), working("Reading …", quiet=as_json):
            table = stack.enter_context(opened(file, request))
        refuse_surprise(table, request)
        thorough = dry_run or table.source.is_small
        outlook = before(table, request, file=file, with_ledger=thorough)
        if out is None:
            _say_before(outlook, as_json)
            return
        _ask_about_doubts(outlook, as_json)
        _release(file, table, request, out, as_json)


def _place(request: Request) -> Path:
    """Where the release goes, which must be free."""
    from holdfast.release.bundle import check_place

    if request.out is None:
        raise HoldfastError("`--out` is missing. Hint: name a new folder, or use --dry-run.")
    return check_place(request.out)


def _release(file: Path, table: "Table", request: Request, out: Path, as_json: bool) -> None:
    """Pay, measure, write, and say so."""
    from holdfast.cli.released import say_release, say_what_was_spent, summary
    from holdfast.engine.run import run

    with watched(quiet=as_json) as progress:
        release = run(table, request, file=file, progress=progress)
    if as_json:
        typer.echo(json.dumps(summary(release, request, out)))
        return
    say_release(release, out)
    say_what_was_spent(release, request)


def refuse_surprise(table: "Table", request: Request) -> None:
    """Raise if columns that nobody mentioned would be withheld, before they are missed in a release
    that is paid for."""
    left = [name for name in table.withheld if name != request.structural_zero]
    if not left or request.keep or request.keep_none:
        return
    keep = ["--keep", left[0] if len(left) == 1 else "COLUMN"]
    raise HoldfastError(
        f"columns other than the category are withheld unless they are named "
        f"({listed_names(left)}). Nothing was spent. Hint: publish as it is what is public, such "
        f"as a state or a population, and never another count of people: {_again(keep)}\n"
        f"To withhold them all: {_again(['--keep-none'])}"
    )


def _again(more: list[str]) -> str:
    return one_line(shlex.join(["holdfast", *sys.argv[1:], *more]))


@contextmanager
def with_hints(file: Path, request: Request) -> Iterator[None]:
    """Where a table cannot be read, say what it looks like that it needs."""
    try:
        yield
    except LeakError:
        raise
    except HoldfastError as error:
        from holdfast.cli.look import hints

        how, counted = request.table_options, request.from_people
        advice = [] if _is_large(file) else hints(file, how, counted=counted)
        if not advice:
            raise
        raise HoldfastError("\n".join([str(error), *advice])) from None


def _is_large(file: Path) -> bool:
    """Whether a file is too large to be looked at once more, or no file at all."""
    try:
        return not file.is_file() or file.stat().st_size > MOST_BYTES
    except OSError:
        return True


def _say_before(outlook: "Before", as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(outlook.to_dict()))
        return
    from holdfast.cli.released import say_balances

    for words in outlook.notes:
        note(words)
    show("\n\n".join(outlook.paragraphs))
    say_balances(outlook.request)
    for words in outlook.doubts:
        show(f"\nBefore paying: {one_line(words)}.", style="bold")
    show("\nNothing was spent, nothing was written.")
    if outlook.refused is not None:
        raise HoldfastError(f"a run would be refused: {outlook.refused}")


def _ask_about_doubts(outlook: "Before", as_json: bool) -> None:
    """Say what is probably a slip, and let whoever is there stop before anything is paid."""
    for words in outlook.doubts:
        aside(f"Before paying: {one_line(words)}.", style="bold")
    if not outlook.doubts or outlook.promise.simulated:
        return
    if not as_json and _is_there():
        if not typer.confirm("Go on?", err=True):
            raise HoldfastError("stopped before anything was spent.")
    elif outlook.answers:
        said = [word for name in outlook.answers for word in ("--publish-anyway", name)]
        raise HoldfastError(
            "what is said above must be settled first. Nothing was spent. Hint: do as it says, or, "
            f"where it is meant: {_again(said)}"
        )
    else:
        aside("The run goes on all the same.")


def _is_there() -> bool:
    """Whether somebody can be asked."""
    return is_watched() and sys.stdin.isatty()


@contextmanager
def report_spending() -> Iterator[None]:
    """Say whether a run that failed was counted."""
    try:
        yield
    except BaseException as error:
        if spent_by(error) is not Spent.NO:
            aside(spent_by(error).in_words)
        raise
