"""The releases that a ledger keeps: found again, and never taken for another."""

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from holdfast.errors import HoldfastError
from holdfast.ledger.ledger import DONE, Ledger, Spend
from holdfast.privatizers.private_quantile import PrivateQuantile
from holdfast.release.bundle import new_folder
from holdfast.release.release import ReleaseFacts

if TYPE_CHECKING:
    from holdfast.ledger.spending import Request

R = TypeVar("R", bound=ReleaseFacts)


def kept_release(
    ledger: Ledger,
    dataset: str,
    fingerprint: str,
    request: "Request",
    read: Callable[[Path], R],
) -> R | None:
    """The release that was made of the same table with the same parameters, if there is one.

    `read` opens a folder, and raises where `holdfast.verify` finds damage.
    """
    for spend in ledger.made(dataset, fingerprint):
        folder = ledger.folder(spend.id, fingerprint)
        if folder.is_dir():
            release = read(folder)
            if not is_asked_for(release, request):
                raise HoldfastError(
                    f"`{folder}` holds another release than the one that was made. Nothing was "
                    "drawn. Hint: put the right folder back."
                )
            if spend.state != DONE:  # killed after the release was whole, before it was marked
                with suppress(HoldfastError):
                    ledger.finish(spend.id, DONE)
            return release
        if spend.state == DONE:
            raise _lost(ledger, spend, fingerprint)
    return None


def is_asked_for(release: ReleaseFacts, request: "Request") -> bool:
    """Whether what can be seen of a release is as it was asked for."""
    privacy = release.privacy
    return (
        privacy.epsilon == request.epsilon
        and privacy.delta <= request.delta
        and not privacy.simulated
        and privacy.budget.contributions == request.parameters["contributions"]
        and release.structural_zeros == request.structural_zeros
        and release.rows == request.rows
        and _has_the_bound(release, request)
    )


def _has_the_bound(release: ReleaseFacts, request: "Request") -> bool:
    asked, found = request.parameters["max_count"], release.bound
    if isinstance(asked, PrivateQuantile):
        return found is not None and (found.q, found.highest) == (
            Fraction(asked.q),
            asked.highest,
        )
    return found is None and release.mechanism.max_count == asked


def check_room(ledger: Ledger, fingerprint: str) -> None:
    """Raise, while nothing is spent, if a new release could not be kept.

    A kept release that no spend belongs to means that the ledger has forgotten it.
    """
    folder = ledger.folder(0, fingerprint).parent
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise HoldfastError(f"`{folder}` cannot be made: {error.strerror}.") from None
    found = {path.name for path in folder.glob(f"*-{fingerprint[:32]}")}
    known = {ledger.folder(id, fingerprint).name for id in ledger.paid(fingerprint)}
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
        "was kept, is gone. Nothing was drawn. Hint: put the folder back; to draw and pay again, "
        "change a parameter."
    )
