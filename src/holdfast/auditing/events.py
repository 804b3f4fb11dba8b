r"""The search for an event that tells two tables apart.

A score is a number per draw and an event is {score >= threshold}. Scores are learnt on the
first quarter of the draws, thresholds and scores are compared on the second, and the second
half is left untouched to measure what was chosen.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.auditing.bounds import cautious_loss
from holdfast.auditing.features import Column, Values

BINS = 32
NEVER = -1e9
Halves = tuple[Values, Values]


@dataclass(frozen=True, kw_only=True)
class Event:
    """{score >= threshold}, chosen without the second half of the draws."""

    words: str
    """What it is."""
    forward: bool
    """Whether the table should make it more frequent than the neighbour."""
    promise: float
    """Cautious estimate of the loss, from the draws that it was chosen on."""
    held: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    """In which draws of the second half it happened: of the table, of the neighbour."""

    @property
    def hits(self) -> tuple[int, int]:
        """How often it happened on the side that it favours, and on the other."""
        counts = int(self.held[0].sum()), int(self.held[1].sum())
        return counts if self.forward else (counts[1], counts[0])


@dataclass(frozen=True, kw_only=True)
class _Score:
    words: str
    family: str
    values: Values


def find_events(
    columns: Sequence[Column], draws: int, *, delta: float, keep: int = 3
) -> list[Event]:
    """The most promising events: for each direction, up to `keep` from different families."""
    chosen: list[Event] = []
    for forward in (True, False):
        best: dict[str, Event] = {}
        for score in _scores(columns, draws, forward):
            event = _threshold(score, draws, forward, delta)
            if event is None:
                continue
            rival = best.get(score.family)
            if rival is None or event.promise > rival.promise:
                best[score.family] = event
        chosen += sorted(best.values(), key=lambda event: -event.promise)[:keep]
    return chosen


def _scores(columns: Sequence[Column], draws: int, forward: bool) -> Iterator[_Score]:
    """Coordinates both ways, learnt likelihood ratios, values seen on one side only, and all
    coordinates together as if they were independent."""
    quarter = draws // 4
    together = np.zeros(2 * draws)
    for column in columns:
        x = column.values
        if column.ordered:
            yield _Score(words=f"{column.name} >= ", family="above", values=x)
            yield _Score(words=f"{column.name} <= ", family="below", values=-x)
            binned = _binned(x, np.concatenate(_quarter(x, draws, quarter, 0)))
            together += _ratio_score(binned, draws, quarter, forward, caution=0.0)
        ratio = _ratio_score(x, draws, quarter, forward, caution=1.0)
        words = f"estimated log ratio of {column.name} >= "
        yield _Score(words=words, family="ratio", values=ratio)
        only = _seen_only(x, draws, quarter, forward)
        yield _Score(words=f"{column.name} seen on one side only: ", family="only", values=only)
    words = "estimated log ratio of all coordinates together >= "
    yield _Score(words=words, family="together", values=together)


def _quarter(values: Values, draws: int, quarter: int, which: int) -> Halves:
    """The first, second, ... quarter of both tables' draws."""
    start, stop = which * quarter, (which + 1) * quarter
    return values[start:stop], values[draws + start : draws + stop]


def _learn(x: Values, draws: int, quarter: int, forward: bool) -> tuple[Values, Values, Values]:
    """Distinct values in the first quarter and how often each side had them."""
    mine, other = _quarter(x, draws, quarter, 0)
    if not forward:
        mine, other = other, mine
    known, inverse = np.unique(np.concatenate([mine, other]), return_inverse=True)
    size = len(known)
    mine_counts = np.bincount(inverse[: len(mine)], minlength=size).astype(np.float64)
    other_counts = np.bincount(inverse[len(mine) :], minlength=size).astype(np.float64)
    return known, mine_counts, other_counts


def _look_up(x: Values, known: Values, scores: Values) -> Values:
    place = np.minimum(np.searchsorted(known, x), len(known) - 1)
    same = (known[place] == x) | (np.isnan(known[place]) & np.isnan(x))
    return np.where(same, scores[place], NEVER)


def _ratio_score(x: Values, draws: int, quarter: int, forward: bool, *, caution: float) -> Values:
    known, mine, other = _learn(x, draws, quarter, forward)
    ratio = np.log((mine + 0.5) / (other + 0.5))
    spread = np.sqrt(1 / (mine + 0.5) + 1 / (other + 0.5))
    found = _look_up(x, known, ratio - caution * spread)
    return found if caution else np.where(found == NEVER, 0.0, found)


def _seen_only(x: Values, draws: int, quarter: int, forward: bool) -> Values:
    known, mine, other = _learn(x, draws, quarter, forward)
    return _look_up(x, known, np.where((mine > 0) & (other == 0), 1.0, NEVER))


def _binned(x: Values, first: Values) -> Values:
    """Few values stay as they are; many become bins of about equal mass in the first quarter."""
    finite = first[np.isfinite(first)]
    if len(np.unique(finite)) <= 2 * BINS:
        return x
    edges = np.unique(np.quantile(finite, np.linspace(0, 1, BINS + 1)[1:-1]))
    return np.searchsorted(edges, x).astype(np.float64)


def _threshold(score: _Score, draws: int, forward: bool, delta: float) -> Event | None:
    """The threshold that promises most on the second quarter."""
    quarter = draws // 4
    mine, other = _quarter(score.values, draws, quarter, 1)
    if not forward:
        mine, other = other, mine
    mine, other = np.sort(mine[mine > NEVER]), np.sort(other[other > NEVER])
    if len(mine) == 0:
        return None
    levels = np.unique(mine)
    hits = len(mine) - np.searchsorted(mine, levels)
    others = len(other) - np.searchsorted(other, levels)
    promise = cautious_loss(hits, others, quarter, delta)
    best = int(np.argmax(promise))
    if promise[best] == -np.inf:
        return None
    level, half = levels[best], 2 * quarter
    return Event(
        words=score.words + _level(score, float(level)),
        forward=forward,
        promise=float(promise[best]),
        held=(score.values[half:draws] >= level, score.values[draws + half :] >= level),
    )


def _level(score: _Score, level: float) -> str:
    if score.family == "only":
        return "a set of values"
    return f"{-level if score.family == 'below' else level:.6g}"
