"""Steps 2 and 3 of a further count: measured within classes of the counts released before."""

from dataclasses import dataclass

from holdfast.arrays import Floats, Integers
from holdfast.former.constructors import Optimal
from holdfast.former.mechanism.grouped import GroupedMechanism
from holdfast.former.mechanism.mechanism import check_mechanism
from holdfast.former.privatizers.conditional import fit_conditional
from holdfast.former.privatizers.joint import measure_groups
from holdfast.former.privatizers.totals import Totals
from holdfast.former.release.groups import Groups
from holdfast.former.privacy.budget import Budget
from holdfast.former.privacy.randomness import Randomness
from holdfast.former.tables.groups import Partition


@dataclass(frozen=True, kw_only=True, eq=False)
class Given:
    """What the counts released before say of the rows of each cell; public."""

    cells: Integers
    """The group of each cell, then its class in each of the columns before."""
    blur: Floats
    """The part of its rows whose true counts are of each cell."""


def by_class(
    groups: Partition,
    histograms: Integers,
    totals: Totals | None,
    budget: Budget,
    given: Given,
    source: Randomness,
) -> tuple[Groups, str]:
    """One measurement of all cells; for each the law z of its rows, the law w that they are to
    have, and from these alone the optimal kernel from z to w."""
    measured, bins = measure_groups(histograms, budget.unit_1, source), histograms.shape[1]
    fit = fit_conditional(
        measured.groups,
        groups.sizes,
        budget.unit_1,
        bins=bins,
        blur=given.blur,
        cells=given.cells,
    )
    made = [
        Optimal(target=w)(z, epsilon=budget.unit_2)
        for z, w in zip(fit.sources, fit.targets, strict=True)
    ]
    for one in made:
        check_mechanism(one.mechanism, budget.unit_2)
    mechanism = GroupedMechanism([one.mechanism for one in made], range(len(made)))
    found = Groups(partition=groups, mechanism=mechanism, measurement=measured, totals=totals)
    return found, made[0].description
