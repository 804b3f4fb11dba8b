"""JSON from a stranger: no duplicate keys, no NaN, no depth, no number that takes for ever."""

import json
import re
from typing import Any

from holdfast.release.limits import DEEPEST, LONGEST_NUMBER, MOST_ENTRIES, MOST_GROUPS
from holdfast.verify.report import Damage, shown

MOST_NESTED = 20 * (4 * MOST_GROUPS + 40)  # objects and lists: sums of each group, of each column
MOST_TEXTS = 12 * MOST_NESTED  # keys and texts
# a text without an end is one match too: looking for its end anew at every quote takes for ever
_TEXT_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"?|([][{}])', re.DOTALL)


def parse_json(data: bytes, name: str) -> dict[str, Any]:
    """The object in these bytes; raises a `Damage` that says what is wrong with it.

    >>> parse_json(b'{"a": 1, "a": 2}', "x.json")
    Traceback (most recent call last):
    holdfast.verify.report.Damage: x.json gives the key 'a' twice.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Damage(f"{name} is not UTF-8 at byte {error.start}.") from None
    _check_shape(text, name)
    numbers = _Numbers(name)
    try:
        record = json.loads(
            text,
            object_pairs_hook=numbers.pairs,
            parse_constant=numbers.constant,
            parse_int=numbers.integer,
            parse_float=numbers.decimal,
        )
    except json.JSONDecodeError as error:
        raise Damage(f"{name} is not JSON at line {error.lineno}: {error.msg}.") from None
    if not isinstance(record, dict):
        raise Damage(f"{name} must hold a JSON object.")
    return record


def _check_shape(text: str, name: str) -> None:
    depth, number, texts = 0, 0, 0
    if text.count(",") > MOST_ENTRIES:
        raise Damage(f"{name} holds more than {MOST_ENTRIES} entries.")
    for match in _TEXT_OR_BRACKET.finditer(text):
        if match[1] is None:
            texts += 1
            if texts > MOST_TEXTS:
                raise Damage(f"{name} holds more than {MOST_TEXTS} texts.")
            continue
        opens = match[1] in "[{"
        depth, number = depth + (1 if opens else -1), number + opens
        if depth > DEEPEST:
            raise Damage(f"{name} is nested more than {DEEPEST} levels deep.")
        if number > MOST_NESTED:
            raise Damage(f"{name} holds more than {MOST_NESTED} objects and lists.")


class _Numbers:
    """What the JSON parser asks at keys and numbers."""

    def __init__(self, name: str) -> None:
        self.name = name

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise Damage(f"{self.name} gives the key {shown(key)} twice.")
            found[key] = value
        return found

    def constant(self, text: str) -> Any:
        raise Damage(f"{self.name} holds {text}, which is not a number.")

    def integer(self, text: str) -> int:
        self._check_length(text)
        return int(text)

    def decimal(self, text: str) -> float:
        self._check_length(text)
        number = float(text)
        if abs(number) > 1e300:
            raise Damage(f"{self.name} holds the number {shown(text)}, which is too large.")
        return number

    def _check_length(self, text: str) -> None:
        if len(text) > LONGEST_NUMBER:
            raise Damage(f"{self.name} holds a number of {len(text)} digits.")
