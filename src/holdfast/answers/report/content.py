"""What a report of a release says, as plain values, which JSON prints as they are.

Answers are those of answers.csv: each is asked once, and written by all that show it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from math import isfinite
from operator import attrgetter
from typing import Any

import numpy as np

from holdfast.answers.answer import Answer, check_level
from holdfast.answers.rows import top
from holdfast.engine.measuring import Progress, silent
from holdfast.errors import decimal_or_fraction, listed_names, numbered, one_line
from holdfast.release.common import CommonAnswer, common_answers
from holdfast.release.picture import bars, bins
from holdfast.release.readme import bare, bounded, drowns
from holdfast.release.record import SPENT_ON
from holdfast.release.release import Column, Release
from holdfast.tables.partition import ALL_ROWS

Content = dict[str, Any]
ASKING = "Answering"
TOP, LIKELY = 5, 0.5  # rows that are named; the least probability of the first of them
OF_GROUPS = ("share with 0", "mean", "total")  # questions that the table of groups has
PAPER = (
    "N. Kohli and P. Laskowski, Preserving Target Distributions With Differentially Private Count "
    "Mechanisms, 2026."
)
DO_NOT = (
    "Do not read a single row as a fact: noise was added to its count.",
    "Do not choose rows by their released or noisy counts: those at the top are there by luck too. "
    "The table of the highest rows has them by how likely that is, which stands beside each.",
    "Do not add up released counts of rows that are no group of this release, nor set released "
    "counts beside other columns, as in rates of rows and regressions: ask, "
    "or add up their noisy counts.",
    "Do not compare two releases of the same data row by row: their difference is noise of both.",
    "Do not correct or redraw rows that look wrong and publish the result as this release.",
    "Do not take the other columns as private: they were published as they were.",
)


@dataclass(frozen=True, kw_only=True)
class Cover:
    """What the steward writes above a report; everything may be left out."""

    title: str | None = None
    """What the table is."""
    by: str | None = None
    """Who publishes it."""
    date: str | None = None
    """When."""
    purpose: str | None = None
    """What for."""

    @property
    def line(self) -> str:
        """Who, when and what for, in a line."""
        return " · ".join(one_line(part) for part in (self.by, self.date, self.purpose) if part)


def content_of(
    release: Release,
    level: float = 0.9,
    cover: Cover | None = None,
    progress: Progress = silent,
) -> Content:
    """Everything that a report says."""
    cover, level = cover or Cover(), check_level(level)
    answers = _answers(release, level, progress)
    names = " and ".join(column.name for column in release.columns)
    table = f"{names} by {release.category}" if release.category else names
    rows = numbered(release.rows, "row")
    return {
        "title": cover.title or f"{table}, with differential privacy: {rows}",
        "cover": cover.line,
        "simulated": release.promise.simulated,
        "level": level,
        "promise": _promise(release),
        "columns": [
            _column(release, column, [a for a in answers if a.column == column.name], level)
            for column in release.columns
        ],
        "facts": _facts(release),
        "notes": list(release.notes),
        "do_not": list(DO_NOT),
        "cite": _cite(release),
    }


def _answers(release: Release, level: float, progress: Progress) -> list[CommonAnswer]:
    """The common answers about everything, with a progress that moves."""
    number = len(release.columns) * (1 + len(release.group_names) * (len(release.group_names) > 1))
    answers: list[CommonAnswer] = []
    everything = groupby(common_answers(release, level), key=attrgetter("column", "group"))
    for done, (_, about) in enumerate(everything):
        progress(ASKING, done / number)
        answers += about
    progress(ASKING, 1.0)
    return answers


def _promise(release: Release) -> Content:
    promise, persons = release.promise, release.promise.persons
    columns = release.columns
    bared = [c.name for c in columns if not c.measurement.noise.quantile(0.9)]
    return {
        "epsilon": decimal_or_fraction(promise.epsilon),
        "unit": persons.unit,
        "words": (
            f"Of this release, {bounded(promise.epsilon, persons.unit)}"
            + "".join(f" {bare(name)}." for name in bared)
        ),
        "neighbours": promise.neighbours,
        "randomness": promise.randomness,
        "spent": [
            {
                "column": column.name,
                "on": words,
                "epsilon": decimal_or_fraction(getattr(budget, part)),
            }
            for column, budget in zip(release.columns, promise.budgets, strict=True)
            for part, words in SPENT_ON.items()
            if getattr(budget, part)
        ],
    }


def _column(release: Release, column: Column, answers: list[CommonAnswer], level: float) -> Content:
    noise = column.measurement.noise
    whole = [answer for answer in answers if answer.group == ALL_ROWS]
    starts = bins(release.histogram(column))
    return {
        "name": column.name,
        "missing": int(np.count_nonzero(column.missing)),
        "noise": {
            "mean_absolute": noise.mean_absolute,
            "standard_deviation": noise.variance**0.5,
            "reach": noise.quantile(level),
        },
        "distribution": [
            {"counts": bar.label, "share": bar.share, "low": bar.low, "high": bar.high}
            for bar in bars(release, column, None, starts)
        ],
        "answers": [_said(answer) for answer in whole],
        "groups": _groups(release, answers),
        "top_rows": _top_rows(release, column, level),
    }


def _said(common: CommonAnswer) -> Content:
    """A common answer with its words, which are those of `ask`."""
    answer = answer_of(common)
    return {
        "question": common.question,
        "estimate": common.answer,
        "interval": [x if isfinite(x) else None for x in (common.low, common.high)],
        "unit": common.unit,
        "words": answer.in_words(common.answer),
        "interval_words": ends_words(answer),
    }


def answer_of(common: CommonAnswer) -> Answer:
    """A common answer as `ask` gives it."""
    return Answer(
        question=common.question,
        estimate=common.answer,
        interval=(common.low, common.high),
        unit=common.unit,
    )


def ends_words(answer: Answer) -> str:
    """Its interval; the number of rows is public."""
    return "exactly" if answer.question == "rows" else answer.ends_words


def _groups(release: Release, answers: Iterable[CommonAnswer]) -> list[Content]:
    """Every declared group with its rows and a few answers."""
    groups: dict[str, Content] = {}
    for answer in answers:
        if answer.group == ALL_ROWS:
            continue
        group = groups.setdefault(answer.group, {"name": answer.group, "rows": 0, "answers": []})
        if answer.question == "rows":
            group["rows"] = int(answer.answer)
        if answer.question in OF_GROUPS:
            group["answers"].append(_said(answer))
    return list(groups.values())


def _top_rows(release: Release, column: Column, level: float) -> list[Content]:
    """The rows that are most likely among the highest, where one is likelier there than not."""
    measured = int(np.count_nonzero(column.measured))
    reach, highest = column.measurement.noise.quantile(0.9), float(column.counts.max(initial=0))
    if not measured or drowns(reach, highest, release.rows, column.budget.epsilon):
        return []
    rows = top(release, min(TOP, measured), of=column.name, level=level)
    listed = rows.to_dict()["rows"]
    return list(listed) if listed[0]["probability"] >= LIKELY else []


def _facts(release: Release) -> Content:
    within = str(release.partition.within)
    return {
        "rows": release.rows,
        "structural_zeros": release.zeros(),
        "top_code": release.top_code,
        "published": list(release.published),
        "groups": f"{numbered(len(release.group_names), 'group')}: {within}" if within else "none",
        "period": None if release.period is None else str(release.period),
    }


def _cite(release: Release) -> str:
    kind = "SIMULATED" if release.promise.simulated else "Private"
    names = listed_names(column.name for column in release.columns)
    return (
        f"{kind} table of counts ({names}), {numbered(release.rows, 'row')}, epsilon = "
        f"{decimal_or_fraction(release.promise.epsilon)} for one {release.promise.persons.unit}, "
        f"made with holdfast {release.made_with}. Method: {PAPER}"
    )
