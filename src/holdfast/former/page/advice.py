"""What a steward can do about a table that is refused, or that says little: rows to leave out,
columns to publish together, groups to make larger. For the steward alone."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.former.page.chosen import Chosen

if TYPE_CHECKING:
    from holdfast.former.engines.looking import Looked
    from holdfast.former.page.counts import Promised

MOST_ROWS = 20
"""Rows of totals that are named."""
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]*)(?:\.[0-9]*)?")
MOST_TEXTS = 6
"""Texts among counts that are named."""
USUAL = ("0.2", "0.5", "1", "2", "3", "5")
"""Budgets that are tried for groups that are too small."""


class Row(NamedTuple):
    """A row of a file: what it is called, and its number there, where rows have one."""

    label: str
    number: int | None


class SmallGroups(NamedTuple):
    """Groups with too few rows for a budget, in columns of counts that have the same ones."""

    columns: list[str]
    number: int
    of: int
    least: int
    """Rows that a group must have."""
    names: list[str]
    """The smallest of them, with their rows."""


class TooSmall(NamedTuple):
    """All groups with too few rows, and what can be done."""

    found: list[SmallGroups]
    epsilon: str
    """What would be enough for all of them; nothing where no usual budget is."""


class SameNames(NamedTuple):
    """A category that names several rows alike."""

    label: str
    """One such name; nothing where it is not known."""
    column: str
    """What, with the category, names every row once; nothing where no column does."""


def total_rows(run: Chosen) -> list[Row]:
    """The rows that are named like a total, or else hold the sum of all others; never a count."""
    from holdfast.former.tables.files import numbers_in_file
    from holdfast.former.tables.leaks.watch import is_total
    from holdfast.former.tables.table import columns_of, labels_of, numbers_of

    if run.people is not None or run.streamed:
        return []
    table, counts = run.table(), run.counts
    others = {name: labels_of(table, name) for name in columns_of(table) if name not in counts}
    cells = list(zip(*others.values(), strict=True))
    found = [at for at, row in enumerate(cells) if any(map(is_total, row))]
    found = found or [at for name in counts for at in _sums(numbers_of(table, name))]
    numbers = list(numbers_in_file(run.source, run.part))
    named = others.get(run.arguments.get("category", ""), [])
    return [
        Row(_label(named[at] if named else "", cells[at]), numbers[at] if numbers else None)
        for at in sorted(set(found))[:MOST_ROWS]
    ]


def _label(category: Any, cells: Sequence[Any]) -> str:
    return next((str(cell) for cell in (category, *cells) if cell not in (None, "")), "")


def _sums(cells: Sequence[Any]) -> list[int]:
    """The row that is the sum of all others, if there is one."""
    counts = [int(text) if (text := str(cell).strip()).isdecimal() else 0 for cell in cells]
    most = max(counts, default=0)
    return [counts.index(most)] if most and 2 * most == sum(counts) else []


def same_names(run: Chosen) -> SameNames | None:
    """What rows that are named alike are told apart by; None where none are. Of several columns the
    one with the fewest labels, text before numbers."""
    from holdfast.former.tables.columns import reads_as_number
    from holdfast.former.tables.table import columns_of, labels_of

    category = run.arguments.get("category")
    if category is None or run.people is not None:
        return None
    if run.streamed:
        return SameNames("", "")
    table = run.table()
    if category not in columns_of(table):
        return None
    labels = labels_of(table, category)
    (label, most), *_ = Counter(labels).most_common(1) or [("", 0)]
    if most < 2:
        return None
    fitting = []
    for name in (name for name in columns_of(table) if name not in (category, *run.counts)):
        cells = labels_of(table, name)
        if len(set(zip(labels, cells, strict=True))) == len(labels):
            numbers = sum(reads_as_number(str(cell)) for cell in cells[:100])
            fitting.append((numbers, len(set(cells)), name))
    return SameNames(str(label), min(fitting, default=(0, 0, ""))[2])


def not_numbers(run: Chosen) -> list[str]:
    """Some of the texts that stand where counts should: what they mean is to be said."""
    from holdfast.former.tables.columns import reads_as_number
    from holdfast.former.tables.table import columns_of, numbers_of

    if run.people is not None or run.streamed:
        return []
    table = run.table()
    cells = [c for name in run.counts if name in columns_of(table) for c in numbers_of(table, name)]
    texts = dict.fromkeys(str(cell).strip() for cell in cells if cell is not None)
    return [text[:20] for text in texts if text and not reads_as_number(text)][:MOST_TEXTS]


def numbers(columns: dict[str, Sequence[Any]]) -> list[str]:
    """The columns that hold numbers for the most part: counts, or rates, which tell counts too.

    >>> cells = {"code": ["007"], "deaths": ["3", "n/a", "0", ""], "rate": ["0.5"], "state": ["AL"]}
    >>> numbers(cells)
    ['deaths', 'rate']
    """
    found = []
    for name, cells in columns.items():
        texts = [text for cell in cells if cell is not None and (text := str(cell).strip())]
        if 2 * sum(bool(_NUMBER.fullmatch(text)) for text in texts) > len(texts):
            found.append(name)
    return found


def small_groups(run: Chosen, looked: "Looked", promised: "Promised") -> TooSmall | None:
    """The groups that are too small for the budget, of every column of counts; None where none
    are."""
    from holdfast.former.page.counts import each_of

    alike: dict[tuple[Any, ...], list[str]] = {}
    smallest = []
    for one, (column, least) in zip(each_of(looked), _least_rows(looked, promised), strict=True):
        sizes = _sizes(one)
        small = sorted((rows, name) for name, rows in sizes.items() if rows < least)
        if small:
            told = tuple(f"{name} ({rows})" for rows, name in small[:4])
            alike.setdefault((len(small), len(sizes), least, told), []).append(column)
        smallest.append(min(sizes.values(), default=0))
    found = [
        SmallGroups(columns, number, of, least, list(told))
        for (number, of, least, told), columns in alike.items()
    ]
    return TooSmall(found, _enough(run, looked, promised, smallest)) if found else None


def _sizes(looked: "Looked") -> dict[str, int]:
    """The groups of a column of counts, with their rows."""
    groups = looked.groups
    return {} if groups is None else dict(zip(groups.names, groups.sizes.tolist(), strict=True))


def _least_rows(looked: "Looked", promised: "Promised") -> list[tuple[str, int]]:
    """How many rows a group must have for the budget to say something of it, in every column."""
    from holdfast.former.page.counts import each_of
    from holdfast.former.privatizers.groups import group_epsilon
    from holdfast.former.release.usefulness import LITTLE

    least = []
    for one, (column, stages) in zip(each_of(looked), promised.columns, strict=True):
        measured = one.groups is not None and bool(stages.budget.stage_1)
        groups = len(one.groups) if one.groups is not None else 0
        unit = group_epsilon(stages.budget.unit_1, groups, stages.highest + 1)
        enough = LITTLE / unit if measured else 0
        least.append((column, math.ceil(enough)))
    return least


def _enough(run: Chosen, looked: "Looked", promised: "Promised", smallest: Sequence[int]) -> str:
    """The first of some usual budgets that is enough for the smallest group of every column; how
    epsilon is divided depends on it, so each is tried."""
    for epsilon in USUAL:
        if Fraction(epsilon) > promised.epsilon:
            other = replace(run, arguments=run.arguments | {"epsilon": epsilon})
            least = _least_rows(looked, other.promised(looked))
            if all(rows <= size for (_, rows), size in zip(least, smallest, strict=True)):
                return epsilon
    return ""


def order_of(columns: dict[str, Sequence[Any]]) -> list[tuple[str, bool]]:
    """The columns by which rows are sorted, those with most labels first; True: from high to low.

    >>> order_of({"county": ["B", "A"], "people": ["12", "9"], "state": ["X", "X"]})
    [('county', True), ('people', True)]
    """
    found = []
    for name, cells in columns.items():
        keys = _keys(cells)
        different = len(Counter(keys))
        steps = list(pairwise(keys))
        if different > 1 and all(a <= b for a, b in steps):
            found.append((different, name, False))
        elif different > 1 and all(a >= b for a, b in steps):
            found.append((different, name, True))
    return [(name, falls) for _, name, falls in sorted(found, key=lambda one: -one[0])]


def _keys(cells: Sequence[Any]) -> list[Any]:
    """What cells are sorted by: numbers where all are."""
    try:
        return [float(str(cell).replace(",", "")) for cell in cells]
    except ValueError:
        return [str(cell).casefold() for cell in cells]
