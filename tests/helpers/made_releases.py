"""Releases of small tables made step by step from seeded noise, as an engine makes them."""

import csv
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import holdfast
from holdfast.fit.cells import choose_blocks, share_of_sums
from holdfast.measure.room import Room
from holdfast.privacy.budget import Budget
from holdfast.privacy.promise import Persons, Promise
from holdfast.privacy.randomness import Simulation
from holdfast.release.release import Column, Release
from holdfast.tables.csv import CsvTable
from holdfast.tables.groups import Within, read_within
from holdfast.tables.partition import Partition, partition
from open_tables import text_table

DEMO = Path(holdfast.__file__).parent / "plan" / "data" / "county_homicides_1996.csv"


def counties() -> tuple[dict[str, list[str]], np.ndarray]:
    """The published columns of the demo's table, with the state's number, and its homicides."""
    with DEMO.open(newline="") as file:
        rows = list(csv.DictReader(file))
    cells = {name: [row[name] for row in rows] for name in ("county", "population")}
    cells["state"] = [county[:2] for county in cells["county"]]
    return cells, np.array([int(row["homicides"]) for row in rows])


def made_release(
    counts: Mapping[str | None, Any] | Sequence[int],
    cells: Mapping[str, list[Any]] | None = None,
    *,
    epsilon: Any = 1,
    seed: int = 1,
    within: Any = None,
    contributions: int = 1,
    missing: Any = (),
    structural_zero: Any = (),
    whole: Fraction = Fraction(1, 5),
    batch: int | None = None,
    **fields: Any,
) -> Release:
    """A release of these counts; `missing` and `structural_zero` are numbers of rows."""
    cells = {name: list(column) for name, column in (cells or {}).items()}
    counts = dict(counts) if isinstance(counts, Mapping) else {"n": counts}
    rows = len(next(iter(counts.values())))
    absent, zero = np.zeros((2, rows), dtype=bool)
    absent[list(missing)], zero[list(structural_zero)] = True, True
    asked = read_within(within) or Within(())
    groups, group = _groups(asked, cells, rows)
    epsilon = Fraction(str(epsilon))
    persons = Persons(columns=tuple(map(str, counts)), contributions=(contributions,) * len(counts))
    budgets, columns = list[Budget](), list[Column]()
    for number, (name, values) in enumerate(counts.items()):
        part = epsilon / len(counts)
        sums = part * share_of_sums(part / contributions, rows)
        budget = Budget(
            epsilon=part,
            counts=part - sums,
            whole=sums * whole if len(groups) > 1 else sums,
            sums=sums - sums * whole if len(groups) > 1 else Fraction(0),
            contributions=contributions,
        )
        noisy, measured = np.zeros(rows, dtype=np.int64), ~(absent | zero)
        room = Room(
            budget.noise_of_counts, source=Simulation(seed), groups=len(groups), column=name
        )
        noisy[measured] = room.noisy(np.asarray(values)[measured], group[measured])
        measurement = room.finish(choose_blocks, **budget.noises)
        budgets.append(budget)
        columns.append(
            Column(
                name=name, budget=budget, measurement=measurement, measured=measured,
                missing=absent, noisy=noisy, group=group, ties=seed + number,
            )
        )  # fmt: skip

    def batches() -> Any:
        step = batch or max(rows, 1)
        for at in range(0, rows, step):
            yield {name: column[at : at + step] for name, column in cells.items()}

    def replaced(new: dict[str | None, Any]) -> CsvTable:
        names = (*cells, *(str(name) for name in new))
        shown = [*cells.values(), *(array.tolist() for array in new.values())]
        return text_table(names, [list(map(str, row)) for row in zip(*shown, strict=True)])

    return Release(
        promise=Promise(
            epsilon=epsilon, persons=persons, budgets=tuple(budgets), simulated=True
        ),
        columns=tuple(columns),
        partition=groups,
        rows=rows,
        structural_zero=zero,
        category=next(iter(cells), None),
        published=tuple(cells),
        _cells=batches,
        _replace=replaced,
        **({"made_with": "0.1.0"} | fields),
    )  # fmt: skip


def _groups(within: Within, cells: Mapping[str, Any], rows: int) -> tuple[Partition, Any]:
    if within.parts:
        return partition(within, [cells[name] for name in within.columns])
    only = Partition(within=within, labels=((),), sizes=np.array([rows]))
    return only, np.zeros(rows, dtype=np.int64)
