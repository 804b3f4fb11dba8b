"""Labels that look like two spellings of one: they would become two groups."""

import re
from collections import defaultdict
from collections.abc import Mapping
from itertools import combinations
from unicodedata import combining, normalize

_GENERIC = {"co", "county", "city", "of", "the", "state", "dept", "department", "parish", "borough"}
_SHORT = {"st": "saint", "ste": "sainte", "mt": "mount", "ft": "fort", "n": "north", "s": "south"}
_LEAST = 6  # characters of labels that may be misspelt: shorter ones are often codes
_RARE = 3  # a misspelling has so many times fewer rows
_MOST = 2_000  # labels


def near_labels(rows: Mapping[str, int]) -> list[tuple[str, str]]:
    """Pairs of labels, the one with fewer rows first, that are spelt nearly alike.

    >>> near_labels({"Wake": 30, "wake ": 1, "Wake Co.": 2, "Guilford": 9, "Guildford": 1})
    [('wake ', 'Wake'), ('Wake Co.', 'Wake'), ('Guildford', 'Guilford')]
    """
    if len(rows) > _MOST:
        return []
    plain = defaultdict(list)
    for label in rows:
        plain[_plain(label)].append(label)
    pairs = []
    for alike in plain.values():
        usual = max(alike, key=rows.__getitem__)
        pairs += [(label, usual) for label in alike if label != usual]
    first = {words: max(alike, key=rows.__getitem__) for words, alike in plain.items()}
    for one, other in _one_letter_apart(list(first)):
        few, many = sorted((first[one], first[other]), key=rows.__getitem__)
        if rows[few] * _RARE <= rows[many]:
            pairs.append((few, many))
    return pairs


def _plain(label: str) -> str:
    """A label without what is written in many ways: case, accents, marks, words for places."""
    bare = "".join(sign for sign in normalize("NFKD", label) if not combining(sign))
    words = re.findall(r"\w+", bare.casefold())
    kept = [_SHORT.get(word, word) for word in words if word not in _GENERIC]
    return " ".join(kept or words)


def _one_letter_apart(texts: list[str]) -> list[tuple[str, str]]:
    """Pairs of which one has a letter more, another letter, or two exchanged; no digit differs."""
    spelt = defaultdict(list)
    for text in texts:
        if len(text) >= _LEAST:
            for key in {text, *(text[:at] + text[at + 1 :] for at in range(len(text)))}:
                spelt[key].append(text)
    pairs = {pair for alike in spelt.values() for pair in combinations(sorted(alike), 2)}
    digits = re.compile(r"\d")
    return sorted(
        (one, other)
        for one, other in pairs
        if digits.findall(one) == digits.findall(other) and _distance_one(one, other)
    )


def _distance_one(one: str, other: str) -> bool:
    start = next((k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if start is None:
        return abs(len(one) - len(other)) == 1
    one, other = one[start:], other[start:]
    swapped = one[:2] == other[1::-1] and one[2:] == other[2:]
    return swapped or one[1:] == other[1:] or one[1:] == other or one == other[1:]
