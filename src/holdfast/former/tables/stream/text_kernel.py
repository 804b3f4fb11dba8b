"""Compiled kernels of CSV: find the cells of two columns in a block of bytes, and replace one."""

import numpy as np

from holdfast.compiled import compiled

GOOD, BROKEN, WIDTH, EMPTY, BAD_COUNT, BAD_MARK, LONG = 0, 1, 2, 3, 4, 5, 6
TOO_LONG = -2
LONGEST_CELL = 131_072
MISSING = -1
QUOTE, LF, CR, SPACE, TAB, POINT, ZERO, NINE = 34, 10, 13, 32, 9, 46, 48, 57
COMMA = 44
LARGEST = 1 << 53


@compiled(nogil=True)
def _characters(block, start, end, utf8):
    """How many characters a cell has: of doubled quotes one counts, of UTF-8 the first byte."""
    quoted, number = start > 0 and block[start - 1] == QUOTE, 0
    while start < end:
        if not utf8 or (block[start] & 0xC0) != 0x80:
            number += 1
        start += 2 if quoted and block[start] == QUOTE else 1
    return number


@compiled(nogil=True)
def record(block, position, final, delimiter, at, marker, utf8, spans):
    """Read one record: (where the next one begins or -1 if this one is not whole, cells).

    `spans` gets the start and end of what cells `at` and `marker` hold, without quotes. Cells is
    -1 where text follows a closing quote, and `TOO_LONG` where a cell is.
    """
    n = len(block)
    cells, long = 0, False
    while True:
        if position < n and block[position] == QUOTE:
            position += 1
            start = position
            while True:
                while position < n and block[position] != QUOTE:
                    position += 1
                if position + 1 < n and block[position + 1] == QUOTE:
                    position += 2
                    continue
                break
            if position >= n or (position + 1 >= n and not final):
                return -1, cells
            end = position
            position += 1
        else:
            start = position
            while position < n:
                byte = block[position]
                if byte == delimiter or byte == LF or byte == CR:  # noqa: SIM109
                    break
                position += 1
            end = position
        if end - start > LONGEST_CELL and _characters(block, start, end, utf8) > LONGEST_CELL:
            long = True
        if cells == at:
            spans[0], spans[1] = start, end
        if cells == marker:
            spans[2], spans[3] = start, end
        cells += 1
        found = TOO_LONG if long else cells
        if position >= n:
            return (n, found) if final else (-1, found)
        byte = block[position]
        position += 1
        if byte == LF:
            return position, found
        if byte == CR:
            if position < n:
                return (position + 1 if block[position] == LF else position), found
            return (n, found) if final else (-1, found)
        if byte != delimiter:
            return position, -1


@compiled(nogil=True)
def whole_records(block, delimiter):
    """The number of bytes up to the end of the last whole record."""
    spans = np.empty(4, np.int64)
    position = 0
    while position < len(block):
        after, _ = record(block, position, False, delimiter, -1, -1, False, spans)
        if after < 0:
            break
        position = after
    return position


@compiled(nogil=True)
def _count(block, start, end):
    """The count in a cell, or -1: spaces, digits, a point with zeros but not three, spaces."""
    while start < end and (block[start] == SPACE or block[start] == TAB):
        start += 1
    while end > start and (block[end - 1] == SPACE or block[end - 1] == TAB):
        end -= 1
    value, digits = np.int64(0), 0
    while start < end and ZERO <= block[start] <= NINE:
        value = value * 10 + (block[start] - ZERO)
        if value > LARGEST:
            return np.int64(-1)
        digits += 1
        start += 1
    if digits == 0:
        return np.int64(-1)
    if start < end:
        if block[start] != POINT or end - start - 1 in (0, 3):  # 3.000 may be three thousand
            return np.int64(-1)
        for k in range(start + 1, end):
            if block[k] != ZERO:
                return np.int64(-1)
    return value


@compiled(nogil=True)
def _is_code(block, start, end, codes, sizes):
    """Whether a cell holds a code for a count that is not known."""
    quoted = start > 0 and block[start - 1] == QUOTE
    while start < end and (block[start] == SPACE or block[start] == TAB):
        start += 1
    while end > start and (block[end - 1] == SPACE or block[end - 1] == TAB):
        end -= 1
    for c in range(len(sizes)):
        k, p = 0, start
        while p < end and k < sizes[c] and block[p] == codes[c, k]:
            p += 2 if quoted and block[p] == QUOTE else 1
            k += 1
        if p >= end and k == sizes[c]:
            return True
    return False


@compiled(nogil=True)
def _blank(block, start, end):
    while start < end and (block[start] == SPACE or block[start] == TAB):
        start += 1
    return start == end


@compiled(nogil=True)
def scan(block, delimiter, width, at, marker, utf8, words, codes, sizes, counts, marks, cells):
    """Read whole records: (status, rows, bytes up to the end of the last row, bytes read).

    Where the status is not GOOD, `rows` is the row that is at fault. Blank lines at the end
    are read and belong to no row; in a table of one column an empty line is a row. `words` are the
    texts of a mark in capital letters, padded with zeros; those with an even number mean yes.
    `codes`, of so many bytes, mean that a count is not known.
    """
    spans = np.empty(4, np.int64)
    rows, used, position, blank = 0, 0, 0, False
    while position < len(block):
        spans[:] = 0
        begin = position
        position, found = record(block, begin, True, delimiter, at, marker, utf8, spans)
        if found == TOO_LONG:
            return LONG, rows, used, begin
        if found < 0 or position < 0:
            return BROKEN, rows, used, begin
        if width > 1 and found == 1 and _blank_line(block, begin, position):
            blank = True
            continue
        if blank:
            return EMPTY, rows, used, begin
        if found != width:
            return WIDTH, rows, used, begin
        cells[rows, 0], cells[rows, 1], cells[rows, 2] = spans[0], spans[1], begin
        if len(sizes) > 0 and _is_code(block, spans[0], spans[1], codes, sizes):
            counts[rows] = MISSING
        else:
            counts[rows] = _count(block, spans[0], spans[1])
            if counts[rows] < 0:
                return BAD_COUNT, rows, used, begin
        if marker >= 0:
            marks[rows] = _mark(block, spans[2], spans[3], words)
            if marks[rows] < 0:
                return BAD_MARK, rows, used, begin
        rows += 1
        used = position
    return GOOD, rows, used, position


@compiled(nogil=True)
def _blank_line(block, first, last):
    """Whether a record of one cell holds spaces at the most, in quotes or not."""
    while last > first and (block[last - 1] == LF or block[last - 1] == CR):
        last -= 1
    if last - first >= 2 and block[first] == QUOTE:
        first, last = first + 1, last - 1
    return _blank(block, first, last)


@compiled(nogil=True)
def _mark(block, start, end, words):
    while start < end and (block[start] == SPACE or block[start] == TAB):
        start += 1
    while end > start and (block[end - 1] == SPACE or block[end - 1] == TAB):
        end -= 1
    for w in range(len(words)):
        same = end - start <= words.shape[1]
        for k in range(words.shape[1]):
            if not same:
                break
            byte = block[start + k] if start + k < end else np.uint8(0)
            if 97 <= byte <= 122:
                byte -= np.uint8(32)
            same = byte == words[w, k]
        if same:
            return 1 - w % 2
    return -1


@compiled(nogil=True)
def _digits(value, out, written):
    """Write a number; where it ends."""
    size, rest = 1, value // 10
    while rest > 0:
        size += 1
        rest //= 10
    for k in range(size):
        out[written + size - 1 - k] = ZERO + value % 10
        value //= 10
    return written + size


@compiled(nogil=True)
def _count_cell(value, alone, out, written):
    """Write a count; nothing where it is missing, in quotes where nothing else is in the row."""
    if value >= 0:
        return _digits(value, out, written)
    if alone:
        out[written], out[written + 1] = QUOTE, QUOTE
        written += 2
    return written


@compiled(nogil=True)
def write_lines(values, out):
    """Columns of numbers alone, a row per line; the number of bytes written."""
    written, columns = 0, len(values)
    for row in range(values.shape[1]):
        for k in range(columns):
            written = _count_cell(values[k, row], columns == 1, out, written)
            out[written] = COMMA if k < columns - 1 else LF
            written += 1
    return written


@compiled(nogil=True)
def _write_cell(block, start, end, delimiter, out, written):
    """A cell as Python's csv module writes it: quoted only where it must be."""
    quoted = start > 0 and block[start - 1] == QUOTE
    special = False
    for k in range(start, end):
        byte = block[k]
        if byte == delimiter or byte == QUOTE or byte == CR or byte == LF:  # noqa: SIM109
            special = True
    if special:
        out[written] = QUOTE
        written += 1
    for k in range(start, end):
        out[written] = block[k]
        written += 1
        if block[k] == QUOTE and not quoted:  # inside of quotes it is doubled already
            out[written] = QUOTE
            written += 1
    if special:
        out[written] = QUOTE
        written += 1
    return written


@compiled(nogil=True)
def more_counts(block, delimiter, width, places, codes, sizes, counts):
    """The counts in further cells of records that were scanned before, a line for each cell; the
    row and the line of the first that is not, or -1."""
    starts, stops = np.empty(width, np.int64), np.empty(width, np.int64)
    position = 0
    for row in range(counts.shape[1]):
        position = _cells(block, position, delimiter, starts, stops)
        for k in range(len(places)):
            start, end = starts[places[k]], stops[places[k]]
            if len(sizes) > 0 and _is_code(block, start, end, codes, sizes):
                counts[k, row] = MISSING
            else:
                counts[k, row] = _count(block, start, end)
                if counts[k, row] < 0:
                    return row, k
    return -1, -1


@compiled(nogil=True)
def write_rows(block, delimiter, newline, width, places, which, values, out, ends):
    """Some cells of each record, with other numbers in those that `which` gives a line of
    `values`, and not -1; the number of bytes written, and in `ends` where each record ends."""
    starts, stops = np.empty(width, np.int64), np.empty(width, np.int64)
    position, written = 0, 0
    for row in range(values.shape[1]):
        position = _cells(block, position, delimiter, starts, stops)
        for k in range(len(places)):
            if k > 0:
                out[written] = delimiter
                written += 1
            place = places[k]
            if which[k] >= 0:
                written = _count_cell(values[which[k], row], len(places) == 1, out, written)
            else:
                written = _write_cell(block, starts[place], stops[place], delimiter, out, written)
        out[written : written + len(newline)] = newline
        written += len(newline)
        ends[row] = written
    return written


@compiled(nogil=True)
def _cells(block, position, delimiter, starts, ends):
    """Where the cells of a whole record are that was scanned before; where the next one begins."""
    n = len(block)
    for k in range(len(starts)):
        if position < n and block[position] == QUOTE:
            position += 1
            starts[k] = position
            while True:
                while block[position] != QUOTE:
                    position += 1
                if position + 1 < n and block[position + 1] == QUOTE:
                    position += 2
                    continue
                break
            ends[k] = position
            position += 1
        else:
            starts[k] = position
            while position < n:
                byte = block[position]
                if byte == delimiter or byte == LF or byte == CR:  # noqa: SIM109
                    break
                position += 1
            ends[k] = position
        position += 1
    if position < n and block[position - 1] == CR and block[position] == LF:
        position += 1
    return position
