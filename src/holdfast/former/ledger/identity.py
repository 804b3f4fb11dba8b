"""Parameters of a release as text: the same text only for what is surely the same."""

import hashlib
import secrets
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.former import constructors, privatizers
from holdfast.former.constructors import Constructor, baselines
from holdfast.former.privatizers import Privatizer
from holdfast.former.privatizers.private_quantile import PrivateQuantile

_KNOWN_AS = {  # the words in which ledgers remember them, wherever they have moved since
    PrivateQuantile: "holdfast.private_quantile.PrivateQuantile",
    baselines.DiscreteGaussian: "holdfast.baselines.discrete_gaussian.DiscreteGaussian",
    baselines.Staircase: "holdfast.baselines.staircase.Staircase",
    baselines.TruncatedGeometric: "holdfast.baselines.truncated_geometric.TruncatedGeometric",
    constructors.Heuristic: "holdfast.former.constructors.heuristic.Heuristic",
    constructors.LinearProgram: "holdfast.former.constructors.linear_program.LinearProgram",
    constructors.Optimal: "holdfast.former.constructors.optimal.Optimal",
    constructors.UnfixedOptimum: "holdfast.former.constructors.unfixed.UnfixedOptimum",
    privatizers.ClassicLaplace: "holdfast.former.privatizers.classic_laplace.ClassicLaplace",
    privatizers.CumulativeGaussian: "holdfast.former.privatizers.gaussian.CumulativeGaussian",
    privatizers.CumulativeIsotonic: "holdfast.former.privatizers.laplace.CumulativeIsotonic",
    privatizers.CumulativeSmooth: "holdfast.former.privatizers.laplace.CumulativeSmooth",
    privatizers.CyclicGaussian: "holdfast.former.privatizers.gaussian.CyclicGaussian",
    privatizers.CyclicLaplace: "holdfast.former.privatizers.laplace.CyclicLaplace",
    privatizers.Hierarchical: "holdfast.former.privatizers.hierarchical.Hierarchical",
    privatizers.LongRange: "holdfast.former.privatizers.long_range.LongRange",
    privatizers.Privelet: "holdfast.former.privatizers.privelet.Privelet",
    privatizers.Skipped: "holdfast.former.privatizers.privatizer.Skipped",
}
_PLAIN = (type(None), bool, int, float, str, bytes, Decimal, Fraction)
_NUMBERS = "biuf"  # kinds of numpy's types that are nothing but their bytes


def identity(part: Any) -> str:
    """A privatizer, a constructor or a plain value as text that is the same in every process.

    Recognised are plain values, lists and arrays of them, holdfast's own classes, and what gives
    itself a `ledger_name`. Everything else gets a new text every time: who knows what a function
    or a class of somebody's own does next time. Its release is drawn and paid for anew rather than
    mistaken for another.

    >>> from holdfast.former.constructors import Optimal
    >>> identity(Optimal(error="squared"))
    "holdfast.former.constructors.optimal.Optimal(target=None, error='squared', delta=0, steps=1)"
    >>> identity(len) == identity(len)
    False
    """
    kind = type(part)
    if kind in _PLAIN:
        return str(part) if kind is Fraction else repr(part)
    if kind in (list, tuple):
        return f"{kind.__name__}({', '.join(map(identity, part))})"
    if kind is dict:
        inside = (f"{identity(key)}: {identity(value)}" for key, value in part.items())
        return f"dict({', '.join(inside)})"
    if isinstance(part, np.generic) and part.dtype.kind in _NUMBERS:
        return f"{part.dtype}({part.item()!r})"
    if kind is np.ndarray and part.dtype.kind in _NUMBERS:
        sum_ = hashlib.sha256(np.ascontiguousarray(part).tobytes()).hexdigest()
        return f"array({part.shape}, {part.dtype.str}, {sum_})"
    if kind in _KNOWN_AS:  # this very class: one derived from it may draw by another law
        return f"{_KNOWN_AS[kind]}({_fields(part)})"
    if isinstance(part, Privatizer | Constructor) and part.ledger_name is not None:
        return f"{kind.__qualname__} named {part.ledger_name!r}"
    return f"{kind.__qualname__}#{secrets.token_hex(16)}"


def is_known(part: Any) -> bool:
    """Whether a privatizer or a constructor is one of holdfast's own, and not derived from it."""
    return type(part) in _KNOWN_AS


def _fields(part: Any) -> str:
    names = [field.name for field in fields(part)] if is_dataclass(part) else []
    return ", ".join(f"{name}={identity(vars(part)[name])}" for name in names)
