"""The methods of the paper's comparisons by name: what is put beside another way to publish."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from numpy.typing import ArrayLike

from holdfast.paper.constructors import Frontier, Heuristic, Optimal, UnfixedOptimum
from holdfast.paper.constructors.baselines import DiscreteGaussian, Staircase, TruncatedGeometric
from holdfast.paper.framework import Result, paper_rule, privatize
from holdfast.paper.privatizers import Cumulative, CyclicLaplace


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to publish a table: what `paper.privatize` is called with.

    >>> mine = Method(name="mine", privatizer=CyclicLaplace(), constructor=Optimal(), split="1/4")
    >>> mine.privatize([0, 2, 1], epsilon=1, n=4, seed=1).epsilon_1
    Fraction(1, 4)
    """

    name: str
    """What tables and pictures call it."""
    constructor: Any
    """Step 3."""
    privatizer: Any = None
    """Step 2; None for a constructor that needs no target."""
    split: Any = None
    """f = ε_1/ε_t; default the paper's rule of thumb."""

    def privatize(self, counts: ArrayLike, *, epsilon: Any, n: Any, seed: Any = None) -> Result:
        """A table by this method."""
        return privatize(
            counts, epsilon, n, self.privatizer, self.constructor, split=self.split, seed=seed
        )

    def share(self, epsilon: Fraction) -> Fraction:
        """f at this budget."""
        if self.privatizer is None:
            return Fraction(0)
        return paper_rule(epsilon) if self.split is None else Fraction(self.split)


def two_stages(name: str, constructor: Any, privatizer: Any = None) -> Method:
    """A method with the paper's split, after its cyclic Laplace mechanism or another privatizer."""
    return Method(name=name, privatizer=privatizer or CyclicLaplace(), constructor=constructor)


def methods_by_name(error: str = "absolute") -> dict[str, Method]:
    """The paper's methods, the optimum after cumulative sums, a point of the frontier, and what
    people use today; `error` is what step 3 minimises where it can."""
    methods = (
        two_stages("paper", Optimal(error=error)),
        *(
            two_stages(f"heuristic-{kind}", Heuristic(selector=kind, error=error))
            for kind in ("max", "min", "sandwich")
        ),
        two_stages("unfixed-optimum", UnfixedOptimum(error=error)),
        two_stages("cumulative", Optimal(error=error), Cumulative()),
        two_stages("frontier", Frontier(price="0.5")),
        Method(name="truncated-geometric", constructor=TruncatedGeometric(error=error)),
        Method(name="staircase", constructor=Staircase(error=error)),
        Method(name="discrete-gaussian", constructor=DiscreteGaussian(error=error)),
    )
    return {method.name: method for method in methods}


METHODS = methods_by_name()
"""By name, for comparisons."""
