"""Rows that are publicly known to be zero, of which a release tells only the number."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from holdfast.release import Release


def drawn_rows(release: "Release") -> NDArray[np.int64]:
    """How many rows the mechanism drew each count for: all but those publicly known to be zero."""
    rows = np.bincount(release.counts, minlength=len(release.target)).astype(np.int64)
    rows[0] -= release.structural_zeros
    return rows


def known_share(release: "Release") -> float:
    """Which part of the rows that show 0 is publicly known to be zero."""
    zeros = int(np.count_nonzero(release.counts == 0))
    return release.structural_zeros / zeros if zeros else 0.0


def known_notes(release: "Release", counts: Any) -> tuple[str, ...]:
    """What to say where some of these rows' released counts are 0."""
    if not release.structural_zeros or not (np.asarray(counts) == 0).any():
        return ()
    return (
        f"this release has {release.structural_zeros:,} rows publicly known to be zero, which "
        "cannot be told apart here from rows that were drawn as 0: a row that shows 0 is taken as "
        "either, in proportion. If you know that it is one of them, it is 0",
    )
