"""z in release.json: numbers that people can read, or where there are very many a short text."""

import base64
import zlib
from typing import Any

import numpy as np

from holdfast.arrays import Floats

MOST_WRITTEN = 10_001  # numbers; 10^6 of them would take 20 MB


def target_to_json(target: Floats) -> list[float] | str:
    """Numbers, or their doubles, 8 bytes each, lowest byte first, deflated, in Base64.

    >>> target_to_json(np.array([0.5, 0.5]))
    [0.5, 0.5]
    """
    if len(target) <= MOST_WRITTEN:
        return list(target.tolist())
    packed = zlib.compress(target.astype("<f8").tobytes())
    return base64.b64encode(packed).decode("ascii")


def target_from_json(stated: Any) -> Floats:
    """The inverse of `target_to_json`, for a record that `holdfast.verify` has found in order.

    >>> z = np.full(20_000, 1 / 20_000)
    >>> len(target_to_json(z)) < 1000, (target_from_json(target_to_json(z)) == z).all()
    (True, np.True_)
    """
    if not isinstance(stated, str):
        return np.array(stated, dtype=np.float64)
    return np.frombuffer(zlib.decompress(base64.b64decode(stated)), dtype="<f8").astype(np.float64)
