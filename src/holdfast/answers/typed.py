"""`release.ask`: a question by name or as people type it, to whatever answers it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from holdfast.answers.asking import ask
from holdfast.answers.changes import ask_change, row_changes
from holdfast.answers.conditions import as_numbers, cell_texts
from holdfast.answers.grammar import Call, parse
from holdfast.answers.labels import Labels, published
from holdfast.answers.merging import MergedRelease
from holdfast.answers.pairs import PAIRS, ask_pair
from holdfast.answers.regression import regress
from holdfast.answers.rows import ask_row, compare, top
from holdfast.answers.selection import chosen_rows
from holdfast.answers.sums import ask_derived
from holdfast.arrays import Marks
from holdfast.errors import HoldfastError, numbered, one_line
from holdfast.fit.histogram import LEVEL
from holdfast.release.release import Release
from holdfast.request.questions import spellings

BESIDE = ("of", "where", "by", "less", "against", "label")  # a question
REFUSED = {
    ask_row: ("where", "by", "less", "against"),
    compare: ("where", "by", "less", "against"),
    top: ("less", "against"),
    ask_pair: ("less",),
    regress: ("by", "less", "against", "of", "label"),
    ask_derived: ("less", "of", "label"),
    row_changes: ("where", "by", "less"),
}
"""What does not go with some kinds of questions."""


def ask_anything(
    release: Release,
    question: str | Callable[..., Any],
    *,
    level: float = LEVEL,
    **options: Any,
) -> Any:
    """The answer to a question by name, or as it is typed; see `Release.ask`."""
    named = {name: options.pop(name, None) for name in BESIDE}
    how = {name: value for name, value in named.items() if value is not None}
    call = _call(question, options)
    how |= call.options
    for name in REFUSED.get(call.answered_by, ()):
        if how.pop(name, None) is not None:
            hint = " Hint: 'changes of A' compares rows." * (name == "against")
            raise HoldfastError(
                f"`{name}` does not go with such a question ({question!s:.40}).{hint}"
            )
    how["level"] = level
    answer = _called(release, call, how)
    if isinstance(release, MergedRelease) and release.unmatched:
        return answer.noted(release.unmatched)
    return answer


def _called(release: Release, call: Call, how: dict[str, Any]) -> Any:
    earlier = how.pop("against", None)
    if call.answered_by is row_changes:
        if earlier is None:
            raise HoldfastError("a question about changes needs an earlier release, as `against`.")
        names = Labels(release, how.get("label")).joined(call.names) if call.names else None
        return row_changes(release, earlier, names, **how)
    if call.names:
        how = _narrowed(release, call, how)
    if earlier is not None:
        rows = {name: how.get(name) for name in ("where", "by")}
        return ask_change(release, earlier, lambda each: call.of(each, how), **rows)
    return call.of(release, how)


def _call(question: str | Callable[..., Any], options: dict[str, Any]) -> Call:
    """What is asked, with the options that were given by name."""
    name = question.strip().lower() if isinstance(question, str) else ""
    if name in PAIRS:
        return Call(answered_by=ask_pair, arguments=(name,), options=options)
    if callable(question) or name in spellings():
        return Call(answered_by=ask, arguments=(question,), options=options)
    if not isinstance(question, str):
        raise HoldfastError(f"`question` must be text or a function, got {question!r:.40}.")
    typed = parse(question)
    return replace(typed, options=typed.options | options)


def _narrowed(release: Release, call: Call, how: dict[str, Any]) -> dict[str, Any]:
    """The same question about the rows that were named, among those that `where` chooses."""
    if len(call.names) == 1 and call.names[0] in [column.name for column in release.columns]:
        if how.get("of", call.names[0]) != call.names[0]:
            raise HoldfastError(f"{call.names[0]!r:.60} and `of` name two columns of counts.")
        return how | {"of": call.names[0]}  # "mean homicides"
    labels = Labels(release, how.get("label"))
    names = labels.joined(call.names)
    marks = np.any([_named(release, labels, name) for name in names], axis=0)
    chosen = how.get("where")
    inside = marks & chosen_rows(release, chosen, how.get("label"))
    which = ", ".join(map(one_line, names))
    if isinstance(chosen, str):
        which += f", where {one_line(chosen)}"
    which += f" ({numbered(int(inside.sum()), 'row')})"
    if call.answered_by is top:
        return how | {"where": inside}
    return how | {"where": inside, "which": f" of {which}"}


def _named(release: Release, labels: Labels, name: str) -> Marks:
    """Rows with this label, or with this text in one of the public columns."""
    held = {}
    for column in release.published:
        texts = cell_texts(published(release, column))
        marks = np.array(texts, dtype=object) == name
        is_number = column != release.category and as_numbers([name]) is not None
        if marks.any() and not (is_number and as_numbers(texts) is not None):
            held[column] = marks
    different = {marks.tobytes() for marks in held.values()}
    if len(different) > 1:
        raise HoldfastError(
            f"{name!r:.60} is in the columns {', '.join(held)}. "
            f'Hint: say which by `where`, such as where="{next(iter(held))} == {name!r:.60}".'
        )
    if held:
        return np.asarray(next(iter(held.values())), dtype=bool)
    marks = np.zeros(release.rows, dtype=bool)
    marks[labels.find_all([name])] = True
    return marks
