"""A release from its folder, whether it has one column of counts or several."""

from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError, listed_names

A_SECOND = 1_000_000  # counts, of all groups, that are verified in about so long
FEW_SECONDS, MOST_SECONDS = 5, 60


def verifying(directory: Path) -> str:
    """What is said while a release is verified; of long ranges in groups also how long it takes."""
    from holdfast.former.verify.folder import RECORD, read_small
    from holdfast.former.verify.strict_json import parse_json

    try:
        record = parse_json(read_small(directory, RECORD), RECORD)
        counts, groups = int(record["max_count"]), int(record["within"]["groups"])
    except (HoldfastError, OSError, ValueError, TypeError, LookupError, OverflowError):
        return "Verifying …"  # without groups, or damaged, which is found later
    seconds = counts * groups // A_SECOND
    if not FEW_SECONDS <= seconds <= MOST_SECONDS:
        return "Verifying …"
    return f"Verifying {groups} groups with counts up to {counts:,}: some {seconds} seconds …"


def open_release(directory: Path) -> Any:
    """The release in a folder; raises where `holdfast.verify` finds any damage."""
    from holdfast.former.release.bundle import load
    from holdfast.former.release.several_bundle import load_table

    return load_table(directory) if has_several(directory) else load(directory)


def one_column(directory: Path, of: list[str]) -> Any:
    """The release of the one column of counts that is named, or that there is."""
    release = open_release(directory)
    if not has_several(directory):
        if of and of != [release.count_column]:
            raise HoldfastError(f"the one column of counts here is {release.count_column!r:.60}.")
        return release
    if len(of) != 1:
        raise HoldfastError(
            "this release has several columns of counts. Hint: name one of them with --of: "
            f"{listed_names(release)}."
        )
    return release[of[0]]


def has_several(directory: Path) -> bool:
    """Whether a bundle says that it has several columns of counts; it is checked when loaded."""
    from holdfast.former.ledger.receipts import record_in

    return "counts" in record_in(directory)
