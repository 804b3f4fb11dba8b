"""What `holdfast privatize` shows of a release that it has made, and of what it has paid."""

import os
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.cli.screen import note, show
from holdfast.errors import listed_names, numbered, one_line, roughly

if TYPE_CHECKING:
    from holdfast.release.release import Column, Release
    from holdfast.request import Request

LEVEL = 0.9


def say_release(release: "Release", folder: Path) -> None:
    """What was released and promised, with its distribution as bars."""
    from holdfast.cli.bars import of_release

    for words in release.notes:
        note(words)
    for column in release.columns:
        title = f"Share of rows with each count of {one_line(column.title)}"
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
    from holdfast.cli.ledger import account_dict
    from holdfast.ledger.ledger import balances_of

    return {
        "folder": os.fspath(folder),
        "promise": release.promise.to_dict(),
        "rows": release.rows,
        "groups": dict(zip(release.group_names, release.partition.sizes.tolist(), strict=True)),
        "columns": {
            column.title: {"rows": column.distribution.size, "total": column.distribution.total}
            for column in release.columns
        },
        "published": list(release.published),
        "notes": list(release.notes),
        "repeated": release.repeated,
    } | account_dict(balances_of(request))


def _noise(column: "Column") -> str:
    noise = column.measurement.noise
    return (
        f"Noisy counts in rows.csv are within {noise.quantile(LEVEL):,} of the true ones nine "
        f"times in ten, and {roughly(float(noise.mean_absolute))} off on average.\n"
    )


def say_balances(request: "Request", epsilon: Fraction | None = None) -> None:
    """What a dataset has left; and whether that is enough for a run, where there is one to come."""
    from holdfast.cli.ledger import sentence
    from holdfast.ledger.ledger import balances_of

    balances = balances_of(request)
    for balance in balances:
        show(sentence(balance))
    if epsilon is not None and any(epsilon > balance.epsilon_left for balance in balances):
        show("That is not enough, unless this very release was made before.", style="bold")


def say_what_was_spent(release: "Release", request: "Request") -> None:
    """What a release took, and what that leaves."""
    if release.repeated:
        show(
            "This release was made before: it is the same one, nothing was measured or spent.",
            style="bold",
        )
        show("Whoever sees it published again learns that the table has not changed.")
    say_balances(request)
