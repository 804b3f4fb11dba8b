r"""The search for an event that tells two tables apart.

An event is {score >= threshold}, where the score is a function of the output. Scores are
learnt on the first quarter of the draws, thresholds and scores are compared on the second
quarter, and the other half is left to measure what was chosen.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.former.studies.audit.bounds import cautious_loss
from holdfast.former.studies.audit.features import Column, Kind

BINS = 32
NEVER = -np.inf
Sides = Integers  # per distinct value: how often the favoured side had it, and the other


@dataclass(frozen=True, kw_only=True)
class Event:
    """{score >= threshold}, chosen without the half of the draws that it is measured on."""

    words: str
    """What it is."""
    forward: bool
    """Whether the table should make it more frequent than the neighbour."""
    promise: float
    """Cautious estimate of the loss, from the draws that it was chosen on."""
    hits: tuple[int, int]
    """How often it happened in the other half, on the side that it favours and elsewhere."""


class _Family(Enum):
    """How a score is made from a column."""

    ABOVE = "large values"
    BELOW = "small values"
    RATIO = "values with a large estimated likelihood ratio"
    ONLY = "values seen on one side only"
    TOGETHER = "all coordinates as if they were independent"


@dataclass(frozen=True, kw_only=True)
class _Score:
    words: str
    family: _Family
    kind: Kind
    values: Floats


@dataclass(frozen=True, kw_only=True)
class _Tally:
    learn: Sides
    choose: Sides
    measure: Sides


def find_events(columns: Iterable[Column], draws: int, *, delta: float) -> list[Event]:
    """The most promising event of every family and kind of column, for each direction.

    A rare event that gives everything away promises less than a frequent one that uses up the
    budget, so the two must not compete: at most 26 events are kept.
    """
    best: dict[tuple[bool, _Family, Kind], Event] = {}
    for score, tally, forward in _scores(columns, draws):
        event, place = _threshold(score, tally, forward, draws // 4, delta), (forward, score.family)
        rival = best.get((*place, score.kind))
        if event is not None and (rival is None or event.promise > rival.promise):
            best[*place, score.kind] = event
    return list(best.values())


def _scores(columns: Iterable[Column], draws: int) -> Iterator[tuple[_Score, _Tally, bool]]:
    """Coordinates both ways, learnt likelihood ratios, values seen on one side only, and all
    coordinates together as if they were independent."""
    together = {forward: np.zeros(2 * draws) for forward in (True, False)}
    for column in columns:
        for forward, ratio in together.items():
            tally = _tally(column.codes, len(column.known), draws, forward)
            for score in _scores_of(column, tally.learn):
                yield score, tally, forward
            if column.kind is Kind.COORDINATE:
                ratio += _binned_ratio(tally.learn)[column.codes]
    for forward, ratio in together.items():
        known, codes = np.unique(ratio.round(9), return_inverse=True)
        words = "estimated log ratio of all coordinates together >= "
        score = _Score(words=words, family=_Family.TOGETHER, kind=Kind.WHOLE, values=known)
        yield score, _tally(codes, len(known), draws, forward), forward


def _scores_of(column: Column, learn: Sides) -> Iterator[_Score]:
    name, kind = column.name, column.kind
    if column.ordered:
        above, below = column.known, -column.known
        yield _Score(words=f"{name} >= ", family=_Family.ABOVE, kind=kind, values=above)
        yield _Score(words=f"{name} <= ", family=_Family.BELOW, kind=kind, values=below)
    words, ratio = f"estimated log ratio of {name} >= ", _cautious_ratio(learn)
    yield _Score(words=words, family=_Family.RATIO, kind=kind, values=ratio)
    words = f"{name} in a set of values seen on one side only"
    only = np.where((learn[0] > 0) & (learn[1] == 0), 1.0, NEVER)
    yield _Score(words=words, family=_Family.ONLY, kind=kind, values=only)


def _tally(codes: Integers, size: int, draws: int, forward: bool) -> _Tally:
    quarter = draws // 4
    sides = (codes[:draws], codes[draws:]) if forward else (codes[draws:], codes[:draws])

    def count(start: int, stop: int) -> Sides:
        return np.stack([np.bincount(side[start:stop], minlength=size) for side in sides])

    return _Tally(
        learn=count(0, quarter),
        choose=count(quarter, 2 * quarter),
        measure=count(2 * quarter, draws),
    )


def _cautious_ratio(learn: Sides) -> Floats:
    """Log ratio less a standard error, so that rare values do not lead; unseen ones never."""
    mine, other = learn + 0.5
    ratio = np.log(mine / other) - np.sqrt(1 / mine + 1 / other)
    return np.where(learn.sum(axis=0) > 0, ratio, NEVER)


def _binned_ratio(learn: Sides) -> Floats:
    """Log ratio per value, or per bin of about equal mass where there are many values."""
    size = learn.shape[1]
    bins = np.arange(size)
    if size > 2 * BINS:
        seen = np.cumsum(learn.sum(axis=0))
        bins = np.minimum(seen * BINS // max(int(seen[-1]), 1), BINS - 1)
    mine, other = (np.bincount(bins, weights=side) + 0.5 for side in learn)
    return np.asarray(np.log(mine / other)[bins])


def _threshold(
    score: _Score, tally: _Tally, forward: bool, quarter: int, delta: float
) -> Event | None:
    """The threshold that promises most on the second quarter."""
    order = np.argsort(-score.values, kind="stable")
    order = order[score.values[order] > NEVER]
    if len(order) == 0:
        return None
    levels = score.values[order]
    hits, others = np.cumsum(tally.choose[:, order], axis=1)
    promise = cautious_loss(hits, others, quarter, delta)
    promise[:-1][levels[:-1] == levels[1:]] = -np.inf  # ties enter together
    best = int(np.argmax(promise))
    if promise[best] == -np.inf:
        return None
    measured = tally.measure[:, order[: best + 1]].sum(axis=1)
    return Event(
        words=score.words + _level(score.family, float(levels[best])),
        forward=forward,
        promise=float(promise[best]),
        hits=(int(measured[0]), int(measured[1])),
    )


def _level(family: _Family, level: float) -> str:
    if family is _Family.ONLY:
        return ""
    return f"{-level if family is _Family.BELOW else level:.6g}"
