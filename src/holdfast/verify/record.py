"""release.json: its fields, and the exact arithmetic of the promise."""

import re
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import isfinite
from typing import Any

from holdfast.errors import numbered
from holdfast.privacy.noise import Noise
from holdfast.release.record import (
    LARGEST_COUNT,
    MOST_COLUMNS,
    MOST_GROUPS,
    MOST_NAMES,
    MOST_ROWS,
    SCHEMA,
    plain_promise,
    read_promise,
)
from holdfast.verify.report import Damage, Failure, shown

Test = Callable[[Any], bool]
_FRACTION = re.compile(r"(0|[1-9][0-9]{0,40})(/[1-9][0-9]{0,40})?", re.ASCII)
PARTS = ("counts", "whole", "sums", "totals")


def _whole(most: int, least: int = 0) -> Test:
    return lambda value: type(value) is int and least <= value <= most


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _exact(value: Any) -> bool:
    return isinstance(value, str) and _FRACTION.fullmatch(value) is not None


def _or_null(test: Test) -> Test:
    return lambda value: value is None or test(value)


def _list_of(test: Test, least: int = 0, most: int = 1 << 22) -> Test:
    return lambda value: (
        isinstance(value, list) and least <= len(value) <= most and all(map(test, value))
    )


def _one_of(*values: Any) -> Test:
    return lambda value: value in values and type(value) in {type(each) for each in values}


def _fields(**tests: Test) -> Test:
    def test(value: Any) -> bool:
        if not isinstance(value, dict):
            raise Damage("release.json does not have the form of a record.")
        for name in sorted(set(tests) ^ set(value)):
            has = "lacks" if name in tests else "has an unknown"
            raise Damage(f"release.json {has} field {shown(name)}.")
        for name, check in tests.items():
            if not check(value[name]):
                raise Damage(f"the field {name!r} of release.json is not what it must be.")
        return True

    return test


_number = _whole(LARGEST_COUNT, -LARGEST_COUNT)
_noise = _fields(epsilon=_exact, shift=_whole(10**6, 1), width=_whole(10**6, 1))
_sums = _fields(edges=_list_of(_whole(LARGEST_COUNT), 2), values=_list_of(_number, 1), noise=_noise)
_totals = _fields(
    values=_list_of(_number), noise=_noise, whole=_or_null(_number), whole_noise=_or_null(_noise)
)
_count = _fields(
    name=_text,
    missing=_whole(MOST_ROWS),
    ties=lambda value: _text(value) and value.isdecimal() and int(value) < 1 << 64,
    relations=_list_of(_whole(1 << 14, -(1 << 14)), 0, MOST_COLUMNS),
    noise=_noise,
    whole=_or_null(_sums),
    sums=_list_of(_or_null(_sums), 0, MOST_GROUPS),
    totals=_or_null(_totals),
)
_budget = _fields(
    **dict.fromkeys(("epsilon", *PARTS), _exact),
    contributions=_whole(10**6, 1),
    person_rows=_whole(10**6, 1),
)
_persons = _fields(
    person_in=_one_of("all columns", "one column"),
    weights=_list_of(_exact, 0, MOST_COLUMNS),
    contributions=_list_of(_whole(10**6, 1), 1, MOST_COLUMNS),
    person_rows=_whole(10**6, 1),
    unit=lambda value: _text(value) and re.fullmatch(r"[a-z][a-z -]{0,38}[a-z]", value) is not None,
)
_promise = _fields(
    epsilon=_exact,
    persons=_persons,
    budgets=_list_of(_budget, 1, MOST_COLUMNS),
    simulated=lambda value: isinstance(value, bool),
    randomness=_text,
    neighbours=_text,
)
_table = _fields(
    file=_one_of("table.csv", "table.parquet"),
    rows=_whole(MOST_ROWS, 1),
    structural_zeros=_whole(MOST_ROWS),
    delimiter=_one_of(",", ";", "\t", "|"),
    newline=_one_of("\n", "\r\n"),
    bom=lambda value: isinstance(value, bool),
)
_groups = _fields(
    columns=_list_of(_text, 0, 8),
    classes=_list_of(_or_null(_whole(1000, 1)), 0, 8),
    labels=_list_of(_list_of(_text, 0, 8), 1, MOST_GROUPS),
    names=_list_of(_text, 1, MOST_GROUPS),
    regrouped=lambda value: isinstance(value, bool),
)
_file = _fields(
    bytes=_whole(1 << 62),
    sha256=lambda value: _text(value) and re.fullmatch("[0-9a-f]{64}", value) is not None,
)
_record = _fields(
    schema=_whole(1 << 20),
    made_with=_text,
    promise=_promise,
    request=_or_null(lambda value: isinstance(value, dict)),
    table=_table,
    category=_or_null(_text),
    published=_list_of(_text, 0, MOST_NAMES),
    counts=_list_of(_count, 1, MOST_COLUMNS),
    groups=_groups,
    top=_or_null(_whole(LARGEST_COUNT, 1)),
    period=_or_null(_text),
    level=_one_of("9/10"),
    notes=_list_of(_text, 0, 1000),
    receipt=_or_null(_text),
    files=lambda value: isinstance(value, dict) and all(map(_file, value.values())),
)


def check_fields(record: dict[str, Any]) -> str:
    """Every field is there, is of its type, and fits the others."""
    schema = record.get("schema")
    if type(schema) is int and schema != SCHEMA:
        words = f"release.json has the schema {schema}; {SCHEMA} is read here."
        raise Damage(words, Failure.OTHER_SCHEMA)
    _record(record)
    counts, groups, published = record["counts"], record["groups"], record["published"]
    persons, number = record["promise"]["persons"], len(record["counts"])
    names = [column["name"] for column in counts]
    sizes = {len(names), len(persons["contributions"]), len(record["promise"]["budgets"])}
    if len(sizes) > 1 or len(persons["weights"]) not in (0, number):
        raise Damage("release.json does not say of every column of counts what was promised.")
    if len(set(names)) < number or len(set(published)) < len(published):
        raise Damage("release.json names a column twice.")
    if set(names) & set(published):
        raise Damage("release.json calls a column of counts published as it is.")
    if record["category"] is not None and published[:1] != [record["category"]]:
        raise Damage("the category must be the first of the published columns.")
    _check_groups(groups, published)
    _check_request(record, names)
    for k, column in enumerate(counts):
        if len(column["relations"]) not in (0, k):
            raise Damage("a column is related to others than those before it.")
        _check_measured(column, len(groups["names"]), regrouped=groups["regrouped"])
    counts_words = numbered(len(names), "column of counts", "columns of counts")
    return f"{counts_words}, {numbered(len(groups['names']), 'group')}, every field in order"


def _check_request(record: dict[str, Any], names: list[str]) -> None:
    """What was asked, where that is told, is what was promised."""
    request, promise = record["request"], record["promise"]
    if request is None:
        return
    persons = promise["persons"]
    said = {name: persons[name] for name in ("unit", "person_in")}
    said |= {"rows": persons["person_rows"], "top": record["top"], "period": record["period"]}
    most = persons["contributions"]
    said["contributions"] = dict(zip(names, most, strict=True)) if len(set(most)) > 1 else most[0]
    same = Fraction(request["epsilon"]) == Fraction(promise["epsilon"])
    if not same or any(request[name] != value for name, value in said.items()):
        raise Damage("the request of release.json is not that of its promise.")


def _check_groups(groups: dict[str, Any], published: list[str]) -> None:
    parts = len(groups["columns"])
    if len(groups["classes"]) != parts or any(len(each) != parts for each in groups["labels"]):
        raise Damage("the groups of release.json have not a label for each of their columns.")
    if not set(groups["columns"]) <= set(published):
        raise Damage("the columns of the groups must be published.")
    if len(set(map(tuple, groups["labels"]))) < len(groups["labels"]):
        raise Damage("release.json has two groups with one label.")
    for k, classes in enumerate(groups["classes"]):
        ends = sorted(map(class_ends, {label[k] for label in groups["labels"] if classes}))
        if any(below[1] >= above[0] for below, above in pairwise(ends)):
            raise Damage("the classes of release.json overlap.")
    if not parts and len(groups["labels"]) > 1:
        raise Damage("a table without columns for groups must have one group.")
    if groups["names"] != _names_of(groups):
        raise Damage("the names of the groups do not follow from their labels.")


def class_ends(label: str) -> tuple[float, float]:
    """The lowest and the highest number of a class.

    >>> class_ends("4 to 70")
    (4.0, 70.0)
    """
    low, _, high = label.partition(" to ")
    ends = number_of(low), number_of(high)
    if ends[0] is None or ends[1] is None:
        raise Damage("a class of release.json has no numbers for its ends.")
    return ends[0], ends[1]


def number_of(text: str) -> float | None:
    """The finite number that a text is, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def _names_of(groups: dict[str, Any]) -> list[str]:
    if not groups["columns"]:
        return ["all rows"]
    names, last = dict[str, None](), dict[str, int]()
    for label in groups["labels"]:
        name = ", ".join(text or "(missing)" for text in label)
        unique, number = name, last.get(name, 1)
        while unique in names or unique == "all rows":
            number += 1
            unique = f"{name} ({number})"
        names[unique], last[name] = None, number
    return list(names)


def _check_measured(column: dict[str, Any], groups: int, *, regrouped: bool) -> None:
    every = [*column["sums"], column["whole"]]
    if column["sums"] and len(column["sums"]) != groups:
        raise Damage("release.json has not sums, or null, for every group.")
    for sums in (sums for sums in every if sums is not None):
        edges = sums["edges"]
        if len(edges) != len(sums["values"]) + 1 or edges != sorted(set(edges)):
            raise Damage("the edges of blocks must ascend, one more than there are sums.")
    if groups == 1 and column["sums"]:
        raise Damage("sums of the only group are those of the whole table.")
    if regrouped and column["sums"]:
        raise Damage("groups chosen after the measurement have no sums of their own.")
    totals = column["totals"]
    if totals is None:
        return
    if len(totals["values"]) != (0 if regrouped else groups):
        raise Damage("release.json has not a total for every group.")
    if (totals["whole"] is None) != (totals["whole_noise"] is None):
        raise Damage("a total of the whole table needs its noise.")


def check_budget(record: dict[str, Any]) -> str:
    """The parts come to epsilon exactly, and every noise is as wide as its part asks for."""
    promise = record["promise"]
    persons, epsilon = promise["persons"], Fraction(promise["epsilon"])
    spent = [Fraction(budget["epsilon"]) for budget in promise["budgets"]]
    together = sum(spent) if persons["person_in"] == "all columns" else max(spent)
    if together != epsilon or not 0 < epsilon <= 10:
        raise Damage("the budgets of the columns do not come to the epsilon of the promise.")
    _check_weights(persons, epsilon, spent)
    for budget, column, most in zip(
        promise["budgets"], record["counts"], persons["contributions"], strict=True
    ):
        if (budget["contributions"], budget["person_rows"]) != (most, persons["person_rows"]):
            raise Damage("a budget is for other persons than the promise.")
        if sum(Fraction(budget[part]) for part in PARTS) != Fraction(budget["epsilon"]):
            raise Damage("the parts of a budget do not come to its epsilon.")
        _check_noises(budget, column, regrouped=record["groups"]["regrouped"])
    names = [column["name"] for column in record["counts"]]
    if promise != plain_promise(read_promise(names, promise)):
        raise Damage("the promise in words of release.json is not that of its numbers.")
    return f"the parts come to epsilon = {promise['epsilon']} exactly, and all noise is theirs"


def _check_weights(persons: dict[str, Any], epsilon: Fraction, spent: list[Fraction]) -> None:
    weights = [Fraction(weight) for weight in persons["weights"]] or [Fraction(1)] * len(spent)
    shares = [epsilon * weight / sum(weights) for weight in weights]
    if persons["person_in"] == "one column":
        shares = [epsilon] * len(spent)
    if spent != shares:
        raise Damage("the budgets of the columns are not divided as the promise says.")


def _check_noises(budget: dict[str, Any], column: dict[str, Any], *, regrouped: bool) -> None:
    rows, most = budget["person_rows"], budget["contributions"]
    part = {name: Fraction(budget[name]) for name in PARTS}
    width = Noise.least(part["counts"] / rows, most).width if part["counts"] else 0
    if _noise_of(column["noise"]) != (part["counts"] / rows, most, width):
        raise Damage("the noise of single counts is not that of their part of the budget.")
    unit = {name: part[name] / (rows * most) for name in PARTS}
    for sums in column["sums"]:
        if sums is not None and _noise_of(sums["noise"]) != (unit["sums"], 1, 1):
            raise Damage("the noise of sums is not that of their part of the budget.")
    if column["whole"] is not None and _noise_of(column["whole"]["noise"]) != (unit["whole"], 1, 1):
        raise Damage("the noise of sums of the whole table is not that of their part.")
    totals = column["totals"]
    if totals is None:
        return
    noises = [totals["noise"]] + [totals["whole_noise"]] * (totals["whole_noise"] is not None)
    if regrouped and totals["noise"] == totals["whole_noise"]:  # of a table in one group
        noises = noises[:1]
    if any(each["shift"] != 1 or each["width"] != 1 for each in noises) or (
        sum(Fraction(each["epsilon"]) for each in noises) != unit["totals"]
    ):
        raise Damage("the noise of totals is not that of their part of the budget.")


def _noise_of(noise: dict[str, Any]) -> tuple[Fraction, int, int]:
    return Fraction(noise["epsilon"]), noise["shift"], noise["width"]
