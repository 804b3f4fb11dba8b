"""The chain of entries, and its head: the last hash, written a second time beside the releases.

Each hash covers its entry, its number and the hash before it, under the ledger's own random key
(HMAC-SHA256), so that one of them, in a release that everybody can read, tells nothing. The head is
written after its entry, so it may lag behind the ledger and is never ahead of it. A head that is
ahead, or not on the chain, shows that the ledger is an older copy.
"""

import hmac
import os
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import HoldfastError

_RECEIPT = re.compile(r"([0-9a-f]{32}):([1-9][0-9]{0,17}):([0-9a-f]{64})", re.ASCII)


@dataclass(frozen=True)
class Receipt:
    """An entry of a ledger as others remember it, by number and hash."""

    ledger: str
    """The random name of the ledger."""
    entry: int
    hash: str

    def __str__(self) -> str:
        return f"{self.ledger}:{self.entry}:{self.hash}"

    @property
    def folder(self) -> str:
        """The name of the folder in which the release that it paid for is stored."""
        return f"{self.ledger[:16]}-{self.entry:06d}-{self.hash[:32]}"

    def is_on(self, hashes: Sequence[str]) -> bool:
        """Whether it is on a chain of its ledger."""
        return self.entry <= len(hashes) and hashes[self.entry - 1] == self.hash

    @staticmethod
    def from_text(text: str) -> "Receipt | None":
        """The inverse of `str`; None where it is no receipt.

        >>> Receipt.from_text("a" * 32 + ":7:" + "b" * 64).entry
        7
        """
        match = _RECEIPT.fullmatch(text)
        return None if match is None else Receipt(match[1], int(match[2]), match[3])


def link(key: bytes, previous: str, number: int, text: str) -> str:
    """The hash of an entry; before the first one stands the ledger's name."""
    return hmac.digest(key, f"{previous}\n{number}\n{text}".encode(), "sha256").hex()


def releases_of(ledger: Path) -> Path:
    """The folder beside a ledger in which its releases are stored."""
    file = ledger.resolve()
    return file.with_name(file.name + ".releases")


def head_file(ledger: Path) -> Path:
    """Where the head is repeated."""
    return releases_of(ledger) / "head"


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


def check_head(ledger: Path, name: str, hashes: Sequence[str]) -> None:
    """Raise if what is remembered beside a ledger is not on its chain."""
    head = _read_head(ledger)
    if head is None:
        return
    if head.ledger != name:
        raise HoldfastError(
            f"`{head_file(ledger).parent}` belongs to another ledger than `{ledger}`. Nothing was "
            "granted. Hint: put back the ledger that was there; if it is the wrong folder, move it "
            "away."
        )
    if not head.is_on(hashes):
        raise HoldfastError(
            f"`{ledger}` is an older copy: `{head_file(ledger)}` knows of a later entry. Nothing "
            "was granted. Hint: put back the newest ledger; docs/ledger.md says what to do where "
            "there is none."
        )


def _read_head(ledger: Path) -> Receipt | None:
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
