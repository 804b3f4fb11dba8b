"""release.json: written, read with suspicion, the sizes it keeps to, what files are called by it.

A maker checks what depends on the table before anything is paid (`check_size`). A reader refuses
what is larger before it makes room for it, so that a bundle from a stranger takes no more time and
memory than one of holdfast's own. Files of rows have no bound of their own: they are read in
batches, and have as many records as release.json says.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, Final, NoReturn

import numpy as np

from holdfast.errors import HoldfastError, decimal_or_fraction
from holdfast.measure.measurement import Measurement, Sums, Tally, Totals
from holdfast.privacy.budget import Budget
from holdfast.privacy.noise import Noise
from holdfast.privacy.promise import PersonIn, Persons, Promise
from holdfast.privacy.rational import exact_fraction
from holdfast.request import checks

ROWS, FORMATS = "rows.csv", ("csv", "parquet")
PARTS = ("noisy", "low", "high", "likely_low", "likely_high")
"""Of a column of counts, in rows.csv."""
SPENT_ON = {
    "counts": "single counts",
    "whole": "the distribution of counts",
    "sums": "the distributions of groups",
    "totals": "totals",
}
"""Parts of the budget of a column of counts, in words."""

SCHEMA: Final = 1
"""Of the bundle: all files and all fields."""

MOST_ROWS: Final = 1 << 40
"""Of a table: sums over all rows of small numbers stay far within 64 bits."""
MOST_COLUMNS: Final = checks.MOST_COLUMNS
"""Columns of counts."""
MOST_GROUPS: Final = 10_000
"""Declared groups: each has its lines in answers.csv and distribution.csv, and its sums."""
MOST_PARTS: Final = 50_000
"""Groups times columns of counts: each has about 20 lines in answers.csv, 50 MB in all."""
LONGEST_LABEL: Final = 1_000
"""Characters of a group's label: the README shows 20 groups for each column of counts."""
MOST_LABELS: Final = 1 << 20
"""Characters of the labels of all groups, times columns of counts."""
MOST_NAMES: Final = 1 << 16
"""Characters of the names of all columns, which stand in several files, escaped."""
LARGEST_COUNT: Final = 1 << 62
"""Of a released count; noisy ones are at least its negative."""

LONGEST_RECORD: Final = 1 << 24
"""Characters of one record of a CSV file."""
BATCH_ROWS: Final = 1 << 16
"""Rows that are read and written at a time."""

BATCH_BYTES: Final = 1 << 27
"""Bytes of one column of a Parquet file, unpacked: of its texts in a batch, and of all that it has
in a group of rows. What reads them takes six times as much; 1 KB a cell fits."""

MOST_BYTES: Final = {
    "release.json": 1 << 26,
    "README.md": 1 << 22,
    "codebook.md": 1 << 22,
    "deployment.yaml": 1 << 22,
    "distribution.svg": 1 << 20,
    "answers.csv": 1 << 27,
    "SHA256SUMS": 1 << 12,
}
"""Bytes of the files that are read as a whole. release.json holds the noisy sums of all groups: 64
MB are 6 million of them."""
DEEPEST: Final = 8
"""Levels of nesting of release.json."""
MOST_ENTRIES: Final = 8_000_000
"""Values in release.json; 1 GB once they are read."""
LONGEST_NUMBER: Final = 40
"""Characters of a number in release.json."""

PARQUET_RATIO: Final = 1100
"""How many bytes one byte of a Parquet file may become: what deflate can at the most."""
MOST_NESTED = 20 * (4 * MOST_GROUPS + 40)  # objects and lists: sums of each group, of each column
MOST_TEXTS = 12 * MOST_NESTED  # keys and texts
# a text without an end is one match too: looking for its end anew at every quote takes for ever
_TEXT_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"?|([][{}])', re.DOTALL)


def plain(value: Any, *without: str) -> Any:
    """A promise, a measurement or a part of them as plain values: its fields by name but for some,
    and exact numbers as fractions in text.

    >>> plain(Noise(epsilon=Fraction(1, 2)))
    {'epsilon': '1/2', 'shift': 1, 'width': 1}
    """
    if is_dataclass(value):
        names = [field.name for field in fields(value) if field.name not in without]
        return {name: plain(getattr(value, name), *without) for name in names}
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return str(value) if isinstance(value, Fraction | StrEnum) else value


def plain_promise(promise: Promise) -> dict[str, Any]:
    """A promise in release.json, where each column of counts has its name beside what was measured
    of it."""
    words = {"randomness": promise.randomness, "neighbours": promise.neighbours}
    return {**plain(promise, "columns"), **words}


def read_promise(columns: Sequence[str], said: Mapping[str, Any]) -> Promise:
    """The promise that release.json states of these columns of counts."""
    persons = dict(said["persons"])
    persons["weights"] = tuple(exact_fraction(each, "weights") for each in persons["weights"])
    persons["contributions"] = tuple(persons["contributions"])
    persons["person_in"] = PersonIn(persons["person_in"])
    return Promise(
        epsilon=exact_fraction(said["epsilon"], "epsilon"),
        persons=Persons(columns=tuple(columns), **persons),
        budgets=tuple(map(_read_budget, said["budgets"])),
        simulated=bool(said["simulated"]),
    )


def _read_budget(said: Mapping[str, Any]) -> Budget:
    exact = {name: exact_fraction(said[name], name) for name in ("epsilon", *SPENT_ON)}
    return Budget(**{**said, **exact})


def read_noise(said: Mapping[str, Any]) -> Noise:
    """The law of noise that release.json states."""
    epsilon = exact_fraction(said["epsilon"], "epsilon")
    return Noise(epsilon=epsilon, shift=said["shift"], width=said["width"])


def read_measurement(said: Mapping[str, Any], tally: Tally) -> Measurement:
    """What release.json says was measured of a column of counts, beside its noisy counts."""
    whole, totals = said["whole"], said["totals"]
    return Measurement(
        noise=read_noise(said["noise"]),
        tally=tally,
        whole=whole and Sums(**_with_noise(whole)),
        sums=tuple(sums and Sums(**_with_noise(sums)) for sums in said["sums"]),
        totals=totals and Totals(**_with_noise(totals)),
    )


def _with_noise(said: Mapping[str, Any]) -> dict[str, Any]:
    noises = {name: said[name] for name in ("noise", "whole_noise") if said.get(name)}
    return {**said, **{name: read_noise(noise) for name, noise in noises.items()}}


def table_name(table_format: str) -> str:
    """The name of the file with the table."""
    if table_format not in FORMATS:
        raise HoldfastError(f"`table_format` must be csv or parquet, got {table_format!r:.40}.")
    return f"table.{table_format}"


def titles(record: dict[str, Any]) -> list[str]:
    """The names of the columns of counts of a record."""
    return [column["name"] for column in record["counts"]]


def spent(budget: dict[str, Any]) -> str:
    """What each part of a column's budget is spent on, such as "1/2 on single counts"."""
    return ", ".join(
        f"{decimal_or_fraction(budget[part])} on {words}"
        for part, words in SPENT_ON.items()
        if Fraction(budget[part])
    )


def rows_header(category: str | None, titles: Iterable[str], *, grouped: bool) -> list[str]:
    """The names of the columns of rows.csv."""
    parts = (f"{title}_{part}" for title in titles for part in PARTS)
    return [category or "row", *["group"] * grouped, *parts]


def check_size(
    rows: int, columns: int, labels: Sequence[Sequence[str]], names: Sequence[str]
) -> None:
    """Refuse a table whose bundle nobody could read; to be called before anything is paid.

    `labels` are those of the groups, a text for each column that they are of; `names` those of all
    columns that are published, counts included.
    """
    groups, lengths = len(labels), [sum(map(len, label)) for label in labels]
    for number, most, what in (
        (rows, MOST_ROWS, "rows"),
        (columns, MOST_COLUMNS, "columns of counts"),
        (groups, MOST_GROUPS, "groups"),
        (groups * columns, MOST_PARTS, "groups in all columns of counts"),
        (max(lengths, default=0), LONGEST_LABEL, "characters in the label of a group"),
        (sum(lengths) * columns, MOST_LABELS, "characters in labels of groups"),
        (sum(map(len, names)), MOST_NAMES, "characters in the names of published columns"),
    ):
        if number > most:
            raise HoldfastError(
                f"`table` has {number:,} {what}, and a release at most {most:,}. "
                "Hint: fewer or coarser groups, fewer columns, shorter names."
            )


def check_digits(promise: Promise) -> None:
    """Refuse exact numbers that nobody could read; to be called before anything is paid.

    Noise has at least a fifth of such a part, for each time that a person may be counted."""
    parts = [getattr(budget, name) for budget in promise.budgets for name in SPENT_ON]
    numbers = [promise.epsilon, *promise.persons.weights, *parts]
    most = 10**LONGEST_NUMBER // (5 * max(budget.reach for budget in promise.budgets))
    if max(max(each.numerator, each.denominator) for each in numbers) > most:
        raise HoldfastError(
            "`epsilon`, its shares and `weights` come to parts of too many digits. "
            "Hint: write them with fewer."
        )


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
