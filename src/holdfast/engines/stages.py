"""A run from its parameters to a certified mechanism: what all ways to privatize share."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.constructors import Automatic, Construction
from holdfast.errors import HoldfastError
from holdfast.ledger.composition import parts_of
from holdfast.ledger.spending import Request
from holdfast.mechanism.mechanism import check_mechanism
from holdfast.privacy.budget import Budget
from holdfast.privacy.delta import declared_delta, total_delta
from holdfast.privacy.randomness import Randomness, randomness
from holdfast.privatizers import (
    CumulativeSmooth,
    Privatizer,
    Skipped,
    certifier,
    measured_target,
)
from holdfast.privatizers.max_count import Bound, certified_bound, highest_count, plan, settle
from holdfast.release.release import Privacy
from holdfast.release.usefulness import bound_notes, usefulness_notes

Constructor = Callable[..., Construction]
Histogram = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Stages:
    """What a run was asked to do, with its defaults, before any count is looked at."""

    max_count: Any
    options: dict[str, Any]
    """What splits the budget: epsilon, split, contributions, one_stage."""
    privatizer: Privatizer
    constructor: Constructor
    source: Randomness

    @property
    def highest(self) -> int:
        """The highest that max_count can be."""
        return highest_count(self.max_count)

    @property
    def one_stage(self) -> bool:
        """Whether stage 2 has the whole budget and no z."""
        return bool(self.options["one_stage"])

    def budget(self, rows: int) -> Budget:
        """The budget of a table with so many rows, which is public."""
        return plan(self.max_count, rows, **self.options)[1]

    def for_rows(self, rows: int) -> "Stages":
        """The same run for a table of so many rows; what cannot be done is refused here, before
        any draw."""
        budget, constructor = self.budget(rows), self.constructor
        if hasattr(constructor, "for_release"):  # both numbers are public
            constructor = constructor.for_release(rows=rows, steps=budget.steps)
        total_delta(budget, self.privatizer, None)
        certified_bound(self.max_count, budget)
        self.privatizer.certified_epsilon(budget.unit_1)
        return replace(self, constructor=constructor)

    def request(self, rows: int, structural_zeros: int) -> Request:
        """What a ledger is asked to pay for: all but the counts that decides the release's law."""
        budget = self.budget(rows)
        parameters = {
            "epsilon": budget.epsilon,
            "bound": budget.bound,
            "stage_1": budget.stage_1,
            "contributions": budget.contributions,
            "max_count": self.max_count,
            "privatizer": self.privatizer,
            "constructor": self.constructor,
        }
        return Request(
            rows=rows,
            structural_zeros=structural_zeros,
            parts=parts_of(budget, self.privatizer, self.constructor),
            parameters=parameters,
        )

    def __call__(self, histogram: Histogram) -> "Staged":
        """Steps 2 and 3, from how many rows have count 0, 1, ..., `highest` or more."""
        top, budget, bound = settle(self.max_count, histogram, self.source, **self.options)
        eta = np.append(histogram[:top], histogram[top:].sum())
        target, noisy = measured_target(  # step 2: z, and what was measured to make it
            self.privatizer, eta, epsilon=budget.unit_1, source=self.source
        )
        construction = self.constructor(target, epsilon=budget.unit_2)  # step 3: T, from z alone
        check_mechanism(construction.mechanism, budget.unit_2, declared_delta(construction))
        return Staged(
            stages=self,
            rows=int(eta.sum()),
            top=top,
            budget=budget,
            bound=bound,
            target=target,
            measurement=noisy,
            construction=construction,
            delta=total_delta(budget, self.privatizer, construction.mechanism),
        )


@dataclass(frozen=True, kw_only=True)
class Staged:
    """A certified mechanism, ready for step 4, and what is to be said about it."""

    stages: Stages
    rows: int
    top: int
    budget: Budget
    bound: Bound | None
    target: NDArray[np.float64]
    measurement: NDArray[np.int64] | None
    construction: Construction
    delta: Fraction

    def facts(self, drawn: Histogram) -> dict[str, Any]:
        """The fields of the release; `drawn` is the histogram of what step 4 drew."""
        target, mechanism = self.target, self.construction.mechanism
        if self.stages.one_stage:
            target = drawn / drawn.sum()
        notes = usefulness_notes(mechanism, target, self.stages.privatizer, self.budget, self.rows)
        return {
            "target": target,
            "mechanism": mechanism,
            "privacy": self.privacy,
            "rows": self.rows,
            "bound": self.bound,
            "measurement": self.measurement,
            "methods": (repr(self.stages.privatizer), self.construction.description),
            "notes": (*bound_notes(self.bound, self.rows), *notes),
        }

    @property
    def privacy(self) -> Privacy:
        """What is promised and certified; known before step 4."""
        privatizer, steps = self.stages.privatizer, self.budget.steps
        return Privacy(
            budget=self.budget,
            bound_certified=certified_bound(self.stages.max_count, self.budget),
            stage_1_certified=steps * privatizer.certified_epsilon(self.budget.unit_1),
            stage_2_certified=steps * self.construction.mechanism.certified_epsilon,
            stage_1_certified_by=certifier(privatizer),
            delta=self.delta,
            simulated=self.stages.source.simulated,
        )


def stages(
    *,
    epsilon: Any,
    max_count: Any,
    contributions: int = 1,
    privatizer: Privatizer | None = None,
    constructor: Constructor | None = None,
    split: Any = None,
    seed: Any = None,
) -> Stages:
    """The stages that the parameters of `holdfast.privatize` ask for.

    >>> stages(epsilon=1, max_count=20).budget(1000).epsilon
    Fraction(1, 1)
    """
    _check_stages(privatizer, constructor)
    constructor = Automatic() if constructor is None else constructor
    one_stage = split is None and privatizer is None and getattr(constructor, "one_stage", False)
    if privatizer is None:
        privatizer = Skipped() if one_stage else CumulativeSmooth()
    options = {"epsilon": epsilon, "split": split, "one_stage": one_stage}
    return Stages(
        max_count=max_count,
        options=options | {"contributions": contributions},
        privatizer=privatizer,
        constructor=constructor,
        source=randomness(seed),
    )


def _check_stages(privatizer: Any, constructor: Any) -> None:
    """Refuse what cannot be called, such as a name, before anything is paid or drawn."""
    if privatizer is not None and not hasattr(privatizer, "certified_epsilon"):
        raise HoldfastError(
            f"`privatizer` must be a privatizer, got {privatizer!r:.40}. "
            "Hint: holdfast.privatizers.CumulativeSmooth(), with its brackets."
        )
    if constructor is not None and (isinstance(constructor, type) or not callable(constructor)):
        raise HoldfastError(
            f"`constructor` must be a constructor, got {constructor!r:.40}. "
            "Hint: holdfast.constructors.Optimal(), with its brackets."
        )
