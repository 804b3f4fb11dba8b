"""What people read in a bundle: it must say what the record says, and do nothing."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

from holdfast.verification.folder import read_small
from holdfast.verification.report import Damage, shown

_MARK = "SIMULATION, protects nobody"
_TAG = re.compile(r"<(/?)([a-zA-Z]+)((?:\s[^<>]*)?)>")
_ATTRIBUTE = re.compile(r'([a-zA-Z:-]+)="([^"<>]*)"')
_VALUE = re.compile(r"[A-Za-z0-9 .,#%()+-]*", re.ASCII)
_LONGEST = 1000
_NAMESPACE = "http://www.w3.org/2000/svg"
_TAGS = {"svg", "rect", "text", "g", "path"}
_ATTRIBUTES = {
    *("width", "height", "viewBox", "font-family", "font-size", "font-weight", "fill"),
    *("x", "y", "d", "text-anchor", "transform", "stroke", "stroke-width"),
}


def check_texts(folder: Path, record: dict[str, Any]) -> str:
    """README.md and deployment.yaml state the same promise; a simulation is marked everywhere."""
    privacy = record["privacy"]
    texts = {name: _read(folder, name) for name in ("README.md", "deployment.yaml")}
    if f"epsilon = {privacy['epsilon']} " not in texts["README.md"]:
        raise Damage("README.md does not state the epsilon of release.json.")
    for name in ("epsilon", "delta"):
        _check_registered(texts["deployment.yaml"], name, Fraction(privacy[name]))
    texts["distribution.svg"] = _read(folder, "distribution.svg")
    for name, text in texts.items():
        if (_MARK in text) is not privacy["simulated"]:
            said = "does not say" if privacy["simulated"] else "says"
            raise Damage(f"{name} {said} that the release is a simulation; release.json differs.")
    return "README.md, deployment.yaml and the picture agree with release.json"


def check_picture(folder: Path) -> str:
    """The picture is shapes and words: no script, no link, nothing from elsewhere."""
    text = _read(folder, "distribution.svg")
    rest = _TAG.sub("", text)
    if "<" in rest or ">" in rest:
        raise Damage("distribution.svg holds more than shapes and words.")
    for _, tag, attributes in _TAG.findall(text):
        if tag not in _TAGS:
            raise Damage(f"distribution.svg holds the element {shown(tag)}, which it must not.")
        if len(attributes) > _LONGEST:
            raise Damage(f"distribution.svg: the element {shown(tag)} is too long.")
        pairs = _ATTRIBUTE.findall(attributes)
        if _ATTRIBUTE.sub("", attributes).strip(" /\n") or not all(map(_is_harmless, pairs)):
            raise Damage(
                f"distribution.svg: the element {shown(tag)} has an attribute that is not allowed."
            )
    return "shapes and words, no script and no links"


def _is_harmless(pair: tuple[str, str]) -> bool:
    name, value = pair
    if name == "xmlns":
        return value == _NAMESPACE
    plain = _VALUE.fullmatch(value) is not None and "url" not in value.lower()
    return name in _ATTRIBUTES and plain


def _check_registered(text: str, name: str, expected: Fraction) -> None:
    found = re.findall(rf"^      {name}: ([0-9.]+)$", text, re.ASCII | re.MULTILINE)
    if not found and expected == 0:
        return
    if len(found) == 1 and re.fullmatch(r"[0-9]{1,20}(\.[0-9]{1,400})?", found[0], re.ASCII):
        stated = Fraction(found[0])
        if 0 <= stated - expected <= expected / 10**9:
            return
    raise Damage(f"deployment.yaml does not state the {name} of release.json.")


def _read(folder: Path, name: str) -> str:
    try:
        return read_small(folder, name).decode("utf-8")
    except UnicodeDecodeError:
        raise Damage(f"{name} is not UTF-8.") from None
