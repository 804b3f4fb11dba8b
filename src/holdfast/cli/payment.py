"""What `holdfast privatize` sees to before it pays: room on the disk, and words for the ledger."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger


def check_room(file: Path, out: Path | None, max_count: Any) -> None:
    """Raise if a release of this file plainly has no room where it is to be written."""
    from holdfast.release.bundle import bundle_size, check_free

    size = file.stat().st_size if file.is_file() else 0
    highest = max_count if isinstance(max_count, int) else 0
    check_free((out or Path()).parent, bundle_size(size // 4, highest))  # columns may be withheld


def told(
    ledger: Path, file: Path, count: list[str] | None, out: Path | None, purpose: str | None
) -> "Ledger":
    """The ledger that is to pay, which writes down of what, to where and why."""
    from holdfast.ledger.ledger import Ledger

    return Ledger(ledger).telling(
        purpose=purpose or "",
        file=os.path.abspath(file),
        column=", ".join(count or ()),
        folder=os.path.abspath(out) if out is not None else "",
    )
