"""Distributions of counts as bars on the screen: zero by itself, then equal bins."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from holdfast.arrays import Floats
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
    from rich.table import Table

    starts = bins(columns[0][1])
    shares = [shares_in(histogram, starts) for _, histogram in columns]
    highest = max(float(each.max()) for each in shares)
    table = Table(title=title, title_justify="left")
    table.add_column("count", justify="right", min_width=5)
    for name, _ in columns:
        table.add_column(name, width=width + 7, no_wrap=True)
    for row, label in enumerate(labels(starts)):
        table.add_row(label, *(_share_and_bar(each[row], highest, width) for each in shares))
    return table


def of_release(release: "Release", column: "Column", title: str, width: int = 30) -> "Table":
    """The distribution that a release has, each share with its 90 % interval."""
    from rich.table import Table

    shown = bars(release, column, None, bins(release.histogram(column)))
    highest = max(bar.share for bar in shown)
    table = Table(title=title, title_justify="left")
    table.add_column("count", justify="right", min_width=5)
    table.add_column("share of rows", width=width + 7, no_wrap=True)
    table.add_column("90 % interval", justify="right", no_wrap=True)
    for bar in shown:
        interval = f"{bar.low:.1%} to {bar.high:.1%}"
        table.add_row(bar.label, _share_and_bar(bar.share, highest, width), interval)
    return table


def _share_and_bar(share: float, highest: float, width: int) -> str:
    eighths = round(share / highest * width * 8)
    return f"{share:6.1%} {'█' * (eighths // 8)}{EIGHTHS[eighths % 8]}"
