"""Methods side by side on a table whose counts may be looked at. NOT PRIVATE."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.engine.measuring import Progress, silent
from holdfast.errors import HoldfastError, aligned, numbered, roughly, whole_number
from holdfast.plan import agencies
from holdfast.plan.plan import check_epsilons
from holdfast.plan.questions import PlannedQuestion, read_questions
from holdfast.plan.simulation import KnownTable, histogram_of, read_known, simulated, w1
from holdfast.privacy.budget import exact_epsilon
from holdfast.privacy.noise import Noise, add_noise
from holdfast.privacy.randomness import randomness

Publish = Callable[[KnownTable, str, int], Integers]
"""Released counts from a table, an epsilon and a seed."""
USUAL = ("holdfast", "paper", "truncated-geometric", "plain-noise")


@dataclass(frozen=True, kw_only=True)
class ComparedMethod:
    """A way to publish a table."""

    name: str
    publish: Publish
    agency: agencies.Published | None = None
    """The law of what an agency publishes, which knows no epsilon."""


def _plain_noise(table: KnownTable, epsilon: str, seed: int) -> Integers:
    noise = Noise(epsilon=exact_epsilon(epsilon))
    return add_noise(table.counts, noise, randomness(seed), stream="plain noise")


def _truncated(table: KnownTable, epsilon: str, seed: int) -> Integers:
    """The same, with all below 0 at 0 and all above the highest count there."""
    return np.clip(_plain_noise(table, epsilon, seed), 0, table.counts.max())


def _paper(table: KnownTable, epsilon: str, seed: int, method: Any) -> Integers:
    n = max(int(table.counts.max()), 1) + 1
    return np.asarray(method.privatize(table.counts, epsilon=epsilon, n=n, seed=seed).counts)


PLAIN: dict[str, Publish] = {"plain-noise": _plain_noise, "truncated-geometric": _truncated}
AGENCIES: dict[str, Callable[[], agencies.Published]] = {
    "suppression": agencies.suppression,
    "rounding": agencies.rounding,
    "random-rounding": agencies.random_rounding,
    "cell-key": agencies.usual_ptable,
}


def find_methods(names: Iterable[Any] | None, **options: Any) -> tuple[ComparedMethod, ...]:
    """Methods by name, each once; `options` are those of `holdfast.privatize` for holdfast's own.

    >>> [method.name for method in find_methods(["holdfast", "rounding"])]
    ['holdfast', 'rounding']
    """
    chosen = USUAL if names is None else [names] if isinstance(names, str) else names
    methods = {method.name: method for method in (_find(name, options) for name in chosen)}
    if not methods:
        raise HoldfastError(f"`methods` is empty. Hint: {', '.join(USUAL)}.")
    return tuple(methods.values())


def _find(name: Any, options: dict[str, Any]) -> ComparedMethod:
    from holdfast.paper.methods import METHODS, Method

    if isinstance(name, Method):
        return ComparedMethod(name=name.name, publish=partial(_paper, method=name))
    if name == "holdfast":
        return ComparedMethod(
            name=name, publish=lambda table, *how: simulated(table, *how, **options).counts
        )
    if name in PLAIN:
        return ComparedMethod(name=name, publish=PLAIN[name])
    if name in AGENCIES or str(name).startswith("cell-key:"):
        law = agencies.read_ptable(name[9:]) if name not in AGENCIES else AGENCIES[name]()
        return ComparedMethod(
            name=name,
            publish=lambda table, _, seed: law.draw(table.counts, np.random.default_rng(seed)),
            agency=law,
        )
    if name not in METHODS:
        names = [*USUAL[:1], "plain-noise", *METHODS, *AGENCIES, "cell-key:FILE"]
        raise HoldfastError(f"`methods` must be among {', '.join(names)}, got {name!r:.40}.")
    return ComparedMethod(name=name, publish=partial(_paper, method=METHODS[name]))


EPSILONS = ("0.1", "0.5", "1", "2")
ONE_COUNT, DISTANCE, DISTANCE_WITHIN = "one count", "distance", "distance within groups"
TITLES = {
    ONE_COUNT: "How far a released count is from the true one, on average",
    DISTANCE: "How far the distribution of counts is from the true one (W1, in counts)",
    DISTANCE_WITHIN: "The same within groups, on average",
}
WARNING = "NOT PRIVATE: all of this is computed from the true counts."


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """What methods did to one table. NOT PRIVATE: it was computed from the true counts.

    >>> compared = compare([0, 0, 1, 2, 5] * 20, epsilons=[1], methods=["rounding"], repetitions=1)
    >>> round(compared.non_private_errors["rounding", "1"]["zeros"], 2)  # 1 and 2 became 0
    0.4
    """

    non_private_errors: dict[tuple[str, str], dict[str, float]]
    """By method and epsilon: mean absolute errors of a single count, of the distribution, of every
    question."""
    table: KnownTable
    methods: tuple[ComparedMethod, ...]
    epsilons: tuple[str, ...]
    asked: tuple[PlannedQuestion, ...]
    repetitions: int
    """Releases by each method at each epsilon."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "non_private_errors": [
                {"method": method, "epsilon": epsilon} | errors
                for (method, epsilon), errors in self.non_private_errors.items()
            ],
            "repetitions": self.repetitions,
            "promises": self.promises,
        }

    @property
    def promises(self) -> list[str]:
        """What agencies' methods promise for one count, at the last epsilon."""
        top = int(self.table.counts.max())
        return [
            f"{method.name} promises "
            f"{agencies.promise_of(method.agency, self.epsilons[-1], max_count=max(top, 1))}."
            for method in self.methods
            if method.agency is not None
        ]

    def __repr__(self) -> str:
        names = ", ".join(method.name for method in self.methods)
        return f"Comparison(NOT PRIVATE: read the true counts; methods: {names})"

    def __str__(self) -> str:
        views: list[tuple[str, str, Callable[[float], str]]] = [
            (name, title, lambda error: roughly(error, 3))
            for name, title in TITLES.items()
            if name != DISTANCE_WITHIN or len(self.table.labels) > 1
        ]
        views += [
            (asked.name, f"How far the answer to {asked.name!r} is off, on average", asked.amount)
            for asked in self.asked
        ]
        tables = [
            f"{title}:\n\n" + aligned(("epsilon", *self.epsilons), self._lines(name, shown))
            for name, title, shown in views
        ]
        ending = f"Means over {numbered(self.repetitions, 'release')} each."
        return "\n\n".join([WARNING, *tables, *self.promises, ending])

    def _lines(self, name: str, shown: Callable[[float], str]) -> list[tuple[str, ...]]:
        errors = self.non_private_errors
        return [
            (method.name, *(shown(errors[method.name, e][name]) for e in self.epsilons))
            for method in self.methods
        ]


def compare(
    table: Any,
    *,
    count: str | None = None,
    within: Any = None,
    missing: Any = (),
    epsilons: Iterable[Any] = EPSILONS,
    methods: Iterable[Any] | None = None,
    questions: list[str] | tuple[str, ...] | str | None = None,
    repetitions: int = 10,
    progress: Progress | None = None,
    **options: Any,
) -> Comparison:
    """Release one table many times by every method, and measure how far off each is.

    NOT PRIVATE: the result is computed from the true counts. Use public or synthetic tables, or
    keep it on the side that may see the counts. To choose a budget for a private table, use
    `holdfast.plan`, which reads no private data.

    Parameters:
        table: Counts, as `holdfast.privatize` takes them, or the folder of a release of public
            counts.
        count, within, missing: As for `holdfast.privatize`.
        epsilons: The budgets.
        methods: Names of `holdfast.paper.METHODS` or methods like them; "suppression", "rounding",
            "random-rounding", "cell-key", "cell-key:PTABLE.csv"; by default holdfast, paper,
            truncated-geometric, plain-noise.
        questions: What is counted in the released table: "zeros", "above 10", "median";
            zeros, mean, a share of high counts, total by default.
        repetitions: Releases by each method at each budget.
        progress: Called with what is being done, and which share of it is done.
        **options: Of `holdfast.privatize`, for holdfast's own releases.

    Returns:
        A `Comparison`: mean absolute errors by method and epsilon, not private.

    Raises:
        HoldfastError: If the table, a method or a question cannot be understood.

    >>> compare([0, 0, 1, 2, 5] * 20, epsilons=[1], methods=["rounding"], repetitions=1)
    Comparison(NOT PRIVATE: read the true counts; methods: rounding)
    """
    tell = progress or silent
    truth = read_known(table, count=count, within=within, missing=missing)
    chosen, budgets = find_methods(methods, **options), check_epsilons(epsilons)
    asked = read_questions(questions, truth.counts)
    number = whole_number(repetitions, "repetitions", least=1)
    means: dict[tuple[str, str], dict[str, float]] = {}
    for method, epsilon in product(chosen, budgets):
        errors = []
        for done in range(number):
            tell(f"{method.name}, epsilon {epsilon}", done / number)
            errors.append(_errors(truth, method.publish(truth, epsilon, done + 1), asked))
        tell(f"{method.name}, epsilon {epsilon}", 1.0)
        means[method.name, epsilon] = {
            name: float(np.mean([each[name] for each in errors])) for name in errors[0]
        }
    return Comparison(
        non_private_errors=means,
        table=truth,
        methods=chosen,
        epsilons=budgets,
        asked=tuple(asked),
        repetitions=number,
    )


def _errors(
    table: KnownTable, released: Integers, asked: list[PlannedQuestion]
) -> dict[str, float]:
    """Absolute errors of one release."""
    errors = {
        ONE_COUNT: float(np.abs(released - table.counts).mean()),
        DISTANCE: w1(released, table.counts),
    }
    if len(table.labels) > 1:
        inside = [table.group == group for group in range(len(table.labels))]
        within = [w1(released[rows], table.counts[rows]) for rows in inside]
        errors[DISTANCE_WITHIN] = float(np.mean(within))
    histogram = histogram_of(released)
    ask = {each.name: each.question.of_histogram for each in asked}
    return errors | {name: abs(of(histogram) - of(table.whole)) for name, of in ask.items()}
