"""Whose a privatizer or a constructor is: only ours go by our names."""

import ast
import importlib
from dataclasses import fields
from fractions import Fraction
from typing import Any

from holdfast.errors import HoldfastError, one_line
from holdfast.paper import constructors, privatizers
from holdfast.paper.constructors import baselines
from holdfast.paper.constructors.construction import FunctionConstructor
from holdfast.paper.privatizers.privatizer import FunctionPrivatizer

PRIVATIZERS: dict[str, type] = {
    name: getattr(privatizers, name) for name in privatizers.__all__ if name != "Privatizer"
}
CONSTRUCTORS: dict[str, type] = {
    name: getattr(constructors, name)
    for name in ("Frontier", "Heuristic", "LinearProgram", "Optimal", "UnfixedOptimum")
} | {
    name: getattr(baselines, name)
    for name in ("DiscreteGaussian", "Staircase", "TruncatedGeometric")
}
OURS = (*PRIVATIZERS.values(), *CONSTRUCTORS.values())


def is_ours(part: Any) -> bool:
    """Whether a part is of a class of ours: a derived class could draw less noise."""
    return type(part) in OURS


def made_anew(part: Any) -> Any:
    """The same part from its fields alone, where its class is ours: what was put on the object
    beside them, such as a `measure` that draws no noise, must not run under our name."""
    if not is_ours(part):
        return part
    return type(part)(**{field.name: vars(part)[field.name] for field in fields(part)})


def recorded_name(part: Any, called: str | None = None) -> str:
    """What a record calls a part: as ours call themselves, or as one's own."""
    if is_ours(part):
        return called or repr(part)
    if isinstance(part, FunctionConstructor | FunctionPrivatizer):
        name = getattr(part.function, "__qualname__", type(part.function).__qualname__)
    else:
        name = type(part).__qualname__
    return f"not holdfast's: {one_line(str(name))[:200]}"


def find_part(text: str, kinds: dict[str, type], parameter: str) -> Any:
    """A part by its name, with values in brackets, or one's own as module:NAME.

    >>> find_part("Heuristic(selector='max')", CONSTRUCTORS, "constructor")
    Heuristic(selector='max', error='absolute')
    """
    if ":" in text and "(" not in text:
        return _imported(text, parameter)
    try:
        call = ast.parse(text, mode="eval").body
        name = call.func if isinstance(call, ast.Call) else call
        kind = kinds[name.id] if isinstance(name, ast.Name) else None
        values = [_value(node) for node in getattr(call, "args", ())]
        named = {str(key.arg): _value(key.value) for key in getattr(call, "keywords", ())}
    except (KeyError, SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        kind = None
    if kind is None:
        raise HoldfastError(
            f"`{parameter}`: there is no {parameter} {text!r:.60}. Hint: the names are "
            f"{', '.join(kinds)}, with values as in Heuristic(selector='max'); your own is "
            "module:NAME."
        )
    try:
        return kind(*values, **named)
    except TypeError as error:
        raise HoldfastError(f"`{parameter}`: {text!r:.60} has other values ({error}).") from None


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "Fraction" and not node.keywords:
        return Fraction(*(ast.literal_eval(part) for part in node.args))
    return ast.literal_eval(node)


def _imported(text: str, parameter: str) -> Any:
    module, _, name = text.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise HoldfastError(
            f"`{parameter}`: {text!r:.60} cannot be imported ({type(error).__name__}). "
            "Hint: write module:NAME, and put the module's folder on PYTHONPATH."
        ) from None
