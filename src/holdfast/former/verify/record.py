"""release.json: which keys it has, of which kind, and what follows from them."""

import re
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

from holdfast.former.verify.report import Damage, Found, OtherSchema, shown
from holdfast.former.verify.target import unpacked_target

SCHEMA = 5
READABLE = (2, 3, 4, 5)
MOST_BY_GROUP = 1_000_000  # the highest max_count with groups
MOST_CELLS = 20_000_000  # groups times counts
LARGEST_COUNT = 1_000_000
MOST_PAIRS = 20_000_000_000  # of weights that may differ: what a certificate has to compare
SMALLEST_EPSILON = Fraction(1, 10**6)  # of one stage, for a change of one
NEIGHBOURS = (
    "Two tables are neighbours when one {unit} is added to or removed from one of them: {changed} "
    "by at most `contributions`. The number of rows{public} are public and published unchanged."
)
PUBLIC_IN_SCHEMA_2 = ", {top}the structural zeros and all columns but the counts"
PUBLIC = (
    " and their order, {top}the structural zeros, which counts are missing, and the columns "
    "published beside the counts"
)
FOUND = " max_count was found from the data, privately, for its own part of epsilon."
RANDOMNESS = {True: "a seed (simulation: protects nobody)", False: "operating system"}
_BESIDE = (
    "the table has other columns of counts, and nothing here vouches for them: they may be true "
    "counts. The release of all columns together can be verified."
)
_FRACTION = re.compile(r"(?:0|[1-9][0-9]{0,999})(?:/[1-9][0-9]{0,999})?", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_RECEIPT = re.compile(r"[0-9a-f]{32}:[1-9][0-9]{0,17}:[0-9a-f]{64}", re.ASCII)
Kind = type | tuple[type, ...]
_FIELDS: dict[str, Kind] = {
    "schema": int,
    "holdfast": str,
    "privacy": dict,
    "rows": int,
    "structural_zeros": int,
    "max_count": int,
    "max_count_found": (dict, type(None)),
    "methods": list,
    "count_column": (str, type(None)),
    "unchanged_columns": list,
    "expected_change_of_a_count": (float, int, type(None)),
    "mechanism_digest": str,
    "notes": list,
    "columns": list,
    "target": (list, str),
    "measurement": (list, type(None)),
    "fixed_point": bool,
    "certificate": dict,
    "files": dict,
}
_PRIVACY: dict[str, Kind] = {
    **dict.fromkeys(("epsilon", "delta", "bound", "stage_1", "stage_2"), Fraction),
    **dict.fromkeys(("bound_certified", "stage_1_certified", "stage_2_certified"), Fraction),
    "stage_1_certified_by": str,
    "certified_epsilon_decimal": str,
    "contributions": int,
    "steps": int,
    "promise": str,
    "neighbours": str,
    "randomness": str,
    "simulated": bool,
}
_CERTIFICATE: dict[str, Kind] = {
    **dict.fromkeys(("epsilon", "certified_epsilon", "delta"), Fraction),
    "worst_ratio": (str, type(None)),
    "output": (int, type(None)),
    "inputs": (list, type(None)),
    "row_total": str,
}
_FOUND: dict[str, Kind] = {
    "max_count": int,
    "q": Fraction,
    "epsilon": Fraction,
    "highest": int,
    "method": str,
}
_OPTIONAL: dict[str, Kind] = {
    "mechanism_delta": Fraction,
    "structural_zero_rows": str,
    "missing": int,
    "missing_rows": str,
    "receipt": str,
    "category": str,
    "intervals": dict,
}
_OF_SEVERAL: dict[str, Kind] = {"other_counts": list, "given": list, "later": list}
_PERSONS: dict[str, Kind] = {"person_rows": int, "unit": str}
_UNIT = re.compile(r"[a-z][a-z -]{0,38}[a-z]", re.ASCII)
_WITHIN: dict[str, Kind] = {"columns": list, "classes": list, "groups": int}
_TOTALS: dict[str, Kind] = {
    **dict.fromkeys(("total", "low", "high"), int),
    "level": Fraction,
    "measured": (int, type(None)),
}
_INTERVALS: dict[str, Kind] = {
    "level": Fraction,
    "lines": str,
    "every": bool,
    "mixed": float,
}
_FILE: dict[str, Kind] = {"bytes": int, "sha256": str}


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The privacy claims of a record, as exact numbers."""

    epsilon: Fraction
    delta: Fraction
    bound: Fraction
    stage_1: Fraction
    stage_2: Fraction
    bound_certified: Fraction
    stage_1_certified: Fraction
    stage_2_certified: Fraction
    contributions: int
    steps: int
    totals: Fraction = Fraction(0)
    totals_certified: Fraction = Fraction(0)
    person_rows: int = 1
    """In how many rows one person may be."""

    @property
    def moved(self) -> int:
        """How far one person can move a total."""
        return self.person_rows * self.contributions


def check_version(record: dict[str, Any]) -> str:
    """Refuse another schema before anything else is asked of the record."""
    version = record.get("schema")
    if type(version) is not int:
        raise Damage("release.json does not say which schema it has.")
    if version < READABLE[0]:
        raise OtherSchema(
            f"release.json has schema {version}, of an older holdfast; this one reads "
            f"{READABLE[0]} to {SCHEMA}. "
            "Hint: the version that it names under `holdfast` reads it."
        )
    if version > SCHEMA:
        raise OtherSchema(
            f"release.json has schema {shown(version, 24)}, of a newer holdfast; "
            f"this one reads {SCHEMA}. Hint: upgrade holdfast: pip install --upgrade holdfast."
        )
    return f"schema {version}"


def check_fields(record: dict[str, Any]) -> str | Found:
    """Every key there, none unknown, each of its kind."""
    present = {key: kind for key, kind in _OPTIONAL.items() if key in record}
    more: dict[str, Kind] = dict.fromkeys(_check_extras(record), dict)
    present |= _several(record)
    check_keys(record, _FIELDS | present | more, "", record["schema"])
    if isinstance(record["target"], str):
        record["target"] = unpacked_target(record["target"], record["max_count"] + 1)
    totals: dict[str, Kind] = {}
    if "totals" in more:
        totals = {"totals": Fraction, "totals_certified": Fraction}
    group: dict[str, Kind] = {"group": int} if "within" in more else {}
    persons = _PERSONS if record["schema"] == 5 and "unit" in record["privacy"] else {}
    check_keys(record["privacy"], _PRIVACY | totals | persons, "privacy.")
    if persons:
        check_who(record["privacy"])
    check_keys(record["certificate"], _CERTIFICATE | group, "certificate.")
    if "within" in more:
        _check_within(record)
    if "other_counts" in record:
        _check_several(record)
    if "totals" in more:
        check_keys(record["totals"], _TOTALS, "totals.")
    if "intervals" in record:
        check_keys(record["intervals"], _INTERVALS | _words(record["intervals"]), "intervals.")
    if record["max_count_found"] is not None:
        check_keys(record["max_count_found"], _FOUND, "max_count_found.")
    check_common(record, ("methods", *_OF_SEVERAL))
    if not 1 <= record["max_count"] <= LARGEST_COUNT:
        raise Damage(f"release.json: max_count must lie between 1 and {LARGEST_COUNT}.")
    if record["rows"] < 1 or record["structural_zeros"] < 0:
        raise Damage("release.json: rows must be 1 or more, structural_zeros 0 or more.")
    if not all(type(item) is int and abs(item) < 2**63 for item in record["measurement"] or ()):
        raise Damage("release.json: measurement must be a list of 64-bit integers, or null.")
    if len(record["methods"]) != 2:
        raise Damage("release.json: methods must name the two stages.")
    _check_work(record)
    said = f"{record['rows']:,} rows, counts from 0 to {record['max_count']:,}"
    if record.get("other_counts") and "table_above" not in record:
        return Found(said, _BESIDE, claimed=True)
    return said


def _check_work(record: dict[str, Any]) -> None:
    """Refuse what no release asks for, and what would take hours to look through."""
    epsilon, n = Fraction(record["certificate"]["epsilon"]), record["max_count"] + 1
    if epsilon < SMALLEST_EPSILON:
        raise Damage(f"release.json: certificate.epsilon must be {SMALLEST_EPSILON} or more.")
    columns = n * (record["within"]["groups"] if "within" in record else 1)
    if columns * min(n, 43 / epsilon) > MOST_PAIRS:
        raise Damage("release.json: no release has so many counts at so small an epsilon.")


def _check_extras(record: dict[str, Any]) -> list[str]:
    """Which of groups and totals a release has: from schema 4 on one at the least."""
    extras: list[str] = [key for key in ("within", "totals") if key in record]
    if extras and record["schema"] < 4:
        raise Damage(f"release.json: {extras[0]} is not a field of schema {record['schema']}.")
    if record["schema"] == 4 and not extras:
        raise Damage("release.json: a release of schema 4 has groups or totals.")
    several = "other_counts" in record or "unit" in record.get("privacy", ())
    if record["schema"] == 5 and not several:
        raise Damage("release.json: a release of schema 5 has several counts, or another unit.")
    return extras


def _several(record: dict[str, Any]) -> dict[str, Kind]:
    """The fields of a column that is one of several, where it is."""
    if record["schema"] != 5 or "other_counts" not in record:
        return {}
    return _OF_SEVERAL | ({"table_above": bool} if "table_above" in record else {})


def check_common(record: dict[str, Any], lists: tuple[str, ...] = ()) -> None:
    """What one column of counts and several say alike: sums of files, lists of text, a receipt."""
    for name, claim in record["files"].items():
        if not isinstance(claim, dict):
            raise Damage(f"release.json: files.{shown(name)} must hold bytes and sha256.")
        check_keys(claim, _FILE, f"files.{shown(name)}.")
        check_sum(claim["sha256"], f"files.{shown(name)}.sha256")
    for key in ("unchanged_columns", "notes", "columns", *lists):
        if not all(isinstance(item, str) for item in record.get(key, ())):
            raise Damage(f"release.json: {key} must be a list of text.")
    if "receipt" in record and not _RECEIPT.fullmatch(record["receipt"]):
        raise Damage("release.json: receipt must be a ledger's name, an entry and its hash.")


def check_sum(text: str, name: str) -> None:
    """A SHA-256 sum, in hexadecimal digits."""
    if not _SHA256.fullmatch(text):
        raise Damage(f"release.json: {name} is not a SHA-256 sum.")


def check_words(privacy: dict[str, Any], epsilon: Fraction, delta: Fraction) -> None:
    """The promise and the randomness, as people read them."""
    words = f"epsilon = {rounded_up(epsilon, 6)}"
    words += f" with delta = {rounded_up(delta)}" if delta else ""
    if privacy["promise"] != words:
        raise Damage("release.json: privacy.promise does not say what epsilon and delta say.")
    if privacy["randomness"] != RANDOMNESS[privacy["simulated"]]:
        raise Damage("release.json: privacy.simulated and privacy.randomness contradict.")


def check_who(privacy: dict[str, Any]) -> None:
    """Of whom a promise speaks, and in how many rows they may be."""
    if not 1 <= privacy["person_rows"] <= 1_000_000 or not _UNIT.fullmatch(privacy["unit"]):
        raise Damage("the budget: person_rows must lie between 1 and 1000000, and unit be a word.")


def _check_several(record: dict[str, Any]) -> None:
    """What a column says of the other columns of counts."""
    others, given, later = (record.get(key, []) for key in _OF_SEVERAL)
    if record.get("table_above", True) is not True:
        raise Damage("release.json: table_above must be true where it is there.")
    distinct = len(set(others)) == len(others) and record["count_column"] not in others
    if not distinct or not {*given, *later} <= set(others) or set(given) & set(later):
        raise Damage("release.json: other_counts must name other columns, given and later some.")
    by = record["within"]["columns"] if "within" in record else []
    if [name for name in by if name in others] != given:
        raise Damage("release.json: within.columns must name the given counts, and no others.")


def _check_within(record: dict[str, Any]) -> None:
    within = record["within"]
    check_keys(within, _WITHIN, "within.")
    columns, classes = within["columns"], within["classes"]
    public = {*record["unchanged_columns"], *record.get("given", ())}
    named = all(isinstance(name, str) and name in public for name in columns)
    if not columns or not named or len(set(columns)) < len(columns):
        raise Damage("release.json: within.columns must name columns that are published, once.")
    right = all(k is None or (type(k) is int and 1 <= k <= 1000) for k in classes)
    if len(classes) != len(columns) or not right or within["groups"] < 1:
        raise Damage("release.json: within.classes must be null or a number for each column.")
    n = record["max_count"] + 1
    if n > MOST_BY_GROUP + 1 or n * within["groups"] > MOST_CELLS:
        raise Damage(
            f"release.json: with groups max_count must be at most {MOST_BY_GROUP}, and counts "
            f"times groups at most {MOST_CELLS}."
        )
    if within["groups"] > record["rows"]:
        raise Damage("release.json: within.groups is more than there are rows.")
    if len(record["target"]) != n:
        raise Damage(f"target has {len(record['target'])} shares, max_count + 1 are needed.")


def _words(intervals: dict[str, Any]) -> dict[str, Kind]:
    """Which words a bundle has: the first ones were not numbered."""
    if intervals.get("words", 2) != 2:
        raise Damage("release.json: intervals.words must be 2 where it is given.")
    return {"words": int} if "words" in intervals else {}


def check_keys(
    found: dict[str, Any], expected: dict[str, Kind], where: str, schema: int = SCHEMA
) -> None:
    """Raise unless all of these keys are there, each of its kind, and no other."""
    for key, kind in expected.items():
        if key not in found:
            raise Damage(f"release.json: {where}{key} is missing.")
        _check_kind(found[key], kind, where + key)
    for key in found:
        if key not in expected:
            raise Damage(f"release.json: {where}{shown(key)} is not a field of schema {schema}.")


def _check_kind(value: Any, kind: Kind, name: str) -> None:
    if kind is Fraction:
        fraction(value, name)
        return
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if type(value) not in kinds:
        wanted = " or ".join(k.__name__ for k in kinds)
        raise Damage(f"release.json: {name} must be {wanted}, got {shown(value, 30)}.")


def fraction(text: Any, name: str) -> Fraction:
    """An exact number written as 7 or 7/10, in lowest terms."""
    if isinstance(text, str) and _FRACTION.fullmatch(text):
        value = Fraction(text)
        if str(value) == text:
            return value
    raise Damage(
        f"release.json: {name} must be a fraction such as 7/10 in lowest terms, "
        f"got {shown(text, 30)}."
    )


def read_budget(record: dict[str, Any]) -> Budget:
    """The privacy claims as numbers."""
    privacy = record["privacy"]
    exact = [key for key, kind in _PRIVACY.items() if kind is Fraction]
    exact += [key for key in ("totals", "totals_certified") if key in privacy]
    numbers: dict[str, Any] = {key: Fraction(privacy[key]) for key in exact}
    return Budget(
        person_rows=int(privacy.get("person_rows", 1)),
        contributions=int(privacy["contributions"]),
        steps=int(privacy["steps"]),
        **numbers,
    )


def _relations(schema: int, found: bool, privacy: dict[str, Any]) -> tuple[str, ...]:
    """What may be said of neighbours; releases of schema 2 said it in two ways."""
    unit, many = privacy.get("unit", "person"), privacy.get("person_rows", 1)
    changed = "one row changes," if many == 1 else f"at most {many} rows change, each"
    top, told = ("", FOUND) if found else ("max_count, ", "")
    return tuple(
        NEIGHBOURS.format(unit=unit, changed=changed, public=public.format(top=top)) + told
        for public in ((PUBLIC, PUBLIC_IN_SCHEMA_2) if schema == 2 else (PUBLIC,))
    )


def check_budget(record: dict[str, Any]) -> str:
    """The budget's arithmetic, in fractions."""
    budget, privacy = read_budget(record), record["privacy"]
    if not 0 < budget.epsilon <= 10 or budget.stage_2 == 0:
        raise Damage("the budget: epsilon must lie above 0 and at most 10, and stage_2 above 0.")
    if budget.bound + budget.totals + budget.stage_1 + budget.stage_2 != budget.epsilon:
        raise Damage("the budget: bound + totals + stage_1 + stage_2 do not add up to epsilon.")
    if 0 < budget.stage_1 < budget.steps * SMALLEST_EPSILON:
        raise Damage(f"the budget: stage_1 must be 0, or {SMALLEST_EPSILON} or more a step.")
    if "totals" in record and budget.totals == 0:
        raise Damage("the budget: totals were measured for nothing.")
    for part in ("bound", "totals", "stage_1", "stage_2"):
        if getattr(budget, f"{part}_certified") > getattr(budget, part):
            raise Damage(f"the budget: {part} was certified for more than it was given.")
    check_certified(budget.bound_certified, budget.bound, "bound")
    if not 0 <= budget.delta < 1:
        raise Damage("the budget: delta must be 0 or more and below 1.")
    if not 1 <= budget.contributions <= 1_000_000:
        raise Damage("the budget: contributions must lie between 1 and 1000000.")
    if budget.steps != budget.person_rows * min(budget.contributions, record["max_count"]):
        raise Damage(
            "the budget: steps is not the smaller of contributions and max_count, in every row."
        )
    certified = budget.bound_certified + budget.stage_1_certified + budget.stage_2_certified
    certified += budget.totals_certified
    if privacy["certified_epsilon_decimal"] != f"{float(certified):.12g}":
        raise Damage("the budget: certified_epsilon_decimal is not the sum of what was certified.")
    check_words(privacy, budget.epsilon, budget.delta)
    if privacy["neighbours"] not in _relations(record["schema"], bool(budget.bound), privacy):
        raise Damage("release.json: privacy.neighbours is not the relation that is certified.")
    _check_found(record, privacy["bound"])
    mark = "; SIMULATION, protects nobody" if privacy["simulated"] else ""
    return f"epsilon = {privacy['epsilon']}, delta = {privacy['delta']}, exactly{mark}"


def check_certified(certified: Fraction, given: Fraction, part: str) -> None:
    """A noise library's map states what a part was given, but for the rounding of a scale."""
    if certified < given * (1 - Fraction(1, 10**9)):
        raise Damage(f"the budget: {part} was certified for less than its noise spends.")


def claim_words(record: dict[str, Any]) -> str:
    """The claim as it goes into the digest of a mechanism."""
    certificate = record["certificate"]
    delta = f" delta={certificate['delta']}" if Fraction(certificate["delta"]) else ""
    return f"epsilon={certificate['epsilon']}{delta}"


def rounded_up(number: Fraction, digits: int = 3) -> Decimal:
    """A number to a few significant digits, never below it."""
    context = Context(prec=digits, rounding=ROUND_CEILING, Emin=-999999, Emax=999999)
    return context.divide(Decimal(number.numerator), Decimal(number.denominator))


def _check_found(record: dict[str, Any], bound: str) -> None:
    """How max_count was found, where it was: for what it cost, and to what end."""
    found = record["max_count_found"]
    if (found is None) != (bound == "0"):
        raise Damage("the budget: bound must be above 0 where max_count was found, and only there.")
    if found is None:
        return
    if (found["epsilon"], found["max_count"]) != (bound, record["max_count"]):
        raise Damage("max_count_found gives another epsilon or max_count than release.json.")
    if not 0 < Fraction(found["q"]) < 1:
        raise Damage("max_count_found must have a q above 0 and below 1.")
    if not found["max_count"] <= found["highest"] <= LARGEST_COUNT:
        raise Damage(f"max_count_found must have a highest from max_count to {LARGEST_COUNT}.")
