"""One column of counts or several: what is to be known of each before a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from holdfast.engines.looking import Looked, alone_of

if TYPE_CHECKING:
    from holdfast.engines.several import SeveralParameters
    from holdfast.engines.stages import Parameters, Stages
    from holdfast.tables.groups import Partition


@dataclass(frozen=True, kw_only=True)
class LookedAtSeveral(Looked):
    """What a dry run has to know of a table with several columns of counts."""

    each: tuple[tuple[int, "Partition | None"], ...]
    """For each column its rows to protect, and their groups."""


@dataclass(frozen=True, kw_only=True)
class Promised:
    """What a run would spend on one person, in all and on each column."""

    epsilon: Fraction
    delta: Fraction
    columns: tuple[tuple[str, "Stages"], ...]
    """The columns of counts with what is planned of each."""

    @property
    def first(self) -> "Stages":
        """What is planned of the first column, or the only one."""
        return self.columns[0][1]


def look_at_several(
    table: Any, count: Sequence[str], names: dict[str, Any], parameters: "SeveralParameters"
) -> LookedAtSeveral:
    """Read a table into memory and check it for each column of counts."""
    from holdfast.engines.several_memory import read_several

    tables = read_several(table, count, names, parameters)
    rows = [int(one.drawn.sum()) for one in tables]
    own = zip(parameters.columns, rows, tables, strict=True)
    groups = [one.groups_for(n, found.groups)[0] for one, n, found in own]
    return LookedAtSeveral(
        rows=rows[0],
        others=tables[0].others,
        withheld=tables[0].withheld,
        notes=tables[0].notes,
        groups=groups[0],
        each=tuple(zip(rows, groups, strict=True)),
        alone=alone_of(tables),
    )


def promised_of_several(parameters: "SeveralParameters", looked: Looked) -> Promised:
    """What a run of several columns would spend; what cannot be done is refused."""
    each = looked.each if isinstance(looked, LookedAtSeveral) else ()
    stages = parameters.for_rows([rows for rows, _ in each], [groups for _, groups in each])
    delta = parameters.persons.together([one.delta for one in stages.columns])
    columns = tuple(zip(stages.names, stages.columns, strict=True))
    return Promised(epsilon=parameters.epsilon, delta=delta, columns=columns)


def promised_of_one(parameters: "Parameters", looked: Looked, column: str) -> Promised:
    """What a run of one column would spend; what cannot be done is refused."""
    stages = parameters.for_rows(looked.rows, looked.groups)
    return Promised(epsilon=stages.budget.epsilon, delta=stages.delta, columns=((column, stages),))
