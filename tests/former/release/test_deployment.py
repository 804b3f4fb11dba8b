"""deployment.yaml against the facts of the registry's schema, read in opendp's repository."""

from datetime import date
from fractions import Fraction

import pytest

import holdfast.former as holdfast
from bundles import COUNTS, make, read_record
from holdfast.former.release.deployment import decimal_above, deployment_yaml, quoted

yaml = pytest.importorskip("yaml")

TEXT = str
SECTIONS = {
    "basic": {
        "name": TEXT,
        "data_curators": list,
        "description": TEXT,
        "intended_use": TEXT,
        "data_product_type": {
            "Summary statistics", "Machine learning model", "Dataset", "Synthetic data",
            "Interactive API", "SQL queries",
        },
        "data_product_region": TEXT,
        "data_product_sector": {
            "Technology", "Healthcare", "Education", "Government", "Energy", "Finance",
        },
        "publication_date": TEXT,
    },
    "dp_variant": {
        "variant_name": {
            "Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom",
        },
        "data_domain": TEXT,
        "unprotected_quantities": TEXT,
    },
    "privacy_loss": {
        "privacy_unit": TEXT,
        "privacy_unit_details": TEXT,
        "number_of_privacy_units": int,
        "privacy_parameters": dict,
        "privacy_parameters_details": TEXT,
    },
    "deployment_model": {
        "model_name": {"Local", "Central", "Shuffle", "Federated", "Varies"},
        "model_name_details": TEXT,
        "trust_assumptions": TEXT,
        "actors": TEXT,
        "release_type": {"One release", "Many releases"},
        "release_type_details": TEXT,
        "data_source_type": {"Static", "Dynamic"},
        "data_source_type_details": TEXT,
        "access_type": {"Interactive", "Non-interactive"},
        "access_type_details": TEXT,
    },
    "implementation": {
        "preprocessing_and_hyperparameter_tuning": TEXT,
        "mechanisms": TEXT,
        "composition": TEXT,
        "post_processing": TEXT,
        "justification": TEXT,
        "utility": TEXT,
        "additional_information": TEXT,
    },
    "administrative": {
        "evidence_sources": dict,
        "status": {
            "Converted", "Draft", "Pending", "Changes Required", "Approved",
            "Approved (Update Requested)", "Approved (Pending)",
        },
        "registry_authors": list,
        "tier": {1, 2, 3},
    },
}  # fmt: skip
REQUIRED = {
    "basic": {
        "name", "data_curators", "description", "intended_use", "data_product_type",
        "data_product_region", "publication_date",
    },
    "administrative": {"status", "registry_authors", "tier"},
}  # fmt: skip
TIER_3 = {  # what an entry of tier 3 fills in
    "dp_variant": {"variant_name", "data_domain", "unprotected_quantities"},
    "privacy_loss": {"privacy_unit", "privacy_unit_details", "privacy_parameters"},
    "deployment_model": {"model_name", "release_type", "data_source_type", "access_type"},
    "implementation": {"mechanisms", "composition", "post_processing", "justification"},
}


def check_against_schema(entry):
    assert set(entry) == {"url_slug", "deployment"} and isinstance(entry["url_slug"], str)
    deployment = entry["deployment"]
    assert set(deployment) <= set(SECTIONS)
    for section, needed in (REQUIRED | TIER_3).items():
        assert needed <= set(deployment[section]), section
    for section, fields in deployment.items():
        for name, value in fields.items():
            kind = SECTIONS[section][name]  # no other properties are allowed
            fits = value in kind if isinstance(kind, set) else isinstance(value, kind)
            assert fits, (section, name)
    for curator in deployment["basic"]["data_curators"]:
        assert set(curator) == {"data_curator_name", "data_curator_type"}
        assert curator["data_curator_type"] in {"Government", "Industry", "Nonprofit"}
    date.fromisoformat(deployment["basic"]["publication_date"])
    numbers = deployment["privacy_loss"]["privacy_parameters"]
    assert set(numbers) <= {"epsilon", "delta", "rho"}
    assert all(type(number) in (int, float) for number in numbers.values())
    assert all(isinstance(name, str) for name in deployment["administrative"]["registry_authors"])


@pytest.mark.parametrize("epsilon", ["0.7", "1/3", "2", "10"])
def test_a_bundle_has_an_entry_that_fits_the_schema(tmp_path, epsilon):
    folder = make(epsilon=epsilon, seed=None).save(tmp_path / "release")
    entry = yaml.safe_load((folder / "deployment.yaml").read_text(encoding="utf-8"))
    check_against_schema(entry)
    loss = entry["deployment"]["privacy_loss"]
    assert 0 <= loss["privacy_parameters"]["epsilon"] - Fraction(epsilon) < Fraction(1, 10**9)
    assert f"epsilon = {Fraction(epsilon)}" in loss["privacy_parameters_details"]
    assert entry["deployment"]["dp_variant"]["variant_name"] == "Pure DP"
    assert "SIMULATION" not in (folder / "deployment.yaml").read_text()


def test_the_registry_accepts_no_folded_text(tmp_path):
    folder = make().save(tmp_path / "release")
    tokens = yaml.scan((folder / "deployment.yaml").read_text())
    assert {getattr(token, "style", None) for token in tokens} <= {None, "|", '"', "'"}


def test_a_delta_makes_it_approximate(tmp_path):
    record = read_record(make().save(tmp_path / "release"))
    record["privacy"] |= {"delta": "1/1000000", "bound": "1/100"}
    entry = yaml.safe_load(deployment_yaml(record))
    check_against_schema(entry)
    assert entry["deployment"]["dp_variant"]["variant_name"] == "Approximate DP"
    assert entry["deployment"]["privacy_loss"]["privacy_parameters"]["delta"] == 1e-6
    assert "1/100 for max_count" in str(entry)
    assert "max_count" not in entry["deployment"]["dp_variant"]["unprotected_quantities"]


def test_odd_names_do_not_break_out(tmp_path):
    name = 'x"\n  tier: 1 \\ \u2028 \U0001f600 \x07 #'
    release = holdfast.privatize(
        __import__("pandas").DataFrame({name: 1, "n": COUNTS}),
        count="n",
        keep=[name],
        epsilon=1,
        max_count=8,
    )
    folder = release.save(tmp_path / "release")
    entry = yaml.safe_load((folder / "deployment.yaml").read_text(encoding="utf-8"))
    check_against_schema(entry)
    assert name in entry["deployment"]["dp_variant"]["unprotected_quantities"]
    assert entry["deployment"]["administrative"]["tier"] == 3


@pytest.mark.parametrize("text", ["", "plain", 'a"b\\c', "é\u2028\U0001f600\x00\x7f\x85"])
def test_quoted_text_comes_back(text):
    assert yaml.safe_load(quoted(text)) == text


def test_decimals_are_never_below_the_number():
    for number in (Fraction(1, 3), Fraction(2, 3), Fraction(1, 10**7), Fraction(7), Fraction(10)):
        stated = Fraction(decimal_above(number))
        assert number <= stated <= number * (1 + Fraction(1, 10**11))
        assert isinstance(yaml.safe_load(decimal_above(number)), int | float)
