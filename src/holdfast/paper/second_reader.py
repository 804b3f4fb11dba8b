"""The second reader: checks a folder of `paper.privatize` in exact arithmetic of its own.

It imports nothing that made the folder.
"""

import csv
import hashlib
import json
import os
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.verify.report import Check, Failure, Verification

BITS = 256
KEPT_WITHIN = Fraction(1, 10**9)
UNCHECKED = "nobody checked that the privatizer keeps what its author claims"
Rows = list[list[int]]


def verify(folder: str | os.PathLike[str]) -> Verification:
    """Check the table, z, the weights and their certificate of a folder, from its files alone.

    Parameters:
        folder: Where `Result.save` has written it.

    Returns:
        A `Verification`: true if every check passed.

    Raises:
        HoldfastError: If the folder holds no such result.

    >>> verify("no such folder")
    Traceback (most recent call last):
    holdfast.errors.HoldfastError: `no such folder` cannot be read as a result of the paper's \
framework (FileNotFoundError).
    """
    place = Path(folder)
    try:
        record = json.loads((place / "record.json").read_text(encoding="utf-8"))
        contents = {name: (place / name).read_bytes() for name in ("table.csv", "weights.npy")}
        weights = _weights(place / "weights.npy")
        checks = _checks(record, contents, weights, _counts(place / "table.csv"))
        return Verification(folder=place, checks=checks, simulated=bool(record["simulated"]))
    except (OSError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise HoldfastError(
            f"`{place}` cannot be read as a result of the paper's framework "
            f"({type(error).__name__})."
        ) from None


def _checks(
    record: dict[str, Any], contents: dict[str, bytes], weights: Rows, counts: list[int]
) -> tuple[Check, ...]:
    names = ("epsilon", "epsilon_n", "epsilon_1", "epsilon_2", "delta_1", "delta_2")
    epsilon, spent_n, spent_1, spent_2, delta_1, delta_2 = (Fraction(record[n]) for n in names)
    n, total = int(record["n"]), int(record["total"])
    grow = exp_below(spent_2)
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}
    certified = record["certified_1"]
    privatizer, constructor = (str(record[name]) for name in ("privatizer", "constructor"))
    return (
        _check("the files have the sums that the record gives", sums == record["files"]),
        _check(
            "the parts of epsilon are not negative and add up to it",
            min(spent_n, spent_1) >= 0 < spent_2 and spent_n + spent_1 + spent_2 == epsilon,
        ),
        _check("delta is from 0 to below 1", min(delta_1, delta_2) >= 0 and delta_1 + delta_2 < 1),
        _check(
            "the noise library's privacy map states no more than epsilon_1"
            if certified is not None
            else "epsilon_1 is what the author of the privatizer claims",
            certified is None or Fraction(certified) <= spent_1,
            f"privatizer: {privatizer}",
            None if certified is not None else UNCHECKED,
        ),
        _check("z is a distribution of n counts", _is_distribution(record["z"], n)),
        _check(
            f"the weights are {n} x {n}, none is negative, and every row adds up to {total}",
            len(weights) == n
            and all(len(row) == n and min(row) >= 0 and sum(row) == total for row in weights),
            f"constructor: {constructor}",
        ),
        _check(
            "adjacent rows of the weights keep epsilon_2"
            + (" and delta_2" if delta_2 else "")
            + ", compared as integers",
            _is_private(weights, grow, delta_2, total),
        ),
        _check(
            "the certificate in the record is what the weights prove",
            _is_certificate(record["certificate"], weights, spent_2, delta_2),
        ),
        _check(_law_in_words(record), _keeps_law(record, weights, total)),
        _check(
            "the table has its rows, with counts from 0 to n - 1 that the weights allow",
            len(counts) == record["rows"]
            and all(0 <= count < n and any(row[count] for row in weights) for count in set(counts)),
        ),
    )


def _check(name: str, holds: bool, detail: str = "", warning: str | None = None) -> Check:
    damage = Failure.DAMAGE if not holds else None
    return Check(name=name, passed=bool(holds), detail=detail, failure=damage, warning=warning)


def exp_below(x: Fraction) -> Fraction:
    """A rational not above e^x: its series in integers, each term rounded down.

    >>> float(exp_below(Fraction(1)))
    2.718281828459045
    """
    term = total = 1 << BITS
    k = 0
    while term:
        k += 1
        term = term * x.numerator // (x.denominator * k)
        total += term
    return Fraction(total, 1 << BITS)


def _weights(path: Path) -> Rows:
    array = np.load(path, allow_pickle=False)
    if array.dtype != np.dtype("<i8") or array.ndim != 2:
        raise ValueError("not a matrix of 64-bit integers")
    return list(array.tolist())


def _counts(path: Path) -> list[int]:
    with path.open(newline="", encoding="utf-8") as lines:
        return [int(row["count"]) for row in csv.DictReader(lines)]


def _is_private(weights: Rows, grow: Fraction, delta: Fraction, total: int) -> bool:
    """K_i <= e^ε K_k for adjacent i, k; with a δ the excess of a row is at most δ of the total."""
    top, bottom = grow.numerator, grow.denominator
    allowed = delta.numerator * bottom * total
    for rows in pairwise(weights):
        for first, second in (rows, rows[::-1]):
            excess = 0
            for a, b in zip(first, second, strict=True):
                over = a * bottom - b * top
                if over > 0:
                    excess += over
            if excess * delta.denominator > allowed:
                return False
    return True


def _is_certificate(
    certificate: dict[str, Any], weights: Rows, epsilon: Fraction, delta: Fraction
) -> bool:
    """The largest ratio, where it says, and within the epsilon that it proves."""
    proved = Fraction(certificate["epsilon"])
    if delta:
        total = sum(weights[0])
        at = Fraction(certificate["delta"])
        return (
            proved == epsilon
            and at <= delta
            and _is_private(weights, exp_below(epsilon), at, total)
        )
    top, bottom, i, j = (int(part) for part in certificate["worst"])
    met = (i, j) == (-1, -1) and top == bottom == 1
    if not met:
        met = {weights[i][j], weights[i + 1][j]} == {top, bottom} and top > bottom > 0
    ratio = Fraction(top, bottom)
    return bool(met and proved <= epsilon and ratio <= exp_below(proved)) and _is_private(
        weights, ratio, Fraction(0), 1
    )


def _is_distribution(shares: list[float], n: int) -> bool:
    exact = [Fraction(share) for share in shares]
    total = sum(exact, Fraction(0))
    return len(exact) == n and min(exact) >= 0 and abs(total - 1) <= KEPT_WITHIN


def _law_in_words(record: dict[str, Any]) -> str:
    if record["target"] is None:
        return "no law of the released counts is claimed"
    if record["source"] is None:
        return "z is the fixed point of the weights, to 1e-9"
    return "the weights carry z to the law that is claimed, to 1e-9"


def _keeps_law(record: dict[str, Any], weights: Rows, total: int) -> bool:
    z, n = record["z"], len(weights)
    if record["target"] is None:
        return record["source"] is None
    target = record["target"]
    if not _is_distribution(target, n):
        return False
    source = target if record["source"] is None else record["source"]
    if max(abs(Fraction(a) - Fraction(b)) for a, b in zip(z, source, strict=True)) > KEPT_WITHIN:
        return False
    scale = max(Fraction(share).denominator for share in z)  # powers of two
    shares = [int(Fraction(share) * scale) for share in z]
    for j in range(n):
        image = sum(share * row[j] for share, row in zip(shares, weights, strict=True) if share)
        if abs(Fraction(image, scale * total) - Fraction(target[j])) > KEPT_WITHIN:
            return False
    return True
