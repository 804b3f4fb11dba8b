"""A release as a record for OpenDP's registry of deployments, ready but for what only people know.

The fields are those of `schemas/deployments-schema.yaml` in opendp/deployments-registry-data;
composition and post-processing, the accounting, stand there under `implementation`. A function of
the record alone.
"""

from fractions import Fraction
from typing import Any

from holdfast.errors import decimal_above, decimal_or_fraction, numbered, roughly
from holdfast.release import escape
from holdfast.release.record import read_noise, spent, titles

MECHANISMS = (
    "Exact integer noise, discrete Laplace or discrete staircase, on every count and on sums of "
    "the cumulative histogram of counts. No floating point takes part in drawing. No measures "
    "against timing. Made with"
)


def deployment_yaml(record: dict[str, Any]) -> str:
    """The record of a release, for the registry, as YAML. Says nothing that is not in it."""
    promise, names, text = record["promise"], titles(record), escape.yaml
    rows, groups = numbered(record["table"]["rows"], "row"), len(record["groups"]["names"])
    within = f" So are those of {numbered(groups, 'group')} of rows." * (groups > 1)
    zeros, kept = record["table"]["structural_zeros"], ", ".join(record["published"]) or "none"
    follow = " The groups, and the rows of each, follow from them." * bool(
        record["groups"]["columns"]
    )
    spends = "; ".join(
        f"{name}: {spent(budget)}" for name, budget in zip(names, promise["budgets"], strict=True)
    )
    noises = [read_noise(column["noise"]) for column in record["counts"]]
    off = ", ".join(roughly(noise.mean_absolute, 3) for noise in noises)
    mark = "SIMULATION, protects nobody. " * promise["simulated"]
    warning = "# SIMULATION, protects nobody: a seed was used. Do not register it.\n"
    return f"""\
# A draft for the registry of differential privacy deployments of OpenDP
# (github.com/opendp/deployments-registry-data). What holdfast knows is filled in;
# what only the maker of the release knows says FILL IN. The curator's type and the
# publication date are placeholders too. Fill in a copy, outside of this folder: here a
# changed file is a damaged release to `holdfast verify`.
{warning * promise["simulated"]}\
url_slug: fill-in
deployment:
  basic:
    name: FILL IN
    data_curators:
      - data_curator_name: FILL IN
        data_curator_type: Government
    description: {
        text(
            f"{mark}A table of counts ({', '.join(names)}) in {rows}, whose "
            f"distribution of counts is close to the true one.{within}"
        )
    }
    intended_use: FILL IN
    data_product_type: Summary statistics
    data_product_region: FILL IN
    publication_date: "1900-01-01"
  dp_variant:
    variant_name: Pure DP
    data_domain: "Tables of counts over the same rows: whole numbers of 0 or more."
    unprotected_quantities: {
        text(
            "The number of rows and their order, the rows publicly known to be zero "
            f"({numbered(zeros, 'row')}), which counts are missing, and the columns published "
            f"unchanged: {kept}.{follow}"
        )
    }
  privacy_loss:
    privacy_unit: {text(f"One {promise['persons']['unit']}")}
    privacy_unit_details: {text(promise["neighbours"])}
    privacy_parameters:
      epsilon: {decimal_above(Fraction(promise["epsilon"]))}
    privacy_parameters_details: {
        text(f"Exactly epsilon = {decimal_or_fraction(promise['epsilon'])}. {spends}.")
    }
  deployment_model:
    model_name: Central
    model_name_details: The curator holds the true table and runs holdfast on it.
    trust_assumptions: >-
      The curator is trusted with the true counts. Readers of the release are not trusted, and may
      know anything else.
    release_type: One release
    release_type_details: >-
      FILL IN: whether the same people are in other releases; their budgets add up.
    data_source_type: Static
    access_type: Non-interactive
    access_type_details: The release is a folder of files.
  implementation:
    preprocessing_and_hyperparameter_tuning: >-
      None by holdfast: counts have no range. FILL IN: how epsilon and contributions were chosen.
    mechanisms: {text(f"{MECHANISMS} holdfast {record['made_with']}; {promise['randomness']}.")}
    composition: >-
      Sequential: the parts add up to epsilon, as fractions. Parallel over groups of rows, which are
      disjoint.
    post_processing: >-
      A distribution of counts is fitted to the noisy sums and counts; the noisy counts are ranked
      and given its values in order.
    justification: FILL IN
    utility: >-
      A noisy count is off by {off} on average; intervals of shares, means, totals and quantiles are
      in answers.csv.
    additional_information: holdfast verify recomputes the release from this bundle.
  administrative:
    status: Draft
    registry_authors:
      - FILL IN
    tier: 3
"""
