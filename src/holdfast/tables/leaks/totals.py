"""Rows that are totals of others: known by their names, and by what adds up."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from holdfast.arrays import Integers, exact_sum
from holdfast.tables.leaks.search import TOTALS, Leak
from holdfast.tables.spans import Keys

_WHOLE = (
    *("total", "totals", "grand total", "sum", "all", "overall", "ensemble", "somme"),
    *("gesamt", "insgesamt", "summe", "zusammen", "totale", "totaal", "suma", "total general"),
)
_PLACES = ("counties", "states", "districts", "regions", "municipalities", "schools", "areas")
_GLANCE = ("tota", "gesamt", "zusammen", "all ")
"""One of them is in a label that is named like a total without being just such a name."""
_WORD = re.compile(
    r"\b(sub-?)?(totals?|totale|totaal|(ins)?gesamt|zusammen)\b|\ball ("
    + "|".join(_PLACES)
    + r")\b",
    re.IGNORECASE,
)
_NEARLY_THE_SUM = 0.02  # a total may count rows that are not known, or be rounded
_LOOKED_AT = 1 << 17  # rows among which subtotals are looked for
_BEYOND_CHANCE = 9.0
"""A running sum meets a given number by chance about once in so many times as a member is large on
average; the logarithms of that, added up over all sums that are met (e^9 is 8,100)."""
_AT_LEAST = 3  # sums, and other rows in each, that are subtotals and no coincidence


def is_total(label: Any) -> bool:
    """Whether a category is named like a total of others.

    >>> [is_total(label) for label in (" TOTAL", "Nebraska, total", "All counties", "Allentown")]
    [True, True, True, False]
    """
    text = str(label).strip()
    return text.casefold() in _WHOLE or _WORD.search(text) is not None


def any_total(labels: Sequence[Any]) -> bool:
    """Whether one of some labels is; a glance tells mostly that none is."""
    plain = [str(label).strip().casefold() for label in labels]
    text = "".join(plain)
    glanced = any(word in text for word in _GLANCE)
    return not set(_WHOLE).isdisjoint(plain) or (glanced and any(map(_WORD.search, plain)))


_WAYS = (str, str.title, str.upper, str.capitalize)
TOTAL_LABELS = list(dict.fromkeys(way(name) for name in _WHOLE for way in _WAYS))
"""Labels that are just names of totals, as they are mostly written."""


NAMED_TOTAL = Leak((TOTALS,), "a row is named like a total of others", told=True)
"""What is said of a category with such a name."""


class TotalRows:
    """Whether one row is the sum of all others, or rows are sums of those around them.

    >>> totals = TotalRows()
    >>> totals.see(np.array([9, 2, 3, 4, 21, 6, 7, 8, 40, 11, 9, 20, 105, 50, 31, 24]))
    >>> [str(leak) for leak in totals.leaks()]
    ['rows are sums of the rows that follow them']
    """

    def __init__(self) -> None:
        self._sum, self._most, self._rows = 0, 0, 0
        self._first: list[Integers] = []
        self._labels: dict[str, list[Keys]] = {}
        self._seen = 0

    def see(self, counts: Integers, labels: dict[str, Keys] | None = None) -> None:
        """Take in the counts of the next rows, and the labels of columns that may say which rows
        a total is of."""
        self._sum += exact_sum(counts)
        self._most = max(self._most, int(counts.max(initial=0)))
        self._rows += int(np.count_nonzero(counts))
        left = _LOOKED_AT - self._seen
        if left > 0:
            self._first.append(counts[:left].copy())
            for name, keys in (labels or {}).items():
                self._labels.setdefault(name, []).append(keys[:left])
            self._seen += len(counts)

    def leaks(self) -> list[Leak]:
        """What was found."""
        away = abs(2 * self._most - self._sum)
        if self._rows >= 6 and away <= _NEARLY_THE_SUM * self._most * (self._rows > 20):
            nearly = "nearly " * bool(away)
            return [Leak((TOTALS,), f"a row is {nearly}the sum of all others", told=True)]
        counts = np.concatenate(self._first) if self._first else np.empty(0, dtype=np.int64)
        how = _subtotals(counts, {n: np.concatenate(k) for n, k in self._labels.items()})
        return [Leak((TOTALS,), how, told=True)] if how else []


def _subtotals(counts: Integers, labels: dict[str, Keys]) -> str | None:
    """How rows add up others, a stretch or a label at a time."""
    if counts.max(initial=0) > 2**40:  # so that sums stay far below 2^63
        return None
    for name, keys in labels.items():
        if _by_label(counts, keys):
            return f"in each {name!r} a row is the sum of the others"
    for skipped in range(3):  # totals of all may stand first
        if _add_up(counts[skipped:]):
            return "rows are sums of the rows that follow them"
        if _add_up(counts[::-1][skipped:]):
            return "rows are sums of the rows before them"
    return None


def _by_label(counts: Integers, keys: Keys) -> bool:
    """Whether with nearly each label there is a row that is the sum of the others."""
    _, codes = np.unique(keys, return_inverse=True)
    known = counts > 0
    order = np.lexsort((counts[known], codes[known]))
    codes, counts = codes[known][order], counts[known][order]
    rows, sums = np.bincount(codes), np.bincount(codes, counts)
    most = np.zeros(len(rows))
    most[codes] = counts  # the last one stays
    large = rows > _AT_LEAST
    met = large & (2 * most == sums)
    if met.sum() < _AT_LEAST or met.sum() < 0.9 * large.sum():
        return False
    size = most[met] / (rows[met] - 1)  # of the others, on average
    return bool(np.log(np.maximum(size, 1)).sum() >= _BEYOND_CHANCE)


def _add_up(counts: Integers) -> bool:
    """Whether all rows are one stretch after the other that begins with the sum of the rest."""
    known = counts[counts > 0]
    sums = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(known)])
    at, met, beyond = 0, 0, 0.0
    while at < len(known):
        wanted = sums[at + 1] + known[at]
        end = int(np.searchsorted(sums, wanted))
        if end >= len(sums) or sums[end] != wanted or end < at + 2:
            return False
        if end > at + 2:
            met += 1
        beyond += float(np.log(max(known[at] / (end - at - 1), 1.0)))
        at = end
    return met >= _AT_LEAST and beyond >= _BEYOND_CHANCE
