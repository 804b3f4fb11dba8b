"""The search for columns that give the counts away, alone or together."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers, Marks
from holdfast.tables.leaks.measures import (
    as_labels,
    beyond_chance,
    further,
    linear_share,
    monotone_share,
    near_share,
    neighbour_share,
    product_share,
    readings,
    same_zeros,
)

ROW_ORDER, TOTALS, SAME_COUNTS = "row order", "totals", "same counts"
"""What `publish_anyway` calls what is no column: the order of the rows, rows that add up others,
counts that were released as those of another period."""
NEARLY_ALL = 0.9
"""A column that tells the counts of this share of the rows gives them away."""
ROWS = 5_000  # of the commonest count, and as many of all others
RATE = 0.97
"""A number that is 0, or missing, in as many of the rows that have no count, and not in others."""
MOST_PAIRS = 10_000  # of kept and withheld columns; with more they are not looked at
FEW = 40  # rows in which a formula of several columns may hold by chance
LARGE = (30, 100, 300, 1000, 3000, 10_000)
"""Counts from each of these on are looked at by themselves: a near copy tells small ones no better
than chance, and where most are small nine rows in ten are not told."""
MOST_SEARCHED = {1: 100_000, 2: 300, 3: 40}  # with more, sets of two or three are not looked at
AT_A_TIME = 512  # sets of columns in one array
WAYS = {"as a sum or difference": linear_share, "as a product or ratio": product_share}


@dataclass(frozen=True)
class Leak:
    """Something that gives counts away: for the steward, never for a bundle."""

    names: tuple[str, ...]  #: the columns; or what else it is
    how: str  #: what it does, after their names
    few: bool = field(default=False, repr=False, compare=False)
    """Whether that may be chance, in so few rows."""
    told: bool = field(default=False, repr=False, compare=False)
    """Whether `how` says all of it, without names: it is about rows."""

    def __str__(self) -> str:
        return self.how if self.told else f"{' with '.join(map(repr, self.names))} {self.how}"


def find_leaks(
    counts: Integers,
    columns: Mapping[str, Sequence[Any]],
    helping: Collection[str] = (),
    withheld: Collection[str] = (),
) -> list[Leak]:
    """The columns that tell the counts of nearly all rows, alone or two or three together; those
    that are `helping` are not looked at alone, those that are `withheld` as what the counts may be
    divided by.

    Half of the rows that are looked at have the commonest count and half have others, so that a
    column of zeros does not seem to tell counts that are mostly 0.

    >>> counts = np.arange(200) % 7
    >>> columns = {"place": [f"p{i}" for i in range(200)], "twice": 2 * counts + 1}
    >>> find_leaks(counts, columns)
    [Leak(names=('twice',), how='is a rising or falling function of the counts')]
    """
    if len(counts) < 2 or counts.min() == counts.max():
        return []
    rng = np.random.default_rng(0)  # chooses rows to look at: no release depends on it
    y = counts.astype(np.float64)
    numbers = {name: readings(cells) for name, cells in columns.items()}
    rows, leaks = _balanced(counts, rng), list[Leak]()
    for name, cells in columns.items():
        if name in helping or name in withheld:
            continue
        ways = (_alone(name, x, cells, y, rows, rng) for x in (*numbers[name], *further(cells)))
        leaks += next(filter(None, map(list, ways)), [])
    named = {leak.names[0] for leak in leaks}
    left = [(name, x[rows]) for name, ways in numbers.items() if name not in named for x in ways]
    kept = [each for each in left if each[0] not in withheld]
    leaks += _together(kept, y[rows], rng)
    named |= {name for leak in leaks for name in leak.names}
    kept = [each for each in kept if each[0] not in named]
    leaks += _rates(kept, [each for each in left if each[0] in withheld], y[rows], rng)
    named |= {leak.names[0] for leak in leaks}
    kept = [each for each in kept if each[0] not in {*named, *helping}]
    return [*leaks, *_like_rates(kept, y[rows])]


def _balanced(counts: Integers, rng: np.random.Generator) -> Integers:
    values, numbers = np.unique(counts, return_counts=True)
    usual = counts == values[numbers.argmax()]
    others, same = rng.permutation(np.flatnonzero(~usual)), rng.permutation(np.flatnonzero(usual))
    size = min(len(others), ROWS)
    return np.sort(np.concatenate([others[:size], same[:size]]))


def _alone(
    name: str,
    x: Floats,
    cells: Sequence[Any],
    y: Floats,
    rows: Integers,
    rng: np.random.Generator,
) -> Iterator[Leak]:
    if (x == y).all():
        yield Leak((name,), "holds the counts", len(y) < FEW)
        return
    x, y_rows = x[rows], y[rows]
    share = monotone_share(x, y_rows, least=NEARLY_ALL)
    if share >= NEARLY_ALL and beyond_chance(x, y_rows, share, rng):
        equal = np.mean(x == y_rows) >= NEARLY_ALL
        rising = "is a rising or falling function of the counts"
        nearly = "" if share == 1 else " in nearly all rows"
        yield Leak((name,), ("holds the counts" if equal else rising) + nearly, len(y) < FEW)
        return
    if _is_near(x, y_rows, rng):
        yield Leak((name,), "nearly holds the counts, or a function of them", len(y) < FEW)
    elif any(_is_near(x[large], y_rows[large], rng) for large in _large(y_rows)):
        yield Leak((name,), "nearly holds the larger counts, or a function of them")
    elif neighbour_share(as_labels(cells), y, rng, NEARLY_ALL) >= NEARLY_ALL:
        yield Leak((name,), "is a flag or a class that follows from the count", few=True)


def _is_near(x: Floats, y: Floats, rng: np.random.Generator) -> bool:
    share = near_share(x, y)
    return share >= NEARLY_ALL and beyond_chance(x, y, share, rng, near_share)


def _large(y: Floats) -> Iterator[Marks]:
    """Rows with a count from some number on, where that is not all of them, nor few."""
    for least in LARGE:
        large = y >= least
        if FEW <= np.count_nonzero(large) < len(y):
            yield large


def _rates(
    kept: Sequence[tuple[str, Floats]],
    withheld: Sequence[tuple[str, Floats]],
    y: Floats,
    rng: np.random.Generator,
) -> Iterator[Leak]:
    """Kept numbers that are the counts divided by, or into, a column that is withheld and may stand
    in another table; whole numbers are no rates, and may be what a withheld rate was divided by."""
    rates = _usable([(name, x) for name, x in kept if not _is_whole(x)])
    known = _usable(withheld)
    if len(y) < FEW or not rates or not known or len(rates) * len(known) > MOST_PAIRS:
        return
    columns = np.stack([x for _, x in (*rates, *known)])
    sets = [(a, len(rates) + b) for a in range(len(rates)) for b in range(len(known))]
    told = set[str]()
    for start in range(0, len(sets), AT_A_TIME):
        some = np.array(sets[start : start + AT_A_TIME], dtype=np.int64)
        for at in np.flatnonzero(product_share(columns, some, y, rng) >= NEARLY_ALL):
            (name, _), (by, _) = rates[some[at][0]], known[some[at][1] - len(rates)]
            if name not in told:
                told.add(name)
                yield Leak((name,), f"gives the counts as a rate of {by!r}, which is withheld here")


def _like_rates(kept: Sequence[tuple[str, Floats]], y: Floats) -> Iterator[Leak]:
    """Numbers that are 0 where the count is: a rate tells more wherever its divisor is known."""
    for name in dict.fromkeys(
        name for name, x in kept if len(y) >= FEW and same_zeros(x, y) >= RATE
    ):
        yield Leak((name,), "is 0 or missing just where the count is 0, as a rate is", few=True)


def _is_whole(x: Floats) -> bool:
    known = x[np.isfinite(x)]
    return bool(2 * np.count_nonzero(known == np.round(known)) > len(known))


def _together(
    numbers: Sequence[tuple[str, Floats]], y: Floats, rng: np.random.Generator
) -> Iterator[Leak]:
    """Sets of two or three columns; one that holds a set found before is passed over."""
    usable = _usable(numbers)
    if len(y) < FEW or not usable:
        return
    names, columns = [name for name, _ in usable], np.stack([x for _, x in usable])
    covered: list[set[int]] = []
    named = set[frozenset[str]]()  # a column may stand there in two readings
    for sets in _sets(len(names), covered):
        for way, share_of in WAYS.items():
            for at in np.flatnonzero(share_of(columns, sets, y, rng) >= NEARLY_ALL):
                members = set(sets[at].tolist())
                if any(known <= members for known in covered):
                    continue
                covered.append(members)
                columns_of = tuple(dict.fromkeys(names[i] for i in sorted(members)))
                if not any(known <= set(columns_of) for known in named):
                    named.add(frozenset(columns_of))
                    yield Leak(columns_of, f"gives the counts {way}")


def _usable(numbers: Sequence[tuple[str, Floats]]) -> list[tuple[str, Floats]]:
    """Columns whose numbers are mostly known, and differ; 0 stands where one is not known."""
    known = [(name, x, x[np.isfinite(x)]) for name, x in numbers]
    return [
        (name, np.where(np.isfinite(x), x, 0.0))
        for name, x, finite in known
        if len(finite) >= NEARLY_ALL * len(x) and np.ptp(finite) > 0
    ]


def _sets(number: int, covered: Sequence[set[int]]) -> Iterator[Integers]:
    for width in (width for width, most in MOST_SEARCHED.items() if number <= most):
        sets = [
            members
            for members in combinations(range(number), width)
            if not any(known <= set(members) for known in covered)
        ]
        for start in range(0, len(sets), AT_A_TIME):
            yield np.array(sets[start : start + AT_A_TIME], dtype=np.int64)
