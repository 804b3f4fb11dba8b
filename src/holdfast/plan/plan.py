"""What a budget buys, before the private table is touched: from a public prior alone."""

from bisect import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from holdfast.arrays import Floats
from holdfast.engine.measuring import Progress, silent
from holdfast.errors import (
    HoldfastError,
    aligned,
    decimal_or_fraction,
    numbered,
    roughly,
    whole_number,
)
from holdfast.plan.explain import explain
from holdfast.plan.questions import PlannedQuestion, Target, read_questions, read_target
from holdfast.plan.simulation import KnownTable, prior_table, simulated
from holdfast.privacy.budget import exact_epsilon
from holdfast.release.release import Column

EPSILONS = ("0.1", "0.2", "0.5", "1", "2", "5")
NINE_IN_TEN = 0.9
MOST_PLANNED_ROWS = 10_000_000


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What to expect of a release at one budget.

    >>> expected = plan("geometric:3", rows=50, epsilons=["2"], repetitions=1).expected[0]
    >>> expected.epsilon, expected.off < 1
    ('2', True)
    """

    epsilon: str
    off: float
    """How far a noisy count is from the true one, on average."""
    within: dict[str, float]
    """For each question, what the error stays within nine times in ten."""
    within_groups: dict[str, float]
    """The same for a group, in the middle of all groups; empty without groups."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """What to expect of a release of a table like the prior; no private data took part.

    >>> planned = plan("geometric:3", rows=50, epsilons=["2"], repetitions=1)
    >>> len(planned.table.counts), planned.smallest
    (50, None)
    """

    table: KnownTable
    """The table that was released in simulations."""
    expected: tuple[Expected, ...]
    """One for each budget."""
    asked: tuple[PlannedQuestion, ...]
    """The questions."""
    target: Target | None = None
    smallest: str | None = None
    """The smallest epsilon that was found to meet the target."""
    largest: str = EPSILONS[-1]
    """The largest that was looked at."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "prior": self.table.name,
            "rows": len(self.table.counts),
            "groups": len(self.table.labels),
            "target": None if self.target is None else str(self.target),
            "epsilon": self.smallest,
            "expected": [vars(each) for each in self.expected],
        }

    def __str__(self) -> str:
        return "\n\n".join([*self._decision, *self._tables])

    @property
    def _decision(self) -> list[str]:
        """The answer to the target, and what that epsilon promises."""
        if self.target is None:
            return []
        if self.smallest is None:
            return [
                f"No epsilon up to {self.largest} keeps {self.target}. More rows, or a wider "
                "target, would."
            ]
        return [
            f"epsilon = {self.smallest} is the smallest that keeps {self.target}.\n"
            f"{explain(self.smallest).sentence}"
        ]

    @property
    def _tables(self) -> list[str]:
        rows, groups = len(self.table.counts), len(self.table.labels)
        names = [asked.name for asked in self.asked]
        whole = [
            (each.epsilon, roughly(each.off), *self._amounts(each.within)) for each in self.expected
        ]
        tables = [
            f"A release of {numbered(rows, 'row')} like {self.table.name}. A noisy count is off "
            "by so much on average; answers about all rows are right within so much, nine times in "
            "ten:\n\n" + aligned(("epsilon", "one count", *names), whole)
        ]
        if groups > 1:
            size = int(np.median(np.bincount(self.table.group)))
            by_group = [
                (each.epsilon, *self._amounts(each.within_groups)) for each in self.expected
            ]
            tables.append(
                f"The same for one of {numbered(groups, 'group')}, of about "
                f"{numbered(size, 'row')}:\n\n" + aligned(("epsilon", *names), by_group)
            )
        return tables

    def _amounts(self, within: dict[str, float]) -> list[str]:
        return [asked.about(within[asked.name]) for asked in self.asked]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Planner:
    """Simulated releases of one table, at any budget."""

    table: KnownTable
    options: dict[str, Any]
    repetitions: int
    progress: Progress
    _releases: dict[str, list[Column]] = field(default_factory=dict)

    def releases(self, epsilon: str) -> list[Column]:
        """Releases at one budget, made once."""
        if epsilon not in self._releases:
            made = self._releases[epsilon] = []
            for number in range(self.repetitions):  # the same seeds at every budget
                self.progress(f"epsilon {epsilon}", number / self.repetitions)
                made.append(simulated(self.table, epsilon, number + 1, **self.options))
            self.progress(f"epsilon {epsilon}", 1.0)
        return self._releases[epsilon]

    def expected(self, epsilon: str, asked: Sequence[PlannedQuestion]) -> Expected:
        """What to expect at one budget."""
        made, groups = self.releases(epsilon), range(len(self.table.labels))
        within_groups = {
            question.name: float(np.median([_within(made[:2], question, g) for g in groups]))
            for question in asked
            if len(groups) > 1
        }
        return Expected(
            epsilon=epsilon,
            off=float(made[0].measurement.noise.mean_absolute),
            within={question.name: _within(made, question, None) for question in asked},
            within_groups=within_groups,
        )

    def meets(self, epsilon: str, target: Target) -> bool:
        """Whether a target is met at one budget."""
        met = [
            np.mean(np.abs(errors(release, target.asked, None)) <= target.amount)
            for release in self.releases(epsilon)
        ]
        return float(np.mean(met)) >= target.probability

    def smallest(self, target: Target, budgets: Sequence[str]) -> str | None:
        """The smallest budget of two digits that meets a target, between those looked at."""
        met = next((i for i, epsilon in enumerate(budgets) if self.meets(epsilon, target)), None)
        if not met:
            return None if met is None else budgets[0]
        between = _two_digits(budgets[met - 1], budgets[met])
        inner = between[1:-1]  # the first does not meet it, the last does
        return between[1 + bisect(inner, False, key=lambda each: self.meets(each, target))]


def plan(
    prior: Any,
    *,
    rows: int | None = None,
    target: str | Target | None = None,
    epsilons: Iterable[Any] = EPSILONS,
    questions: list[str] | tuple[str, ...] | str | None = None,
    count: str | None = None,
    within: Any = None,
    missing: Any = (),
    repetitions: int = 6,
    progress: Progress | None = None,
    **options: Any,
) -> Plan:
    """What releases of a table like `prior` would be worth, for a range of budgets.

    No private data take part. Releases of the prior are simulated on the path that real ones take,
    and their intervals say how far off answers are.

    Parameters:
        prior: Something public: last year's table or release, another region's, or a shape:
            "geometric:MEAN", "uniform:TOP", "powerlaw:EXPONENT:TOP", "zeros:SHARE+SHAPE".
        rows: The number of rows that the table will have; that of the prior by default.
        target: "zeros within 1 point, 9 in 10": the smallest epsilon that keeps it is sought.
        epsilons: The budgets to look at; 0.1 to 5 by default.
        questions: What to look at: "zeros", "mean", "total", "median", "above 10", "at most 3";
            zeros, mean, a share of high counts, total by default.
        count, within, missing: As for `holdfast.privatize`, of a prior that is a table.
        repetitions: Simulated releases for each budget.
        progress: Called with what is being done, and which share of it is done.
        **options: Of `holdfast.privatize`: `contributions`, `totals`, `split`.

    Returns:
        A `Plan`: expected errors at each epsilon, and the smallest that meets the target.

    Raises:
        HoldfastError: If the prior, the target or a question cannot be understood.

    >>> planned = plan("geometric:2", rows=500, epsilons=[1], repetitions=2)
    >>> planned.expected[0].within["zeros"] < 0.1
    True
    """
    size = None if rows is None else whole_number(rows, "rows", least=1, most=MOST_PLANNED_ROWS)
    table = prior_table(prior, size, count=count, within=within, missing=missing)
    goal = read_target(target) if isinstance(target, str) else target
    asked = read_questions(questions, table.counts)
    if goal is not None and goal.asked.name not in [each.name for each in asked]:
        asked.append(goal.asked)
    planner = _Planner(
        table=table,
        options=options,
        repetitions=whole_number(repetitions, "repetitions", least=1),
        progress=progress or silent,
    )
    budgets = check_epsilons(epsilons)
    smallest = None if goal is None else planner.smallest(goal, budgets)
    shown = sorted({*budgets, *([smallest] if smallest else [])}, key=exact_epsilon)
    return Plan(
        table=table,
        expected=tuple(planner.expected(epsilon, asked) for epsilon in shown),
        asked=tuple(asked),
        target=goal,
        smallest=smallest,
        largest=budgets[-1],
    )


def errors(release: Column, asked: PlannedQuestion, group: int | None) -> Floats:
    """How far the answer may be from the truth: by draws from the posterior; for a total that was
    measured by the law of its noise, where that is narrower."""
    estimate, totals = release.estimate, release.measurement.totals
    histogram = estimate.whole if group is None else estimate.histograms[group]
    question = asked.question
    by_draws = question.of_draws(estimate.draws(group)) - question.of_histogram(histogram)
    if totals is None or question.name != "total":
        return by_draws
    noise = totals.noise if group is not None else totals.whole_noise or totals.noise
    levels = (np.arange(len(by_draws)) + 0.5) / len(by_draws)
    by_noise = np.array([noise.quantile(float(level)) for level in levels], dtype=np.float64)
    if group is None and totals.whole is None:
        by_noise *= np.sqrt(release.measurement.groups)
    return by_noise if np.abs(by_noise).mean() < np.abs(by_draws).mean() else by_draws


def _within(made: Sequence[Column], asked: PlannedQuestion, group: int | None) -> float:
    sizes = [np.quantile(np.abs(errors(each, asked, group)), NINE_IN_TEN) for each in made]
    return float(np.mean(sizes))


def check_epsilons(epsilons: Iterable[Any]) -> tuple[str, ...]:
    """Budgets as exact text, each once, rising."""
    budgets = [epsilons] if isinstance(epsilons, str | int | float) else epsilons
    exact = sorted({exact_epsilon(epsilon, name="epsilons") for epsilon in budgets})
    if not exact:
        raise HoldfastError("`epsilons` is empty. Hint: 0.1 to 5 is usual.")
    return tuple(map(decimal_or_fraction, exact))


def _two_digits(low: str, high: str) -> list[str]:
    """Numbers of two digits between two others, which stand at the ends.

    >>> _two_digits("0.5", "0.53")
    ['0.5', '0.51', '0.52', '0.53']
    """
    number, last = exact_epsilon(low), exact_epsilon(high)
    between = []
    while number < last:
        between.append(number)
        step = exact_epsilon(f"{10.0 ** (np.floor(np.log10(float(number))) - 1):.12g}")
        number = (number // step + 1) * step
    return [decimal_or_fraction(number) for number in [*between, last]]
