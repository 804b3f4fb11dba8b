"""What `holdfast privatize` shows of a release that it has made, and of what it has paid."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.arrays import Floats
from holdfast.cli.screen import note, show, tabled
from holdfast.errors import listed_names, numbered, one_line, roughly
from holdfast.fit.histogram import LEVEL, Histogram
from holdfast.release.common import decimals
from holdfast.release.picture import bars, bins, labels
from holdfast.release.record import plain_promise

if TYPE_CHECKING:
    from rich.table import Table

    from holdfast.release.release import Column, Release
    from holdfast.request import Request


def say_release(release: "Release", folder: Path) -> None:
    """What was released and promised, with its distribution as bars."""
    for words in release.notes:
        note(words)
    for column in release.columns:
        title = f"Share of rows with each value of {one_line(column.name)}"
        show(of_release(release, column, title))
        show(_noise(column))
    counts = {column.name for column in release.columns}
    others = listed_names([name for name in release.published if name not in counts], 30)
    persons = release.promise.persons
    show(
        f"Released {numbered(release.rows, 'row')} with epsilon = "
        f"{roughly(float(release.promise.epsilon), 3)} for one {persons.unit}.\n"
        f"Published as it is: {others or 'nothing but the counts'}, and the order of the rows.\n"
        f"The release is in {folder}; start with its README.md."
    )
    if release.promise.simulated:
        show("SIMULATION: a seed was given, so this release protects nobody.", style="bold")


def summary(release: "Release", request: "Request", folder: Path) -> dict[str, Any]:
    """The same as plain values."""
    from holdfast.cli.ledger import as_dict
    from holdfast.ledger.ledger import balances_of

    must_fit = zip(("ledger", "ledger_for_all_time"), balances_of(request), strict=False)
    return {
        "folder": os.fspath(folder),
        "promise": plain_promise(release.promise),
        "rows": release.rows,
        "groups": dict(zip(release.group_names, release.partition.sizes.tolist(), strict=True)),
        "columns": {
            column.name: {"rows": column.distribution.size, "total": column.distribution.total}
            for column in release.columns
        },
        "published": list(release.published),
        "notes": list(release.notes),
        "repeated": release.repeated,
    } | {name: as_dict(balance) for name, balance in must_fit}


def _noise(column: "Column") -> str:
    noise = column.measurement.noise
    return (
        f"Noisy counts in rows.csv are within {noise.quantile(LEVEL):,} of the true ones nine "
        f"times in ten, and {roughly(float(noise.mean_absolute))} off on average.\n"
    )


def say_balances(request: "Request") -> None:
    """What a dataset has left."""
    from holdfast.cli.ledger import sentence
    from holdfast.ledger.ledger import balances_of

    for balance in balances_of(request):
        show(sentence(balance))


def say_what_was_spent(release: "Release", request: "Request") -> None:
    """What a release took, and what that leaves."""
    if release.repeated:
        show("These counts were released before: nothing was measured or spent.", style="bold")
        show("Whoever sees them published again learns that the counts have not changed.")
    say_balances(request)


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
    return f"{decimals(100 * share, 1):>5}% {'█' * (eighths // 8)}{EIGHTHS[eighths % 8]}"
