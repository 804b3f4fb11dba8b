"""Conditions on published columns, in words: `state == AL and population < 5000`.

    state == AL           state != "New York"          state in (AL, GA)     state not in [AL]
    population < 5000     1000 <= population < 5000    `county name` == Kent    metro
    a and b               a or b                       not a                 (a)

A small language with a parser of its own: nothing that is typed is ever run. A bare word or a
quoted one is a text; a number is compared as a number where the column holds numbers, exactly
however many digits it has, and as text where it does not (`county == 01001`). A column of true and
false, or of 1 and 0, is a condition by itself. A comparison with
an empty cell is neither true nor false, as in SQL, and `not` of it neither: only `x == ""` and
`x != ""` tell empty cells from others.
"""

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers, Marks
from holdfast.errors import HoldfastError, one_line
from holdfast.tables.cell_text import label_text

_TOKENS = re.compile(
    r"""\s*(?:(?P<quoted>"[^"]*"|'[^']*')|`(?P<name>[^`]*)`|(?P<sign><=|>=|==|!=|<|>|=|\(|\)|\[|\]"""
    r"""|,|&|\||~)|(?P<word>[^\s<>=!()\[\],&|~"'`]+))"""
)
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "=": operator.eq, "!=": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPEN = {"(": ")", "[": "]"}
_JOINED = {"and": "and", "&": "and", "or": "or", "|": "or", "not": "not", "~": "not"}
_TRUTHS = {"true": "true", "false": "false", "1": "true", "0": "false", "": ""}
DEEPEST = 50
EXACT_DIGITS = 15  # decimal digits that a float tells apart

Columns = Callable[[str], Sequence[Any]]


@dataclass(frozen=True)
class _Token:
    text: str
    kind: str  # quoted, name, sign or word

    def joins(self, word: str) -> bool:
        """Whether it is this word, `and`, `or` or `not`, or its sign."""
        return self.kind in ("word", "sign") and _JOINED.get(self.text.lower()) == word

    def is_sign(self, *signs: str) -> bool:
        """Whether it is one of these signs."""
        return self.kind == "sign" and self.text in signs


def fulfilled(text: str, columns: Columns) -> Marks:
    """Which rows fulfil a condition; `columns` gives the cells of a column by its name.

    >>> table = {"state": ["AL", "GA", "AL"], "people": ["12", "7", ""]}
    >>> fulfilled("state == AL and people >= 10", table.__getitem__).tolist()
    [True, False, False]
    >>> fulfilled("not (state in (AL, TX)) or 5 < people < 10", table.__getitem__).tolist()
    [False, True, False]
    >>> fulfilled("not people >= 10", table.__getitem__).tolist()
    [False, True, False]
    >>> table["metro"] = [True, None, False]
    >>> [fulfilled(text, table.__getitem__).tolist() for text in ("not metro", "metro == 1")]
    [[False, False, True], [True, False, False]]
    """
    return np.asarray(_Reader(_tokens(text), columns).read() > 0)


def _tokens(text: str) -> list[_Token]:
    tokens, at = [], 0
    text = text.strip()
    while at < len(text):
        match = _TOKENS.match(text, at)
        if match is None:
            raise _unreadable(f"{one_line(text[at : at + 20])!r} cannot be read")
        kind = str(match.lastgroup)
        tokens.append(_Token(match[kind][1:-1] if kind == "quoted" else match[kind], kind))
        at = match.end()
    if not tokens:
        raise _unreadable("it is empty")
    return tokens


class _Reader:
    """Recursive descent: or, and, not, comparison; 1 is true, -1 false, 0 not known."""

    def __init__(self, tokens: list[_Token], columns: Columns) -> None:
        self.tokens, self.columns, self.at, self.depth = tokens, columns, 0, 0

    def read(self) -> Integers:
        """The value of the whole condition in each row."""
        marks = self._either()
        if self.at < len(self.tokens):
            raise _unreadable(
                f"{self.tokens[self.at].text!r:.40} was not expected"
                + "; numbers are written without commas" * self.tokens[self.at].is_sign(",")
            )
        return marks

    def _either(self) -> Integers:
        marks = self._both()
        while self._takes("or"):
            marks = np.maximum(marks, self._both())
        return marks

    def _both(self) -> Integers:
        marks = self._one()
        while self._takes("and"):
            marks = np.minimum(marks, self._one())
        return marks

    def _one(self) -> Integers:
        self.depth += 1
        if self.depth > DEEPEST:
            raise _unreadable("it is too deep")
        if self._takes("not"):
            marks = -self._one()
        elif self.at < len(self.tokens) and self.tokens[self.at].is_sign("("):
            self.at += 1
            marks = self._either()
            if not self._next("a closing bracket").is_sign(")"):
                raise _unreadable("a closing bracket is missing")
        else:
            marks = self._comparison()
        self.depth -= 1
        return marks

    def _comparison(self) -> Integers:
        first = self._next("a column")
        if self._stands_alone(first):
            return self._compare(first, "==", _Token("true", "word"))
        if self._is_word("in") or (self._is_word("not") and self._is_word("in", 1)):
            turned = self._is_word("not")
            self.at += 1 + turned
            values = self._list()
            marks = np.max([self._compare(first, "==", value) for value in values], axis=0)
            return np.asarray(-marks if turned else marks)
        token = self._next("a comparison")
        if not token.is_sign(*_COMPARE):
            raise _unreadable(f"{token.text!r:.40} is no comparison")
        sign, second = token.text, self._next("a value")
        if sign in _TURNED and self.at < len(self.tokens):
            after = self.tokens[self.at]
            if after.kind == "sign" and after.text in _TURNED:  # 1000 <= population < 5000
                self.at += 1
                low = self._compare(second, _TURNED[sign], first)
                return np.minimum(low, self._compare(second, after.text, self._next("a value")))
        return self._compare(first, sign, second)

    def _compare(self, column: _Token, sign: str, value: _Token) -> Integers:
        if column.kind == "quoted" or column.kind == "sign" or value.kind == "sign":
            raise _unreadable("a comparison is a column, a sign and a value")
        cells = self.columns(column.text)
        certain = np.array([int(bool(text or not value.text)) for text in cell_texts(cells)])
        marks = compared(cells, sign, value.text, value.kind == "word")
        return np.where(marks, certain, -certain)

    def _stands_alone(self, column: _Token) -> bool:
        """Whether it is a column of true and false that nothing is compared with."""
        after = self.tokens[self.at] if self.at < len(self.tokens) else _Token(")", "sign")
        ends = after.is_sign(")") or after.joins("and") or after.joins("or")
        named = column.kind in ("word", "name")
        return ends and named and _are_truths(cell_texts(self.columns(column.text)))

    def _list(self) -> list[_Token]:
        opened = self._next("a list")
        if not opened.is_sign(*_OPEN):
            raise _unreadable("after `in` comes a list such as (AL, GA)")
        values = [self._next("a value")]
        while (token := self._next("a closing bracket")).is_sign(","):
            values.append(self._next("a value"))
        if not token.is_sign(_OPEN[opened.text]):
            raise _unreadable("a list is values, commas between them, and a closing bracket")
        return values

    def _takes(self, word: str) -> bool:
        taken = self.at < len(self.tokens) and self.tokens[self.at].joins(word)
        self.at += taken
        return taken

    def _is_word(self, word: str, ahead: int = 0) -> bool:
        at = self.at + ahead
        return at < len(self.tokens) and (
            self.tokens[at].kind == "word" and self.tokens[at].text.lower() == word
        )

    def _next(self, expected: str) -> _Token:
        if self.at >= len(self.tokens):
            raise _unreadable(f"it ends where {expected} should come")
        self.at += 1
        return self.tokens[self.at - 1]


def compared(cells: Sequence[Any], sign: str, value: str, bare: bool) -> Marks:
    """Which cells compare so with a typed value; `bare` without quotes, which may be a number.
    What it says of empty cells means nothing.

    >>> codes = ["12345678901234567", "12345678901234568"]
    >>> compared(codes, "==", "12345678901234568", True).tolist()
    [False, True]
    >>> compared([True, False], "==", "True", True).tolist()
    [True, False]
    """
    texts = cell_texts(cells)
    if bare and sign not in _TURNED and value.lower() in _TRUTHS and _are_truths(texts):
        texts, value, bare = [_TRUTHS[t.lower()] for t in texts], _TRUTHS[value.lower()], False
    numbers = _exact(texts, value) if bare and _is_number(value) else None
    if numbers is not None:
        values, limit = numbers
        return np.asarray(_COMPARE[sign](values, limit), dtype=np.bool_)
    if sign in _TURNED and (bare or as_numbers([*texts, value]) is not None):
        why = (
            "columns are compared with values only"
            if bare and not _is_number(value)
            else ("not all of its values are numbers" if bare else "quotes make it a text")
        )
        raise HoldfastError(
            f"the condition compares a column with {one_line(value)!r:.40} by {sign}, and {why}. "
            "Hint: numbers are written without quotes, texts to be ordered with quotes."
        )
    return np.array([_COMPARE[sign](text, value) for text in texts], dtype=bool)


def _are_truths(texts: Sequence[str]) -> bool:
    return all(text.lower() in _TRUTHS for text in texts)


def _exact(texts: Sequence[str], value: str) -> tuple[Any, Any] | None:
    """Numbers, and a number to compare them with, as what keeps all of their digits."""
    numbers = as_numbers(texts)
    if numbers is None:
        return None
    if max(map(len, (value, *texts)), default=0) <= EXACT_DIGITS:
        return numbers, float(value)
    # NaN of Decimal cannot be compared: an empty cell stands as 0, and is left out by the reader
    return np.array([Decimal(text or 0) for text in texts], dtype=object), Decimal(value)


def as_numbers(texts: Sequence[str]) -> Floats | None:
    """The numbers that these texts are, NaN where empty; None if some text is not a number, or is
    written with a zero in front as codes are.

    >>> as_numbers(["1", "", "2.5"]).tolist(), as_numbers(["01", "2"])
    ([1.0, nan, 2.5], None)
    """
    for text in texts:
        if text and (_CODE.fullmatch(text) or not _is_number(text)):
            return None
    return np.array([float(text) if text else np.nan for text in texts])


def cell_texts(cells: Sequence[Any]) -> list[str]:
    """Cells as text, empty where nothing is known; booleans as `true` and `false`."""
    if all(type(cell) is str for cell in cells):
        return list(cells)
    labels = map(label_text, cells)
    return [str(c) if text is None else text for c, text in zip(cells, labels, strict=True)]


_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_CODE = re.compile(r"0\d+", re.ASCII)


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _unreadable(why: str) -> HoldfastError:
    return HoldfastError(
        f'the condition cannot be read: {why}. Hint: such as "state == AL and population < 5000"; '
        "column names with spaces go in backticks."
    )
