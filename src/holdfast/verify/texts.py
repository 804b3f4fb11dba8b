"""What people read in a bundle: it must say what the record says, and do nothing.

Two ways, one after the other. The promise and the marks of a simulation are checked by code of this
package alone. Then everything is compared with what the maker's functions make of the bundle. These
are borrowed, on purpose: what they say wrongly the first check still finds.
"""

import math
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path
from typing import Any

from holdfast.release.release import Release
from holdfast.verify.folder import read_text
from holdfast.verify.report import Damage, Found

MARK = "SIMULATION"
_STATED = re.compile(r"epsilon = ([0-9./]*[0-9])")
_EPSILON = re.compile(r"epsilon\b.*[0-9]", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<(/?)([a-zA-Z]+)((?:\s[^<>]*)?)>")
_TAGS = {"svg", "rect", "text", "g", "path", "title", "tspan", "line"}
_DANGEROUS = re.compile(r"\bon[a-z]+\s*=|href|javascript|<script|<!|<\?|url\(", re.IGNORECASE)
_END = re.compile(r'(?<= y[12]=")-?[0-9]{1,4}\.[0-9](?=")')
ROUNDED = 2.0  # of a panel's height of 220: what rounding on another machine may move a whisker by
NEARLY = 0.02  # of an interval's width: what rounding on another machine may move its ends by


def check_words(folder: Path, record: dict[str, Any]) -> str:
    """README.md states the promise once and no other; a simulation is marked where it must be."""
    promise = record["promise"]
    said = read_text(folder, "README.md")
    said = "\n".join(map(_without_code, said.split("\n")))  # names and labels, whatever they say
    unit = promise["persons"]["unit"]
    if not re.search(f"\n- epsilon = [0-9./]+ for one {unit}[.]", said):
        raise Damage("README.md does not state the promise of release.json.")
    if any(Fraction(number) != Fraction(promise["epsilon"]) for number in _STATED.findall(said)):
        raise Damage("README.md states another epsilon than release.json.")
    if any(map(_EPSILON.search, record["notes"])):
        raise Damage("a note of release.json states an epsilon, which the promise alone does.")
    for name in ("README.md", "deployment.yaml"):
        if (MARK in read_text(folder, name).upper()) is not promise["simulated"]:
            raise Damage(f"{name} and release.json differ in whether it is a simulation.")
    picture = read_text(folder, "distribution.svg")
    outside = {match[2] for match in _TAG.finditer(picture)} - _TAGS
    if outside or _DANGEROUS.search(re.sub(r'xmlns="[^"]*"', "", picture)):
        raise Damage("distribution.svg holds more than a picture.")
    return "README.md, deployment.yaml and the picture agree with release.json"


def _without_code(line: str) -> str:
    """A line of Markdown without what stands between runs of backticks of one length.

    >>> _without_code("a `b` c ``d ` e`` f `g")
    'a … c … f `g'
    """
    parts, place, kept = re.split("(`+)", line), 0, list[str]()
    last = {run: at for at, run in enumerate(parts) if at % 2}
    while place < len(parts):
        run = parts[place]
        if place % 2 and last[run] > place:
            place = parts.index(run, place + 1)
            run = "…"
        kept.append(run)
        place += 1
    return "".join(kept)


def check_written(
    folder: Path, record: dict[str, Any], release: Release, answers: list[tuple[str, ...]]
) -> Found:
    """What people read follows from the bundle, as the maker's functions write it."""
    from holdfast.release.codebook import codebook
    from holdfast.release.deployment import deployment_yaml
    from holdfast.release.picture import distribution_picture
    from holdfast.release.readme import read_me

    record = {name: value for name, value in record.items() if name != "files"}
    for name, text in {
        "README.md": read_me(record, answers),
        "codebook.md": codebook(record),
        "deployment.yaml": deployment_yaml(record),
    }.items():
        there = read_text(folder, name)
        if there != text:
            pairs = enumerate(zip_longest(there.split("\n"), text.split("\n")), 1)
            line = next(number for number, (a, b) in pairs if a != b)
            raise Damage(f"{name} is not what the release makes it: line {line} differs.")
    there, anew = read_text(folder, "distribution.svg"), distribution_picture(release)
    if there == anew:
        return Found("the texts and the picture follow from the release")
    if not _nearly_drawn(there, anew):
        raise Damage("distribution.svg is not the picture that the release makes.")
    warning = "ends of some whiskers of distribution.svg are rounded otherwise on this machine."
    return Found("the texts and the picture follow from the release", warning)


def _nearly_drawn(there: str, anew: str) -> bool:
    """Whether two pictures are the same but for the rounding of where whiskers end."""
    if _END.sub("", there) != _END.sub("", anew):
        return False
    pairs = zip(_END.findall(there), _END.findall(anew), strict=True)
    return all(abs(float(a) - float(b)) <= ROUNDED for a, b in pairs)


def compare(
    name: str, there: Iterable[Sequence[str]], anew: Iterable[Sequence[str]], exact: int
) -> bool:
    """Whether records of a file are those made anew, whose first `exact` cells, the answer among
    them, must be equal to the letter; False where ends of intervals differ by what another
    machine's rounding explains."""
    same = True
    for at, (line, remade) in enumerate(zip_longest(there, anew), 1):
        if line is None or remade is None or tuple(line[:exact]) != tuple(remade[:exact]):
            raise Damage(f"{name} is not what the release makes it: record {at} differs.")
        if tuple(line) != tuple(remade):
            same = False
            if not _near(line[exact - 1 :], remade[exact - 1 :]):
                raise Damage(f"{name} is not what the release makes it: record {at} differs.")
    return same


def _near(there: Sequence[str], anew: Sequence[str]) -> bool:
    try:
        a, b = [float(x or "nan") for x in there], [float(x or "nan") for x in anew]
    except ValueError:
        return False
    if len(a) != len(b) or [math.isnan(x) for x in a] != [math.isnan(x) for x in b]:
        return False
    width = max(max(b) - min(b), abs(b[0]) * 1e-6) if not any(map(math.isnan, b)) else 0.0
    digits = max((len(x.partition(".")[2]) for x in anew), default=0)
    return all(
        abs(x - y) <= NEARLY * width + 1.01 * 10.0**-digits or math.isnan(x)
        for x, y in zip(a, b, strict=True)
    )
