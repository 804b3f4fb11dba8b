"""What people read in a bundle: it must say what the record says, and do nothing.

Two ways, one after the other. The promise, the marks of a simulation and the harmlessness of the
picture are checked by code of this package alone. After that every byte is compared with what the
functions that write bundles make of the record and of the counts in the table. These are
borrowed, on purpose: what they say wrongly the first checks still find, and nothing else can be in
the files. Whoever changes them gives the next schema functions of its own (`WRITERS`), so that
the texts of older bundles can still be made; before a version was published, the functions were
told which words came first.
"""

import re
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path
from typing import Any

from holdfast.former.verify.folder import TEXTS, read_small
from holdfast.former.verify.record import rounded_up
from holdfast.former.verify.registry import check_registry
from holdfast.former.verify.report import Damage, Found, shown

Names = tuple[str, str]  # of the table and of the file with the mechanism
Groups = list[tuple[str, int, Any]]  # the name of each, its rows and its target
_MARK = "SIMULATION, protects nobody"
_KEPT = "(how many rows have 0, 1, 2, ...) stays close to the true one."
_NOT_KEPT = "The mechanism that drew them does not keep the distribution of the counts"
_STATED = re.compile(r"(epsilon|delta)\s+=\s+(\S+)")
_NOTE = re.compile(r"^- Note: (.*) has repeated values", re.MULTILINE)
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
    simulated, names = record["privacy"]["simulated"], _Names(record)
    whole = {name: _read(folder, name) for name in TEXTS}
    texts = {name: names.left_out_of(text) for name, text in whole.items()}
    for name, text in texts.items():
        if (_MARK in text) is not simulated:
            said = "does not say" if simulated else "says"
            raise Damage(f"{name} {said} that the release is a simulation; release.json differs.")
    _check_readme(texts["README.md"], record)
    check_registry(whole["deployment.yaml"], record)
    for name in ("README.md", "deployment.yaml"):
        _check_numbers(texts[name], name, record["privacy"])
    return "README.md, deployment.yaml and the picture agree with release.json"


def check_written(
    folder: Path, record: dict[str, Any], tally: list[int], names: Names, groups: Groups
) -> Found:
    """Every byte that people read follows from the record and the table."""
    if record["schema"] not in WRITERS:
        old = f"this release has schema {record['schema']}: what people read in it was held to its "
        return Found("not compared: its schema left them open", f"{old}main points alone.")
    drawn = [tally[0] - record["structural_zeros"], *tally[1:]]
    write, first = WRITERS[record["schema"]], dict[str, str]()
    for name, text in write(record, drawn, names, groups).items():
        there = _read(folder, name)
        if there == text:
            continue
        first = first or write(record, drawn, names, groups, first=True)
        if there not in (first[name], _said_at_first(first[name], record)):
            pairs = enumerate(zip_longest(there.split("\n"), text.split("\n")), 1)
            line = next(number for number, (a, b) in pairs if a != b)
            raise Damage(
                f"{name} is not what release.json and the table make it: line {line} differs."
            )
    return Found(
        "README.md, deployment.yaml and the picture follow from release.json and the table"
    )


def _said_at_first(text: str, record: dict[str, Any]) -> str:
    """README.md spoke of persons at first, whatever unit the promise was to."""
    unit = record["privacy"].get("unit", "person")
    return text.replace(f"\nany one {unit} was counted", "\nany one person was counted", 1)


def check_shared_words(folder: Path, record: dict[str, Any], table: str) -> str:
    """README.md of several columns of counts, to the byte, from the record; that it states the
    promise once is checked first."""
    from holdfast.former.release.several_text import several_read_me

    text, privacy = _read(folder, "README.md"), record["privacy"]
    delta = Fraction(privacy["delta"])
    promise = f"\n- Promise: epsilon = {privacy['epsilon']}"
    promise += f" with delta = {rounded_up(delta)}" if delta else ""
    stated = f"{promise} for all columns together;\n" in text and text.count("Promise:") == 1
    if not stated or (_MARK in text) is not privacy["simulated"]:
        raise Damage("README.md does not state the promise of release.json once.")
    if text != several_read_me(record, table):
        raise Damage("README.md is not what release.json makes it.")
    return "README.md follows from release.json"


def _written_3(
    record: dict[str, Any], drawn: list[int], names: Names, groups: Groups, first: bool = False
) -> dict[str, str]:
    from holdfast.former.release.text import written

    return written(record, drawn, *names, groups, first=first)


# words of schemas 4 and 5 come on top of those of 3, and later ones of each beside the first
WRITERS = {3: _written_3, 4: _written_3, 5: _written_3}


def _check_readme(text: str, record: dict[str, Any]) -> None:
    privacy = record["privacy"]
    delta = Fraction(privacy["delta"])
    promise = (
        f"\n- Promise: epsilon = {privacy['epsilon']}"
        + (f" with delta = {rounded_up(delta)}" if delta else "")
        + f" {_whom(privacy)}; {privacy['certified_epsilon_decimal']} was certified from what was "
        "drawn.\n"
    )
    if promise not in text or text.count("Promise") != 1 or "<!--" in text:
        raise Damage(
            "README.md does not state the epsilon and delta of release.json once, as its promise."
        )
    words = " ".join(text.split())
    if (_KEPT in words, _NOT_KEPT in words) != (record["fixed_point"], not record["fixed_point"]):
        raise Damage("README.md and fixed_point differ on whether the distribution is kept.")


def _whom(privacy: dict[str, Any]) -> str:
    added = privacy["contributions"]
    if "unit" not in privacy:
        return f"for a person who adds at most {added}\n  to one row"
    rows = "1 row" if privacy["person_rows"] == 1 else f"{privacy['person_rows']:,} rows"
    return f"for one {privacy['unit']} with at most {added}\n  in each of at most {rows}"


def _check_numbers(text: str, name: str, privacy: dict[str, Any]) -> None:
    """Wherever epsilon or delta is given a number, it is that of the record."""
    bound = f"{float(Fraction(privacy['bound'])):g}"  # what finding max_count took is a note
    allowed = {
        "epsilon": {privacy["epsilon"], bound},
        "delta": {str(rounded_up(Fraction(privacy["delta"])))},
    }
    for match in _STATED.finditer(text):
        if match[2].rstrip(".,:;") not in allowed[match[1]]:
            raise Damage(f"{name} states another {match[1]} than release.json.")


class _Names:
    """The names of columns, which might be taken for a promise, and where they stand.

    Each place is looked for once: a million names take no longer than their letters.
    """

    def __init__(self, record: dict[str, Any]) -> None:
        counts = record["count_column"] if record["count_column"] is not None else "count"
        kept = ", ".join(_code(_one_line(column)) for column in record["unchanged_columns"])
        others = ", ".join(_code(_one_line(name)) for name in record.get("other_counts", ()))
        given = " and ".join(_code(_one_line(name)) for name in record.get("given", ()))
        self.places = (
            f"(column {_code(_one_line(counts))})",
            f"published unchanged: {kept or 'none'}.",
            f"; the others are {others}.",
            f"The relation to {given} is kept",
        )
        self.plain = {
            re.sub(r"([\\`*\[\]<>])", r"\\\1", _one_line(column)) for column in record["columns"]
        }

    def left_out_of(self, text: str) -> str:
        for place in self.places:
            text = text.replace(place, "", 1)
        text = _NOTE.sub(lambda note: "" if note[1] in self.plain else note[0], text)
        return re.sub(r"^    unprotected_quantities: .*$", "", text, flags=re.MULTILINE)


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _code(name: str) -> str:
    """A name as code in Markdown: between more backticks than it has in a row."""
    longest = max(map(len, re.findall("`+", name)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {name} {fence}" if longest or not name else f"{fence}{name}{fence}"


def check_picture(folder: Path) -> str:
    """The picture is shapes and words: no script, no link, nothing from elsewhere."""
    text = _read(folder, "distribution.svg")
    rest = _TAG.sub("", text)
    if "<" in rest or ">" in rest:
        raise Damage("distribution.svg holds more than shapes and words.")
    for match in _TAG.finditer(text):
        _, tag, attributes = match.groups()
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


def _read(folder: Path, name: str) -> str:
    try:
        return read_small(folder, name).decode("utf-8")
    except UnicodeDecodeError:
        raise Damage(f"{name} is not UTF-8.") from None
