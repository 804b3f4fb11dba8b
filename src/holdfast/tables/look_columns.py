"""What the columns of a table seem to be, by what their cells hold: for the steward alone."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from itertools import combinations
from typing import Any
from unicodedata import combining, normalize

import numpy as np

from holdfast.tables.cell_text import cell_text, is_missing, label_text, reads_as_number
from holdfast.tables.counts import Codes, text_values
from holdfast.tables.leaks.totals import is_total
from holdfast.tables.partition import label_order

FEW_LABELS = 1_000  # of a column by which rows may be grouped
_CODES = re.compile(
    r"-\d+|n\.?[ad]\.?|n/a|#n/a|nan|null|none|nil|missing|unknown|suppressed|not known|k\.? ?a\.?|"
    r"\*+|\.{1,3}|-{1,2}|–|—|\?|<\s*\d+|",
    re.IGNORECASE,
)
_NO_COUNT = re.compile(
    r"(^|_|\b)(id|code|fips|zip|plz|phone|tel|number|nr|no|year|jahr|lat|lon|rank|age|alter|born|"
    r"birth|month|week|day|hour|date|score|height|weight|income|salary|price)($|_|\b)",
    re.IGNORECASE,
)
_PERSON = re.compile(
    r"(person|patient|client|pupil|student|respondent|member|employee|resident|citizen|victim|"
    r"beneficiary|recipient|participant)"
    r"(s?[ _-]?(id|no|nr|number|code))?",
    re.IGNORECASE,
)
_CODED = re.compile(r"0\d+")
_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([ T].*)?")
_GENERIC = {"co", "county", "city", "of", "the", "state", "dept", "department", "parish", "borough"}
_SHORT = {"st": "saint", "ste": "sainte", "mt": "mount", "ft": "fort", "n": "north", "s": "south"}
_LEAST_SPELT = 6  # characters of labels that may be misspelt: shorter ones are often codes
_RARE = 3  # a misspelling has so many times fewer rows
_MOST_LABELS = 2_000


class ColumnKind(StrEnum):
    """What the cells of a column are, mostly."""

    WHOLE = "whole numbers"
    NUMBERS = "numbers"
    TRUTH = "true and false"
    DATES = "dates"
    TEXT = "text"
    EMPTY = "nothing"


@dataclass(frozen=True, kw_only=True)
class LookedColumn:
    """A column: what it holds, and how many different cells."""

    name: str
    kind: ColumnKind
    different: int
    repeated: tuple[str, ...] = ()
    """Labels that come more than once, where nearly all come once."""
    totals: tuple[str, ...] = ()
    """Labels that are named like totals of other rows."""
    labels: tuple[tuple[str, int], ...] = ()
    """Each label with its number of rows, where rows may be grouped by them."""
    near: tuple[tuple[str, str], ...] = ()
    """Labels that look like another spelling, and of which."""


def text_of(cell: Any) -> str:
    """A cell as a label."""
    text = label_text(cell)
    return cell_text(cell) if text is None else text


def looked_column(name: str, cells: Sequence[Any], codes: Sequence[str]) -> LookedColumn:
    """What is to be said of a column, of which some cells are codes."""
    known = [cell for cell in cells if not is_missing(cell) and cell != ""]
    texts = Counter(map(text_of, known))
    repeated = [text for text, rows in texts.items() if rows > 1]
    kind = _kind([cell for cell in known if text_of(cell).strip() not in codes])
    labels: tuple[tuple[str, int], ...] = ()
    grouping = kind in (ColumnKind.TEXT, ColumnKind.TRUTH) and not names_persons(name)
    if grouping and len(texts) <= min(FEW_LABELS, len(known) / 2):
        labels = tuple(sorted(texts.items(), key=lambda item: label_order(item[0])))
    once = len(known) > 2 and len(texts) >= 0.95 * len(known)
    words = kind is ColumnKind.TEXT
    return LookedColumn(
        name=name,
        kind=kind,
        different=len(texts),
        repeated=tuple(repeated[:8]) if once and words else (),
        totals=tuple(t for t in texts if (words or t[:1].isalpha()) and is_total(t))[:8],
        labels=labels,
        near=tuple(near_labels(texts)) if words else (),
    )


def _kind(cells: Sequence[Any]) -> ColumnKind:
    """What nine of ten cells are."""
    kinds = Counter(map(_kind_of, cells))
    whole = kinds[ColumnKind.WHOLE]
    kinds[ColumnKind.NUMBERS] += whole if whole < 0.9 * len(cells) else 0
    kind, number = max(kinds.items(), key=lambda item: item[1], default=(ColumnKind.EMPTY, 0))
    return kind if number >= 0.9 * len(cells) else ColumnKind.TEXT


def _kind_of(cell: Any) -> ColumnKind:
    if isinstance(cell, bool | np.bool_):
        return ColumnKind.TRUTH
    if isinstance(cell, date):
        return ColumnKind.DATES
    if isinstance(cell, str):
        if cell.strip().lower() in ("true", "false", "yes", "no"):
            return ColumnKind.TRUTH
        if text_values([cell])[0] >= 0:
            return ColumnKind.WHOLE
        if _DATE.fullmatch(cell.strip()):
            return ColumnKind.DATES
        return ColumnKind.NUMBERS if reads_as_number(cell) else ColumnKind.TEXT
    if isinstance(cell, int | float | Decimal | np.number):
        return ColumnKind.WHOLE if float(cell).is_integer() else ColumnKind.NUMBERS
    return ColumnKind.TEXT


def codes_among(cells: Sequence[Any], missing: Sequence[Any]) -> tuple[str, ...]:
    """What stands beside whole numbers from 0 and may mean that a count is not known."""
    texts = Counter("" if is_missing(cell) else text_of(cell).strip() for cell in cells)
    odd = {text for text in texts if _CODES.fullmatch(text)}
    known = {text: rows for text, rows in texts.items() if text not in odd}
    whole = sum(rows for text, rows in known.items() if text_values([text])[0] >= 0)
    named = Codes(missing)
    if not odd or not known or whole < 0.9 * sum(known.values()):
        return ()
    return tuple(sorted(text for text in odd if not named.has(text)))


def may_be_count(name: str, cells: Sequence[Any], column: LookedColumn) -> bool:
    """Whether a column holds whole numbers from 0 that repeat, none with a zero in front as codes
    have, and is not named like another number."""
    if column.kind is not ColumnKind.WHOLE or _NO_COUNT.search(str(name)):
        return False
    if any(isinstance(cell, str) and _CODED.fullmatch(cell.strip()) for cell in cells):
        return False
    known = sum(not is_missing(cell) and cell != "" for cell in cells)
    return bool(column.different < max(0.95 * known, 20) or known < 20)


def two_headings(columns: Sequence[Sequence[Any]]) -> bool:
    """Whether the first row has words where all others have numbers, as a second heading has."""
    filled = [
        [*c[:1], *(cell for cell in c[1:] if not is_missing(cell) and cell != "")] for c in columns
    ]
    numeric = [
        c for c in filled if len(c) > 2 and _kind(c[1:]) in (ColumnKind.WHOLE, ColumnKind.NUMBERS)
    ]
    firsts = [text_of(column[0]).strip() for column in numeric]
    words = [
        text for text in firsts if _kind_of(text) is ColumnKind.TEXT and not _CODES.fullmatch(text)
    ]
    return bool(numeric) and len(words) == len(numeric)


def names_persons(column: str) -> bool:
    """Whether a column is named like one that numbers persons."""
    return _PERSON.fullmatch(str(column)) is not None


def persons_by(
    columns: Sequence[LookedColumn], rows: int, counts: Sequence[str]
) -> tuple[str, ...]:
    """Columns of labels that many rows share, in a table that has no counts, or names persons."""
    if counts and not any(names_persons(column.name) for column in columns):
        return ()
    return tuple(c.name for c in columns if c.labels and rows >= 2 * c.different and rows > 9)


def near_labels(rows: Mapping[str, int]) -> list[tuple[str, str]]:
    """Pairs of labels, the one with fewer rows first, that are spelt nearly alike.

    >>> near_labels({"Wake": 30, "wake ": 1, "Wake Co.": 2, "Guilford": 9, "Guildford": 1})
    [('wake ', 'Wake'), ('Wake Co.', 'Wake'), ('Guildford', 'Guilford')]
    """
    if len(rows) > _MOST_LABELS:
        return []
    plain = defaultdict(list)
    for label in rows:
        plain[_plain(label)].append(label)
    pairs = []
    for alike in plain.values():
        usual = max(alike, key=rows.__getitem__)
        pairs += [(label, usual) for label in alike if label != usual]
    first = {words: max(alike, key=rows.__getitem__) for words, alike in plain.items()}
    for one, other in _one_letter_apart(list(first)):
        few, many = sorted((first[one], first[other]), key=rows.__getitem__)
        if rows[few] * _RARE <= rows[many]:
            pairs.append((few, many))
    return pairs


def _plain(label: str) -> str:
    """A label without what is written in many ways: case, accents, marks, words for places."""
    bare = "".join(sign for sign in normalize("NFKD", label) if not combining(sign))
    words = re.findall(r"\w+", bare.casefold())
    kept = [_SHORT.get(word, word) for word in words if word not in _GENERIC]
    return " ".join(kept or words)


def _one_letter_apart(texts: list[str]) -> list[tuple[str, str]]:
    """Pairs of which one has a letter more, another letter or one elsewhere; no digit differs."""
    spelt = defaultdict(list)
    for text in texts:
        if len(text) >= _LEAST_SPELT:
            for key in {text, *(text[:at] + text[at + 1 :] for at in range(len(text)))}:
                spelt[key].append(text)
    pairs = {pair for alike in spelt.values() for pair in combinations(sorted(alike), 2)}
    digits = re.compile(r"\d")
    return sorted(pair for pair in pairs if len({*map(str, map(digits.findall, pair))}) == 1)
