"""`holdfast ask` and `holdfast regroup`: what a release says, and the same in other groups."""

import json
from pathlib import Path
from typing import Any

import typer

from holdfast.cli.options import Texts, check_new, explained
from holdfast.cli.screen import show, working
from holdfast.errors import HoldfastError
from holdfast.request import FIELDS


@explained
def ask(
    directory: Path,
    question: list[str],
    level: float = 0.9,
    against: Path | None = None,
    sort: bool = False,
    out: Path | None = None,
    as_json: bool = False,
    **said: Any,
) -> None:
    """Ask a release a question; the answer says how sure it is.

    Questions: {questions} · top 10 · row A (what it may truly have) · compare A with B · total of
    A, B, C · mean of A; of two columns of counts correlation of A and B, ratio of A and B;
    homicides ~ log(population); with --against also changes.

    Examples:

        holdfast ask release "share zero"

        holdfast ask release "mean" --where "population < 5000" --by state

        holdfast ask release "mean" --where "state == AL" --less "state == CA"

        holdfast ask release-2026 "share zero" --against release-2025

    Options:

    DIR
    QUESTION: Such as "share zero", "mean", "top 10".
    --where CONDITION: Which rows, such as "state == AL and population < 5000".
    --by COLUMN…: A column: an answer for each group.
    --less CONDITION: Other rows: the answer about those of --where, less that about these.
    --against DIR: Folder of an earlier release of the same table: what changed since.
    --of COLUMN…: The column of counts that is meant, where there are several.
    --count COLUMN…: The same as --of.
    --label COLUMN: Column that names the rows; default: the category.
    --level SHARE
    --sort: With --by: the highest answer first.
    --out FILE: Also write the answers as a new CSV file.
    --json
    """
    import holdfast

    if out is not None:
        check_new(out)
    said["of"] = [*(said["of"] or []), *(said.pop("count") or [])]
    how: dict[str, Any] = {name: _plain(value) for name, value in said.items() if value}
    with working("Reading …", quiet=as_json) as say:
        release = holdfast.load(directory)
        if against is not None:
            how["against"] = holdfast.load(against)
        say("Answering …")
        answer = release.ask(" ".join(question), level=level, **how)
    if sort and "by" in how:
        answer = answer.sorted()
    if out is not None:
        _write(answer, out)
    if as_json:
        simulated = {"simulated": release.promise.simulated}
        typer.echo(json.dumps(answer.to_dict() | simulated, default=str))
        return
    typer.echo(str(answer))
    if out is not None:
        typer.echo(f"The answers are in {out}.")


@explained
def regroup(directory: Path, out: Path, within: Texts = None, relations: bool = False) -> None:
    """Match a release again: within other groups of public columns, or with relations between its
    columns of counts. Costs nothing.

    Each group then has a distribution of its own in the table. It is computed from what was
    measured, so nothing is read of the true counts and nothing is spent.

    Example:

        holdfast regroup release --within region --out release-by-region

    Options:

    DIR
    --out
    --within
    --relations
    """
    import holdfast

    with working("Reading …") as say:
        release = holdfast.load(directory)
        say("Matching …")
        again = release if within is None else release.by(FIELDS["within"].read(within))
        folder = (again.related() if relations else again).save(out)
    show(f"The release, matched again, is in {folder}; nothing was spent.")


def _plain(said: str | list[str]) -> str | list[str]:
    """A name by itself where there is only one."""
    return said[0] if isinstance(said, list) and len(said) == 1 else said


def _write(answer: Any, out: Path) -> None:
    """The columns of an answer as a CSV file."""
    from holdfast.tables.csv import CsvTable
    from holdfast.tables.source import ListRows
    from holdfast.tables.sources import write_file

    if out.suffix.lower() != ".csv":
        raise HoldfastError(f"`{out}` must end in .csv.")
    columns: dict[str, list[Any]] = answer.columns()
    cells = [["" if cell is None else str(cell) for cell in column] for column in columns.values()]
    write_file(CsvTable(ListRows(tuple(columns), cells)), out)
