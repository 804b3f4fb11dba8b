"""Columns one after the other: what is released of them, for those that follow."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.former.engines.by_class import Given
from holdfast.former.engines.stages import Staged, Stages
from holdfast.former.mechanism.blur import REMEMBERED, Relation, first_relation
from holdfast.former.mechanism.grouped import GroupedMechanism
from holdfast.former.tables.group_rows import add_classes
from holdfast.former.tables.groups import Classes, Partition, Within


class Chain:
    """What the columns that were drawn tell the next one: public, as their released counts are."""

    def __init__(self, classes: int, within: Within | None) -> None:
        self._classes, self._within = classes, () if within is None else within.parts
        self._names: list[str] = []
        self._relation: Relation | None = None
        self._last: tuple[Staged, Integers | None] | None = None

    def add(self, name: str, staged: Staged) -> None:
        """Take in a column that was drawn."""
        cells = None if staged.stages.given is None else staged.stages.given.cells
        self._last = staged, cells
        self._names.append(name)

    @property
    def before(self) -> tuple[str, ...]:
        """The columns that the next one is given."""
        return tuple(self._names[-REMEMBERED:])

    @property
    def parts(self) -> tuple[Classes, ...]:
        """Classes of what was released of them."""
        return tuple(Classes(name, self._classes) for name in self.before)

    @property
    def within(self) -> Within:
        """By what the rows of the next column are grouped."""
        return Within((*self._within, *self.parts))

    def given(self, stages: Stages, partition: Partition, highs: Sequence[float]) -> Stages:
        """The stages of the next column, whose rows are in these groups; `highs` are the highest
        released counts of the classes of the last one."""
        self._relation = self._related(highs)
        cells = cells_of(partition, len(self._within))
        given = Given(cells=cells, blur=self._relation.blur(cells))
        return replace(stages, groups=partition, given=given)

    def next(
        self,
        stages: Stages,
        groups: Partition | None,
        inside: Integers,
        released: Sequence[Integers],
    ) -> tuple[Stages, Integers]:
        """The same for rows in memory, and the cell of each: `inside` are the groups of the drawn
        ones, and `released` their counts in the columns before."""
        partition, cells, highs = add_classes(groups, inside, self.parts, released)
        return self.given(stages, partition, highs), cells

    def _related(self, highs: Sequence[float]) -> Relation:
        """What is known of the columns so far, with the classes of the last one."""
        if self._last is None:
            raise HoldfastError("no column was drawn yet.")
        staged, cells = self._last
        classes = classes_of_counts(np.array(highs), staged.top)
        mechanism = staged.mechanism
        if isinstance(mechanism, GroupedMechanism):
            if self._relation is not None and cells is not None:
                return self._relation.followed_by(mechanism, cells, classes)
            own = [mechanism[g] for g in range(mechanism.groups)]
            return first_relation(own, list(mechanism.sources), classes)
        return first_relation([mechanism], [staged.target], classes)


def classes_of_counts(highs: Any, top: int) -> Integers:
    """The class of every count up to `top`, from the highest released count of each class.

    >>> classes_of_counts(np.array([0, 2, 3]), 5).tolist()
    [0, 1, 1, 2, 2, 2]
    """
    return np.minimum(np.searchsorted(highs, np.arange(top + 1)), len(highs) - 1)


def cells_of(partition: Partition, labels: int) -> Integers:
    """What the groups of a partition are: the number of the first `labels` of their labels, and
    the number of their class in each further column."""
    first = [label[:labels] for label in partition.labels]
    columns = [_ranks(first, list(dict.fromkeys(first)))]
    for k in range(labels, len(partition.within.parts)):
        texts = [label[k] for label in partition.labels]
        columns.append(_ranks(texts, Classes.in_order(texts)))
    return np.array(columns, dtype=np.int64).T


def _ranks(items: Sequence[Any], order: Sequence[Any]) -> list[int]:
    place = {item: rank for rank, item in enumerate(order)}
    return [place[item] for item in items]
