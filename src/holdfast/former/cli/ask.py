"""`holdfast ask`: one question, one answer."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.errors import HoldfastError
from holdfast.former.cli.options import Text, Texts, says
from holdfast.former.cli.releases import one_column, open_release, verifying
from holdfast.former.cli.screen import working

if TYPE_CHECKING:
    from holdfast.former.release.release import Release
    from holdfast.former.release.several import TableRelease


def ask(
    directory: Annotated[Path, typer.Argument(help="Folder of a release.", metavar="DIR")],
    words: Annotated[
        list[str],
        typer.Argument(help='Such as "share zero", "mean", "top 10".', metavar="QUESTION"),
    ],
    level: Annotated[float, says("Of the interval.")] = 0.9,
    estimator: Annotated[
        str, says("best, released or target; for shares, mean and the like.")
    ] = "best",
    where: Annotated[
        str | None,
        typer.Option(help='Which rows, such as "state == AL and population < 5000".'),
    ] = None,
    by: Annotated[Text, says("A column: an answer for each group.")] = None,
    less: Annotated[
        Text, says("Other rows: the answer about those of --where, less that about these.")
    ] = None,
    against: Annotated[
        Path | None, says("Folder of an earlier release of the same table: what changed since.")
    ] = None,
    of: Annotated[
        Texts,
        says(
            "The column of counts that is meant, in a release of several; twice for a question "
            "about two: 'both zero', 'correlation', 'slope', 'intercept'."
        ),
    ] = None,
    label: Annotated[Text, says("Column that names the rows; default the first one.")] = None,
    as_json: Annotated[bool, says("Print one JSON object.", "--json")] = False,
) -> None:
    """Ask a release a question; the answer says how sure it is.

    Questions: share zero · share 3 · share at least 3 · share above 2 · share at most 5 ·
    share below 6 · share between 2 and 5 · mean · total · median · quantile 0.9 · variance ·
    gini · released 7 (what it says of the true count) · top 10 · row A (what it may truly
    have) · compare A with B · total of A, B, C; with --against also: changes (of each row) ·
    change of A, B

    Examples:

    [bold]holdfast ask release "share zero"[/bold]

    [bold]holdfast ask release "quantile 0.9" --level 0.95[/bold]

    [bold]holdfast ask release "mean" --where "population < 5000" --by state[/bold]

    [bold]holdfast ask release "mean" --where "state == AL" --less "state == CA"[/bold]

    [bold]holdfast ask release "row 01001"[/bold]

    [bold]holdfast ask release-2026 "share zero" --against release-2025[/bold]

    [bold]holdfast ask release "correlation" --of murder --of rape --by state[/bold]
    """
    from holdfast.former.analysis.grammar import parse
    from holdfast.former.analysis.pairs.questions import QUESTIONS, ask_pair
    from holdfast.former.analysis.typed import answer_typed, in_words

    names, question = of or [], " ".join(words)
    if len(names) == 2:
        if against is not None or less is not None:
            raise HoldfastError("`--against` and `--less` do not fit a question about two counts.")
        with working(verifying(directory), quiet=as_json) as say:
            several = open_release(directory)
            say("Answering …")
            found = ask_pair(several, question, tuple(names), where=where, by=by, level=level)
        typer.echo(json.dumps(_plain(found, several), default=str) if as_json else str(found))
        return
    if question.strip().lower() in QUESTIONS:
        raise HoldfastError(
            f"{question.strip()!r} is a question about two counts. Hint: name both columns of a "
            "release of several, --of A --of B."
        )
    parse(question)  # what cannot be asked is said before anything is read
    with working(verifying(directory), quiet=as_json) as say:
        release = one_column(directory, names)
        how: dict[str, Any] = {"estimator": estimator, "label": label, "where": where, "by": by}
        how["less"] = less
        how["against"] = None if against is None else one_column(against, names)
        say("Answering …")
        answer = answer_typed(release, question, level=level, **how)
    if as_json:
        typer.echo(json.dumps(_plain(answer, release), default=str))
        return
    typer.echo(in_words(answer, len(release.target) - 1))


def _plain(answer: Any, release: "Release | TableRelease") -> dict[str, Any]:
    from holdfast.former.analysis.answer import Answer, plain
    from holdfast.former.analysis.asking import Answers
    from holdfast.former.analysis.categories import TopByGroup
    from holdfast.former.analysis.changes import RowChanges

    if isinstance(answer, tuple):
        content: dict[str, Any] = {"rows": [asdict(row) for row in answer]}
    elif isinstance(answer, TopByGroup):
        groups = {str(name): [asdict(row) for row in rows] for name, rows in answer.items()}
        content = {"groups": groups}
    elif isinstance(answer, dict):
        content = answer
    else:
        known = isinstance(answer, Answer | Answers | RowChanges)
        content = answer.to_dict() if known else asdict(answer)
        if "interval" in content:  # of a comparison, which may have an open end
            content |= {name: plain(content[name]) for name in content if name != "interval"}
            content["interval"] = [plain(end) for end in content["interval"]]
    return content | {"simulated": release.privacy.simulated}
