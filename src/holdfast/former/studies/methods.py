"""Whole ways from a table of counts to a release, by name."""

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.former.constructors import Heuristic, Optimal, UnfixedOptimum
from holdfast.former.constructors.baselines import DiscreteGaussian, Staircase, TruncatedGeometric
from holdfast.former.constructors.constructor import LONGEST_OF_MATRIX, Constructor
from holdfast.former.engines.memory import privatize
from holdfast.former.privatizers import CyclicLaplace
from holdfast.former.release.release import Release
from holdfast.former.studies.agencies import (
    CellKey,
    RandomRounding,
    Rounding,
    Suppression,
    read_ptable,
)
from holdfast.former.studies.agencies.laws import Published
from holdfast.former.studies.simulator import draw_distribution
from holdfast.former.privacy.metrics import count_error


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to publish a table: what `holdfast.privatize` is called with.

    >>> Method(name="mine", constructor=UnfixedOptimum(), split="1/4").name
    'mine'
    """

    name: str
    """What tables and pictures call it."""
    privatizer: Any = None
    """Stage 1; None is the default."""
    constructor: Any = None
    """Stage 2; None is the default. A baseline without stage 1 gets the whole budget."""
    split: Any = None
    """Stage 1's share of the budget; None is the default."""

    def reaches(self, max_count: int) -> bool:
        """Whether it can be used with counts up to this: a matrix of them may be too large."""
        held = isinstance(self.constructor, Constructor) and self.constructor.holds_matrix
        return not held or max_count <= LONGEST_OF_MATRIX

    def simulate(self, counts: Integers, *, epsilon: Any, max_count: int, seed: int) -> Release:
        """A seeded release: for studies, it protects nobody."""
        return privatize(
            counts,
            epsilon=epsilon,
            max_count=max_count,
            privatizer=self.privatizer,
            constructor=self.constructor,
            split=self.split,
            seed=seed,
        )


def papers_method(name: str, constructor: Any, privatizer: Any = None) -> Method:
    """A method of two stages with the paper's split, after its privatizer or another."""
    stage_1 = CyclicLaplace() if privatizer is None else privatizer
    return Method(name=name, privatizer=stage_1, constructor=constructor, split="paper")


def methods_by_name(error: str = "absolute") -> dict[str, Method]:
    """The default, the paper's methods and what people use today.

    `error` is what stage 2 minimises where it can; the default minimises the absolute one.
    """
    methods = (
        Method(name="default"),
        papers_method("paper", Optimal(error=error)),
        *(
            papers_method(f"heuristic-{kind}", Heuristic(selector=kind, error=error))
            for kind in ("max", "min", "sandwich")
        ),
        papers_method("unfixed-optimum", UnfixedOptimum(error=error)),
        Method(name="truncated-geometric", constructor=TruncatedGeometric()),
        Method(name="staircase", constructor=Staircase()),
        Method(name="discrete-gaussian", constructor=DiscreteGaussian()),
    )
    return {method.name: method for method in methods}


METHODS = methods_by_name()


@dataclass(frozen=True, kw_only=True)
class AgencyMethod(Method):
    """What an agency does today. It has no certificate, so it is simulated and never released."""

    published: Published
    """The law of what is published for each count."""

    def reaches(self, max_count: int) -> bool:
        """Its law is a matrix of all counts by all counts."""
        return max_count <= LONGEST_OF_MATRIX

    def simulate(self, counts: Integers, *, epsilon: Any, max_count: int, seed: int) -> Any:
        """The distribution that is published, and the matrix; epsilon says nothing here."""
        matrix = self.published.matrix(max_count)
        histogram = np.bincount(np.minimum(counts, max_count), minlength=max_count + 1)
        drawn = draw_distribution(histogram, matrix, np.random.default_rng(seed))
        return Uncertified(distribution=drawn, mechanism=BareMatrix(matrix=matrix))


@dataclass(frozen=True, kw_only=True, eq=False)
class BareMatrix:
    """A matrix that nothing is proved of."""

    matrix: Floats

    def count_error(self, source: Floats, error: Any = "absolute") -> float:
        """Expected count error for inputs distributed as `source`."""
        return count_error(self.matrix, source, error)


@dataclass(frozen=True, kw_only=True, eq=False)
class Uncertified:
    """What a comparison looks at of a release, where there is none."""

    distribution: Floats
    mechanism: BareMatrix


AGENCIES = {
    name: AgencyMethod(name=name, published=published)
    for name, published in {
        "suppression": Suppression(),
        "rounding": Rounding(),
        "random-rounding": RandomRounding(),
        "cell-key": CellKey(),
    }.items()
}
"""What agencies do today; compared where they are named."""


def find_methods(methods: Iterable[str | Method] | None) -> tuple[Method, ...]:
    """Methods by name, by `module:NAME` or as they are; None means all the named ones.

    >>> [method.name for method in find_methods(["default", "staircase"])]
    ['default', 'staircase']
    """
    given = list(METHODS) if methods is None else methods
    if isinstance(given, str | Method):
        given = [given]
    found = tuple(_find(method) for method in given)
    names = [method.name for method in found]
    if not names or len(set(names)) < len(names):
        raise HoldfastError(
            "`methods` must name one method or more, each once. "
            f"Hint: the names are {', '.join(METHODS)}."
        )
    return found


def methods_for(methods: Iterable[str | Method] | None, max_count: int) -> tuple[Method, ...]:
    """Methods that can be used with counts up to this: of all named ones those that can, and
    refuses others that were asked for.

    >>> [method.name for method in methods_for(None, 100_000)]
    ['default', 'paper']
    """
    found = find_methods(methods)
    short = [method.name for method in found if not method.reaches(max_count)]
    if short and methods is not None:
        raise HoldfastError(
            f"`methods`: {', '.join(short)} can be compared up to a max_count of "
            f"{LONGEST_OF_MATRIX:,}: more makes too large a matrix of all counts by all counts. "
            "Hint: leave them out, or a smaller max_count."
        )
    return tuple(method for method in found if method.reaches(max_count))


def _find(method: Any) -> Method:
    if isinstance(method, Method):
        return method
    if method in METHODS | AGENCIES:
        return (METHODS | AGENCIES)[method]
    if isinstance(method, str) and method.startswith("cell-key:"):
        table = read_ptable(method.partition(":")[2])
        return AgencyMethod(name="cell-key", published=CellKey(table=table))
    if isinstance(method, str) and ":" in method:
        return _imported(method)
    raise HoldfastError(
        f"`methods`: there is no method {method!r:.40}. Hint: the names are "
        f"{', '.join(METHODS | AGENCIES)}; cell-key:FILE reads a table of ptable's; "
        "your own is a holdfast.Method, or the text 'module:NAME' of one."
    )


def _imported(text: str) -> Method:
    module, _, name = text.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise HoldfastError(
            f"`methods`: {text!r:.60} cannot be imported ({type(error).__name__}). "
            "Hint: write module:NAME, and put the module's folder on PYTHONPATH."
        ) from None
    if not isinstance(found, Method):
        raise HoldfastError(f"`methods`: {text!r:.60} is not a holdfast.Method.")
    return found
