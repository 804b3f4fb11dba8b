"""What the command line calls the privatizers."""

from typing import Any

from holdfast.errors import HoldfastError

PRIVATIZERS = {
    "cumulative-smooth": "CumulativeSmooth",
    "cumulative-isotonic": "CumulativeIsotonic",
    "cyclic-laplace": "CyclicLaplace",
    "classic-laplace": "ClassicLaplace",
    "privelet": "Privelet",
    "hierarchical": "Hierarchical",
}
WITH_DELTA = {"cumulative-gaussian": "CumulativeGaussian", "cyclic-gaussian": "CyclicGaussian"}
NAMES = (*PRIVATIZERS, *(f"{name}:DELTA" for name in WITH_DELTA))


def find_privatizer(text: str) -> Any:
    """The privatizer of this name; a Gaussian's delta follows a colon.

    >>> find_privatizer("privelet"), find_privatizer("cyclic-gaussian:1e-6").delta
    (Privelet(projection='clip'), Fraction(1, 1000000))
    """
    from holdfast import privatizers

    name, colon, delta = text.partition(":")
    if colon and name in WITH_DELTA:
        return getattr(privatizers, WITH_DELTA[name])(delta=delta)
    if text not in PRIVATIZERS:
        raise HoldfastError(f"`privatizer` must be one of {', '.join(NAMES)}, got {text!r:.40}.")
    return getattr(privatizers, PRIVATIZERS[text])()
