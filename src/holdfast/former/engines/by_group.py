"""Steps 2 and 3 where rows are in groups: a measurement of all, a mechanism for each."""

from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.former.constructors import Constructor, Optimal
from holdfast.former.mechanism.grouped import GroupedMechanism
from holdfast.former.mechanism.mechanism import check_mechanism
from holdfast.former.privatizers import CumulativeSmooth
from holdfast.former.privatizers.joint import fit_measured, measure_groups
from holdfast.former.privatizers.totals import Totals
from holdfast.former.release.groups import Groups
from holdfast.former.privacy.budget import Budget
from holdfast.former.privacy.randomness import Randomness
from holdfast.former.tables.groups import Partition

MOST_CELLS = 20_000_000  # groups times counts
MOST_PAIRS = 20_000_000_000  # of weights that may differ; `verify` refuses more


def check_stages_by_group(privatizer: Any, constructor: Constructor) -> None:
    """Refuse other stages than those that know groups."""
    stages = ((privatizer, CumulativeSmooth()), (constructor, Optimal()))
    if not all(stage is None or _same(stage, default) for stage, default in stages):
        raise HoldfastError(
            "`within` goes with the default stages alone. Hint: leave `privatizer`, `constructor` "
            "and delta out."
        )


def _same(stage: Any, default: Any) -> bool:
    """By type and fields: a stage may say of itself that it equals anything."""
    if type(stage) is not type(default) or vars(stage).keys() != vars(default).keys():
        return False
    pairs = [(vars(stage)[name], usual) for name, usual in vars(default).items()]
    return all(type(value) is type(usual) and value == usual for value, usual in pairs)


def check_room_for_groups(groups: int, bins: int, found: bool = False) -> None:
    """Refuse more groups than memory holds, by the highest max_count where that is found."""
    if groups * bins > MOST_CELLS:
        hint, most = "fewer groups", MOST_CELLS // groups - 1
        if most > 0:
            hint += f", or a max_count of {most} at the most"
        if most > 0 and found:
            hint += f", in digits; in Python PrivateQuantile(0.999, highest={most})"
        raise HoldfastError(
            f"`within` makes {groups:,} groups, and each has {bins:,} counts: that is more than "
            f"{MOST_CELLS:,} in all. Hint: {hint}."
        )


def check_work(groups: int, bins: int, epsilon: Fraction) -> None:
    """Refuse what would take hours to certify: weights change within about 43/epsilon counts."""
    if groups * bins * min(float(bins), 43 / float(epsilon)) > MOST_PAIRS:
        raise HoldfastError(
            f"{bins:,} counts{f' in {groups:,} groups' if groups > 1 else ''} at an epsilon of "
            f"{float(epsilon):.2g} for one step of one count would take hours to certify. Hint: a "
            "smaller max_count, a larger epsilon, or fewer contributions or groups."
        )


def by_group(
    groups: Partition,
    histograms: Integers,
    totals: Totals | None,
    budget: Budget,
    constructor: Constructor,
    source: Randomness,
) -> tuple[Groups, str]:
    """Steps 2 and 3: one measurement of all groups, z of each, T of each from its z alone."""
    measured = measure_groups(histograms, budget.unit_1, source)
    bins, ordered = histograms.shape[1], groups.within.ordered
    known = None if totals is None else (totals.measured, totals.unit)
    z = fit_measured(
        measured, groups.sizes, budget.unit_1, bins=bins, ordered=ordered, totals=known
    )
    mechanism, method = mechanisms_of(z, constructor, budget)
    found = Groups(partition=groups, mechanism=mechanism, measurement=measured, totals=totals)
    return found, method


def mechanisms_of(
    z: Floats, constructor: Constructor, budget: Budget
) -> tuple[GroupedMechanism, str]:
    """T of each group from its target alone, and how; groups with the same target share one."""
    index: dict[bytes, int] = {}
    which = [index.setdefault(row.tobytes(), len(index)) for row in z]
    targets = [np.frombuffer(key) for key in index]
    made = [constructor(target, epsilon=budget.unit_2) for target in targets]
    for one in made:
        check_mechanism(one.mechanism, budget.unit_2)
    return GroupedMechanism([one.mechanism for one in made], which), made[0].description
