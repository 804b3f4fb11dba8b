"""Releases of small tables, made step by step, with what they hide."""

from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.fit.cells import choose_blocks, share_of_sums
from holdfast.measure.room import Room
from holdfast.privacy.budget import Budget
from holdfast.privacy.promise import Persons, Promise
from holdfast.privacy.randomness import Simulation
from holdfast.release.release import Column, Release
from holdfast.tables.groups import Within, read_within
from holdfast.tables.partition import Partition, partition

NAMES = "murders"


def private_table(
    counts: Any,
    *,
    epsilon: Any = 1,
    seed: int = 1,
    cells: dict[str, list[Any]] | None = None,
    within: Any = None,
    contributions: int = 1,
    missing: Any = None,
    structural_zero: Any = None,
    table: Any = None,
) -> Release:
    """A release of a column of counts, or of several by name, beside these columns."""
    columns = counts if isinstance(counts, dict) else {NAMES: counts}
    rows = len(next(iter(columns.values())))
    nothing = np.zeros(rows, dtype=bool)
    absent = nothing if missing is None else np.asarray(missing)
    known = nothing if structural_zero is None else np.asarray(structural_zero)
    measured = ~absent & ~known
    groups, group = _groups(within, cells or {}, measured)
    persons = Persons(columns=tuple(columns), contributions=(contributions,) * len(columns))
    parts = persons.parts(Fraction(str(epsilon)))
    budgets = [_budget(part, measured, groups, contributions) for part in parts]
    found = tuple(
        _column(name, np.asarray(values), budget, measured, absent, group, len(groups), seed + at)
        for at, ((name, values), budget) in enumerate(zip(columns.items(), budgets, strict=True))
    )
    published = dict(cells or {})
    return Release(
        promise=Promise(
            epsilon=Fraction(str(epsilon)),
            persons=persons,
            budgets=tuple(budgets),
            simulated=True,
        ),
        columns=found,
        partition=groups,
        rows=rows,
        structural_zero=known,
        category=next(iter(published), None),
        published=tuple(published),
        _cells=lambda: iter([{name: list(values) for name, values in published.items()}]),
        _replace=lambda counts: table if table is not None else counts,
    )


def _groups(within: Any, cells: dict[str, list[Any]], measured: Any) -> tuple[Partition, Any]:
    asked = read_within(within)
    if asked is None:
        size = np.array([measured.sum()])
        group = np.where(measured, 0, -1)
        return Partition(within=Within(()), labels=((),), sizes=size), group
    columns = [np.array(cells[name], dtype=object)[measured].tolist() for name in asked.columns]
    found, inside = partition(asked, columns)
    group = np.full(len(measured), -1, dtype=np.int64)
    group[measured] = inside
    return found, group


def _budget(epsilon: Fraction, measured: Any, groups: Partition, contributions: int) -> Budget:
    share = share_of_sums(epsilon / contributions, int(measured.sum()))
    sums = Fraction(3, 4) * share * epsilon if len(groups) > 1 else Fraction(0)
    return Budget(
        epsilon=epsilon,
        counts=epsilon - share * epsilon,
        whole=share * epsilon - sums,
        sums=sums,
        contributions=contributions,
    )


def _column(
    name: str, counts: Any, budget: Budget, measured: Any, missing: Any, group: Any, groups: int,
    seed: int,
) -> Column:  # fmt: skip
    room = Room(budget.noise_of_counts, source=Simulation(seed), groups=groups, column=name)
    noisy = np.zeros(len(counts), dtype=np.int64)
    noisy[measured] = room.noisy(counts[measured], group[measured])
    measurement = room.finish(choose_blocks, **budget.noises)
    return Column(
        name=name,
        budget=budget,
        measurement=measurement,
        measured=measured,
        missing=missing,
        noisy=noisy,
        group=group,
        ties=seed,
    )
