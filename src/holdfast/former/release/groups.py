"""The groups of a release: what holds in each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from holdfast.arrays import Floats, Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.former.mechanism.grouped import GroupedMechanism, source_of
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.privatizers.joint import JointMeasurement
from holdfast.former.privatizers.totals import Total, Totals
from holdfast.former.tables.groups import Label, Partition, Within


@dataclass(frozen=True, kw_only=True, eq=False)
class Group:
    """Rows whose distribution of counts holds by itself."""

    name: str
    """Its label in a line."""
    label: Label
    """What its rows have in the columns of `within`."""
    rows: int
    """How many of them went through the mechanism. Public."""
    target: Floats = field(repr=False)
    """z, the private distribution of its true counts."""
    released: Floats = field(repr=False)
    """The law that its released counts have; z itself, but where a relation to another count is
    kept."""
    mechanism: Mechanism = field(repr=False)
    """What its counts went through."""
    total: Total | None = None
    """Of its true counts, where totals were measured."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Groups(Mapping[str, Group]):
    """All groups of a release, by name or by label."""

    partition: Partition
    """Their labels and sizes, and what they follow from. Public."""
    mechanism: GroupedMechanism
    """All their mechanisms, and one certificate."""
    measurement: JointMeasurement
    """What stage 1 measured of all of them."""
    totals: Totals | None = None
    """What was measured of their totals."""
    members: Integers | None = None
    """The group of every row, by number, -1 for rows that did not go through a mechanism; None
    where the rows are not at hand."""

    @property
    def within(self) -> Within:
        """What rows are grouped by."""
        return self.partition.within

    @property
    def names(self) -> tuple[str, ...]:
        """In their order: that of classes, or of the labels."""
        return self.partition.names

    @property
    def sizes(self) -> Integers:
        """Rows of each."""
        return self.partition.sizes

    @property
    def targets(self) -> Floats:
        """z of each, the law of its true counts, as rows."""
        return self.mechanism.sources

    def at(self, number: int) -> Group:
        """A group by its number."""
        return Group(
            name=self.names[number],
            label=self.partition.labels[number],
            rows=int(self.sizes[number]),
            target=source_of(self.mechanism[number]),
            released=np.asarray(self.mechanism[number].target),
            mechanism=self.mechanism[number],
            total=None if self.totals is None else self.totals.groups[number],
        )

    def of_rows(self, marks: Marks) -> "Groups":
        """The same groups for some of the rows."""
        return replace(self, members=None if self.members is None else self.members[marks])

    def shown(self) -> list[tuple[str, int, Floats]]:
        """The name, the rows and the law of the released counts of each."""
        laws = self.mechanism.targets
        return list(zip(self.names, self.sizes.tolist(), laws, strict=True))

    @cached_property
    def _places(self) -> dict[str | Label, list[int]]:
        """The numbers of the groups that a name or a label stands for."""
        found: dict[str | Label, list[int]] = {}
        for number, keys in enumerate(zip(self.names, self.partition.labels, strict=True)):
            for key in keys:
                found.setdefault(key, []).append(number)
        return found

    def __len__(self) -> int:
        return len(self.partition)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, name: str | Label) -> Group:
        found = self._places.get(name)
        if found is None:
            raise KeyError(name)
        if len(found) > 1:
            raise HoldfastError(
                f"{name!r:.60} is the name of several groups. Hint: name it by its label, a tuple."
            )
        return self.at(found[0])

    def __repr__(self) -> str:
        return f"Groups({len(self)} within {self.within})"
