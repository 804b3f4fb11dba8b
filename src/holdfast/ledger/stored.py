"""The releases that a ledger stores: found again, and never taken for another."""

from contextlib import suppress
from fractions import Fraction
from pathlib import Path

from holdfast.errors import HoldfastError
from holdfast.ledger.ledger import Ledger, Spend, State
from holdfast.ledger.request import Request
from holdfast.privatizers.private_quantile import PrivateQuantile
from holdfast.release.bundle import new_folder
from holdfast.release.release import ReleaseFacts


def find_stored(ledger: Ledger, dataset: str, fingerprint: str) -> Spend | None:
    """The spend whose release, of the same table with the same parameters, is stored."""
    for spend in ledger.made(dataset, fingerprint):
        if ledger.folder(spend.id, fingerprint).is_dir():
            return spend
        if spend.state is State.DONE:
            raise _lost(ledger, spend, fingerprint)
    return None


def mark_done(ledger: Ledger, spend: Spend) -> None:
    """Mark the spend of a run that was killed when its release was whole and it was not marked."""
    if spend.state is not State.DONE:
        with suppress(HoldfastError):
            ledger.finish(spend.id, State.DONE)


def check_asked_for(release: ReleaseFacts, *, folder: Path, request: Request) -> None:
    """Raise if anything that can be seen of a release is not as it was asked for."""
    privacy = release.privacy
    fits = (
        privacy.epsilon == request.epsilon
        and privacy.delta <= request.delta
        and not privacy.simulated
        and privacy.budget.contributions == request.parameters["contributions"]
        and release.structural_zeros == request.structural_zeros
        and release.rows == request.rows
        and _has_max_count(release, request.parameters["max_count"])
    )
    if not fits:
        raise HoldfastError(
            f"`{folder}` holds another release than the one that was made. Nothing was "
            "drawn. Hint: put the right folder back."
        )


def _has_max_count(release: ReleaseFacts, asked: int | PrivateQuantile) -> bool:
    found = release.max_count_found
    if isinstance(asked, PrivateQuantile):
        wanted = Fraction(asked.q), asked.highest
        return found is not None and (found.q, found.highest) == wanted
    return found is None and release.drawn_with.max_count == asked


def check_room(ledger: Ledger, fingerprint: str) -> None:
    """Raise, while nothing is spent, if a new release could not be stored.

    A stored release that no spend belongs to means that the ledger has forgotten it.
    """
    folder = ledger.folder(0, fingerprint).parent
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise HoldfastError(f"`{folder}` cannot be made: {error.strerror}.") from None
    found = {path.name for path in folder.glob(f"*-{fingerprint[:32]}")}
    known = {ledger.folder(id, fingerprint).name for id in ledger.spends_on(fingerprint)}
    if found - known:  # folders first, then spends: a spend is always there before its folder
        raise HoldfastError(
            f"`{folder / min(found - known)}` holds this release, but `{ledger.path}` does not "
            "know of it. Nothing was drawn or spent. Hint: was an older copy of the ledger put "
            "back? Put back the newest one."
        )
    new_folder(ledger.folder(0, fingerprint))


def _lost(ledger: Ledger, spend: Spend, fingerprint: str) -> HoldfastError:
    folder = ledger.folder(spend.id, fingerprint)
    return HoldfastError(
        f"this release was made on {spend.time[:10]}, but `{folder}`, where it "
        "was stored, is gone. Nothing was drawn. Hint: put the folder back; to draw and pay again, "
        "change a parameter."
    )
