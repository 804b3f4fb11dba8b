"""deployment.yaml: plain lines, each key once, and the promise of release.json."""

import re
from fractions import Fraction
from typing import Any

from holdfast.former.verify.report import Damage, shown

_TEXT = r'"(?:[^"\\]|\\.)*+"'
_LINE = re.compile(rf" *(?:([a-z_]+):(?: ({_TEXT}|[0-9.]+))?|-(?: {_TEXT})?)", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,20}(\.[0-9]{1,400})?", re.ASCII)
_KEPT = "Its distribution of counts stays close to the true one."


def check_registry(text: str, record: dict[str, Any]) -> None:
    """What the registry would be told, against the record.

    The file is read line by line: a YAML reader would have to be trusted, and could be told
    another epsilon by a second key, a quoted key or a text over several lines.
    """
    found = _keys(text)
    privacy, delta = record["privacy"], Fraction(record["privacy"]["delta"])
    _check_number(found, "epsilon", Fraction(privacy["epsilon"]))
    if delta or "delta" in found:
        _check_number(found, "delta", delta)
    block = "".join(f"      {key}: {found[key]}\n" for key in ("epsilon", "delta") if key in found)
    if f"\n    privacy_parameters:\n{block}    privacy_parameters_details: " not in text:
        raise Damage("deployment.yaml does not state epsilon and delta as privacy_parameters.")
    kind = '"Approximate DP"' if delta else '"Pure DP"'
    if found.get("variant_name") != kind:
        raise Damage(f"deployment.yaml does not give the variant {kind[1:-1]}.")
    unit = f'"A person who adds at most {privacy["contributions"]} to one row"'
    if "unit" in privacy:
        rows = "1 row" if privacy["person_rows"] == 1 else f"{privacy['person_rows']:,} rows"
        added = privacy["contributions"]
        unit = f'"One {privacy["unit"]} with at most {added} in each of at most {rows}"'
    if found.get("privacy_unit") != unit:
        raise Damage("deployment.yaml does not state the contributions of release.json.")
    if (_KEPT in text) is not record["fixed_point"]:
        raise Damage("deployment.yaml and fixed_point differ on whether the distribution is kept.")


def _keys(text: str) -> dict[str, str]:
    """Every key and its value; raises where a line is not as holdfast writes them."""
    found: dict[str, str] = {}
    if not text.endswith("\n"):
        raise Damage("deployment.yaml does not end with a line end.")
    for number, line in enumerate(text[:-1].split("\n"), 1):
        if line.startswith("#") and line.isprintable():
            continue
        match = _LINE.fullmatch(line)
        if match is None or not line.isascii():
            raise Damage(f"deployment.yaml: line {number} is not a key and a value.")
        key = match[1]
        if key in found:
            raise Damage(f"deployment.yaml gives the key {shown(key)} twice.")
        if key is not None:
            found[key] = match[2] or ""
    return found


def _check_number(found: dict[str, str], name: str, expected: Fraction) -> None:
    text = found.get(name, "")
    if _NUMBER.fullmatch(text):
        stated = Fraction(text)
        if 0 <= stated - expected <= expected / 10**9 and (expected or not stated):
            return
    raise Damage(f"deployment.yaml does not state the {name} of release.json.")
