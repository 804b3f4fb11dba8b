"""What installs and cites holdfast agrees with pyproject.toml, which alone has the version."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def test_the_conda_recipe_needs_what_the_package_needs():
    recipe = yaml.safe_load(text("packaging/conda/recipe.yaml"))
    needed = {word.replace(" ", "") for word in recipe["requirements"]["run"]}
    assert needed == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}
    scripts = {f"{name} = {call}" for name, call in PROJECT["scripts"].items()}
    assert set(recipe["build"]["python"]["entry_points"]) == scripts


def test_no_other_file_repeats_the_version():
    for path in ("CITATION.cff", "packaging/conda/recipe.yaml", "src/holdfast/__init__.py"):
        assert PROJECT["version"] not in text(path), path


def test_the_citation_names_the_software_and_the_paper():
    cited = yaml.safe_load(text("CITATION.cff"))
    assert cited["title"].startswith("holdfast") and cited["license"] == PROJECT["license"]
    assert cited["references"][0]["title"].startswith("Preserving Target Distributions")


def test_every_dependency_has_a_lower_bound_and_none_an_upper_one():
    extras = PROJECT["optional-dependencies"].values()
    listed = [*PROJECT["dependencies"], *(word for extra in extras for word in extra)]
    others = [word for word in listed if not word.startswith("holdfast[")]
    assert all(re.fullmatch(r"[\w.-]+>=[0-9.]+", word) for word in others)


def lower_bounds(*extras):
    words = [sys.executable, ROOT / "packaging" / "lowest.py", *extras]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()


def test_the_lower_bounds_are_those_of_the_extras_that_are_asked_for():
    assert [word.replace("==", ">=") for word in lower_bounds()] == sorted(PROJECT["dependencies"])
    page = set(PROJECT["optional-dependencies"]["page"])
    assert {word.replace("==", ">=") for word in lower_bounds("page")} == page.union(
        PROJECT["dependencies"]
    )


def test_no_package_has_two_lower_bounds_at_once():
    names = [word.partition("==")[0] for word in lower_bounds("check", "spark")]
    assert len(names) == len(set(names)) > 25


def test_workflows_run_what_a_developer_runs():
    jobs = yaml.safe_load(text(".github/workflows/check.yml"))["jobs"]
    oldest = PROJECT["requires-python"].removeprefix(">=")
    versions = [word.rpartition(" ")[2] for word in PROJECT["classifiers"] if ":: 3." in word]
    assert jobs["check"]["strategy"]["matrix"]["python"] == versions
    assert versions[0] == oldest
    published = yaml.safe_load(text(".github/workflows/release.yml"))["jobs"]["publish"]
    assert published["permissions"] == {"id-token": "write"}
