"""What comparing and planning share: checked settings, and runs over all cores."""

import os
import pickle
from collections.abc import Iterable
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError, whole_number
from holdfast.former.studies.methods import Method
from holdfast.former.studies.runner import Row, Study, run
from holdfast.former.privacy.budget import exact_epsilon
from holdfast.former.privacy.metrics import kolmogorov_smirnov, total_variation, wasserstein

DISTANCES = {"w1": wasserstein, "ks": kolmogorov_smirnov, "tv": total_variation}
"""Between two distributions, by the names that tables of results have for them."""
_WARM: set[str] = set()


def simulate(
    study: Study, folder: str | os.PathLike[str] | None, jobs: int | None, progress: bool
) -> list[Row]:
    """Run a study; what keeps it from running in parallel is said in words."""
    jobs = jobs if jobs is None else whole_number(jobs, "jobs", least=1)
    if jobs != 1:
        try:
            pickle.dumps(study.work)
        except Exception:
            raise HoldfastError(
                "a method cannot be sent to other processes. Hint: define its classes at the top "
                "of a module, or use `jobs=1`."
            ) from None
    try:
        return run(study, folder=folder, jobs=jobs, progress=progress)
    except BrokenProcessPool:
        raise HoldfastError(
            "the other processes could not start, or were killed. Hint: in a script put the call "
            "under `if __name__ == '__main__':`, or use `jobs=1`."
        ) from None


def check_epsilons(epsilons: Iterable[Any]) -> tuple[str, ...]:
    """Budgets as exact text, each once."""
    given = [epsilons] if isinstance(epsilons, str | int | float) else list(epsilons)
    texts = tuple(dict.fromkeys(_text(exact_epsilon(e, name="epsilons")) for e in given))
    if not texts:
        raise HoldfastError("`epsilons` is empty. Hint: 0.1 to 5 is usual.")
    return texts


def counts_of(histogram: Integers) -> Integers:
    """A table with this histogram."""
    return np.repeat(np.arange(len(histogram)), histogram)


def seeds_of(seed: int, size: int) -> list[int]:
    """Independent seeds from one."""
    return [int(s) for s in np.random.SeedSequence(seed).generate_state(size, np.uint64).tolist()]


def _text(number: Any) -> str:
    decimal = f"{float(number):.12g}"
    return decimal if exact_epsilon(decimal) == number else str(number)


def warm_up(method: Method) -> None:
    """Compile what the method needs, so that nobody's runtime includes it."""
    if repr(method) not in _WARM:
        method.simulate(np.array([0, 0, 1, 2, 3, 3]), epsilon=1, max_count=3, seed=0)
        _WARM.add(repr(method))
