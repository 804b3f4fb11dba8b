"""The name of a stage 1 as a release gives it, read without a parser that could be worn out."""

import re
from typing import Any

_OPTION = r"[a-z_]{1,20}=(?:'[a-z]{1,20}'|[0-9]{1,9}|Fraction\([0-9]{1,400}, [0-9]{1,400}\))"
_CALL = re.compile(rf"([A-Z][A-Za-z]{{0,40}})\((?:({_OPTION}(?:, {_OPTION}){{0,9}}))?\)", re.ASCII)
_PAIR = re.compile(r"([a-z_]+)=(?:'([a-z]+)'|([0-9]+)|Fraction\(([0-9]+), ([0-9]+)\))", re.ASCII)


def read_method(text: str) -> tuple[str, dict[str, Any]] | None:
    """The name of a privatizer and its options; None where the text is not of that form.

    >>> read_method("Hierarchical(branching=3, projection='clip')")
    ('Hierarchical', {'branching': 3, 'projection': 'clip'})
    >>> read_method("Hierarchical(branching=3, projection='clip'") is None
    True
    """
    call = _CALL.fullmatch(text)
    if call is None:
        return None
    options: dict[str, Any] = {}
    for key, word, number, *fraction in _PAIR.findall(call[2] or ""):
        if key in options:
            return None
        options[key] = word or (int(number) if number else tuple(map(int, fraction)))
    return call[1], options
