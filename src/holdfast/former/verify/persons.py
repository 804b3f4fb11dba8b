"""The promise of several columns of counts: to whom it is, and what the columns come to."""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from holdfast.former.verify.record import (
    Kind,
    check_common,
    check_keys,
    check_sum,
    check_who,
    check_words,
    fraction,
)
from holdfast.former.verify.report import Damage

ALL, ONE = "all columns", "one column"
_FOLDER = re.compile(r"([1-9][0-9]?)-[a-z0-9][a-z0-9-]{0,40}", re.ASCII)
_PUBLIC = (
    " The number of rows and their order, every max_count that was given, the structural zeros, "
    "which counts are missing, and the columns published beside the counts are public and "
    "published unchanged."
)
_FIELDS: dict[str, Kind] = {
    "schema": int,
    "holdfast": str,
    "privacy": dict,
    "joint": bool,
    "counts": list,
    "unchanged_columns": list,
    "columns": list,
    "notes": list,
    "files": dict,
}
_PRIVACY: dict[str, Kind] = {
    "epsilon": Fraction,
    "delta": Fraction,
    "person_in": str,
    "weights": list,
    "contributions": list,
    "person_rows": int,
    "unit": str,
    "certified_epsilon_decimal": str,
    "promise": str,
    "neighbours": str,
    "randomness": str,
    "simulated": bool,
}
_PLACE: dict[str, Kind] = {"column": str, "folder": str, "sha256": str}


def check_shared_fields(record: dict[str, Any]) -> None:
    """Every key there, none unknown, each of its kind."""
    receipt: dict[str, Kind] = {"receipt": str} if "receipt" in record else {}
    check_keys(record, _FIELDS | receipt, "")
    check_keys(record["privacy"], _PRIVACY, "privacy.")
    if not 2 <= len(record["counts"]) <= 20:
        raise Damage("release.json: counts must list 2 to 20 columns.")
    for number, place in enumerate(record["counts"], 1):
        if not isinstance(place, dict):
            raise Damage("release.json: counts must list columns and their folders.")
        check_keys(place, _PLACE, "counts.")
        folder = _FOLDER.fullmatch(place["folder"])
        if folder is None or int(folder[1]) != number:
            raise Damage("release.json: counts must give each column a folder, by its number.")
        check_sum(place["sha256"], "counts.sha256")
    names = [place["column"] for place in record["counts"]]
    if len(set(names)) < len(names):
        raise Damage("release.json: counts must list different columns.")
    check_common(record)


def check_persons(record: dict[str, Any], columns: Sequence[dict[str, Any]]) -> str:
    """Each column has its part of epsilon, for what one person may change in it, and together they
    come to epsilon; `columns` are what these say of privacy."""
    privacy, names = record["privacy"], [place["column"] for place in record["counts"]]
    _check_who(privacy, len(columns))
    epsilon = Fraction(privacy["epsilon"])
    for own, part, added in zip(
        columns, _parts(privacy, epsilon, len(columns)), privacy["contributions"], strict=True
    ):
        if Fraction(own["epsilon"]) != part:
            raise Damage("the budget: a column does not have the part of epsilon that is its own.")
        who = own["contributions"], own.get("person_rows", 1), own.get("unit", "person")
        if who != (added, privacy["person_rows"], privacy["unit"]):
            raise Damage("the budget: a column is for other persons than the release.")
        if own["simulated"] is not privacy["simulated"]:
            raise Damage("the columns do not agree on whether this is a simulation.")
    together = max if privacy["person_in"] == ONE else sum
    spent = together(Fraction(own["epsilon"]) for own in columns)
    certified = together(_certified(own) for own in columns)
    delta = together(Fraction(own["delta"]) for own in columns)
    if spent != epsilon or certified > epsilon or delta != Fraction(privacy["delta"]):
        raise Damage("the budget: the columns do not come to epsilon and delta.")
    if privacy["certified_epsilon_decimal"] != f"{float(certified):.12g}":
        raise Damage("the budget: certified_epsilon_decimal is not what was certified.")
    if privacy["neighbours"] != _neighbours(privacy, names) + _PUBLIC:
        raise Damage("release.json: privacy.neighbours is not the relation that is certified.")
    check_words(privacy, epsilon, Fraction(delta))
    how = "added up" if privacy["person_in"] == ALL else "side by side"
    return f"epsilon = {privacy['epsilon']}, delta = {privacy['delta']}: the columns {how}, exactly"


def _check_who(privacy: dict[str, Any], columns: int) -> None:
    if privacy["person_in"] not in (ALL, ONE):
        raise Damage("release.json: person_in must be 'all columns' or 'one column'.")
    weights = [fraction(weight, "privacy.weights") for weight in privacy["weights"]]
    if weights and (len(weights) != columns or min(weights) <= 0 or privacy["person_in"] == ONE):
        raise Damage("release.json: weights must divide epsilon between all columns.")
    added = privacy["contributions"]
    if len(added) != columns or not all(type(one) is int and one >= 1 for one in added):
        raise Damage("release.json: contributions must have a number for each column.")
    check_who(privacy)


def _parts(privacy: dict[str, Any], epsilon: Fraction, columns: int) -> list[Fraction]:
    if privacy["person_in"] == ONE:
        return [epsilon] * columns
    weights = [Fraction(weight) for weight in privacy["weights"]] or [Fraction(1)] * columns
    return [epsilon * weight / sum(weights) for weight in weights]


def _certified(own: dict[str, Any]) -> Fraction:
    keys = ("bound_certified", "stage_1_certified", "stage_2_certified", "totals_certified")
    return sum((Fraction(own.get(key, 0)) for key in keys), Fraction(0))


def _neighbours(privacy: dict[str, Any], names: Sequence[str]) -> str:
    rows, one_row = privacy["person_rows"], privacy["person_rows"] == 1
    whose = "its" if one_row else "their"
    if privacy["person_in"] == ALL:
        where = f"in any of {whose} columns of counts"
    else:
        where = ("" if one_row else "each ") + f"in one of {whose} columns of counts"
    added = ", ".join(
        f"{name} by at most {most}"
        for name, most in zip(names, privacy["contributions"], strict=True)
    )
    return (
        f"Two tables are neighbours when one {privacy['unit']} is added to or removed from one of "
        f"them: at most {rows} row{' changes' if one_row else 's change'}, {where}: {added}."
    )
