"""Public priors of a table: last year's release, another region, or a named shape."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.former.tables.histogram import check_max_count, check_target, histogram_of_counts


def _poisson(k: Floats, mean: float) -> Floats:
    return np.asarray(k * math.log(mean) - np.cumsum(np.log(np.maximum(k, 1))))


def _geometric(k: Floats, mean: float) -> Floats:
    return k * math.log(mean / (1 + mean))


def _power(k: Floats, exponent: float) -> Floats:
    return -exponent * np.log1p(k)


def _uniform(k: Floats) -> Floats:
    return 0 * k


SHAPES: dict[str, tuple[Callable[..., Floats], tuple[str, ...]]] = {
    "uniform": (_uniform, ()),
    "poisson": (_poisson, ("mean",)),
    "geometric": (_geometric, ("mean",)),
    "powerlaw": (_power, ("exponent",)),
}
"""Log weights of each shape, and the names of its numbers; any of them with more zeros as
"zeros:SHARE+SHAPE"."""
LONGEST = 1_000_000  # counts above the top code that a shape is followed
HINT = (
    "Hint: a .csv or .parquet file, the folder of a release, or one of uniform, poisson:MEAN, "
    "geometric:MEAN, powerlaw:EXPONENT, zeros:SHARE+ONE OF THESE, such as zeros:0.4+geometric:3."
)


def prior_distribution(
    prior: Any, *, max_count: int, count: str | None = None
) -> tuple[Floats, str]:
    """A distribution of counts 0 ... max_count from something public, and what it is called.

    `prior` is a shape ("geometric:3"), a CSV or Parquet file with a column of counts or with the
    columns `count,categories` of a histogram, the folder of a holdfast release, or an array
    of shares. Shares above max_count are added to max_count's, as top-coding does.

    >>> shares, _ = prior_distribution("zeros:0.5+uniform", max_count=4)
    >>> shares.round(3).tolist()
    [0.6, 0.1, 0.1, 0.1, 0.1]
    """
    top = check_max_count(max_count)
    if isinstance(prior, str) and not _is_path(prior):
        return _shape(prior, top), prior
    if not isinstance(prior, str | Path):
        return _folded(check_target(prior), top), "the given shares"
    path = Path(prior)
    if path.is_dir():
        from holdfast.former.release.bundle import load

        return _folded(check_target(load(path).target), top), f"the release {path}"
    return _from_file(path, top, count), str(path)


def _is_path(text: str) -> bool:
    return bool(text) and (Path(text).exists() or Path(text).suffix[1:].isalpha())


def _shape(text: str, top: int) -> Floats:
    name, _, rest = text.partition("+")
    if rest:
        kind, _, number = name.partition(":")
        share = _number(number, text)
        if kind != "zeros" or not 0 <= share < 1:
            raise HoldfastError(f"`prior` {text!r:.60} is not a shape. {HINT}")
        shares = (1 - share) * _shape(rest, top)
        shares[0] += share
        return shares
    name, *numbers = text.split(":")
    if name not in SHAPES or len(numbers) != len(SHAPES[name][1]):
        raise HoldfastError(f"`prior` {text!r:.60} is neither a file nor a shape. {HINT}")
    values = [_number(number, text) for number in numbers]
    if any(not 0 < value <= 1e6 for value in values):
        raise HoldfastError(f"`prior` {text!r:.60} has a number that is not positive. {HINT}")
    return _from_logs(SHAPES[name][0], values, top)


def _from_logs(weights: Callable[..., Floats], values: list[float], top: int) -> Floats:
    """Normalised over a longer range, then top-coded, as a table would be."""
    longer = 0 if weights is _uniform or weights is _power else min(20 * top + 1000, LONGEST)
    logs = weights(np.arange(top + 1 + longer, dtype=np.float64), *values)
    shares = np.exp(logs - logs.max())
    return _folded(shares / shares.sum(), top)


def _number(text: str, prior: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise HoldfastError(
            f"`prior` {prior!r:.60} has no number in {text!r:.20}. {HINT}"
        ) from None


def _from_file(path: Path, top: int, count: str | None) -> Floats:
    from holdfast.former.tables.files import column_names, read_file
    from holdfast.former.tables.table import read_table

    table = read_file(path)
    if count is None and sorted(column_names(table)) == ["categories", "count"]:
        counts = read_table(table, count="count").counts
        rows = read_table(table, count="categories").counts
        if not rows.sum():
            raise HoldfastError(f"`prior` {path}: `categories` adds up to 0.")
        shares = np.zeros(top + 1)
        np.add.at(shares, np.minimum(counts, top), rows)
        return np.asarray(shares / rows.sum())
    histogram = histogram_of_counts(read_table(table, count=count).counts, top)
    return np.asarray(histogram / histogram.sum())


def _folded(shares: ArrayLike, top: int) -> Floats:
    given = np.asarray(shares, dtype=np.float64)
    folded = np.zeros(top + 1)
    folded[: len(given)] = given[: top + 1]
    folded[-1] += given[top + 1 :].sum()
    return folded
