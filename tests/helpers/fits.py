"""Fits that tests share: of equal measurements there is one estimate, and one set of draws.

That a fit is a function of its measurement, to the last bit, is tested in tests/fit.
"""

from dataclasses import is_dataclass
from functools import cached_property, lru_cache

import numpy as np

from holdfast.fit.estimate import fit

MOST, MOST_GROUPS = 50, 100  # that are kept
_made = {}


def everything(value):
    """All that a function can see of a measurement, as a key, but for what follows from it."""
    if is_dataclass(value):
        kind = type(value)
        stated = {
            name: everything(each)
            for name, each in vars(value).items()
            if not isinstance(getattr(kind, name, None), cached_property)
        }
        return kind, tuple(sorted(stated.items()))
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, tuple | list):
        return tuple(map(everything, value))
    return value


def fitted(measurement):
    """What `fit` makes of a measurement, made when an equal one is first seen."""
    if measurement.groups > MOST_GROUPS:
        return fit(measurement)
    key = everything(measurement)
    if key not in _made:
        if len(_made) == MOST:
            _made.clear()
        estimate = fit(measurement)
        vars(estimate)["draws"] = lru_cache(maxsize=None)(estimate.draws)
        _made[key] = estimate
    return _made[key]
