"""The chain of entries: each hash covers its entry, its number and the hash before it.

Hashes are made under the ledger's own random key (HMAC-SHA256), so that one of them, in a release
that everybody can read, tells nothing.
"""

import hmac
import re
from dataclasses import dataclass

_RECEIPT = re.compile(r"([0-9a-f]{32}):([1-9][0-9]{0,17}):([0-9a-f]{64})", re.ASCII)


def link(key: bytes, previous: str, number: int, text: str) -> str:
    """The hash of an entry; before the first one stands the ledger's name."""
    return hmac.digest(key, f"{previous}\n{number}\n{text}".encode(), "sha256").hex()


@dataclass(frozen=True)
class Receipt:
    """An entry of a ledger as others remember it, by number and hash."""

    ledger: str
    """The random name of the ledger."""
    entry: int
    hash: str

    def __str__(self) -> str:
        return f"{self.ledger}:{self.entry}:{self.hash}"

    @staticmethod
    def from_text(text: str) -> "Receipt | None":
        """The inverse of `str`; None where it is no receipt.

        >>> Receipt.from_text("a" * 32 + ":7:" + "b" * 64).entry
        7
        """
        found = _RECEIPT.fullmatch(text)
        return None if found is None else Receipt(found[1], int(found[2]), found[3])
