"""Questions as people type them: put to a release, and its answers in words."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError, numbered, one_line
from holdfast.former.analysis.answer import percent
from holdfast.former.analysis.categories import TopByGroup
from holdfast.former.analysis.changes import RowChanges
from holdfast.former.analysis.grammar import AnsweredBy, Call, parse
from holdfast.former.analysis.known_zeros import drawn_rows, known_notes
from holdfast.former.analysis.posterior import row_law, row_notes, run_words
from holdfast.former.analysis.rows import row_labels, typed_row, typed_rows

if TYPE_CHECKING:
    from holdfast.former.release.release import Release


def answer_typed(
    release: "Release",
    question: str,
    *,
    level: float = 0.9,
    estimator: str = "best",
    label: str | None = None,
    where: str | None = None,
    by: str | None = None,
    against: Any = None,
    less: str | None = None,
) -> Any:
    """What a release says to a question of `grammar`; rows are found by the text of their label.

    `where`, `by` and `against` are those of `Release.ask`, for questions about the distribution;
    those about changes need `against` as well. `less` chooses other rows, whose answer is taken
    off.

    >>> from holdfast import privatize
    >>> release = privatize([0, 1, 2, 0] * 50, epsilon=2, max_count=3, seed=1)
    >>> answer_typed(release, "share zero").percent
    True
    """
    asked = parse(question)
    how: dict[str, Any] = {"level": level}
    if less is not None:
        return _difference(release, asked, where, less, how | {"by": by, "against": against})
    if asked.method is AnsweredBy.ASK:
        how |= {"estimator": estimator, "where": where, "by": by, "against": against}
    elif asked.method is AnsweredBy.TOP and estimator == "best" and against is None:
        how |= {"label": label, "where": where, "by": by}
    elif where is not None or by is not None:
        raise HoldfastError(
            "`where` and `by` go only with questions such as share, mean, median, gini, top 10."
        )
    elif estimator != "best":
        raise HoldfastError("`estimator` does not fit a question about rows.")
    elif asked.method is AnsweredBy.CHANGES:
        return _changes(release, against, asked, label, level)
    elif against is not None:
        raise HoldfastError(
            "`against` fits questions such as share, mean, total, and 'changes', 'change of A'."
        )
    elif asked.method is AnsweredBy.POSTERIOR:
        return _posterior(release, asked, level)
    else:
        how["label"] = label
    return _with_rows(release, asked, label).put_to(release, **how)


def _difference(
    release: "Release", asked: Call, where: str | None, less: str, how: dict[str, Any]
) -> Any:
    """The answer about some rows less that about others."""
    if asked.method is not AnsweredBy.ASK or where is None:
        raise HoldfastError(
            "`less` fits questions such as share, mean, total about some of the rows. Hint: "
            "--where 'state == AL' --less 'state == CA'."
        )
    if how.pop("by") is not None or how.pop("against") is not None:
        raise HoldfastError("`less` does not go with `by` or `against`.")
    first, second = (asked.put_to(release, where=rows, **how) for rows in (where, less))
    return first.difference(second)


def _with_rows(release: "Release", asked: Call, label: str | None) -> Call:
    """The question with its rows found by the text of their label, or by number."""
    if asked.method in (AnsweredBy.COMPARE, AnsweredBy.ROW):
        labels = row_labels(release, label)
        return replace(asked, arguments=tuple(typed_row(labels, x) for x in asked.arguments))
    if asked.method is AnsweredBy.TOTAL_OF:
        labels = row_labels(release, label)
        return replace(asked, arguments=(typed_rows(labels, asked.arguments[0]),))
    return asked


def _changes(
    release: "Release", earlier: "Release | None", asked: Call, label: str | None, level: float
) -> RowChanges:
    if earlier is None:
        raise HoldfastError("a question about changes needs an earlier release: `--against`.")
    labels = row_labels(release, label)
    rows = typed_rows(labels, asked.arguments[0]) if asked.arguments else None
    return release.changes(earlier, rows, label=label, level=level)


def _posterior(release: "Release", asked: Call, level: float) -> dict[str, Any]:
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
    return release.structural_zeros > 0 and drawn_rows(release)[0] == 0


def _known_rows(release: "Release", count: int) -> tuple[str, ...]:
    """What to say of rows publicly known to be zero, where they show this count."""
    if count or not release.structural_zeros or release.structural_zero_rows is None:
        return known_notes(release, count)
    if _only_known_rows_show_0(release):
        return ("only rows publicly known to be zero show 0",)
    rows = numbered(release.structural_zeros, "row")
    return (f"of rows that were drawn; the {rows} publicly known to be zero are 0",)


def in_words(answer: Any, top: int) -> str:
    """An answer as the command line prints it; `top` is the highest count of the release."""
    if isinstance(answer, TopByGroup):
        parts = (f"{one_line(str(name))}\n{in_words(rows, top)}" for name, rows in answer.items())
        return "\n\n".join(parts)
    if isinstance(answer, tuple):
        several = len(answer) > 1
        among = f"among the {len(answer)} highest, " * several
        head = "row: released count, expected true count, interval, " + (
            f"probability to be {among}the highest"
        )
        lines = [
            f"{one_line(row.name)}: {row.released:,}, {row.expected:,.1f}, "
            f"{run_words(row.interval, top)}, "
            + f"{row.probability:.0%}, " * several
            + f"{row.highest:.0%}"
            for row in answer
        ]
        notes = dict.fromkeys(note for row in answer for note in row.notes)
        return "\n".join([head, *lines, *(f"  {note}." for note in notes)])
    if isinstance(answer, dict):
        text = (
            f"a released {answer['released']:,}: true count {answer['interval_words']} "
            f"({percent(answer['level'])}), "
            f"{answer['expected']:,.1f} expected, "
            f"unchanged with probability {answer['probability_unchanged']:.0%}, "
            f"0 with {answer['probability_zero']:.0%}"
        )
        return "\n".join([text, *(f"  {note}." for note in answer["notes"])])
    return str(answer)
