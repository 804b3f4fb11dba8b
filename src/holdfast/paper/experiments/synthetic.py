"""Data sets that a definition and a fixed seed make, for those who have no file."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from holdfast.arrays import Integers

Generator = np.random.Generator

SEED = 2025
BY_DEFINITION = f"drawn from the paper's definition, seed {SEED}"


@dataclass(frozen=True, kw_only=True)
class Made:
    """A table of counts that is drawn rather than read."""

    name: str
    rule: Callable[[Generator], Integers]
    max_count: int
    source: str = BY_DEFINITION
    stand_in: bool = False
    """Whether it stands in for data that somebody else has."""

    def draw(self) -> Integers:
        """The counts, the same ones every time."""
        return self.rule(np.random.default_rng([SEED, *self.name.encode()]))


def _uniform(rng: Generator) -> Integers:
    return rng.integers(0, 30, 3000)


def _skewed(ratio: float) -> Callable[[Generator], Integers]:
    p = ratio ** np.arange(70.0)
    return lambda rng: rng.choice(70, size=10_000, p=p / p.sum())


def _bimodal(rng: Generator) -> Integers:
    return np.concatenate([rng.binomial(39, share, 10_000) for share in (0.7, 0.3)])


def _inflated(value: int, extra: int) -> Callable[[Generator], Integers]:
    return lambda rng: np.append(rng.integers(0, 80, 10_000 - extra), np.full(extra, value))


def _schools(rng: Generator) -> Integers:
    """Tiny schools, the hump of elementary and middle schools, and a tail of high schools."""
    tiny = rng.geometric(0.22, 7_700) - 1
    usual = rng.gamma(5.2, 6.1, 73_000)
    large = rng.lognormal(np.log(52), 0.55, 15_269)
    return np.asarray(np.rint(np.concatenate([tiny, usual, large])), dtype=np.int64)


def _heaped(rng: Generator) -> Integers:
    """Estimates by people: 45 % to the nearest 10, 35 % to the nearest 5, the rest exact."""
    exact = rng.gamma(2.0, 16.0, 20_000)
    step = rng.choice([10, 5, 1], size=len(exact), p=[0.45, 0.35, 0.2])
    return np.asarray(step * np.rint(exact / step), dtype=np.int64)


MADE = {
    made.name: made
    for made in (
        Made(name="binomial", rule=lambda rng: rng.binomial(20, 0.5, 10_000), max_count=20),
        Made(name="uniform", rule=_uniform, max_count=29),
        Made(name="left-skewed", rule=_skewed(140 / 139), max_count=69),
        Made(name="right-skewed", rule=_skewed(139 / 140), max_count=69),
        Made(name="bimodal", rule=_bimodal, max_count=39),
        Made(name="zero-inflated", rule=_inflated(0, 200), max_count=79),
        Made(name="top-inflated", rule=_inflated(79, 100), max_count=79),
        Made(
            name="schools",
            rule=_schools,
            max_count=80,
            source=f"STAND-IN shaped like teachers of US public schools, not data, seed {SEED}",
            stand_in=True,
        ),
        Made(
            name="heaped",
            rule=_heaped,
            max_count=100,
            source=f"made: gamma counts heaped at multiples of 5 and 10, seed {SEED}",
        ),
    )
}


def is_stand_in(source: str) -> bool:
    """Whether data from there stand in for real ones.

    >>> is_stand_in(MADE["schools"].source), is_stand_in(BY_DEFINITION)
    (True, False)
    """
    return any(made.stand_in and made.source == source for made in MADE.values())
