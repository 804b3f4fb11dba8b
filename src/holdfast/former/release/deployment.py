"""A release as a record for OpenDP's registry of deployments, ready but for what only people know.

The fields are those of `schemas/deployments-schema.yaml` in opendp/deployments-registry-data;
composition and post-processing, the accounting, stand there under `implementation`.
"""

import re
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

from holdfast.errors import numbered, roughly
from holdfast.former.privacy.persons import protected

FILL_IN = "FILL IN"
KEPT = "Its distribution of counts stays close to the true one."
NOT_KEPT = "Its distribution of counts is not kept by the mechanism."
_HEAD = """\
# A draft for the registry of differential privacy deployments of OpenDP
# (github.com/opendp/deployments-registry-data). What holdfast knows is filled in;
# what only the maker of the release knows says FILL IN. The curator's type and the
# publication date are placeholders too.
"""
_SIMULATED = "# SIMULATION, protects nobody: a seed was used. Do not register it.\n"


def deployment_yaml(record: dict[str, Any], first: bool = False) -> str:
    """The record of a release, for the registry, as YAML.

    `record` is the release.json to be. Says nothing that is not in it. The `first` bundles wrote
    numbers otherwise.
    """
    sections = {
        "basic": _basic(record, first),
        "dp_variant": _variant(record, first),
        "privacy_loss": _loss(record),
        "deployment_model": _model(),
        "implementation": _implementation(record, first),
        "administrative": {
            "status": "Draft",
            "registry_authors": [FILL_IN],
            "tier": 3,
        },
    }
    simulated = _SIMULATED if record["privacy"]["simulated"] else ""
    body = _yaml({"url_slug": "fill-in", "deployment": sections})
    return _HEAD + simulated + "\n".join(body) + "\n"


def decimal_above(number: Fraction, digits: int = 12) -> str:
    """The number in decimals, rounded up where it has no short ones: never less than was spent.

    >>> decimal_above(Fraction(7, 10)), decimal_above(Fraction(1, 3), 3)
    ('0.7', '0.334')
    """
    context = Context(prec=digits, rounding=ROUND_CEILING)
    return f"{context.divide(Decimal(number.numerator), Decimal(number.denominator)):f}"


def number_in_words(number: int, first: bool) -> str:
    """A number with marks between thousands, which the first bundles did not have."""
    return str(number) if first else f"{number:,}"


def _basic(record: dict[str, Any], first: bool) -> dict[str, Any]:
    top = number_in_words(record["max_count"], first)
    mark = "SIMULATION, protects nobody. " * record["privacy"]["simulated"]
    return {
        "name": FILL_IN,
        "data_curators": [{"data_curator_name": FILL_IN, "data_curator_type": "Government"}],
        "description": f"{mark}A table of {numbered(record['rows'], 'count')}, one row a category, "
        f"from 0 to {top}, where {top} means {top} or more. "
        f"{KEPT if record['fixed_point'] else NOT_KEPT}{_kept_within(record)}",
        "intended_use": FILL_IN,
        "data_product_type": "Summary statistics",
        "data_product_region": FILL_IN,
        "publication_date": "1900-01-01",
    }


def _kept_within(record: dict[str, Any]) -> str:
    within = record.get("within")
    if within and record.get("given"):
        return " So does its relation to other columns of the same table."
    groups = within and numbered(within["groups"], "group")
    return f" So do those of the {groups} that public columns make." if within else ""


def _variant(record: dict[str, Any], first: bool) -> dict[str, Any]:
    pure = Fraction(record["privacy"]["delta"]) == 0
    kept, grouped = ", ".join(record["unchanged_columns"]) or "none", record.get("within")
    top = "" if Fraction(record["privacy"]["bound"]) else " max_count,"
    zeros = number_in_words(record["structural_zeros"], first)
    return {
        "variant_name": "Pure DP" if pure else "Approximate DP",
        "data_domain": "Tables of counts over the same rows: one whole number of 0 or more a row.",
        "unprotected_quantities": f"The number of rows and their order,{top} the rows publicly "
        f"known to be zero ({zeros}), and the columns published unchanged: "
        f"{kept}." + (" The groups, and the rows of each, follow from them." * bool(grouped)),
    }


def _loss(record: dict[str, Any]) -> dict[str, Any]:
    privacy = record["privacy"]
    whom = protected(privacy)
    delta = Fraction(privacy["delta"])
    numbers: dict[str, Any] = {"epsilon": Decimal(decimal_above(Fraction(privacy["epsilon"])))}
    if delta:
        numbers["delta"] = Decimal(decimal_above(delta))
    parts = (
        f"{privacy['stage_1']} for the distribution of counts, {privacy['stage_2']} for the counts"
    )
    if record.get("totals"):
        parts = f"{privacy['totals']} for totals, {parts}"
    if Fraction(privacy["bound"]):
        parts = f"{privacy['bound']} for max_count, {parts}"
    return {
        "privacy_unit": whom[0].upper() + whom[1:],
        "privacy_unit_details": privacy["neighbours"],
        "privacy_parameters": numbers,
        "privacy_parameters_details": f"Exactly epsilon = {privacy['epsilon']}: {parts}. "
        f"Certified: {privacy['certified_epsilon_decimal']}; stage 1 by "
        f"{privacy['stage_1_certified_by']}, stage 2 from the integer weights in the bundle.",
    }


def _model() -> dict[str, Any]:
    return {
        "model_name": "Central",
        "model_name_details": "The curator holds the true table and runs holdfast on it.",
        "trust_assumptions": "The curator is trusted with the true counts. Readers of the release "
        "are not trusted, and may know anything else.",
        "release_type": "One release",
        "release_type_details": f"{FILL_IN}: whether the same people are in other releases; "
        "their budgets add up.",
        "data_source_type": "Static",
        "access_type": "Non-interactive",
        "access_type_details": "The release is a folder of files.",
    }


def _implementation(record: dict[str, Any], first: bool) -> dict[str, Any]:
    change, top = record["expected_change_of_a_count"], record["max_count"]
    chosen = "epsilon" if Fraction(record["privacy"]["bound"]) else "max_count, epsilon"
    said = "an unknown amount"
    if change is not None:
        said = f"{change:.3g}" if first else roughly(change, 3)
    return {
        "preprocessing_and_hyperparameter_tuning": "Counts above max_count are set to it. "
        f"{FILL_IN}: how {chosen} and contributions were chosen.",
        "mechanisms": f"Stage 1: {record['methods'][0]}. Stage 2: {record['methods'][1]}. "
        f"holdfast {record['holdfast']}; randomness: {record['privacy']['randomness']}. Counts are "
        "drawn from integer weights: no floating point takes part. No measures against timing.",
        "composition": "Sequential: the budgets of the stages add up to epsilon, as fractions."
        + (" Parallel over groups: their rows are disjoint." * bool(record.get("within"))),
        "post_processing": _post_processing(record),
        "justification": FILL_IN,
        "utility": f"A released count is off by {said} on average from the true one, capped at "
        f"{number_in_words(top, first)}, if the true counts are "
        "distributed as the private distribution says.",
        "additional_information": "holdfast verify recomputes the certificate from this bundle.",
    }


def _post_processing(record: dict[str, Any]) -> str:
    if Fraction(record["privacy"]["stage_1"]) == 0:
        return "None: one stage had all of the budget."
    return (
        "What stage 1 measured is made a distribution; the mechanism of stage 2 is computed from "
        "that alone."
        + " Noisy totals are made 0 or more and to add up, and steer the distributions of groups."
        * bool(record.get("totals"))
    )


def _yaml(value: Any, depth: int = 0) -> list[str]:
    """Mappings, lists of one-liners or mappings, text and numbers: all that is needed here."""
    pad = "  " * depth
    lines = []
    for key, item in value.items():
        if isinstance(item, dict):
            lines += [f"{pad}{key}:", *_yaml(item, depth + 1)]
        elif isinstance(item, list):
            lines.append(f"{pad}{key}:")
            for entry in item:
                lines += _entry(entry, depth + 1)
        else:
            lines.append(f"{pad}{key}: {_scalar(item)}")
    return lines


def _entry(entry: Any, depth: int) -> list[str]:
    pad = "  " * depth
    if isinstance(entry, dict):
        return [f"{pad}-", *_yaml(entry, depth + 1)]
    return [f"{pad}- {_scalar(entry)}"]


def _scalar(item: Any) -> str:
    if isinstance(item, Decimal):
        return f"{item:f}"  # its own text has an exponent below 1e-6, and verify wants none
    return quoted(item) if isinstance(item, str) else str(item)


def quoted(text: str) -> str:
    r"""Text as YAML in double quotes, whatever is in it.

    >>> print(quoted('say "ü"\n'))
    "say \"\u00fc\"\u000a"
    """
    return '"' + re.sub(r'["\\]|[^ -~]', _escaped, text) + '"'


def _escaped(found: re.Match[str]) -> str:
    letter, code = found[0], ord(found[0])
    if letter in '"\\':
        return "\\" + letter
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
