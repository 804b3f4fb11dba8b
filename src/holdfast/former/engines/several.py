"""Several columns of counts: the five steps for each, in turn, of one table under one promise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.arrays import Marks
from holdfast.errors import HoldfastError, listed_names, numbered
from holdfast.former.constructors import Optimal
from holdfast.former.engines.by_group import check_stages_by_group
from holdfast.former.engines.stages import Parameters, Stages, check_parameters
from holdfast.former.ledger.entries import Charge
from holdfast.former.ledger.request import Request
from holdfast.former.mechanism.blur import REMEMBERED
from holdfast.former.privatizers.groups import MANY_GROUPS, SINGLE_COUNTS
from holdfast.former.privatizers.private_quantile import PrivateQuantile
from holdfast.former.release.facts import ReleaseFacts
from holdfast.former.release.several import SharedPrivacy
from holdfast.former.privacy.budget import exact_epsilon
from holdfast.former.privacy.persons import (
    MOST_COLUMNS,
    PersonIn,
    Persons,
    exact_parts,
    for_columns,
    read_persons,
)
from holdfast.former.tables.groups import Partition

CLASSES = {1: 20, 2: 10}  # of each column given, by how many there are
ROWS_EACH = 20  # rows that a cell should have on average


@dataclass(frozen=True, kw_only=True, eq=False)
class SeveralParameters:
    """What a run was asked to do with several columns, before any count is looked at."""

    epsilon: Fraction
    persons: Persons
    columns: tuple[Parameters, ...]
    """Those of each column, with its part of epsilon."""
    joint: bool

    def for_rows(self, rows: Sequence[int], groups: Sequence[Partition | None]) -> "SeveralStages":
        """The stages of each column, for tables of so many rows in these groups; what cannot be
        done is refused here, before any draw."""
        number = 1 if groups[0] is None else len(groups[0])
        each = classes_each(number, len(self.columns), rows[0]) if self.joint else 1
        found = []
        for k, (one, n, own) in enumerate(zip(self.columns, rows, groups, strict=True)):
            given = number * each ** min(k, REMEMBERED) if self.joint and k else None
            found.append(one.for_rows(n, own, given))
        return SeveralStages(parameters=self, columns=tuple(found), classes=each)


@dataclass(frozen=True, kw_only=True, eq=False)
class SeveralStages:
    """Both stages of every column, settled but for what they will draw."""

    parameters: SeveralParameters
    columns: tuple[Stages, ...]
    classes: int
    """How many classes of a released count the next ones are given, where they are."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of counts."""
        return self.parameters.persons.columns

    @property
    def charges(self) -> tuple[Charge, ...]:
        """What the release will spend: all that its columns do or, where one person is in one of
        them, as much as the one that spends most."""
        persons, every = self.parameters.persons, [one.charges for one in self.columns]
        if persons.person_in is PersonIn.ALL:
            return tuple(charge for charges in every for charge in charges)
        if len(set(every)) == 1:
            return every[0]
        delta = persons.together([one.delta for one in self.columns])
        return (Charge(epsilon=self.parameters.epsilon, delta=delta),)

    def privacy(self, columns: Mapping[str, ReleaseFacts]) -> SharedPrivacy:
        """What the releases of these columns promise in all."""
        return SharedPrivacy(
            epsilon=self.parameters.epsilon,
            persons=self.parameters.persons,
            columns=tuple(one.privacy for one in columns.values()),
        )

    def among_others(self, k: int, drawn_by: Stages) -> dict[str, Any]:
        """What a column's release says of the others: their names, which of them its draw was
        given, and which were drawn after it."""
        names, groups = self.names, drawn_by.groups
        given = () if drawn_by.given is None or groups is None else groups.within.columns
        return {
            "other_counts": tuple(name for name in names if name != names[k]),
            "given": tuple(name for name in given if name in names),
            "later": names[k + 1 :] if self.parameters.joint else (),
        }

    def request(self, structural_zeros: int, **told: Any) -> Request:
        """What a ledger is asked to pay for, as of one column."""
        persons = self.parameters.persons
        own = tuple(one.request(structural_zeros) for one in self.columns)
        return Request(
            rows=own[0].rows,
            structural_zeros=structural_zeros,
            charges=self.charges,
            simulated=own[0].simulated,
            parameters={
                "counts": persons.columns,
                "persons": persons.to_dict(),
                "joint": self.parameters.joint,
                "columns": [one.in_words() for one in own],
            },
            columns=own,
            **told,
        )


def check_several(
    count: Sequence[str],
    *,
    epsilon: Any,
    max_count: Any,
    joint: bool = False,
    person_in: Any = PersonIn.ALL.value,
    weights: Any = None,
    contributions: Any = 1,
    rows: Any = 1,
    unit: Any = "person",
    **options: Any,
) -> SeveralParameters:
    """The parameters of `holdfast.privatize` for several columns, before any count is read."""
    columns = check_names(count)
    persons = read_persons(
        columns,
        person_in=person_in,
        weights=weights,
        contributions=contributions,
        rows=rows,
        unit=unit,
    )
    if not isinstance(joint, bool):
        raise HoldfastError(f"`joint` must be True or False, got {joint!r:.40}.")
    tops = for_columns(max_count, columns, "max_count")
    parts = exact_parts(persons, epsilon)
    found = list[Parameters]()
    for top, part, added in zip(tops, parts, persons.contributions, strict=True):
        own = {"contributions": added, "rows": persons.person_rows, "unit": persons.unit}
        one = check_parameters(**options | own | {"epsilon": part, "max_count": top})
        found.append(replace(one, source=found[0].source if found else one.source))
    if joint:
        _check_joint(found, options)
    return SeveralParameters(
        epsilon=exact_epsilon(epsilon), persons=persons, columns=tuple(found), joint=joint
    )


def refuse_for_one(**shared: Any) -> None:
    """Raise if something was said that is for several columns of counts alone."""
    usual = {"joint": False, "person_in": PersonIn.ALL.value, "weights": None}
    for name, value in shared.items():
        if value != usual[name]:
            raise HoldfastError(
                f"`{name}` is for several columns of counts. Hint: name them in a list, "
                "count=['a', 'b'], or leave it out."
            )


def not_together(where: str = "") -> HoldfastError:
    """The error for columns whose counts are missing in different rows; `where` says in which."""
    return HoldfastError(
        f"`joint` needs rows whose counts are known in all columns or in none{where}. Nothing was "
        "drawn or spent. Hint: leave joint=True, --joint, out; or mark the other counts of such "
        "rows as missing too, or take the rows out."
    )


def refuse_apart(
    names: Sequence[str], missing: Sequence[Marks], before: int = 0, moved: Any = None
) -> None:
    """Raise if counts are missing in some columns and not in others; so many rows came before,
    unless rows have `moved` from where they stand in the file."""
    apart = np.any([gaps != missing[0] for gaps in missing], axis=0)
    if not apart.any():
        return
    row = int(apart.argmax())
    gone = [name for name, gaps in zip(names, missing, strict=True) if gaps[row]]
    known = [name for name in names if name not in gone]
    place = "a row" if moved else f"data row {before + row + 1}"
    raise not_together(f": in {place} {listed_names(gone)} is missing, {listed_names(known)} not")


def check_names(count: Sequence[str]) -> tuple[str, ...]:
    """The names of several columns of counts."""
    names = tuple(count)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise HoldfastError("`count` must be the name of a column, or a list of different names.")
    if not 2 <= len(names) <= MOST_COLUMNS:
        raise HoldfastError(
            f"`count` may list 2 to {MOST_COLUMNS} columns, got {len(names)}. Hint: a single one "
            "is named by itself."
        )
    return names


def _check_joint(columns: Sequence[Parameters], options: Mapping[str, Any]) -> None:
    grouped = columns[0].within is not None
    looked_at = columns if grouped else columns[1:]
    high = [one.max_count for one in looked_at if one.highest > SINGLE_COUNTS - 1]
    if high:
        found = any(isinstance(top, PrivateQuantile) for top in high)
        hint = (
            f"PrivateQuantile('0.999', highest={SINGLE_COUNTS - 1}) finds one up to there, as "
            "'auto' does up to 1,000,000; or give a number"
            if found
            else "name the column of the highest counts first"
        )
        which = "where there are groups" if grouped else "in all columns but the first"
        hint = "a lower max_count" if grouped else hint
        raise HoldfastError(
            f"`max_count` must be at most {SINGLE_COUNTS - 1} with joint=True, {which}. "
            f"Hint: {hint}, or joint=False."
        )
    try:
        check_stages_by_group(options.get("privatizer"), options.get("constructor") or Optimal())
    except HoldfastError:
        raise HoldfastError(
            "joint=True goes with the default stages alone. Hint: leave `privatizer`, "
            "`constructor` and delta out, or joint=False."
        ) from None


def classes_each(groups: int, columns: int, rows: int) -> int:
    """How many classes of each released count the next ones are given, from public numbers.

    >>> [classes_each(1, 2, 3000), classes_each(1, 3, 3000), classes_each(20, 2, 3000)]
    [20, 10, 5]
    """
    before = min(columns - 1, REMEMBERED)
    if groups * 2**before > MANY_GROUPS:
        raise HoldfastError(
            f"joint=True goes with {numbered(MANY_GROUPS // 2**before, 'group')} at the most, and "
            f"`within` makes {groups}. Hint: fewer groups, or joint=False."
        )
    most = min(MANY_GROUPS, max(rows // ROWS_EACH, 1)) // groups
    return max(2, min(CLASSES[before], int(most ** (1 / before) + 1e-9)))
