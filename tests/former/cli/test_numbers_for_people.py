"""Numbers that people read have marks between thousands and no exponents; those for machines have
neither changed."""

import csv
import json
import re

import numpy as np
import pytest

import holdfast.former as holdfast
from holdfast.errors import roughly

YEAR = "2026"


def unmarked(text):
    """Numbers of four digits or more without marks; digests have letters, and the paper a year."""
    return [n for n in re.findall(r"(?<![\w.,/])\d{4,}(?![\w/-])", text) if n != YEAR]


def exponents(text):
    return re.findall(r"\d\.?\d*e[+-]\d+", text)


@pytest.fixture
def shops(cli):
    draw = np.random.default_rng(7)
    sales = np.minimum(draw.lognormal(6, 1.8, size=300), 60_000).astype(int)
    with open("shops.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["shop", "region", "sales"])
        rows.writerows([f"s{i}", "NS"[i % 2], count] for i, count in enumerate(sales))
    return cli


USUAL = ("--count", "sales", "--max-count", "20000", "--epsilon", "1")
MADE = ("privatize", "shops.csv", *USUAL, "--category", "shop", "--keep", "region", "--seed", "1")


@pytest.mark.parametrize("more", [(), ("--within", "region", "--totals")])
def test_whoever_reads_of_a_long_range_finds_marks_between_thousands(shops, more):
    texts = {"dry run": shops(*MADE, *more, "--out", "d", "--dry-run")[1]}
    texts["privatize"] = shops(*MADE, *more, "--out", "release")[1]
    texts["verify"] = shops("verify", "release")[1]
    asked = ["share at least 20000", "share between 1000 and 20,000", "top 4", "total of s1, s2"]
    asked += ["row s1", "compare s1 with s2", "mean", "quantile 0.999", "variance"]
    asked += [] if more else ["released 1500"]
    for question in asked:
        code, texts[question], err = shops("ask", "release", question)
        assert code == 0, err
    texts["by"] = shops("ask", "release", "mean", "--by", "region")[1]
    texts["markdown"] = shops("report", "release", "--format", "md")[1]
    for name in ("README.md", "deployment.yaml"):
        with open(f"release/{name}") as file:
            texts[name] = file.read()
    assert {name: unmarked(text) for name, text in texts.items() if unmarked(text)} == {}
    assert all("20,000" in texts[name] for name in ("verify", "privatize", "markdown", "README.md"))
    texts.pop("verify")  # how near a fixed point is kept is told in powers of ten
    assert {name: exponents(text) for name, text in texts.items() if exponents(text)} == {}


def test_studies_of_a_long_range_are_told_without_exponents(shops):
    how = ("--count", "sales", "--max-count", "20000", "--epsilon", "0.005", "--repetitions", "2")
    texts = [shops("compare", "shops.csv", *how, "--methods", "default")[1]]
    texts.append(shops("plan", "--prior", "shops.csv", "--categories", "300", *how)[1])
    assert all("above 6,666" in " ".join(text.split()) for text in texts)
    assert all(re.search(r"│ +\d{3} │", text) for text in texts)  # two digits of more than 100
    assert [unmarked(text) + exponents(text) for text in texts] == [[], []]


def test_numbers_for_machines_have_no_marks(shops):
    shops(*MADE, "--out", "release")
    found = json.loads(shops("ask", "release", "quantile 0.999", "--json")[1])
    assert found["estimate"] == 20000
    with open("release/table.csv") as file:
        assert "," not in "".join(row[-1] for row in csv.reader(file))
    report = json.loads(shops("report", "release", "--format", "json")[1])
    assert report["facts"]["max_count"] == 20000


def test_a_share_that_is_known_exactly_is_not_rounded_to_whole_percents():
    counts = np.repeat([0, 5_000], [223, 9])
    release = holdfast.privatize(counts, epsilon=8, max_count=20_000, seed=1)
    found = release.ask("share", at_least=2_500, where=np.ones(232, dtype=bool))
    assert found.interval[0] == found.interval[1] and "3.88%" in str(found)


def test_numbers_are_rounded_to_digits_and_stay_plain():
    assert [roughly(x) for x in (0, 99.6, 131, 1.3e7, -2.5e-7)] == [
        *("0", "100", "130", "13,000,000", "-0.00000025"),
    ]
    assert roughly(float("inf")) == "inf"
