"""Releases of the same data that this folder holds already: what they spent adds up."""

from fractions import Fraction
from typing import Any, NamedTuple

from holdfast.errors import HoldfastError
from holdfast.former.ledger.ledger import Ledger
from holdfast.former.ledger.receipts import read_receipt, record_in
from holdfast.former.page.chosen import Chosen
from holdfast.former.page.draft import Draft
from holdfast.former.page.runs import Run
from holdfast.former.page.site import Site


class Earlier(NamedTuple):
    """A release that seems to be of the same data."""

    at: str
    epsilon: Fraction


def earlier(site: Site, run: Chosen, rows: int) -> list[Earlier]:
    """Releases that the page made of the same file, or whose columns are called like those of this
    one and that have as many rows; not those that the ledger counts, if one is named. A bundle does
    not say which file it came from."""
    made = {other.out for other in _runs(site) if other.source == run.source}
    found = []
    for at in site.folder.releases():
        try:
            spent = _spent(site, at)
            alike = str(site.folder.root / at) in made or _is_alike(site, at, run, rows)
        except (HoldfastError, ValueError, TypeError, LookupError, ZeroDivisionError):
            continue  # not a release, or a damaged one
        if alike and spent is not None and not _is_counted(site, at, run):
            found.append(Earlier(at, spent))
    return found


def _spent(site: Site, at: str) -> Fraction | None:
    """What a release promises one person; None for a simulation, which protects nobody."""
    privacy = _record(site, at)["privacy"]
    return None if privacy["simulated"] else Fraction(privacy["epsilon"])


def _is_counted(site: Site, at: str, run: Chosen) -> bool:
    receipt = read_receipt(site.folder.root / at)
    return (
        receipt is not None
        and "ledger" in run.arguments
        and Ledger(run.arguments["ledger"]).knows(receipt)
    )


def _is_alike(site: Site, at: str, run: Chosen, rows: int) -> bool:
    record = _record(site, at)
    columns = [_record(site, f"{at}/{each['folder']}") for each in record.get("counts", ())]
    return any(
        one["count_column"] in run.counts
        and one["category"] == run.arguments.get("category")
        and one["rows"] == rows
        for one in columns or [record]
    )


def _record(site: Site, at: str) -> dict[str, Any]:
    """What is said in a folder inside, to which no link leads out."""
    return record_in(site.folder.find(f"{at}/release.json").parent)


def _runs(site: Site) -> list[Chosen]:
    """What the page has started, of which some may have made a release."""
    found = [Run.of(Draft.find(site.state, name)).chosen for name in site.state.names("drafts")]
    return [run for run in found if run is not None]
