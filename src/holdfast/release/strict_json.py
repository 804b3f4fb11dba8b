"""JSON from a stranger: no duplicate keys, no NaN, no depth, no number that takes for ever."""

import json
import re
from typing import Any, NoReturn

from holdfast.errors import HoldfastError
from holdfast.release.limits import DEEPEST, LONGEST_NUMBER, MOST_ENTRIES, MOST_GROUPS

MOST_NESTED = 20 * (4 * MOST_GROUPS + 40)  # objects and lists: sums of each group, of each column
MOST_TEXTS = 12 * MOST_NESTED  # keys and texts
# a text without an end is one match too: looking for its end anew at every quote takes for ever
_TEXT_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"?|([][{}])', re.DOTALL)


def parse_json(data: bytes, name: str) -> dict[str, Any]:
    """The object in these bytes; raises where it is none, is too large, or says a thing twice.

    >>> parse_json(b'{"a": 1, "a": 2}', "x.json")
    Traceback (most recent call last):
    holdfast.errors.HoldfastError: `x.json` gives the key 'a' twice.
    """
    try:
        text = data.decode("utf-8")
        _check_shape(text, name)
        record = json.loads(
            text,
            object_pairs_hook=lambda pairs: _once(pairs, name),
            parse_constant=lambda constant: _refuse(name, f"holds {constant}, which is no number"),
            parse_int=lambda digits: int(_short(digits, name)),
            parse_float=lambda digits: _decimal(digits, name),
        )
    except UnicodeDecodeError as error:
        _refuse(name, f"is not UTF-8 at byte {error.start}")
    except json.JSONDecodeError as error:
        _refuse(name, f"is not JSON at line {error.lineno}: {error.msg}")
    if not isinstance(record, dict):
        _refuse(name, "must hold a JSON object")
    return record


def _check_shape(text: str, name: str) -> None:
    depth, nested, texts = 0, 0, 0
    if text.count(",") > MOST_ENTRIES:
        _refuse(name, f"holds more than {MOST_ENTRIES:,} entries")
    for match in _TEXT_OR_BRACKET.finditer(text):
        if match[1] is None:
            texts += 1
        else:
            opens = match[1] in "[{"
            depth, nested = depth + (1 if opens else -1), nested + opens
        if depth > DEEPEST:
            _refuse(name, f"is nested more than {DEEPEST} levels deep")
        if nested > MOST_NESTED or texts > MOST_TEXTS:
            _refuse(name, "holds too many objects, lists or texts")


def _once(pairs: list[tuple[str, Any]], name: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in pairs:
        if key in fields:
            _refuse(name, f"gives the key {ascii(key)[:60]} twice")
        fields[key] = value
    return fields


def _short(digits: str, name: str) -> str:
    if len(digits) > LONGEST_NUMBER:
        _refuse(name, f"holds a number of {len(digits)} digits")
    return digits


def _decimal(digits: str, name: str) -> float:
    number = float(_short(digits, name))
    if abs(number) > 1e300:
        _refuse(name, f"holds the number {digits}, which is too large")
    return number


def _refuse(name: str, why: str) -> NoReturn:
    raise HoldfastError(f"`{name}` {why}.")
