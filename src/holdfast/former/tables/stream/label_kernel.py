"""Compiled kernels that hash labels and remember the hashes."""

import numpy as np

from holdfast.compiled import compiled
from holdfast.former.tables.stream.text_kernel import QUOTE, record


@compiled(nogil=True)
def _key(data, start, end, quoted):
    """A hash of 64 bits (FNV-1a, then mixed), never 0; of doubled quotes one counts."""
    key = np.uint64(0xCBF29CE484222325)
    while start < end:
        byte = data[start]
        key = (key ^ np.uint64(byte)) * np.uint64(0x100000001B3)
        start += 2 if quoted and byte == QUOTE else 1
    key = (key ^ (key >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    key = (key ^ (key >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    key ^= key >> np.uint64(33)
    return key if key != 0 else np.uint64(1)


@compiled(nogil=True)
def keys_between(data, offsets, keys):
    """The keys of byte strings that follow each other."""
    for k in range(len(keys)):
        keys[k] = _key(data, offsets[k], offsets[k + 1], False)


@compiled(nogil=True)
def keys_of_cells(block, delimiter, at, keys):
    """The keys of one cell of each record of a CSV block."""
    spans = np.zeros(4, np.int64)
    position = 0
    for k in range(len(keys)):
        position, _ = record(block, position, True, delimiter, at, -1, False, spans)
        start = spans[0]
        quoted = start > 0 and block[start - 1] == QUOTE
        keys[k] = _key(block, start, spans[1], quoted)


@compiled(nogil=True)
def remember(table, keys):
    """Put keys into an open hash table with room for them; False if one was there already."""
    mask = np.uint64(len(table) - 1)
    for key in keys:
        slot = key & mask
        while table[slot] != 0:
            if table[slot] == key:
                return False
            slot = (slot + np.uint64(1)) & mask
        table[slot] = key
    return True
