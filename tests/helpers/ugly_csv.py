"""Ugly CSV files, and whether memory, stream and verifier say the same of them."""

import codecs
import io
from pathlib import Path

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.former.verify import table as verifier
from holdfast.former.verify.report import Damage
from holdfast.former.tables.columns import Wanted
from holdfast.former.tables.csv_text import LONGEST_CELL
from holdfast.former.tables.stream import text_source
from holdfast.former.tables.table import read_table

ODD = ["\ufeff", "\x00", "\x01", "\x0b", "\x0c", "\x1a", "\x1c", "\x7f", "\x85", "\xa0", "\u2028"]
ODD += ['"', '""', "\r", "\n", "\r\n", ",", ";", "\t", "|", " ", "é", "Ł", "漢", "🌍", "'", "\\"]
COUNTS = ["0", "7", "12", "007", " 3", "3 ", "5.0", "\t4", '"6"', '" 2 "', "100", "", "NA", "-9"]
COUNTS += ["+1", "1.5", "1e3", "x", "٣", '""', '"NA"', "9007199254740993", "0" * 30 + "1"]
BYTES = [b"\x81", b"\x8d", b"\xff", b"\xc3", b"\xe9", b"\xef\xbb\xbf", b"\xff\xfe", b"\x00", b'"']
BYTES += [b"\n", b"\r", b",", b";", b"\x1f", b"\x7f", b"\xed\xa0\x80", b" "]
NAMES = ["place", "n", "note", 'no"te', "a;b", "", " ", "Zürich", "\ufeffplace", "x\ny", '5" pipe']
TOP = 6


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


def outcome(
    data: bytes, folder: Path, missing: tuple[str, ...], block: int
) -> tuple[bool, str | None]:
    """Whether memory accepts a file, and what the three do not agree on."""
    path = folder / "in.csv"
    path.write_bytes(data)
    whole, streamed = _in_memory(path, missing), _streamed(path, folder, missing, block)
    if isinstance(whole, str) or isinstance(streamed, str):
        if isinstance(whole, str) != isinstance(streamed, str):
            return False, f"memory: {whole!r:.120}; stream: {streamed!r:.120}"
        return False, _raw(data, None, missing)
    if whole != streamed:
        return True, f"memory: {whole!r:.200}; stream: {streamed!r:.200}"
    names, counts, written = whole
    tally = _verified(written, names, counts)
    if isinstance(tally, str):
        return True, f"verifier: {tally}"
    known = [count % (TOP + 1) for count in counts if count >= 0]
    if tally != np.bincount(known, minlength=TOP + 1).tolist():
        return True, "verifier: other counts"
    return True, _raw(data, whole, missing)


def _kept(names, path):
    """All columns, or every other one."""
    return names[:: 1 + path.stat().st_size % 2]


def _in_memory(path, missing):
    try:
        table = read_table(path, count="n", missing=missing)
        names = _kept(table.withheld, path)
        table = read_table(path, count="n", missing=missing, keep=names)
        released = _released(table.counts)
        rows = table.replace(released)
        return rows.columns, table.counts.tolist(), rows.to_bytes()
    except HoldfastError as error:
        return str(error)


def _streamed(path, folder, missing, block):
    out, before = folder / "out.csv", text_source.BLOCK
    out.unlink(missing_ok=True)
    text_source.BLOCK = block
    try:
        source = text_source.TextSource(path, Wanted(count="n", missing=missing))
        wanted = Wanted(count="n", missing=missing, keep=_kept(source.roles.withheld, path))
        source = text_source.TextSource(path, wanted)
        counts = [count for part in source.read() for count in part.counts.tolist()]
        if not counts or all(count < 0 for count in counts):
            return "no rows"
        for _ in source.rewrite(lambda counts, *_: _released(counts), out, 1):
            pass
        return list(source.roles.published), counts, out.read_bytes()
    except HoldfastError as error:
        return str(error)
    finally:
        text_source.BLOCK = before


def _released(counts):
    return np.where(counts < 0, counts, counts % (TOP + 1))


def _record(names, rows, gaps):
    record = {"columns": names, "count_column": "n", "max_count": TOP, "structural_zeros": 0}
    record |= {"unchanged_columns": [name for name in names if name != "n"], "rows": rows - gaps}
    return record


def _verified(data, names, counts):
    record = _record(names, len(counts), 0)
    try:
        found = [count for count, _ in verifier._csv_counts(io.BytesIO(data), record, [])]
    except Damage as damage:
        return str(damage)
    if [count < 0 for count in counts] != [cell is verifier.EMPTY for cell in found]:
        return "other gaps"
    return np.bincount([cell for cell in found if cell >= 0], minlength=TOP + 1).tolist()


def _raw(data, whole, missing):
    """What the verifier accepts as it is, memory must accept too, with the same counts."""
    for names in [whole[0]] if whole else [["n"], ["c0", "n"], ["n", "c1"]]:
        try:
            read = verifier._csv_counts(io.BytesIO(data), _record(names, 0, 0), [])
            found = [count for count, _ in read]
        except Damage:
            continue
        if not found or any(cell is None for cell in found):
            continue
        if verifier.EMPTY in found and "" not in missing:
            continue
        counts = None if whole is None else [max(count, -1) for count in whole[1]]
        if counts != found and any(cell >= 0 for cell in found):
            return f"verifier reads {names} and {len(found)} rows of what memory does not"
    return None
