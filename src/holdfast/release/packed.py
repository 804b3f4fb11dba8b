"""How the files of mechanisms begin: a header of 32 bytes, and then numbers, deflated."""

import struct
import zlib

from holdfast.errors import HoldfastError

HEADER = struct.Struct("<8sIIQQ")  # magic, version, n, a number by version, length of what follows
MAGIC = b"holdfast"


def packed(version: int, n: int, number: int, content: bytes) -> bytes:
    """The file with this content."""
    deflated = zlib.compress(content)
    return HEADER.pack(MAGIC, version, n, number, len(deflated)) + deflated


def unpacked(data: bytes, what: str) -> tuple[int, int, int, bytes]:
    """The version, n, the number by version, and the content of a file of `what`."""
    magic, version, n, number, length = HEADER.unpack_from(data)
    deflated = data[HEADER.size :]
    if (magic, length) != (MAGIC, len(deflated)):
        raise HoldfastError(f"this is not a file of {what}.")
    return version, n, number, zlib.decompress(deflated)
