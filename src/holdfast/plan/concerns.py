"""What a steward should think about before paying, found in the table itself. NOT PRIVATE.

Every function takes names, cells and counts and gives sentences; none of them is published.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import listed_names, numbered
from holdfast.plan.explain import explain

FEW = 20  # rows below which numbers that are all different say nothing
DIFFERENT = 0.9  # of the rows, from which on large numbers look like names of things
LARGE = 10**6  # a median from which on they do
CODES = re.compile(
    r"phone|telefon|\btel\b|zip|postal|postcode|\bplz\b|fips|geoid|\bid\b|_id\b|\bcode\b|isbn|ssn"
    r"|\bnpi\b|account",
    re.IGNORECASE,
)
PLACES = re.compile(
    r"lat|lon|area|km|mile|elevation|year|month|week|rank|index|income|price|rate|share|percent"
    r"|district|ward|grade|level|class",
    re.IGNORECASE,
)
VALUES = 10  # different numbers below which a column is no count of people
CAPPED = Fraction(1, 2)  # of the rows, from which on a top code leaves little to see
LITTLE = 10  # rows times epsilon below which a group says little of itself
MOST_LABELS = 1000  # that are compared with each other
SHORTEST = 5  # letters of labels that may differ by one


def identifiers(name: str, counts: Integers) -> str | None:
    """What to say of a column of counts that names things rather than counting them.

    >>> identifiers("phone", np.arange(5_550_000, 5_550_100))[:46]
    "'phone' looks like numbers that name things, s"
    >>> identifiers("homicides", np.arange(100)) is None
    True
    """
    if len(counts) < FEW:
        return None
    different = len(np.unique(counts)) >= DIFFERENT * len(counts)
    named = CODES.search(name.replace("_", " ")) is not None
    if different and (named or np.median(counts) >= LARGE):
        return (
            f"{name!r:.60} looks like numbers that name things, such as telephone numbers or "
            "codes, not like counts"
        )
    return None


def people_beside(name: str, cells: Sequence[Any]) -> str | None:
    """What to ask of a published column that may be another count of people.

    >>> people_beside("ENROLLMENT", [str(number) for number in range(310, 340)])[:40]
    "'ENROLLMENT' holds whole numbers. Is it "
    >>> people_beside("fips", list(range(1000, 1030))) is None
    True
    """
    if CODES.search(name.replace("_", " ")) or PLACES.search(name):
        return None
    numbers = _whole_numbers(cells)
    if numbers is None or len(numbers) < FEW or len(np.unique(numbers)) < VALUES:
        return None
    return (
        f"{name!r:.60} holds whole numbers. Is it another count of people? A public figure, such "
        "as a population from the census, may stand; a count of the same people, exact and beside "
        "the noisy one, protects nobody who is in it. Then withhold it, or release it with --count"
    )


def _whole_numbers(cells: Sequence[Any]) -> Floats | None:
    found = []
    for cell in cells:
        text = str(cell).strip().replace(",", "")
        if text in ("", "None", "nan"):
            continue
        try:
            number = float(text)
        except ValueError:
            return None
        if number < 0 or number != int(number) or (text[0] == "0" and len(text) > 1):
            return None
        found.append(number)
    return np.array(found)


def reached_top(top: int | None, name: str, counts: Integers) -> str | None:
    """What to say of a top code that most rows reach.

    >>> reached_top(5, "visits", np.array([9, 7, 6, 1]))
    "3 of 4 rows of 'visits' have 5 or more: with top = 5 they would look alike"
    """
    if top is None or not len(counts):
        return None
    high = int((counts >= top).sum())
    if high < CAPPED * len(counts):
        return None
    return (
        f"{high:,} of {numbered(len(counts), 'row')} of {name!r:.60} have {top:,} or more: with "
        f"top = {top:,} they would look alike"
    )


def large_epsilon(epsilon: Fraction) -> str | None:
    """What to say of an epsilon that is large."""
    found = explain(epsilon)
    return f"epsilon = {float(epsilon):g}. {found.sentence}".rstrip(".") if found.size else None


def small_groups(names: Sequence[str], sizes: Iterable[int], epsilon: Fraction) -> str | None:
    """Which groups have too few rows to say much of themselves.

    >>> small_groups(["a", "b"], [400, 3], Fraction(1))[:76]
    "1 of 2 groups has fewer than 10 rows ('b'): with this epsilon it says little"
    """
    least = int(-(-LITTLE // epsilon))
    few = [name for name, size in zip(names, sizes, strict=True) if size < least]
    if not few or len(names) < 2:
        return None
    have = "has" if len(few) == 1 else "have"
    ending = "it says little of itself, and its distribution follows"
    if len(few) > 1:
        ending = "they say little of themselves, and their distributions follow"
    return (
        f"{len(few):,} of {len(names):,} groups {have} fewer than {least:,} rows "
        f"({listed_names(few, 5)}): with this epsilon {ending} that of the whole table"
    )


def near_duplicates(labels: Iterable[str]) -> str | None:
    """Labels that differ so little that one of them may be a slip.

    >>> near_duplicates(["Wake", "wake ", "Guilford", "Guildford", "Kent"])[:76]
    "some labels differ by little: 'Wake' and 'wake'; 'Guilford' and 'Guildford'."
    """
    different = list(dict.fromkeys(labels))[:MOST_LABELS]
    pairs = [
        f"{listed_names([one])} and {listed_names([other])}" for one, other in _near(different)
    ]
    if not pairs:
        return None
    more = "; …" if len(pairs) > 5 else ""
    return (
        f"some labels differ by little: {'; '.join(pairs[:5])}{more}. Each is a group of its own: "
        "correct them in the table if they are one"
    )


def _near(labels: Sequence[str]) -> Iterator[tuple[str, str]]:
    plain = {label: _letters(label) for label in labels}
    for one, other in combinations(labels, 2):
        a, b = plain[one], plain[other]
        if a == b or (min(len(a), len(b)) >= SHORTEST and _one_letter_apart(a, b)):
            yield one, other


def _letters(label: str) -> str:
    """A label without case, spaces and marks, and without what kind of place it is."""
    text = unicodedata.normalize("NFKD", label).casefold()
    text = re.sub(r"\b(county|co|city|parish|district)\b", "", text)
    return "".join(letter for letter in text if letter.isalnum())


def _one_letter_apart(one: str, other: str) -> bool:
    """Whether one letter more, less or another makes one of the other; digits are not slips."""
    if abs(len(one) - len(other)) > 1:
        return False
    start = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    at = min(len(one), len(other)) if start is None else start
    rests = {
        (one[at + 1 :], other[at:]),
        (one[at:], other[at + 1 :]),
        (one[at + 1 :], other[at + 1 :]),
    }
    changed = one[at : at + 1] + other[at : at + 1]
    return any(a == b for a, b in rests) and not any(letter.isdigit() for letter in changed)
