"""What a steward should think about before paying, found in the table itself. NOT PRIVATE.

Every function takes names, cells and counts and gives sentences; none of them is published.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import listed_names, numbered
from holdfast.plan.explain import explain
from holdfast.release.readme import drowns
from holdfast.tables.leaks.measures import as_numbers, readings
from holdfast.tables.leaks.search import NEARLY_ALL
from holdfast.tables.look_columns import near_labels

FEW = 20  # rows below which numbers that are all different say nothing
DIFFERENT = 0.9  # of the rows, from which on large numbers look like names of things
LARGE = 10**6  # a median from which on they do
CODES = re.compile(
    r"phone|telefon|\btel\b|zip|postal|postcode|\bplz\b|fips|geoid|\bid\b|_id\b|\bcode\b|isbn|ssn"
    r"|\bnpi\b|account",
    re.IGNORECASE,
)
GROUPED = re.compile(r"[1-9][0-9]{0,2}([,.' \u2019\u00a0\u202f])[0-9]{3}(\1[0-9]{3})*")
PUBLIC = re.compile(
    r"\b(popul\w*|einwohner\w*|bevölkerung\w*|lat|latitude|lon|lng|long|longitude|area|fläche|"
    r"\w*km[2²]?|miles?|elevation|year|jahr|month|week|"
    r"rank|index|income|price|rate|share|percent\w*|district|ward|grade|level|class)\b",
    re.IGNORECASE,
)
RATES = re.compile(
    r"\b\w*(rate|quote|anteil|ratio|percent\w*|prozent|pct|proportion|incidence|inzidenz)n?s?\b"
    r"|\b(per|je|pro) ?(\d|capita|kopf)|%",
    re.IGNORECASE,
)
VALUES = (10, 3)  # different numbers below which a column is no count of people; with 0 among them
MISSING_CODES = 5  # different cells that are no counts, up to which they mean that one is missing
LITTLE = 10  # rows times epsilon below which a group says little of itself
NINES = (99, 999, 9_999, 99_999)
FAR = 3  # times the next lower count, from which on nines stand apart
SHOWN_PAIRS = 5  # of labels that differ by little


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
    words = name.replace("_", " ")
    if CODES.search(words) or PUBLIC.search(words):
        return None
    numbers = _whole_numbers(cells)
    if len(numbers) < FEW or len(np.unique(numbers)) < VALUES[0 in numbers]:
        return None
    return (
        f"{name!r:.60} holds whole numbers. Is it another count of people? A public figure, such "
        "as a population from the census, may stand; a count of the same people, exact and beside "
        "the noisy one, protects nobody who is in it. Then withhold it, or release it with --count"
    )


def rate_beside(name: str, cells: Sequence[Any]) -> str | None:
    """What to say of a published column of fractions that is named like a rate."""
    named = RATES.search(name.replace("_", " ")) is not None
    if not named or not any((x[np.isfinite(x)] % 1 > 0).any() for x in readings(cells)):
        return None
    return (
        f"{name!r:.60} is named like a rate. If it is one of these counts, whoever has what they "
        "were divided by has every count exactly. Then withhold it, and derive it from the release"
    )


def total_of_others(counts: Mapping[str, Integers]) -> str | None:
    """What to say where one of several columns of counts is the sum of the others in every row."""
    whole = np.sum(list(counts.values()), axis=0)
    for name, column in counts.items():
        if len(counts) > 2 and len(column) >= FEW and whole.any() and (2 * column == whole).all():
            return (
                f"{name!r:.60} is the sum of {listed_names(n for n in counts if n != name)} in "
                "every row. Releasing these alone spares epsilon, and they can be added up; "
                "released beside them, the total will not be their sum"
            )
    return None


def completed(
    name: str, cells: Sequence[Any], withheld: Mapping[str, Sequence[Any]], counts: Integers
) -> str | None:
    """What to say of a published column that gives the counts with one that is withheld.

    >>> counts, some = np.arange(40) % 7, np.arange(40) + 300
    >>> completed("POPULATION", some + counts, {"ENROLLMENT": some}, counts)[:64]
    "'POPULATION' gives the counts with 'ENROLLMENT', which is withhe"
    """
    kept = as_numbers(cells)
    if len(counts) < FEW or len(np.unique(counts)) < 2:
        return None
    for other, others in withheld.items():
        hidden = as_numbers(others)
        for guess in (kept - hidden, hidden - kept, kept + hidden):
            if np.mean(guess == counts) >= NEARLY_ALL:
                return (
                    f"{name!r:.60} gives the counts with {other!r:.60}, which is withheld here: "
                    "whoever has that from elsewhere has every count exactly. Withhold both, "
                    "unless nobody else can know it"
                )
    return None


def nines(name: str, counts: Integers) -> str | None:
    """What to ask of a 99 or so that stands far above all other counts, without saying which.

    >>> nines("visits", np.array([3, 0, 99, 7, 99]))[:56]
    "'visits' has nines far above all other counts, as a code"
    >>> nines("visits", np.array([3, 57, 99])) is None
    True
    """
    ascending = [0, 0, *np.unique(counts).tolist()]
    highest, second = ascending[-1], ascending[-2]
    if highest not in NINES or FAR * second >= highest:
        return None
    return (
        f"{name!r:.60} has nines far above all other counts, as a code for what is not known is "
        "written. If it is one, leave such cells blank in the file, and name blank cells as missing"
    )


def _whole_numbers(cells: Sequence[Any]) -> Floats:
    """The whole numbers from 0 up, where most cells are, or where the others are a few codes of
    what is missing, such as -999 or "n/a"; else none of them.
    """
    numbers, others = list[float](), list[str]()
    for cell in cells:
        text = str(cell).strip()
        text = re.sub("[^0-9]", "", text) if GROUPED.fullmatch(text) else text
        if text in ("", "None", "nan"):
            continue
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        whole = isfinite(number) and number >= 0 and number.is_integer()
        if whole and (text[0] != "0" or number == 0):
            numbers.append(number)
        else:
            others.append(text)
    mostly = len(numbers) > len(others) or len(set(others)) <= MISSING_CODES
    return np.array(numbers if mostly else [])


def drowned(name: str, counts: Integers, noise: int, rows: int, epsilon: Fraction) -> str | None:
    """What to say of noise that is larger than all counts, where few rows cannot make up for it.

    >>> drowned("deaths", np.arange(20), 3_289, 900, Fraction(1, 1000))[:71]
    "noise of up to 3,289, nine times in ten, drowns the counts of 'deaths',"
    """
    if len(counts) < FEW or not drowns(noise, counts.max(), rows, epsilon):
        return None
    return (
        f"noise of up to {noise:,}, nine times in ten, drowns the counts of {name!r:.60}, and "
        f"{numbered(rows, 'row')} are too few to make up for it: the release would say little. "
        "`holdfast plan` says what a larger epsilon buys"
    )


def large_epsilon(epsilon: Fraction) -> str | None:
    """What to say of an epsilon that is large."""
    explained = explain(epsilon)
    words = f"epsilon = {float(epsilon):g}. {explained.sentence}".rstrip(".")
    return words if explained.size else None


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


def near_duplicates(rows: Mapping[str, int]) -> str | None:
    """Labels of groups, by their rows, that differ so little that one of them may be a slip.

    >>> near_duplicates({"Wake": 9, "wake ": 1, "Kent": 4})[:46]
    "some labels differ by little: 'wake ' and 'Wak"
    """
    pairs = [f"{label!r:.60} and {other!r:.60}" for label, other in near_labels(rows)]
    if not pairs:
        return None
    more = "; …" if len(pairs) > SHOWN_PAIRS else ""
    return (
        f"some labels differ by little: {'; '.join(pairs[:SHOWN_PAIRS])}{more}. Each is a group of "
        "its own: correct them in the table if they are one"
    )
