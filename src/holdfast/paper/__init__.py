"""The paper as it is: Preserving Target Distributions With Differentially Private Count Mechanisms.

>>> from holdfast import paper
>>> from holdfast.paper.constructors import Heuristic
>>> from holdfast.paper.privatizers import CyclicLaplace
>>> result = paper.privatize(
...     [0, 3, 1, 0, 7], epsilon="1", n=6, privatizer=CyclicLaplace(),
...     constructor=Heuristic(selector="sandwich"), seed=1,
... )
>>> len(result.counts), result.simulated
(5, True)

Where each definition, theorem, algorithm, figure and table is: docs/paper.md.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "METHODS": "methods",
    "Method": "methods",
    "Result": "framework",
    "baselines": "constructors.baselines",
    "constructors": "constructors",
    "experiments": "experiments",
    "load": "framework",
    "mechanism": "mechanism",
    "privatize": "framework",
    "privatizers": "privatizers",
    "theory": "theory",
    "verify": "second_reader",
}
_MODULES = ("baselines", "constructors", "experiments", "mechanism", "privatizers", "theory")

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'holdfast.paper' has no attribute {name!r}")
    home = import_module(f"holdfast.paper.{_HOMES[name]}")
    return home if name in _MODULES else getattr(home, name)
