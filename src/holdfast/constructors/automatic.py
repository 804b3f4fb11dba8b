"""The default of stage 2, chosen by measurement."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from holdfast.constructors.construction import Construction
from holdfast.constructors.constructor import Constructor
from holdfast.constructors.fallback import optimal_or_heuristic
from holdfast.constructors.heuristic import Heuristic
from holdfast.constructors.optimal import Optimal
from holdfast.constructors.windowed import Windowed
from holdfast.privacy.budget import exact_epsilon
from holdfast.tables.histogram import check_target

OPTIMAL_UP_TO, WINDOWED_UP_TO, BOUNDED_UP_TO = 501, 2001, 5001


@dataclass(frozen=True, kw_only=True)
class Automatic(Constructor):
    """The optimum where it takes a few seconds, the nearest to it that does beyond.

    `Optimal` up to n = 501, or `Heuristic` should its search stop early and that be better;
    `Windowed` up to n = 2001; then `Heuristic`, the best of five orders, up to n = 5001 with
    a lower bound. `make bench` prints the times that this rests on. The result says which it
    was, and its gap where one is proved.

    >>> Automatic()([0.5, 0.3, 0.2], epsilon="0.5").method
    'Optimal()'
    """

    error: Any = "absolute"
    """Count error that is minimised: see `metrics.error_weights`."""
    progress: Callable[[int, float], None] | None = None
    """Called after every step of `Optimal` with its number and the gap so far."""

    def __call__(self, target: ArrayLike, *, epsilon: Any) -> Construction:
        """The mechanism for this target and budget."""
        z, exact = check_target(target), exact_epsilon(epsilon)
        if len(z) <= OPTIMAL_UP_TO:
            # Ctrl-C must stop a release, not publish what there is
            optimal = Optimal(error=self.error, progress=self.progress, interruptible=False)
            return optimal_or_heuristic(optimal, z, exact)
        if len(z) <= WINDOWED_UP_TO:
            return Windowed(error=self.error)(z, epsilon=exact)
        bound = len(z) <= BOUNDED_UP_TO
        return Heuristic(error=self.error, bound=bound)(z, epsilon=exact)
