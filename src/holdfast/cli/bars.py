"""Distributions of counts as bars on the screen: zero by itself, then equal bins."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from holdfast.arrays import Floats
from holdfast.cli.screen import tabled
from holdfast.fit.histogram import Histogram
from holdfast.release.picture import bars, bins, labels

if TYPE_CHECKING:
    from rich.table import Table

    from holdfast.release.release import Column, Release

EIGHTHS = ("", *"▏▎▍▌▋▊▉")


def shares_in(histogram: Histogram, starts: Sequence[int]) -> Floats:
    """The share of the rows in each bin; counts below 0 are in the first."""
    place = np.maximum(np.searchsorted(starts, histogram.values, side="right") - 1, 0)
    rows = np.bincount(place, weights=histogram.rows, minlength=len(starts))
    return np.asarray(rows / max(histogram.size, 1))


def side_by_side(columns: Sequence[tuple[str, Histogram]], title: str, width: int = 13) -> "Table":
    """Distributions side by side, in the bins that the first one asks for."""
    starts = bins(columns[0][1])
    shares = [shares_in(histogram, starts) for _, histogram in columns]
    highest = max(float(each.max()) for each in shares)
    names = [f"{name:{width + 7}}" for name, _ in columns]
    rows = [
        (label, *(_share_and_bar(each[row], highest, width) for each in shares))
        for row, label in enumerate(labels(starts))
    ]
    return tabled(("count", *names), rows, title=title, left=names, no_wrap=True)


def of_release(release: "Release", column: "Column", title: str, width: int = 30) -> "Table":
    """The distribution that a release has, each share with its 90 % interval."""
    shown = bars(release, column, None, bins(release.histogram(column)))
    highest = max(bar.share for bar in shown)
    rows = [
        (
            bar.label,
            _share_and_bar(bar.share, highest, width),
            f"{100 * bar.low:.1f} to {100 * bar.high:.1f} %",
        )
        for bar in shown
    ]
    share = f"{'share of rows':{width + 7}}"
    headings = ("count", share, "90 % interval")
    return tabled(headings, rows, title=title, left=(share,), no_wrap=True)


def _share_and_bar(share: float, highest: float, width: int) -> str:
    eighths = round(share / highest * width * 8)
    return f"{share:6.1%} {'█' * (eighths // 8)}{EIGHTHS[eighths % 8]}"
