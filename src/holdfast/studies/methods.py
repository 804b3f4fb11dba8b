"""Whole ways from a table of counts to a release, by name."""

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from holdfast.arrays import Integers
from holdfast.constructors import Heuristic, Optimal, UnfixedOptimum
from holdfast.constructors.baselines import DiscreteGaussian, Staircase, TruncatedGeometric
from holdfast.engines.memory import privatize
from holdfast.errors import HoldfastError
from holdfast.privatizers import CyclicLaplace
from holdfast.release.release import Release


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


def _find(method: Any) -> Method:
    if isinstance(method, Method):
        return method
    if method in METHODS:
        return METHODS[method]
    if isinstance(method, str) and ":" in method:
        return _imported(method)
    raise HoldfastError(
        f"`methods`: there is no method {method!r:.40}. Hint: the names are "
        f"{', '.join(METHODS)}; your own is a holdfast.Method, or the text 'module:NAME' of one."
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
