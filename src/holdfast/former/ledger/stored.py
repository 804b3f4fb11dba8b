"""The releases that a ledger stores: found again, and never taken for another."""

from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError, listed_names
from holdfast.former.ledger.corrections import Labels, receipt_of, refuse_moved
from holdfast.former.ledger.entries import Spend, State
from holdfast.former.ledger.ledger import Ledger
from holdfast.former.ledger.periods import Period
from holdfast.former.ledger.receipts import read_receipt
from holdfast.former.ledger.recognition import RowPrints
from holdfast.former.ledger.request import Request
from holdfast.former.privatizers.private_quantile import PrivateQuantile
from holdfast.former.release.bundle import bundle_size, check_free, new_folder
from holdfast.former.release.facts import ReleaseFacts
from holdfast.former.release.several import SeveralFacts
from holdfast.former.tables.leaks import SAME_COUNTS


def find_stored(
    ledger: Ledger, dataset: str, fingerprint: str, rows: RowPrints | None = None
) -> Spend | None:
    """The spend whose release is stored, with the same parameters: of the same table, or of one
    that had some of its columns."""
    made = ledger.made(dataset, fingerprint)
    for spend in made or (ledger.made_with_fewer_columns(dataset, rows) if rows else ()):
        if ledger.folder(spend.id, spend.fingerprint).is_dir():
            return spend
        if spend.state is State.DONE:
            raise _lost(ledger, spend)
    return None


def find_corrected(
    ledger: Ledger, dataset: str, rows: RowPrints | None, labels: Labels | None, corrects: Any
) -> Spend:
    """The spend of a release whose counts are to be shown again beside other labels or columns;
    raises unless they are the same counts in the same order, released with the same parameters,
    and no earlier label is now on another row."""
    receipt = receipt_of(corrects)
    spend = None if receipt is None else ledger.paid_for(receipt)
    if spend is None or spend.dataset != dataset:
        raise HoldfastError(
            f"`corrects` must be a release that this ledger paid for as {dataset!r}. Nothing was "
            "drawn or spent. Hint: `holdfast ledger check` tells whether it did."
        )
    if rows is None or spend.known_by is None or rows.counts != spend.known_by.counts:
        raise HoldfastError(
            "`corrects`: this is another release. What was counted, the counts, their order, the "
            "groups or a parameter are not those of the release that it should correct, or that "
            "cannot be known. Nothing was drawn or spent. Hint: leave `corrects` out to draw and "
            "pay for it; to correct labels alone keep the order of the rows."
        )
    if rows.moves_labels_of(spend.known_by):
        raise HoldfastError(
            "`corrects`: the labels are those of the first release, and stand in other rows. That "
            "corrects nothing: the same draws would be published of other rows. Nothing was drawn "
            "or spent. Hint: put the rows back into their original order."
        )
    refuse_moved(corrects, labels)
    if not ledger.folder(spend.id, spend.fingerprint).is_dir():
        raise _lost(ledger, spend)
    return spend


def same_counts(
    ledger: Ledger, dataset: str, alone: Mapping[str, bytes], period: Period | None
) -> str:
    """What is to be said before counts are released that were released as those of another period;
    nothing where they were not. It comes from the true counts: for the steward alone."""
    found = [] if period is None else ledger.same_in_another_period(dataset, alone, period)
    if not found:
        return ""
    spend, columns = found[0]
    named = f" of {listed_names(columns)}" if len(alone) > 1 else ""
    return (
        f"the counts{named} for {period} are, row by row, those that were released for "
        f"{spend.period}"
    )


def refuse_same_counts(
    ledger: Ledger, dataset: str, alone: Mapping[str, bytes], request: Request
) -> None:
    """Raise if counts were released as those of another period: mostly that is the wrong file."""
    words = "" if request.same_counts else same_counts(ledger, dataset, alone, request.period)
    if words:
        raise HoldfastError(
            f"`period`: {words}. Nothing was drawn or spent. Hint: is this the right file? If "
            f"nothing has changed, say so: publish_anyway=[{SAME_COUNTS!r}], --publish-anyway "
            f"{SAME_COUNTS!r}."
        )


def mark_done(ledger: Ledger, spend: Spend) -> None:
    """Mark the spend of a run that was killed when its release was whole and it was not marked."""
    if spend.state is not State.DONE:
        with suppress(HoldfastError):
            ledger.finish(spend.id, State.DONE)


def check_asked_for(
    release: ReleaseFacts | SeveralFacts[Any], *, folder: Path, request: Request
) -> None:
    """Raise if anything that can be seen of a release is not as it was asked for."""
    if isinstance(release, SeveralFacts):
        own = list(release.columns.values())
        fits = release.privacy.epsilon == request.epsilon and len(own) == len(request.columns)
        fits = fits and all(map(_as_asked, own, request.columns))
    else:
        fits = _as_asked(release, request)
    if not fits:
        raise HoldfastError(
            f"`{folder}` holds another release than the one that was made. Nothing was "
            "drawn. Hint: put the right folder back."
        )


def _as_asked(release: ReleaseFacts, request: Request) -> bool:
    privacy = release.privacy
    return (
        privacy.epsilon == request.epsilon
        and privacy.delta <= request.delta
        and not privacy.simulated
        and privacy.budget.contributions == request.parameters["contributions"]
        and release.structural_zeros == request.structural_zeros
        and release.rows == request.rows
        and _has_max_count(release, request.parameters["max_count"])
    )


def _has_max_count(release: ReleaseFacts, asked: int | PrivateQuantile) -> bool:
    found = release.max_count_found
    if isinstance(asked, PrivateQuantile):
        wanted = Fraction(asked.q), asked.highest
        return found is not None and (found.q, found.highest) == wanted
    return found is None and release.drawn_with.max_count == asked


def check_room(ledger: Ledger, request: Request, fingerprint: str = "") -> None:
    """Raise, while nothing is spent, if a new release could not be stored.

    A stored release that no spend belongs to means that the ledger has forgotten it.
    """
    folder = ledger.folder(0, fingerprint).parent
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = {path.name: path for path in folder.iterdir() if "-" in path.name}
    except OSError as error:
        raise HoldfastError(f"`{folder}` cannot be used: {error.strerror}.") from None
    known = ledger.folders()  # after what is found: a spend is always there before its folder
    for name in sorted(found.keys() - known):
        mine = fingerprint and name.endswith(f"-{fingerprint[:32]}")
        if mine or _was_forgotten(ledger, found[name]):
            raise _forgotten(ledger, found[name])
    new_folder(ledger.folder(0, fingerprint))
    check_free(folder, _stored_size(request) if fingerprint else 0)


def _stored_size(request: Request) -> int:
    """About how many bytes the counts of a release take."""
    if request.columns:
        return sum(map(_stored_size, request.columns))
    top = request.parameters["max_count"]
    highest = 0 if isinstance(top, PrivateQuantile) else top  # not known yet: at the least
    rows = request.rows + request.structural_zeros
    return bundle_size(rows * (len(str(highest)) + 1), highest)


def _was_forgotten(ledger: Ledger, folder: Path) -> bool:
    """What a killed run left half stored belongs to a spend that the ledger does know."""
    receipt = read_receipt(folder)
    return receipt is not None and receipt.ledger == ledger.name and not ledger.knows(receipt)


def _forgotten(ledger: Ledger, folder: Path) -> HoldfastError:
    return HoldfastError(
        f"`{folder}` holds a release that `{ledger.path}` paid for and does not know of. Nothing "
        "was drawn or spent. Hint: was an older copy of the ledger put back? Put back the newest "
        "one."
    )


def _lost(ledger: Ledger, spend: Spend) -> HoldfastError:
    folder = ledger.folder(spend.id, spend.fingerprint)
    return HoldfastError(
        f"this release was made on {spend.time[:10]}, but `{folder}`, where it "
        "was stored, is gone. Nothing was drawn. Hint: put the folder back; to draw and pay again, "
        "change a parameter."
    )
