"""`holdfast ask`: one question, one answer."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.screen import working
from holdfast.errors import HoldfastError, numbered, one_line

if TYPE_CHECKING:
    from holdfast.analysis.grammar import Call
    from holdfast.release.release import Release


def ask(
    directory: Annotated[Path, typer.Argument(help="Folder of a release.", metavar="DIR")],
    question: Annotated[str, typer.Argument(help='Such as "share zero", "mean", "top 10".')],
    level: Annotated[float, typer.Option(help="Of the interval.")] = 0.9,
    estimator: Annotated[
        str, typer.Option(help="best, released or target; for shares, mean and the like.")
    ] = "best",
    label: Annotated[
        str | None, typer.Option(help="Column that names the rows; default the first one.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Ask a release a question; the answer says how sure it is.

    Questions: share zero · share 3 · share at least 3 · share above 2 · share at most 5 ·
    share below 6 · share between 2 and 5 · mean · total · median · quantile 0.9 · variance ·
    gini · released 7 (what it says of the true count) · top 10 · compare A with B ·
    total of A, B, C

    Examples:

    [bold]holdfast ask release "share zero"[/bold]

    [bold]holdfast ask release "quantile 0.9" --level 0.95[/bold]
    """
    import holdfast
    from holdfast.analysis.grammar import parse

    asked = parse(question)
    how: dict[str, Any] = {"level": level}
    if asked.method == "ask":
        how["estimator"] = estimator
    elif estimator != "best":
        raise HoldfastError("`--estimator` does not fit a question about rows.")
    elif asked.method != "posterior":
        how["label"] = label
    with working("Answering …", quiet=as_json):
        release = holdfast.load(directory)
        asked = _with_rows(release, asked, label)
        answer = _posterior(release, asked, level) if asked.method == "posterior" else None
        answer = answer or asked.put_to(release, **how)
    if as_json:
        typer.echo(json.dumps(_plain(answer, release), default=str))
        return
    typer.echo(_words(answer, len(release.target) - 1))


def _with_rows(release: "Release", asked: "Call", label: str | None) -> "Call":
    """The question with its rows found by the text of their label, or by number."""
    from holdfast.analysis.rows import row_labels, typed_row

    if asked.method == "compare":
        labels = row_labels(release, label)
        return replace(asked, arguments=tuple(typed_row(labels, x) for x in asked.arguments))
    if asked.method == "total_of":
        labels = row_labels(release, label)
        return replace(asked, arguments=([typed_row(labels, x) for x in asked.arguments[0]],))
    return asked


def _posterior(release: "Release", asked: "Call", level: float) -> dict[str, Any]:
    from holdfast.analysis.posterior import row_law, row_notes, run_words

    (count,) = asked.arguments
    known = count == 0 and _only_known_rows_show_0(release)
    law = row_law(release, len(release.target) if known else release.posterior(count).count)
    low, high = law.interval(level)
    return {
        "released": law.count,
        "expected": law.mean,
        "median": law.median,
        "interval": [low, high],
        "interval_words": run_words((low, high), len(release.target) - 1),
        "level": level,
        "probability_unchanged": law.equal(law.count),
        "probability_zero": law.equal(0),
        "notes": [*_known_rows(release, law.count), *row_notes(release, (), [law])],
    }


def _only_known_rows_show_0(release: "Release") -> bool:
    from holdfast.analysis.known_zeros import drawn_rows

    return release.structural_zeros > 0 and drawn_rows(release)[0] == 0


def _known_rows(release: "Release", count: int) -> tuple[str, ...]:
    """What to say of rows publicly known to be zero, where they show this count."""
    from holdfast.analysis.known_zeros import known_notes

    if count or not release.structural_zeros or release.structural_zero_rows is None:
        return known_notes(release, count)
    if _only_known_rows_show_0(release):
        return ("only rows publicly known to be zero show 0",)
    rows = numbered(release.structural_zeros, "row")
    return (f"of rows that were drawn; the {rows} publicly known to be zero are 0",)


def _words(answer: Any, top: int) -> str:
    from holdfast.analysis.answer import percent
    from holdfast.analysis.posterior import run_words

    if isinstance(answer, tuple):
        several = len(answer) > 1
        among = f"among the {len(answer)} highest, " * several
        head = "row: released count, expected true count, interval, " + (
            f"probability to be {among}the highest"
        )
        lines = [
            f"{one_line(str(row.label))}: {row.released}, {row.expected:.1f}, "
            f"{run_words(row.interval, top)}, "
            + f"{row.probability:.0%}, " * several
            + f"{row.highest:.0%}"
            for row in answer
        ]
        notes = dict.fromkeys(note for row in answer for note in row.notes)
        return "\n".join([head, *lines, *(f"  {note}." for note in notes)])
    if isinstance(answer, dict):
        text = (
            f"a released {answer['released']}: true count {answer['interval_words']} "
            f"({percent(answer['level'])}), "
            f"{answer['expected']:.1f} expected, "
            f"unchanged with probability {answer['probability_unchanged']:.0%}, "
            f"0 with {answer['probability_zero']:.0%}"
        )
        return "\n".join([text, *(f"  {note}." for note in answer["notes"])])
    return str(answer)


def _plain(answer: Any, release: "Release") -> dict[str, Any]:
    from holdfast.analysis.answer import Answer

    if isinstance(answer, tuple):
        content: dict[str, Any] = {"rows": [asdict(row) for row in answer]}
    elif isinstance(answer, dict):
        content = answer
    else:
        content = answer.to_dict() if isinstance(answer, Answer) else asdict(answer)
    return content | {"simulated": release.privacy.simulated}
