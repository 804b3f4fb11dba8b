"""Ugly CSV files."""

import codecs

import numpy as np

from holdfast.tables.csv_text import LONGEST_CELL

ODD = ["\ufeff", "\x00", "\x01", "\x0b", "\x0c", "\x1a", "\x1c", "\x7f", "\x85", "\xa0", "\u2028"]
ODD += ['"', '""', "\r", "\n", "\r\n", ",", ";", "\t", "|", " ", "é", "Ł", "漢", "🌍", "'", "\\"]
COUNTS = ["0", "7", "12", "007", " 3", "3 ", "5.0", "\t4", '"6"', '" 2 "', "100", "", "NA", "-9"]
COUNTS += ["+1", "1.5", "1e3", "x", "٣", '""', '"NA"', "9007199254740993", "0" * 30 + "1"]
BYTES = [b"\x81", b"\x8d", b"\xff", b"\xc3", b"\xe9", b"\xef\xbb\xbf", b"\xff\xfe", b"\x00", b'"']
BYTES += [b"\n", b"\r", b",", b";", b"\x1f", b"\x7f", b"\xed\xa0\x80", b" "]
NAMES = ["place", "n", "note", 'no"te', "a;b", "", " ", "Zürich", "\ufeffplace", "x\ny", '5" pipe']


def ugly(rng: np.random.Generator) -> bytes:
    """A file that is mostly, but not always, a table with counts in a column n."""
    pick = lambda options: options[rng.integers(len(options))]  # noqa: E731
    width = int(pick([1, 1, 2, 2, 2, 3, 3, 4]))
    names = [pick(NAMES) if rng.random() < 0.3 else f"c{k}" for k in range(width)]
    if rng.random() < 0.95:
        names[rng.integers(width)] = "n"
    delimiter = pick(",,,;\t|") if width > 1 else ","
    newline = pick(["\n", "\n", "\r\n", "\r"])
    at = names.index("n") if "n" in names else 0
    lines = [delimiter.join(_written(rng, name, delimiter) for name in names)]
    for _ in range(rng.integers(0, 6)):
        cells = [_cell(rng, delimiter) for _ in range(width)]
        cells[at] = pick(COUNTS) if rng.random() < 0.15 else str(rng.integers(20))
        if rng.random() < 0.02:
            cells = cells[:-1] or ["", ""]
        lines.append(delimiter.join(cells))
    if rng.random() < 0.15:
        lines.insert(
            int(rng.integers(len(lines) + 1)), pick(["", "", " ", "\t", '" "', '""', "\x0b"])
        )
    lines += [pick(["", "", " ", " \t", '" "', "\xa0"]) for _ in range(rng.integers(0, 3))]
    ends = [pick(["\n", "\r\n", "\r"]) if rng.random() < 0.05 else newline for _ in lines]
    text = "".join(line + end for line, end in zip(lines, ends, strict=True))
    text = text[: -len(newline)] if rng.random() < 0.3 else text
    return _spoilt(rng, _encoded(rng, text))


def _written(rng, name, delimiter):
    odd = any(sign in name for sign in f'{delimiter}"\r\n')
    if (odd and rng.random() < 0.8) or rng.random() < 0.1:
        return '"' + name.replace('"', '""') + '"'
    return name


def _cell(rng, delimiter):
    if rng.random() < 0.004:
        return _long(rng)
    signs = [ODD[rng.integers(len(ODD))] if rng.random() < 0.15 else "ab1 "[rng.integers(4)]
             for _ in range(rng.integers(0, 5))]  # fmt: skip
    signs = [sign for sign in signs if sign != "\0" or rng.random() < 0.1]
    text = "".join(signs)
    odd = any(sign in text for sign in f'{delimiter}"\r\n')
    if (odd and rng.random() < 0.95) or rng.random() < 0.1:
        return '"' + text.replace('"', '""') + '"'
    return text


def _long(rng):
    size = LONGEST_CELL + int(rng.integers(-1, 2))
    sign = 'aé漢🌍"'[rng.integers(5)]
    text = ("ab" * size)[: size - 1] + sign if rng.random() < 0.5 else sign * size
    return '"' + text.replace('"', '""') + '"' if sign == '"' or rng.random() < 0.5 else text


def _encoded(rng, text):
    kind = rng.integers(12)
    bom = codecs.BOM_UTF8 * int(rng.integers(3)) if kind < 3 else b""
    text = "\n" * int(rng.integers(2)) + text if kind == 4 else text
    if kind == 5:
        return text.encode("cp1252", "replace")
    if kind == 6:
        wide = ("utf-16-le", codecs.BOM_UTF16_LE), ("utf-16-be", codecs.BOM_UTF16_BE)
        name, mark = wide[rng.integers(2)]
        return mark + text.encode(name)
    if kind == 7:  # a header in UTF-8 and a body in Latin-1
        head, end, body = text.partition("\n")
        return (head + end).encode() + body.encode("latin-1", "replace")
    if kind == 8:
        return b"\n\xef\xbb\xbf" + text.encode()
    return bom + text.encode()


def _spoilt(rng, data):
    for _ in range(int(rng.integers(1, 4)) if rng.random() < 0.2 else 0):
        at = int(rng.integers(len(data) + 1))
        kind = rng.integers(3)
        put = BYTES[rng.integers(len(BYTES))] if kind else b""
        data = data[:at] + put + data[at + (kind != 1) :]
    return data
