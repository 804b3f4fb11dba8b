"""A run from its parameters to a certified mechanism: what all engines share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers
from holdfast.errors import CertificateError, HoldfastError
from holdfast.former.constructors import Construction, Constructor, Optimal
from holdfast.former.constructors.constructor import as_constructor, check_range
from holdfast.former.engines.by_class import Given, by_class
from holdfast.former.engines.by_group import (
    by_group,
    check_room_for_groups,
    check_stages_by_group,
    check_work,
)
from holdfast.former.ledger.composition import charges_of
from holdfast.former.ledger.entries import Charge, sums_of
from holdfast.former.ledger.request import Request
from holdfast.former.mechanism.grouped import GroupedMechanism
from holdfast.former.mechanism.mechanism import Mechanism, check_mechanism
from holdfast.former.privatizers import (
    Privatizer,
    Skipped,
    certifier,
    is_own,
    made_anew,
    measured_target,
    published_name,
    usual_privatizer,
)
from holdfast.former.privatizers.conditional import METHOD as CONDITIONAL
from holdfast.former.privatizers.groups import classes_rule
from holdfast.former.privatizers.joint import METHOD, WITH_TOTALS, certified_joint
from holdfast.former.privatizers.max_count import (
    FoundMaxCount,
    budget_for,
    certified_quantile,
    find_max_count,
    highest_count,
    read_max_count,
)
from holdfast.former.privatizers.totals import Totals, certified_totals, measure_totals
from holdfast.former.release.groups import Groups
from holdfast.former.release.promise import Privacy
from holdfast.former.release.usefulness import (
    group_notes,
    max_count_notes,
    share_uncertainty,
    usefulness_notes,
)
from holdfast.former.privacy.approximate import exact_delta
from holdfast.former.privacy.budget import Budget
from holdfast.former.privacy.delta import total_delta
from holdfast.former.privacy.persons import read_person_rows, read_unit
from holdfast.former.privacy.randomness import Randomness, randomness
from holdfast.former.tables.groups import Partition, Within, read_within

Histogram = NDArray[np.int64]
UNCHECKED = (
    "stage 1 is not holdfast's: its part of epsilon is its author's claim, which no certificate "
    "covers"
)
Read = Callable[[Within], tuple[Partition, Integers]]
"""What finds the groups of a table, and in which of them each row is."""


def check_parameters(
    *,
    epsilon: Any,
    max_count: Any,
    contributions: int = 1,
    privatizer: Any = None,
    constructor: Any = None,
    split: Any = None,
    seed: Any = None,
    within: Any = None,
    totals: Any = None,
    rows: Any = 1,
    unit: Any = "person",
) -> "Parameters":
    """The parameters of `holdfast.privatize` with their defaults, before any count is read.

    >>> check_parameters(epsilon=1, max_count=20).for_rows(1000).budget.epsilon
    Fraction(1, 1)
    """
    if privatizer is not None and not isinstance(privatizer, Privatizer):
        raise HoldfastError(
            f"`privatizer` must be a privatizer, got {privatizer!r:.40}. "
            "Hint: holdfast.privatizers.CumulativeSmooth(), with its brackets; one of your own "
            "derives from holdfast.former.privatizers.Privatizer."
        )
    max_count = read_max_count(max_count)
    stage_2 = Optimal() if constructor is None else as_constructor(constructor)
    check_range(stage_2, highest_count(max_count))
    grouped = read_within(within)
    if grouped is not None:
        check_stages_by_group(privatizer, stage_2)
        stage_2 = Optimal()  # anew: nothing put on the one that was given has a say
    one_stage = split is None and privatizer is None and stage_2.one_stage
    usual = privatizer is None and not one_stage
    if privatizer is None:
        privatizer = Skipped() if one_stage else usual_privatizer(highest_count(max_count))
    options = {"epsilon": epsilon, "split": split, "one_stage": one_stage, "totals": totals}
    options |= {"person_rows": read_person_rows(rows), "unit": read_unit(unit)}
    return Parameters(
        max_count=made_anew(max_count),
        options=options | {"contributions": contributions},
        privatizer=made_anew(privatizer),
        usual=usual,
        constructor=stage_2,
        source=randomness(seed),
        within=grouped,
    )


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """What a run was asked to do, before any count is looked at."""

    max_count: Any
    """A number, or what finds one."""
    options: dict[str, Any]
    """What splits the budget: epsilon, split, contributions, one_stage, totals, person_rows and
    unit."""
    privatizer: Privatizer
    usual: bool
    """Whether the privatizer was left to us, and follows max_count once that is found."""
    constructor: Constructor
    source: Randomness
    within: Within | None = None
    """What rows are grouped by."""

    @property
    def highest(self) -> int:
        """The highest that max_count can be."""
        return highest_count(self.max_count)

    def within_for(self, rows: int) -> Within | None:
        """What rows are grouped by, with the number of classes that so many rows bear."""
        if self.within is None or not self.within.open:
            return self.within
        return self.within.settled(classes_rule(rows))

    def groups_for(self, rows: int, read: Read | None) -> tuple[Partition | None, Integers | None]:
        """The groups of a table of so many rows, and in which of them each row is; none without
        `within`."""
        within = self.within_for(rows)
        return (None, None) if within is None or read is None else read(within)

    def for_table(self, rows: int, read: Read | None) -> tuple["Stages", Integers | None]:
        """The stages for a table of so many rows, and the group of each; nothing is drawn."""
        groups, members = self.groups_for(rows, read)
        return self.for_rows(rows, groups), members

    def for_rows(
        self, rows: int, groups: Partition | None = None, cells: int | None = None
    ) -> "Stages":
        """The stages for a table of so many rows, in these groups, which is public; what cannot be
        done is refused here, before any draw. `cells` is how many there will be of counts that
        are not released yet, where this column is to be given those."""
        number = cells or (1 if groups is None else len(groups))
        grouped = groups is not None or cells is not None
        if grouped:
            found = not isinstance(self.max_count, int)
            check_room_for_groups(number, self.highest + 1, found)
        given = cells is not None
        budget = budget_for(self.max_count, rows, groups=number, given=given, **self.options)
        check_work(number, self.highest + 1, budget.unit_2)
        constructor = self.constructor.for_release(rows=rows, steps=budget.steps)
        total_delta(budget, exact_delta(self.privatizer.delta, least=0))
        certified_quantile(self.max_count, budget)
        if self.privatizer.certified_epsilon(budget.unit_1) > budget.unit_1:
            raise CertificateError("stage 1 is certified for more epsilon than it is given.")
        return Stages(
            **vars(self) | {"constructor": constructor},
            rows=rows,
            budget=budget,
            groups=groups,
            charges=charges_of(budget, self.privatizer, constructor, grouped=grouped),
        )


@dataclass(frozen=True, kw_only=True)
class Stages(Parameters):
    """Both stages, settled but for what they will draw."""

    rows: int
    """N: rows that go through the mechanism."""
    budget: Budget
    charges: tuple[Charge, ...]
    """What the release will spend."""
    groups: Partition | None = None
    """The groups of the rows, where there are any."""
    given: Given | None = None
    """The counts released before that the groups are classes of, where they are."""

    @property
    def delta(self) -> Fraction:
        """What it will spend of delta, for one person."""
        return sums_of(self.charges)[1]

    @property
    def share_uncertainty(self) -> float:
        """Standard deviation that stage 1's noise gives to the share of rows up to a count."""
        return share_uncertainty(self.privatizer, self.budget, self.rows, self.highest + 1)

    def request(self, structural_zeros: int, **told: Any) -> Request:
        """What a ledger is asked to pay for: everything but the counts that determines how the
        release is distributed, and what else it is `told`: other fields of a `Request`."""
        parameters = {
            "epsilon": self.budget.epsilon,
            "bound": self.budget.quantile,
            "stage_1": self.budget.stage_1,
            "contributions": self.budget.contributions,
            "max_count": self.max_count,
            "privatizer": self.privatizer,
            "constructor": self.constructor,
        }
        if self.groups is not None:
            parameters["within"] = self.groups.within.to_dict()
        if self.budget.totals:
            parameters["totals"] = self.budget.totals
        if self.budget.person_rows > 1:
            parameters["person_rows"] = self.budget.person_rows
        if self.budget.unit != "person":
            parameters["unit"] = self.budget.unit
        return Request(
            rows=self.rows,
            structural_zeros=structural_zeros,
            charges=self.charges,
            simulated=self.source.simulated,
            parameters=parameters,
            **told,
        )

    def __call__(self, histogram: Histogram, totals: Sequence[int] = ()) -> "Staged":
        """Steps 2 and 3, from how many rows have count 0, 1, ..., `highest` or more, with a line
        for each group where there are groups; `totals` are those of the groups or of the table,
        uncapped, where they are to be measured."""
        budget, grouped = self.budget, self.groups is not None
        pooled = histogram.sum(axis=0) if grouped else histogram
        found = find_max_count(self.max_count, pooled, budget, self.source)
        top = self.highest if found is None else found.max_count
        eta = np.append(histogram[..., :top], histogram[..., top:].sum(-1, keepdims=True), axis=-1)
        measured = measure_totals(totals, budget, self.source) if budget.totals else None
        privatizer = usual_privatizer(top) if self.usual else self.privatizer
        known: dict[str, Any] = {"top": top, "max_count_found": found, "totals": measured}
        known |= {"stages": self, "privatizer": privatizer}
        if self.groups is not None:
            groups, method = (
                by_group(self.groups, eta, measured, budget, self.constructor, self.source)
                if self.given is None
                else by_class(self.groups, eta, measured, budget, self.given, self.source)
            )
            target = groups.sizes @ groups.targets / self.rows
            known |= {"target": target, "mechanism": groups.mechanism, "groups": groups}
            return Staged(method=method, delta=Fraction(0), **known)
        target, noisy = measured_target(  # step 2: z, and what was measured to make it
            privatizer, eta, epsilon=budget.unit_1, source=self.source
        )
        construction = self.constructor(target, epsilon=budget.unit_2)  # step 3: T, from z alone
        mechanism, delta = self.checked(construction, len(target))
        known |= {"target": target, "measurement": noisy, "mechanism": mechanism}
        return Staged(method=construction.description, delta=delta, **known)

    def checked(self, construction: Any, n: int) -> tuple[Mechanism, Fraction]:
        """The mechanism, read once, and the delta of the release; refuses, before step 4, one that
        promises too little or that takes more than was paid for."""
        if not isinstance(construction, Construction):
            raise CertificateError(
                "the constructor must return a holdfast.constructors.Construction. Hint: "
                "Construction(form=matrix, epsilon=epsilon, target=target, count_error=..., "
                "method=...)."
            )
        mechanism = construction.mechanism  # once: another read could give another mechanism
        check_mechanism(mechanism, self.budget.unit_2, construction.delta)
        if len(mechanism) != n:
            raise CertificateError("the mechanism must have a row for every count of its target.")
        stage_1 = exact_delta(self.privatizer.delta, least=0)
        delta = total_delta(self.budget, stage_1, mechanism.delta)
        if delta > self.delta:
            raise HoldfastError(
                "the mechanism has a delta that its constructor did not declare, and the release "
                "is withheld. Hint: declare it as `promised_delta` of a Constructor."
            )
        return mechanism, delta


@dataclass(frozen=True, kw_only=True)
class Staged:
    """A certified mechanism, ready for step 4, and what is to be said about it."""

    stages: Stages
    privatizer: Privatizer
    top: int
    max_count_found: FoundMaxCount | None
    totals: Totals | None
    target: NDArray[np.float64]
    mechanism: Mechanism | GroupedMechanism
    """What is certified, drawn from and published: one object."""
    method: str
    """How stage 2 was made."""
    delta: Fraction
    measurement: NDArray[np.int64] | None = None
    groups: Groups | None = None

    def facts(self, drawn: Histogram) -> dict[str, Any]:
        """The fields of the release; `drawn` is the histogram of what step 4 drew."""
        target, mechanism = self.target, self.mechanism
        rows, budget, privatizer = self.stages.rows, self.stages.budget, self.privatizer
        if not budget.stage_1:
            target = drawn / drawn.sum()
        stage_1, notes = published_name(privatizer), tuple[str, ...]()
        if isinstance(mechanism, Mechanism):
            notes = usefulness_notes(mechanism, target, privatizer, budget, rows)
            if budget.stage_1 and not is_own(privatizer):
                notes = (UNCHECKED, *notes)
        elif self.groups is not None:
            stage_1 = METHOD if self.totals is None else WITH_TOTALS
            notes = group_notes(self.groups.partition, budget, target)
            if self.stages.given is not None:
                stage_1, notes = CONDITIONAL, ()
        return {
            "target": target,
            "drawn_with": mechanism,
            "groups": self.groups,
            "totals": self.totals,
            "privacy": self.privacy,
            "rows": rows,
            "max_count_found": self.max_count_found,
            "measurement": self.measurement,
            "methods": (stage_1, self.method),
            "notes": (*max_count_notes(self.max_count_found, rows), *notes),
        }

    @property
    def privacy(self) -> Privacy:
        """What is promised and certified; known before step 4."""
        privatizer, budget = self.privatizer, self.stages.budget
        number = 1 if self.groups is None else len(self.groups)
        unit = privatizer.certified_epsilon(budget.unit_1)
        if self.groups is not None:
            unit = certified_joint(budget.unit_1, number, len(self.target))
        return Privacy(
            budget=budget,
            totals_certified=certified_totals(budget, number),
            quantile_certified=certified_quantile(self.stages.max_count, budget),
            stage_1_certified=budget.steps * unit,
            stage_2_certified=budget.steps * self.mechanism.certified_epsilon,
            stage_1_certified_by=certifier(privatizer),
            delta=self.delta,
            simulated=self.stages.source.simulated,
        )
