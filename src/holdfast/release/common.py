"""The common questions about all rows and about every group, and what distribution.csv says.

The answer to each is what counting in the released table gives; its interval are quantiles over
draws from the posterior of the true histogram.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import NamedTuple

import numpy as np

from holdfast.fit.functionals import functional, middle, outwards
from holdfast.fit.histogram import LEVEL, Draws, Histogram, with_zeros
from holdfast.release.release import Column, Release
from holdfast.request.questions import QUESTIONS, Unit
from holdfast.tables.partition import ALL_ROWS

ANSWERS, DISTRIBUTION = "answers.csv", "distribution.csv"
HEADER = ("column", "group", "question", "answer", "low", "high")
DISTRIBUTION_HEADER = ("column", "group", "count", "rows", "share", "low", "high")
FINEST = 20
"""Steps of the last digit that an interval has at the least."""
SAME = 1e-9
LEAST_WIDTH = 1e-8
"""Of an interval of a share; below it are roundings of draws that are all the same."""


class CommonAnswer(NamedTuple):
    """One line of answers.csv."""

    column: str
    group: str
    question: str
    answer: float
    low: float
    high: float
    unit: Unit

    def record(self) -> tuple[str, ...]:
        """Its cells, with the digits that are known."""
        numbers = (known_digits(x, self.low, self.high) for x in (self.answer, self.low, self.high))
        return (self.column, self.group, self.question, *numbers)


@dataclass(frozen=True, kw_only=True, eq=False)
class Summary:
    """All rows or a group of them, in one column of counts: what a bundle says of them."""

    column: Column
    group: int | None
    name: str
    histogram: Histogram
    """Of the released table."""
    draws: Draws
    """Of the true one."""

    def answers(self, level: float = LEVEL) -> Iterator[CommonAnswer]:
        """The answers to the common questions."""
        highest, rows = self.histogram.values[-1], self.histogram.rows.astype(np.float64)
        asked = [
            (line.label, functional(question.estimator, line.parameters), question)
            for question in QUESTIONS.values()
            for line in question.common
            if line.reached <= highest and line.rows <= self.histogram.size
        ]
        drawn = [each(self.draws.support, self.draws.rows) for _, each, _ in asked]
        ends = middle(np.stack(drawn), level).tolist()
        for (label, each, question), low, high in zip(asked, *ends, strict=True):
            answer, unit = float(each(self.histogram.values, rows)), question.unit
            of_one = question.of_one_row and self.histogram.size == 1
            low, high = outwards(low, high, answer, whole=of_one or unit is Unit.COUNT)
            yield CommonAnswer(self.column.name, self.name, label, answer, low, high, unit)

    def distribution(self) -> Iterator[tuple[str, ...]]:
        """Lines of distribution.csv: every count that some row of the released table has."""
        size, ends = self.histogram.size, share_intervals(self.column, self.draws)
        lines = zip(self.histogram.values.tolist(), self.histogram.rows.tolist(), strict=True)
        for value, rows in lines:
            share = rows / size
            low, high = ends.get(value, (math.nan, math.nan))
            low, high = min(low, share), max(high, share)  # as nan they stay
            cells = [known_digits(x, low, high) for x in (share, low, high)]
            yield (self.column.name, self.name, str(value), str(rows), *cells)


def summaries(release: Release) -> Iterator[Summary]:
    """All rows and every declared group that has some, of each column."""
    names = release.group_names if len(release.group_names) > 1 else ()
    for column in release.columns:
        for group, name in [(None, ALL_ROWS), *enumerate(names)]:
            histogram = release.histogram(column, group)
            if len(histogram.values):
                yield Summary(
                    column=column,
                    group=group,
                    name=name,
                    histogram=histogram,
                    draws=drawn(release, column, group),
                )


def common_answers(release: Release, level: float = LEVEL) -> Iterator[CommonAnswer]:
    """The answers to the common questions, column by column, all rows before their groups."""
    return chain.from_iterable(summary.answers(level) for summary in summaries(release))


def share_intervals(column: Column, draws: Draws) -> dict[int, tuple[float, float]]:
    """Ends of the interval of the share of each count that draws know by itself."""
    if not len(draws.support):
        return {}
    cells = column.estimate.cells
    alone = np.isin(draws.support, cells.edges[:-1][cells.widths[:-1] == 1])
    size = np.maximum(draws.rows.sum(axis=1, keepdims=True), SAME)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(draws.rows[:, alone] / size, [tail, 1 - tail], axis=0)
    ends = zip(low.tolist(), high.tolist(), strict=True)
    return dict(zip(draws.support[alone].tolist(), ends, strict=True))


def drawn(release: Release, column: Column, group: int | None) -> Draws:
    """Draws of how many rows of the true table have each count, those known to be zero included."""
    return with_zeros(column.estimate.draws(group), release.zeros(group))


def known_digits(number: float, low: float, high: float) -> str:
    """A number with the digits that its interval leaves, and no more; "" where it is not known.

    >>> known_digits(0.0329082, 0.0313, 0.0354), known_digits(48_312.4, 47_100, 49_400)
    ('0.0329', '48312')
    >>> known_digits(3136, 3136, 3136), known_digits(1 / 3, 1 / 3, 1 / 3), known_digits(2, 1.5, 2)
    ('3136', '0.333333', '2')
    """
    if not math.isfinite(number):
        return ""
    width = high - low
    number = float(f"{number:.12g}")  # without the last bits of sums in floating point
    if number == round(number):
        return str(round(number))
    if not width > max(SAME * abs(number), LEAST_WIDTH):
        return f"{number:.6g}"
    return decimals(number, known_places(width))


def decimals(number: float, places: int) -> str:
    """A number to so many places, halves to even as its decimals have them and not its bits.

    >>> decimals(0.0875, 3), decimals(0.2875, 3), decimals(28.75, 1)
    ('0.088', '0.288', '28.8')
    """
    return f"{Decimal(f'{number:.15g}'):.{places}f}"


def known_places(width: float) -> int:
    """Decimal places that an interval so wide leaves.

    >>> known_places(300), known_places(4), known_places(0.03)
    (0, 1, 3)
    """
    return min(max(math.ceil(-math.log10(width / FINEST)), 0), 12)
