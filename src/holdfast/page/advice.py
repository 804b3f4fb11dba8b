"""What a steward can do about a table that is refused, or that says little: rows to leave out,
columns to publish together, groups to make larger. For the steward alone."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.page.chosen import Chosen

if TYPE_CHECKING:
    from holdfast.engines.looking import Looked
    from holdfast.page.counts import Promised

MOST_ROWS = 20
"""Rows of totals that are named."""
USUAL = ("0.2", "0.5", "1", "2", "3", "5")
"""Budgets that are tried for groups that are too small."""


class Row(NamedTuple):
    """A row of a file: what it is called, and its number there, where rows have one."""

    label: str
    number: int | None


class SmallGroups(NamedTuple):
    """Groups with too few rows for a budget."""

    number: int
    of: int
    least: int
    """Rows that a group must have."""
    names: list[str]
    """The smallest of them, with their rows."""
    epsilon: str
    """What would be enough for all of them; nothing where no usual budget is."""


def total_rows(run: Chosen) -> list[Row]:
    """The rows that are named like a total, or else hold the sum of all others; never a count."""
    from holdfast.tables.files import numbers_in_file
    from holdfast.tables.leaks.watch import is_total
    from holdfast.tables.table import columns_of, labels_of

    if run.people is not None or run.streamed:
        return []
    table, counts = run.table(), run.counts
    others = {name: labels_of(table, name) for name in columns_of(table) if name not in counts}
    cells = list(zip(*others.values(), strict=True))
    found = [at for at, row in enumerate(cells) if any(map(is_total, row))]
    found = found or [at for name in counts for at in _sums(labels_of(table, name))]
    numbers = numbers_in_file(run.source, run.part)
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


def unique_with(run: Chosen) -> str:
    """The column that, with the category, names every row once; nothing where the category does
    by itself, or no column helps. Of several the one with the fewest labels, text before numbers.
    """
    from holdfast.tables.columns import reads_as_number
    from holdfast.tables.table import columns_of, labels_of

    category = run.arguments.get("category")
    if category is None or run.people is not None or run.streamed:
        return ""
    table = run.table()
    if category not in columns_of(table):
        return ""
    labels = labels_of(table, category)
    if len(set(labels)) == len(labels):
        return ""
    others = [name for name in columns_of(table) if name not in (category, *run.counts)]
    fitting = []
    for name in others:
        cells = labels_of(table, name)
        if len(set(zip(labels, cells, strict=True))) == len(labels):
            numbers = sum(reads_as_number(str(cell)) for cell in cells[:100])
            fitting.append((numbers, len(set(cells)), name))
    return min(fitting, default=(0, 0, ""))[2]


def small_groups(run: Chosen, looked: "Looked", promised: "Promised") -> SmallGroups | None:
    """The groups that are too small for the budget; None where none are."""
    if looked.groups is None or not promised.first.budget.stage_1:
        return None
    sizes = dict(zip(looked.groups.names, looked.groups.sizes.tolist(), strict=True))
    least = _least_rows(looked, promised)
    small = {name: rows for name, rows in sizes.items() if rows < least}
    if not small:
        return None
    smallest = sorted(small.items(), key=lambda one: (one[1], one[0]))[:4]
    return SmallGroups(
        number=len(small),
        of=len(sizes),
        least=least,
        names=[f"{name} ({rows})" for name, rows in smallest],
        epsilon=_enough(run, looked, promised, min(small.values())),
    )


def _least_rows(looked: "Looked", promised: "Promised") -> int:
    """How many rows a group must have for the budget to say something of it."""
    from holdfast.privatizers.groups import group_epsilon
    from holdfast.release.usefulness import LITTLE

    groups = 0 if looked.groups is None else len(looked.groups)
    return math.ceil(LITTLE / group_epsilon(promised.first.budget.unit_1, groups))


def _enough(run: Chosen, looked: "Looked", promised: "Promised", rows: int) -> str:
    """The first of some usual budgets that is enough for groups of so many rows; how epsilon is
    divided depends on it, so each is tried."""
    for epsilon in USUAL:
        if Fraction(epsilon) > promised.epsilon:
            other = replace(run, arguments=run.arguments | {"epsilon": epsilon})
            if _least_rows(looked, other.promised(looked)) <= rows:
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
