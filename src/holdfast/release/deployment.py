"""A release as a record for OpenDP's registry of deployments, ready but for what only people know.

The fields are those of `schemas/deployments-schema.yaml` in opendp/deployments-registry-data;
composition and post-processing, the accounting, stand there under `implementation`. A function of
the record alone.
"""

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

from holdfast.errors import numbered, roughly
from holdfast.privacy.noise import Noise
from holdfast.release import escape
from holdfast.release.record import spent, titles

FILL_IN = "FILL IN"
_HEAD = """\
# A draft for the registry of differential privacy deployments of OpenDP
# (github.com/opendp/deployments-registry-data). What holdfast knows is filled in;
# what only the maker of the release knows says FILL IN. The curator's type and the
# publication date are placeholders too.
"""
_SIMULATED = "# SIMULATION, protects nobody: a seed was used. Do not register it.\n"


def deployment_yaml(record: dict[str, Any]) -> str:
    """The record of a release, for the registry, as YAML. Says nothing that is not in it."""
    sections = {
        "basic": _basic(record),
        "dp_variant": _variant(record),
        "privacy_loss": _loss(record),
        "deployment_model": _model(),
        "implementation": _implementation(record),
        "administrative": {"status": "Draft", "registry_authors": [FILL_IN], "tier": 3},
    }
    simulated = _SIMULATED if record["promise"]["simulated"] else ""
    body = _yaml({"url_slug": "fill-in", "deployment": sections})
    return _HEAD + simulated + body.removeprefix("\n") + "\n"


def decimal_above(number: Fraction, digits: int = 12) -> str:
    """The number in decimals, rounded up where it has no short ones: never less than was spent.

    >>> decimal_above(Fraction(7, 10)), decimal_above(Fraction(1, 3), 3)
    ('0.7', '0.334')
    """
    context = Context(prec=digits, rounding=ROUND_CEILING)
    return f"{context.divide(Decimal(number.numerator), Decimal(number.denominator)):f}"


def _basic(record: dict[str, Any]) -> dict[str, Any]:
    mark = "SIMULATION, protects nobody. " * record["promise"]["simulated"]
    groups = len(record["groups"]["names"])
    within = f" So are those of {numbered(groups, 'group')} of rows." * (groups > 1)
    return {
        "name": FILL_IN,
        "data_curators": [{"data_curator_name": FILL_IN, "data_curator_type": "Government"}],
        "description": f"{mark}A table of counts ({', '.join(titles(record))}) in "
        f"{numbered(record['table']['rows'], 'row')}, whose distribution of counts is close to the "
        f"true one.{within}",
        "intended_use": FILL_IN,
        "data_product_type": "Summary statistics",
        "data_product_region": FILL_IN,
        "publication_date": "1900-01-01",
    }


def _variant(record: dict[str, Any]) -> dict[str, Any]:
    kept = ", ".join(record["published"]) or "none"
    zeros = numbered(record["table"]["structural_zeros"], "row")
    groups = " The groups, and the rows of each, follow from them."
    return {
        "variant_name": "Pure DP",
        "data_domain": "Tables of counts over the same rows: whole numbers of 0 or more.",
        "unprotected_quantities": "The number of rows and their order, the rows publicly known to "
        f"be zero ({zeros}), which counts are missing, and the columns published unchanged: {kept}."
        f"{groups * bool(record['groups']['columns'])}",
    }


def _loss(record: dict[str, Any]) -> dict[str, Any]:
    promise = record["promise"]
    columns = "; ".join(
        f"{name}: {spent(budget)}"
        for name, budget in zip(titles(record), promise["budgets"], strict=True)
    )
    return {
        "privacy_unit": f"One {promise['persons']['unit']}",
        "privacy_unit_details": promise["neighbours"],
        "privacy_parameters": {"epsilon": Decimal(decimal_above(Fraction(promise["epsilon"])))},
        "privacy_parameters_details": f"Exactly epsilon = {promise['epsilon']}. {columns}.",
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


def _implementation(record: dict[str, Any]) -> dict[str, Any]:
    off = ", ".join(
        roughly(Noise.from_dict(column["noise"]).mean_absolute, 3) for column in record["counts"]
    )
    return {
        "preprocessing_and_hyperparameter_tuning": "None by holdfast: counts have no range. "
        f"{FILL_IN}: how epsilon and contributions were chosen.",
        "mechanisms": "Exact integer noise, discrete Laplace or discrete staircase, on every count "
        "and on sums of the cumulative histogram of counts. "
        f"holdfast {record['made_with']}; randomness: {record['promise']['randomness']}. No "
        "floating point takes part in drawing. No measures against timing.",
        "composition": "Sequential: the parts add up to epsilon, as fractions. Parallel over "
        "groups of rows, which are disjoint.",
        "post_processing": "A distribution of counts is fitted to the noisy sums and counts; the "
        "noisy counts are ranked and given its values in order.",
        "justification": FILL_IN,
        "utility": f"A noisy count is off by {off} on average; intervals of shares, means, totals "
        "and quantiles are in answers.csv.",
        "additional_information": "holdfast verify recomputes the release from this bundle.",
    }


def _yaml(value: Any, depth: int = 0) -> str:
    """Mappings, lists, text and numbers, items on lines of their own."""
    start = "\n" + "  " * depth
    if isinstance(value, dict):
        return "".join(f"{start}{key}:{_yaml(item, depth + 1)}" for key, item in value.items())
    if isinstance(value, list):
        return "".join(f"{start}-{_yaml(item, depth + 1)}" for item in value)
    if isinstance(value, Decimal):
        return f" {value:f}"  # its own text has an exponent below 1e-6
    return " " + (escape.yaml(value) if isinstance(value, str) else str(value))
