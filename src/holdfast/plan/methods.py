"""Ways to publish a table of counts, by name: holdfast's, the paper's, agencies', plain noise."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.plan.agencies import (
    Published,
    random_rounding,
    read_ptable,
    rounding,
    suppression,
    usual_ptable,
)
from holdfast.plan.simulation import KnownTable, simulated
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
    agency: Published | None = None
    """The law of what an agency publishes, which knows no epsilon."""


def _holdfast(table: KnownTable, epsilon: str, seed: int, options: dict[str, Any]) -> Integers:
    return simulated(table, epsilon, seed, **options).counts


def _plain_noise(table: KnownTable, epsilon: str, seed: int) -> Integers:
    noise = Noise(epsilon=exact_epsilon(epsilon))
    return add_noise(table.counts, noise, randomness(seed), stream="plain noise")


def _truncated(table: KnownTable, epsilon: str, seed: int) -> Integers:
    """The same, with all below 0 at 0 and all above the highest count there."""
    return np.clip(_plain_noise(table, epsilon, seed), 0, table.counts.max())


def _paper(table: KnownTable, epsilon: str, seed: int, method: Any) -> Integers:
    n = max(int(table.counts.max()), 1) + 1
    return np.asarray(method.privatize(table.counts, epsilon=epsilon, n=n, seed=seed).counts)


def _agency(table: KnownTable, epsilon: str, seed: int, law: Published) -> Integers:
    return law.draw(table.counts, np.random.default_rng(seed))


PLAIN: dict[str, Publish] = {"plain-noise": _plain_noise, "truncated-geometric": _truncated}
AGENCIES: dict[str, Callable[[], Published]] = {
    "suppression": suppression,
    "rounding": rounding,
    "random-rounding": random_rounding,
    "cell-key": usual_ptable,
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

    if isinstance(name, ComparedMethod):
        return name
    if isinstance(name, Method):
        return ComparedMethod(name=name.name, publish=partial(_paper, method=name))
    if name == "holdfast":
        return ComparedMethod(name=name, publish=partial(_holdfast, options=options))
    if name in PLAIN:
        return ComparedMethod(name=name, publish=PLAIN[name])
    if name in AGENCIES or str(name).startswith("cell-key:"):
        law = read_ptable(name[9:]) if name not in AGENCIES else AGENCIES[name]()
        return ComparedMethod(name=name, publish=partial(_agency, law=law), agency=law)
    if name not in METHODS:
        names = [*USUAL[:1], "plain-noise", *METHODS, *AGENCIES, "cell-key:FILE"]
        raise HoldfastError(f"`methods` must be among {', '.join(names)}, got {name!r:.40}.")
    return ComparedMethod(name=name, publish=partial(_paper, method=METHODS[name]))
