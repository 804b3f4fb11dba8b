"""The head of a ledger's chain, written a second time beside its releases.

It is written after the entry, so it may be behind the ledger, and never before it. Where it is
before it, or is not on the chain, the ledger is an older copy.
"""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from holdfast.errors import HoldfastError
from holdfast.former.ledger.chain import Receipt


def releases_of(ledger: Path) -> Path:
    """The folder beside a ledger in which its releases are stored."""
    file = ledger.resolve()
    return file.with_name(file.name + ".releases")


def head_file(ledger: Path) -> Path:
    """Where the head is repeated."""
    return releases_of(ledger) / "head"


def read_head(ledger: Path) -> Receipt | None:
    """The head that is remembered beside a ledger; None where none is."""
    file = head_file(ledger)
    try:
        if not file.is_file():
            return None
        with file.open("rb") as opened:
            content = opened.read(200)
    except OSError as error:
        raise HoldfastError(f"`{file}` cannot be read ({error.strerror}).") from None
    text = content.decode("ascii", "replace")
    head = Receipt.from_text(text.removesuffix("\n"))
    if head is None or text != f"{head}\n":
        raise HoldfastError(
            f"`{file}`, which repeats the last entry of `{ledger}`, is damaged. Nothing was "
            "granted. Hint: if no older copy of the ledger was put back, remove this file; it is "
            "written again."
        )
    return head


def write_head(ledger: Path, head: Receipt) -> None:
    """Repeat the head; where that fails it stays behind, which is no fault of the ledger."""
    file = head_file(ledger)
    partial = file.with_name(f".head.{secrets.token_hex(8)}")
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, exist_ok=True)
        try:
            with partial.open("x", encoding="ascii", newline="") as opened:
                opened.write(f"{head}\n")
                opened.flush()
                os.fsync(opened.fileno())
            partial.replace(file)
        finally:
            partial.unlink(missing_ok=True)


def check_head(ledger: Path, name: str, hashes: list[str]) -> None:
    """Raise if what is remembered beside a ledger is not on its chain."""
    head = read_head(ledger)
    if head is None:
        return
    if head.ledger != name:
        raise HoldfastError(
            f"`{head_file(ledger).parent}` belongs to another ledger than `{ledger}`. Nothing was "
            "granted. Hint: put back the ledger that was there; if it is the wrong folder, move it "
            "away."
        )
    if not knows(head, name, hashes):
        raise HoldfastError(
            f"`{ledger}` is an older copy: `{head_file(ledger)}` knows of a later entry. Nothing "
            "was granted. Hint: put back the newest ledger; docs/ledger.md says what to do where "
            "there is none."
        )


def knows(receipt: Receipt, name: str, hashes: list[str]) -> bool:
    """Whether an entry is on a chain."""
    found = receipt.entry <= len(hashes) and hashes[receipt.entry - 1] == receipt.hash
    return receipt.ledger == name and found
