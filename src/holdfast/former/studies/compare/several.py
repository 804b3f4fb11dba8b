"""Several counts, drawn together and apart: what is kept of their relation, and the price of it."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.former.engines.memory import privatize
from holdfast.former.engines.several import check_names
from holdfast.former.release.several import TableRelease
from holdfast.former.privacy.persons import for_columns
from holdfast.former.tables.csv import CsvTable
from holdfast.former.tables.table import read_tables

WAYS = {"separate": False, "joint": True}


def compare_several(
    table: Any,
    *,
    count: Sequence[str],
    max_count: Any,
    epsilons: Iterable[Any],
    repetitions: int = 10,
    rows: int | None = None,
    **persons: Any,
) -> list[dict[str, Any]]:
    """Release several columns many times, jointly and apart, and measure both. NOT PRIVATE: the
    result is computed from the counts of the table.

    Returns a line for the table itself and one for every budget and way: the correlation of every
    pair, and of every column the mean change of a count and the W1 of its distribution, in counts.
    With `rows`, so many rows are drawn from the table with replacement. `persons` are
    `person_in`, `weights`, `contributions` and `rows` in which one may be, as `person_rows`.
    """
    names = check_names(count)
    tops = dict(zip(names, for_columns(max_count, names, "max_count"), strict=True))
    true = _columns(table, names, tops, rows)
    plain = CsvTable(names, [list(map(str, line)) for line in zip(*true.values(), strict=True)])
    who = {("rows" if name == "person_rows" else name): one for name, one in persons.items()}
    found = [{"epsilon": None, "way": "truth"} | _measured([_scores(true, true)], names)]
    for epsilon in epsilons:
        for way, joint in WAYS.items():
            drawn = [
                privatize(
                    plain,
                    count=list(names),
                    max_count=tops,
                    epsilon=epsilon,
                    joint=joint,
                    seed=seed,
                    publish_anyway=["row order", "totals"],
                    **who,
                )
                for seed in range(repetitions)
            ]
            scores = [_scores(true, _counts(one)) for one in drawn]
            found.append({"epsilon": str(epsilon), "way": way} | _measured(scores, names))
    return found


def _columns(
    table: Any, names: Sequence[str], tops: dict[str, int], rows: int | None
) -> dict[str, Integers]:
    """The counts, capped, of rows that have all of them."""
    read = read_tables(table, names)
    known = np.logical_and.reduce([one.drawn for one in read])
    at = np.flatnonzero(known)
    if rows is not None:
        at = np.random.default_rng(0).choice(at, rows)
    return {
        name: np.minimum(one.counts[at], tops[name]) for name, one in zip(names, read, strict=True)
    }


def _counts(release: TableRelease) -> dict[str, Integers]:
    return {name: one.counts for name, one in release.columns.items()}


def _scores(true: dict[str, Integers], drawn: dict[str, Integers]) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        pairs = [np.corrcoef(drawn[a], drawn[b])[0, 1] for a, b in combinations(true, 2)]
    changes = [np.abs(drawn[name] - true[name]).mean() for name in true]
    return np.array([*pairs, *changes, *(_w1(drawn[name], true[name]) for name in true)])


def _w1(one: Integers, other: Integers) -> float:
    bins = int(max(one.max(), other.max())) + 1
    apart = np.bincount(one, minlength=bins) - np.bincount(other, minlength=bins)
    return float(np.abs(np.cumsum(apart)).sum() / len(one))


def _measured(scores: Sequence[Floats], names: Sequence[str]) -> dict[str, Any]:
    mean = np.mean(scores, axis=0).tolist()
    pairs = [f"{a} and {b}" for a, b in combinations(names, 2)]
    first, second = len(pairs), len(pairs) + len(names)
    return {
        "correlation": dict(zip(pairs, mean[:first], strict=True)),
        "change": dict(zip(names, mean[first:second], strict=True)),
        "w1": dict(zip(names, mean[second:], strict=True)),
    }
