"""JSON from a stranger: no duplicate keys, no NaN, no depth, no number that takes for ever."""

import json
import re
from typing import Any, NoReturn

from holdfast.errors import HoldfastError
from holdfast.release.limits import DEEPEST, LONGEST_NUMBER, MOST_ENTRIES

# a text without an end is one match too: looking for its end anew at every quote takes for ever
_TEXT_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"?|([][{}])', re.DOTALL)


def parse_json(data: bytes, name: str) -> dict[str, Any]:
    """The object in these bytes.

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
            parse_float=lambda digits: float(_short(digits, name)),
        )
    except UnicodeDecodeError:
        _refuse(name, "is not UTF-8")
    except (json.JSONDecodeError, RecursionError):
        _refuse(name, "is not JSON")
    if not isinstance(record, dict):
        _refuse(name, "must hold a JSON object")
    return record


def _check_shape(text: str, name: str) -> None:
    depth = 0
    if text.count(",") > MOST_ENTRIES:
        _refuse(name, f"holds more than {MOST_ENTRIES:,} entries")
    for match in _TEXT_OR_BRACKET.finditer(text):
        if match[1] is not None:
            depth += 1 if match[1] in "[{" else -1
            if depth > DEEPEST:
                _refuse(name, f"is nested more than {DEEPEST} levels deep")


def _once(pairs: list[tuple[str, Any]], name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            _refuse(name, f"gives the key {key!r:.60} twice")
        found[key] = value
    return found


def _short(digits: str, name: str) -> str:
    if len(digits) > LONGEST_NUMBER:
        _refuse(name, f"holds a number of {len(digits)} digits")
    return digits


def _refuse(name: str, why: str) -> NoReturn:
    raise HoldfastError(f"`{name}` {why}.")
