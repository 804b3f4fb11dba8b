"""z: a distribution, and what the weights make of it."""

import base64
import binascii
import math
import zlib
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.errors import roughly
from holdfast.former.verify.mechanism import Floats, Sums
from holdfast.former.verify.report import Damage

TOLERANCE = Fraction(1, 10**9)
MOST_SHARES = 1_000_001
SMALLEST_SHARE = Fraction(1, 1 << 40)  # smaller shares are treated as 0 by the mechanism


def read_target(record: dict[str, Any]) -> Floats:
    """z as the doubles that are stated; raises if it is no distribution over 0 to max_count."""
    shares = record["target"]
    if len(shares) != record["max_count"] + 1:
        raise Damage(f"target has {len(shares)} shares, max_count + 1 are needed.")
    for i, share in enumerate(shares):
        if type(share) not in (int, float) or not math.isfinite(share) or share < 0:
            raise Damage(f"target: share {i} is not a number of 0 or more.")
    if abs(Fraction(math.fsum(shares)) - 1) > TOLERANCE:
        raise Damage("target: the shares do not add up to 1.")
    return np.array(shares, dtype=np.float64)


def unpacked_target(text: str, n: int) -> list[float]:
    """The shares of a z that is given as a text: their doubles, deflated, in Base64."""
    if n > MOST_SHARES:
        raise Damage(f"target: there are more than {MOST_SHARES} counts.")
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(base64.b64decode(text, validate=True), 8 * n + 1)
    except (binascii.Error, ValueError, zlib.error):
        raise Damage("target cannot be read: its text is damaged.") from None
    if len(data) != 8 * n or not inflater.eof or inflater.unused_data:
        raise Damage("target does not hold a number for every count.")
    return list(np.frombuffer(data, dtype="<f8").tolist())


def check_fixed_point(sums: Sums, target: Floats, record: dict[str, Any]) -> str:
    """z K = z in every entry, within 1e-9 and what shares below 2^-40 can account for.

    The sums are doubles; what they can be off by is taken from what is allowed.
    """
    if not record["fixed_point"]:
        return "not claimed: this mechanism keeps no distribution"
    lost = math.fsum(target[target < float(SMALLEST_SHARE)])
    limit = TOLERANCE + 4 * Fraction(lost)
    away = np.abs(np.diff(sums.below, prepend=0.0) - target)
    if away.max() + 2 * sums.error > limit:
        raise Damage(
            f"the fixed point fails: the share of count {int(np.argmax(away))} is not kept within "
            f"{float(limit):.1e}."
        )
    return f"every share is kept within {away.max():.1e}; at most {float(limit):.1e} is allowed"


def check_expected_change(sums: Sums, target: Floats, record: dict[str, Any]) -> str:
    """The expected change of a count, by the weights and z."""
    stated = record["expected_change_of_a_count"]
    if np.count_nonzero(target) == 1:
        if stated is not None:
            raise Damage("expected_change_of_a_count must be null where z has a single value.")
        return "not stated: z has a single value"
    change = float(sums.crossing.sum())
    if stated is None or abs(stated - change) > 1e-6 * max(change, 1e-3):
        raise Damage("expected_change_of_a_count is not what z and the weights give.")
    return f"a count is off by {roughly(change, 3)} on average"
