"""Parameters of a release as text: the same text only for what is surely the same."""

import hashlib
import secrets
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

_PLAIN = (type(None), bool, int, float, str, bytes, Decimal, Fraction)
_NUMBERS = "biuf"  # kinds of numpy's types that are nothing but their bytes
_KNOWN_AS = {  # ledgers know these modules by the places they stood at first
    "holdfast.constructors.baselines": "holdfast.baselines",
    "holdfast.privacy.metrics": "holdfast.metrics",
    "holdfast.privatizers.private_quantile": "holdfast.private_quantile",
}


def identity(part: Any) -> str:
    """A privatizer, a constructor or a plain value as text that is the same in every process.

    Recognised are plain values, lists and arrays of them, and holdfast's own classes and functions.
    Everything else gets a new text every time: who knows what a function or a class of somebody's
    own does next time. Its release is drawn and paid for anew rather than mistaken for another.

    >>> from holdfast.constructors import Optimal
    >>> identity(Optimal(error="squared"))
    "holdfast.constructors.optimal.Optimal(target=None, error='squared', delta=0)"
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
    if is_dataclass(kind) and _is_own(kind):
        inside = (f"{field.name}={identity(getattr(part, field.name))}" for field in fields(part))
        return f"{_name(kind)}({', '.join(inside)})"
    if _is_own(kind) and getattr(part, "__dict__", None) == {}:  # its class says it all
        return f"{_name(kind)}()"
    if callable(part) and _is_own(part):
        return _name(part)
    return f"{kind.__qualname__}#{secrets.token_hex(16)}"


def _name(part: Callable[..., Any]) -> str:
    """Where a class or function is found, in the words that ledgers remember."""
    module = part.__module__
    for now, before in _KNOWN_AS.items():
        if module == now or module.startswith(f"{now}."):
            module = before + module.removeprefix(now)
    return f"{module}.{part.__qualname__}"


def _is_own(part: Callable[..., Any]) -> bool:
    """Whether this very class or function is found under its name inside holdfast."""
    module, name = getattr(part, "__module__", None), getattr(part, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or hasattr(part, "__self__"):
        return False
    found: Any = sys.modules.get(module) if module.startswith("holdfast.") else None
    for step in name.split("."):
        found = getattr(found, step, None)
    return found is part
