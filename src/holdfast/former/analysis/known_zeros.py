"""Rows that are publicly known to be zero: a release tells which they are, or only how many."""

from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import numbered

if TYPE_CHECKING:
    from holdfast.former.release.release import Release


def drawn_rows(release: "Release") -> Integers:
    """How many rows the mechanism drew each count for: all but those publicly known to be zero."""
    shown = release.counts[release.counts >= 0]  # the others are missing
    rows = np.bincount(shown, minlength=len(release.target)).astype(np.int64)
    rows[0] -= release.structural_zeros
    return rows


def known_share(release: "Release") -> float:
    """Which part of the rows of kind 0 is publicly known to be zero; 0 if those have a kind of
    their own."""
    zeros = int(np.count_nonzero(release.counts == 0))
    told = release.structural_zero_rows is not None
    return release.structural_zeros / zeros if zeros and not told else 0.0


def known_notes(release: "Release", counts: Any) -> tuple[str, ...]:
    """What to say where some of these rows' released counts are 0, and any may be known."""
    if not known_share(release) or not (np.asarray(counts) == 0).any():
        return ()
    return (
        f"this release has {numbered(release.structural_zeros, 'row')} publicly known to be zero, "
        "which cannot be told apart here from rows that were drawn as 0: a row that shows 0 is "
        "taken as either, in proportion. If you know that it is one of them, it is 0",
    )
