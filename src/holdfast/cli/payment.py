"""What `holdfast privatize` tells a ledger beside what is to be paid."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger


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
