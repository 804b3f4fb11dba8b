"""How much columns tell of the counts: shares of rows whose count can be read off."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, combinations
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers

_NUMBER = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_UNSIGNED = re.compile(r"[0-9]+(?:\.[0-9]+)?")
MOST_NUMBERS = 5  # of a text that are looked at
_SPACED = re.compile(r"(?<=[0-9])[ '\u2019\u00a0\u2009\u202f](?=[0-9]{3}(?![0-9]))")
_MARKED = re.compile(r"[0-9][ '\u2019\u00a0\u2009\u202f,.][0-9]")
_NO_GROUP = {  # a mark that does not stand before three digits, or stands after a lone zero
    mark: re.compile(rf"{re.escape(mark)}(?![0-9]{{3}}(?![0-9]))|(?<![0-9])0{re.escape(mark)}")
    for mark in ",."
}
NO_NUMBER = 1e150  # numbers from here on are not taken for numbers
TRIES = 8  # lines through random rows: with one row in ten spoilt, one of eight is clean
ENOUGH = 20  # rows with a count of 0, and with others, of which fewer may agree by chance
NEAR = 0.5  # of what chance moves a count by: no other count of other people is as close
SCREEN, WORTH_A_LOOK = 128, 0.8  # so many rows, and the share of them that must fit, come first


def as_numbers(cells: Sequence[Any]) -> Floats:
    """The number that each cell holds or contains; nan where it has none.

    >>> as_numbers(["3", "12 cases", None, True, "Kent"])
    array([ 3., 12., nan,  1., nan])
    """
    kinds = set(map(type, cells))
    if kinds == {float}:
        values = np.array(cells, dtype=np.float64)
        return np.where(np.abs(values) < NO_NUMBER, values, np.nan)
    if kinds == {str}:
        known = {text: _number(text) for text in dict.fromkeys(cells)}  # texts repeat
        return np.fromiter(map(known.__getitem__, cells), dtype=np.float64, count=len(cells))
    return np.fromiter(map(_number, cells), dtype=np.float64, count=len(cells))


def readings(cells: Sequence[Any]) -> list[Floats]:
    """A column's numbers, in each way that they may be written: 1,234.5 or 1.234,5 or 1 234,5.

    >>> [x.tolist() for x in readings(["1,234", "12"])]
    [[1234.0, 12.0], [1.234, 12.0]]
    >>> [x.tolist() for x in readings(["0,5", "1 234,25"])], [x.tolist() for x in readings(["0.5"])]
    ([[0.5, 1234.25]], [[0.5]])
    """
    kinds = set(map(type, cells))
    if kinds == {int}:  # as other columns of counts are
        small = cells if max(cells) <= 10**15 else [min(cell, 10**15) for cell in cells]
        return [np.array(small, dtype=np.float64)]
    texts = [cell for cell in cells if isinstance(cell, str)] if str in kinds else []
    if not any(map(_MARKED.search, dict.fromkeys(texts))):
        return [as_numbers(cells)]
    plain = [_SPACED.sub("", cell) if isinstance(cell, str) else cell for cell in cells]
    texts = [cell for cell in plain if isinstance(cell, str)]
    commas, points = (any(mark in text for text in texts) for mark in ",.")
    ways = [("", "")] if not commas else []
    if commas and not any(_NO_GROUP[","].search(text) for text in texts):
        ways.append((",", "."))
    if commas or (points and not any(_NO_GROUP["."].search(text) for text in texts)):
        ways.append((".", ","))
    return [as_numbers([_written(cell, *way) for cell in plain]) for way in ways]


def further(cells: Sequence[Any]) -> Iterator[Floats]:
    """The second number in each text, the third, and so on; nan where it has none.

    >>> [x.tolist() for x in further(["zone 5: 12 cases", "zone 7"])]
    [[12.0, nan]]
    """
    texts = {cell for cell in cells if isinstance(cell, str)}
    numbers = {text: _UNSIGNED.findall(text)[1:MOST_NUMBERS] for text in texts}
    for at in range(max(map(len, numbers.values()), default=0)):
        each = {text: float(found[at]) for text, found in numbers.items() if len(found) > at}
        values = np.array([each.get(cell, np.nan) for cell in cells])
        yield np.where(values < NO_NUMBER, values, np.nan)


def _written(cell: Any, group: str, point: str) -> Any:
    if not isinstance(cell, str) or not group:
        return cell
    return cell.replace(group, "").replace(point, ".")


def _number(cell: Any) -> float:
    try:
        value = float(cell)
    except (TypeError, ValueError, OverflowError):
        match = _NUMBER.search(cell) if isinstance(cell, str) else None
        value = float(match[0]) if match else np.nan
    return value if abs(value) < NO_NUMBER else np.nan


def as_labels(cells: Sequence[Any]) -> Integers:
    """Cells as numbers of their kind: equal cells, equal numbers.

    >>> as_labels(["b", "a", "b"])
    array([0, 1, 0])
    """
    kinds = set(map(type, cells))
    if kinds in ({int}, {float}):
        return np.unique(np.array(cells), return_inverse=True)[1]
    texts = cells if kinds == {str} else list(map(str, cells))
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return np.fromiter(map(places.__getitem__, texts), dtype=np.int64, count=len(texts))


def monotone_share(x: Floats, y: Floats, least: float = 0.0) -> float:
    """The largest share of rows in which y is a rising or falling function of x; 0 where it is
    below `least`.

    >>> monotone_share(np.array([1.0, 2, 3, 4]), np.array([0.0, 0, 9, 5]))
    0.75
    """
    if least and len(x) > 8 * SCREEN:  # some rows come first: others can hardly be that different
        few = slice(None, None, len(x) // (4 * SCREEN))
        if monotone_share(x[few], y[few]) < WORTH_A_LOOK * least:
            return 0.0
    known = ~np.isnan(x)
    wanted = least * len(x)
    return max(_rising(x[known], y[known], wanted), _rising(-x[known], y[known], wanted)) / len(x)


def _rising(x: Floats, y: Floats, wanted: float) -> int:
    """The longest rising sequence of y in the order of x, 0 where it cannot be as long as wanted.
    Of rows with the same x, those with one and the same y can be in it: they stand in falling
    order."""
    ends, spare = list[float](), len(y) - wanted
    for row, value in enumerate(y[np.lexsort((-y, x))].tolist()):
        at = bisect_right(ends, value)
        ends[at : at + 1] = [value]
        if row - len(ends) >= spare:
            return 0
    return len(ends)


def near_share(x: Floats, y: Floats) -> float:
    """The share of rows whose count, where counts are large, is nearly told by the rows next to it
    in the order of x: more closely than last year's count of as many people would tell it.

    How far from the line between them it may be is a part of the square root of the count, bounded
    by the spread of all counts: any column tells counts that hardly differ.

    >>> y = np.arange(1000.0, 9000)
    >>> noise = np.random.default_rng(1).random(len(y))
    >>> near_share(3.2 * y + 5 * noise, y) > 0.99, near_share(noise, y) < 0.1
    (True, True)
    """
    spread = float(np.subtract(*np.percentile(y, [75, 25])))
    error = np.minimum(NEAR * np.sqrt(np.maximum(y, spread / 25)), spread / 20)
    if error.max() < 1:  # nothing but the count itself: that is for `monotone_share`
        return 0.0
    order = np.argsort(x)[: np.count_nonzero(~np.isnan(x))]
    x, y, error, rows = x[order], y[order], error[order], len(x)
    step, gap = x[1:-1] - x[:-2], x[2:] - x[:-2]
    part = np.divide(step, gap, out=np.full(len(gap), 0.5), where=gap > 0)
    guess = y[:-2] + part * (y[2:] - y[:-2])
    return int(np.count_nonzero(np.abs(guess - y[1:-1]) <= error[1:-1])) / rows


def beyond_chance(
    x: Floats,
    y: Floats,
    share: float,
    rng: np.random.Generator,
    share_of: Callable[[Floats, Floats], float] = monotone_share,
) -> bool:
    """Whether no shuffle of a small table comes near this share; large ones need no shuffles."""
    if len(y) > 300:
        return True
    return all(share_of(x, rng.permutation(y)) < share - 0.1 for _ in range(200))


def neighbour_share(
    labels: Integers, y: Floats, rng: np.random.Generator, least: float = 0.0
) -> float:
    """How often rows next to each other in the order of the counts share a label, over the rows
    that do not have the commonest label; 0 where it is below `least`.

    1 says that the label is a function of the count, such as a flag for counts above 0 or a class;
    labels that have nothing to do with the counts agree as often as they are common.
    """
    numbers = np.bincount(labels)
    others = len(y) - int(numbers.max())
    # every label begins and ends somewhere, and there its neighbours differ
    if others < 10 or np.count_nonzero(numbers) - 2 > (1 - least) * others:
        return 0.0
    sorted_labels = labels[np.lexsort((rng.random(len(y)), y))]
    rare = sorted_labels != numbers.argmax()
    same = sorted_labels[1:] == sorted_labels[:-1]
    sides = np.append(same, True).astype(np.float64) + np.append(True, same)  # ends have one side
    return float(sides[rare].mean() / 2)


def same_zeros(x: Floats, y: Floats) -> float:
    """The share of rows in which a number is 0, or missing, just where the count is 0; the lower
    one of those with a count of 0 and of the others. A rate has 1, whatever it is divided by.

    >>> same_zeros(np.array([0.0, np.nan, 2.5, 0.1] * 20), np.array([0.0, 0, 3, 1] * 20))
    1.0
    """
    nothing, zero = (x == 0) | np.isnan(x), y == 0
    if min(zero.sum(), len(y) - zero.sum()) < ENOUGH:
        return 0.0
    return float(min(nothing[zero].mean(), 1 - nothing[~zero].mean()))


def linear_share(columns: Floats, sets: Integers, y: Floats, rng: np.random.Generator) -> Floats:
    """For each set of columns, the share of rows whose count is a linear function of them.

    `columns` has a row for each column, `sets` the numbers of those that belong together. Lines
    through a few random rows each are tried, so that rows that are spoilt do not matter.
    """
    scaled = (columns - columns.mean(axis=1, keepdims=True)) / columns.std(axis=1, keepdims=True)
    scaled = np.vstack([scaled, np.ones(len(y))])
    sets = np.column_stack([sets, np.full(len(sets), len(columns))])
    screen = rng.choice(len(y), min(SCREEN, len(y)), replace=False)
    few = scaled[:, screen][sets]
    best, lines = np.zeros(len(sets)), np.zeros(sets.shape)
    for pick in rng.integers(len(screen), size=(TRIES, sets.shape[1])):
        through = np.linalg.pinv(np.swapaxes(few[:, :, pick], 1, 2))
        line = through @ y[screen][pick]
        fit = _read_off(np.einsum("sp,spr->sr", line, few), y[screen])
        better = fit > best
        best[better], lines[better] = fit[better], line[better]
    share = np.zeros(len(sets))
    for at in np.flatnonzero(best >= WORTH_A_LOOK):
        share[at] = _read_off(lines[at] @ scaled[sets[at]], y)
    return share


def product_share(columns: Floats, sets: Integers, y: Floats, rng: np.random.Generator) -> Floats:
    """For each set of columns, the share of rows whose count is a multiple of their product, or of
    a ratio of them: the largest over which of them divide."""
    screen = rng.choice(len(y), min(SCREEN, len(y)), replace=False)
    few, width = columns[:, screen][sets], sets.shape[1]
    share = np.zeros(len(sets))
    with np.errstate(all="ignore"):
        for below in chain.from_iterable(combinations(range(width), k) for k in range(width)):
            powers = np.where(np.isin(np.arange(width), below), -1.0, 1.0)[:, None]
            value = np.prod(few**powers, axis=1)
            factor = _median_ratio(y[screen], value)
            fit = _read_off(factor[:, None] * value, y[screen])
            for at in np.flatnonzero(fit >= WORTH_A_LOOK):
                whole = np.prod(columns[sets[at]] ** powers, axis=0)
                share[at] = max(share[at], float(_read_off(factor[at] * whole, y)))
    return share


def _median_ratio(y: Floats, value: Floats) -> Floats:
    ratio = np.where((y > 0) & np.isfinite(value) & (value != 0), y / value, np.nan)
    ordered = np.sort(ratio, axis=1)  # what is no number comes last
    known = np.count_nonzero(~np.isnan(ordered), axis=1)[:, None]
    middle = np.take_along_axis(ordered, np.hstack([(known - 1) // 2, known // 2]), axis=1)
    return np.where(np.isfinite(ordered).any(axis=1), middle.mean(axis=1), 0.0)


def _read_off(guess: Floats, y: Floats) -> Any:
    """The share of rows whose count is the guess, rounded."""
    with np.errstate(invalid="ignore"):
        return (np.abs(guess - y) < 0.5).mean(axis=-1)
