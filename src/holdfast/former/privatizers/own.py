"""The privatizers that holdfast vouches for: these very classes, and none derived from them."""

from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

from holdfast.arrays import Floats, Integers
from holdfast.errors import one_line
from holdfast.former.privatizers.classic_laplace import ClassicLaplace
from holdfast.former.privatizers.gaussian import CumulativeGaussian, CyclicGaussian
from holdfast.former.privatizers.hierarchical import Hierarchical
from holdfast.former.privatizers.laplace import CumulativeIsotonic, CumulativeSmooth, CyclicLaplace
from holdfast.former.privatizers.long_range import LongRange
from holdfast.former.privatizers.noisy import Noisy
from holdfast.former.privatizers.private_quantile import PrivateQuantile
from holdfast.former.privatizers.privatizer import Privatizer, Skipped
from holdfast.former.privatizers.privelet import Privelet
from holdfast.former.privacy.randomness import Randomness

OWN: tuple[type[Noisy], ...] = (
    ClassicLaplace,
    CumulativeGaussian,
    CumulativeIsotonic,
    CumulativeSmooth,
    CyclicGaussian,
    CyclicLaplace,
    Hierarchical,
    LongRange,
    Privelet,
)

LONG = 1000  # the highest count up to which every count is measured alone


def usual_privatizer(max_count: int) -> Privatizer:
    """What stage 1 is unless somebody says otherwise, by how far the counts run.

    >>> usual_privatizer(50), usual_privatizer(100_000)
    (CumulativeSmooth(projection='smooth'), LongRange())
    """
    return CumulativeSmooth() if max_count <= LONG else LongRange()


def is_own(privatizer: Privatizer) -> bool:
    """Whether a privatizer is holdfast's: a derived class could draw less noise."""
    return type(privatizer) in (*OWN, Skipped)


def made_anew(part: Any) -> Any:
    """The same privatizer or quantile from its fields alone, where its class is holdfast's.

    What was put on the object beside its fields, such as a `measure` that draws no noise, would
    otherwise run under the name of the class.
    """
    if type(part) not in (*OWN, Skipped, PrivateQuantile):
        return part
    given = (
        {field.name: vars(part)[field.name] for field in fields(part)} if is_dataclass(part) else {}
    )
    return type(part)(**given)


def published_name(privatizer: Privatizer) -> str:
    """A privatizer as a release names it: only holdfast's own may be called as they are."""
    if is_own(privatizer):
        return repr(privatizer)
    kind = type(privatizer)
    name = kind.__qualname__ if kind.__repr__ is object.__repr__ else repr(privatizer)
    return f"not holdfast's: {one_line(name)[:200]}"


def certifier(privatizer: Privatizer) -> str:
    """Who vouches for a privatizer's epsilon: OpenDP for ours, its author for another."""
    if is_own(privatizer):
        return privatizer.certified_by
    return f"claimed by {one_line(type(privatizer).__qualname__)[:200] or 'nobody'}, not checked"


def measured_target(
    privatizer: Privatizer, histogram: Integers, *, epsilon: Fraction, source: Randomness
) -> tuple[Floats, Integers | None]:
    """z, and the noisy integers behind it where the privatizer is one of ours.

    The integers are the whole output of stage 1's noise and ε-private by themselves; z is
    computed from them, so publishing both costs what publishing one does. Their noise law is
    known exactly, which that of z is not.
    """
    if not isinstance(privatizer, Noisy) or not is_own(privatizer):
        return privatizer(histogram, epsilon=epsilon, rng=source), None
    noisy = privatizer.measure(histogram, epsilon, source)
    return privatizer.fit(noisy, len(histogram), int(histogram.sum()), epsilon), noisy
