"""One column of counts or several: what is to be known of each before a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from holdfast.former.engines.looking import Looked, looked_at

if TYPE_CHECKING:
    from holdfast.former.engines.several import SeveralParameters
    from holdfast.former.engines.stages import Parameters, Stages


@dataclass(frozen=True, kw_only=True)
class LookedAtSeveral(Looked):
    """What a dry run has to know of a table with several columns of counts."""

    each: tuple[Looked, ...]
    """The same for each of the columns."""


def each_of(looked: Looked) -> tuple[Looked, ...]:
    """What is known for each column of counts, or the only one."""
    return looked.each if isinstance(looked, LookedAtSeveral) else (looked,)


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
    from holdfast.former.engines.several_memory import read_several

    tables = read_several(table, count, names, parameters)
    own = zip(parameters.columns, tables, strict=True)
    each = tuple(looked_at(found, one) for one, found in own)
    alone = {name: digest for one in each for name, digest in one.alone.items()}
    return LookedAtSeveral(**vars(each[0]) | {"alone": alone}, each=each)


def promised_of_several(parameters: "SeveralParameters", looked: Looked) -> Promised:
    """What a run of several columns would spend; what cannot be done is refused."""
    each = each_of(looked)
    stages = parameters.for_rows([one.rows for one in each], [one.groups for one in each])
    delta = parameters.persons.together([one.delta for one in stages.columns])
    columns = tuple(zip(stages.names, stages.columns, strict=True))
    return Promised(epsilon=parameters.epsilon, delta=delta, columns=columns)


def promised_of_one(parameters: "Parameters", looked: Looked, column: str) -> Promised:
    """What a run of one column would spend; what cannot be done is refused."""
    stages = parameters.for_rows(looked.rows, looked.groups)
    return Promised(epsilon=stages.budget.epsilon, delta=stages.delta, columns=((column, stages),))
