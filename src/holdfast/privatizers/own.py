"""The privatizers that holdfast vouches for: these very classes, and none derived from them."""

from fractions import Fraction

from holdfast.arrays import Floats, Integers
from holdfast.privacy.randomness import Randomness
from holdfast.privatizers.classic_laplace import ClassicLaplace
from holdfast.privatizers.gaussian import CumulativeGaussian, CyclicGaussian
from holdfast.privatizers.hierarchical import Hierarchical
from holdfast.privatizers.laplace import CumulativeIsotonic, CumulativeSmooth, CyclicLaplace
from holdfast.privatizers.noisy import Noisy
from holdfast.privatizers.privatizer import Privatizer, Skipped
from holdfast.privatizers.privelet import Privelet

OWN: tuple[type[Noisy], ...] = (
    ClassicLaplace,
    CumulativeGaussian,
    CumulativeIsotonic,
    CumulativeSmooth,
    CyclicGaussian,
    CyclicLaplace,
    Hierarchical,
    Privelet,
)


def is_own(privatizer: Privatizer) -> bool:
    """Whether a privatizer is holdfast's: a derived class could draw less noise."""
    return type(privatizer) in (*OWN, Skipped)


def certifier(privatizer: Privatizer) -> str:
    """Who vouches for a privatizer's epsilon: OpenDP for ours, its author for another."""
    if is_own(privatizer):
        return privatizer.certified_by
    return f"claimed by {type(privatizer).__qualname__}, not checked"


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
