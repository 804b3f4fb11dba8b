"""README, codebook, deployment and picture: true, and of use without holdfast."""

import csv
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import replace
from fractions import Fraction
from itertools import zip_longest

import numpy as np
import pytest
import yaml

from holdfast.fit.histogram import Histogram
from holdfast.release.codebook import codebook
from holdfast.release.csv_files import Dialect
from holdfast.release.deployment import deployment_yaml
from holdfast.release.picture import Bar, bars, bins, labels, panel
from holdfast.release.readme import read_me
from holdfast.tables.groups import classes
from made_releases import counties, made_release


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    cells, counts = counties()
    release = made_release(
        {"homicides": counts}, cells, within=classes("population", 30), contributions=2,
        notes=("rows were counted in 1996",), missing=[1], structural_zero=[2],
    )  # fmt: skip
    return release, release.save(tmp_path_factory.mktemp("demo") / "release")


def words(path):
    return " ".join(path.read_text(encoding="utf-8").split())


def test_the_readme_says_what_is_promised_and_what_came_out(demo):
    _, folder = demo
    text = words(folder / "README.md")
    for said in (
        "SIMULATION, protects nobody",
        "epsilon = 1 for one person",
        "by at most 2",
        "# Counts published with privacy protection: `homicides` ",
        "| rows with a count, of 2,197 | 2196 | exact |",
        "on single counts, ",
        "on the distribution of counts, ",
        "on the distributions of groups",
        "**counts beside other columns**",
        "`county`, `population`, `state`",
        "rows were counted in 1996",
        "In 1 row `homicides` is missing",
        "1 row publicly known to be zero",
        "10 further groups in `answers.csv`",
        "holdfast verify",
    ):
        assert said in text
    answers = (folder / "answers.csv").read_text().splitlines()
    mean = next(line.split(",") for line in answers if line.startswith("homicides,all rows,mean"))
    assert f"| mean | {mean[3]} | {mean[4]} to {mean[5]} |" in text


def test_the_readme_of_several_columns_and_of_a_period_says_so(tmp_path):
    counts = np.arange(60) % 7
    release = made_release({"all": counts, "some": counts // 2}, {"place": list(map(str, counts))})
    text = words(replace(release, period="2025").save(tmp_path / "release") / "README.md")
    assert "protection: `all`, `some` of 2025 " in text
    assert "**A column that is part of another** can exceed it" in text


def test_words_follow_from_the_record_and_the_answers_alone(demo):
    _, folder = demo
    said = json.loads((folder / "release.json").read_text())
    answers = [line.split(",") for line in (folder / "answers.csv").read_text().splitlines()[1:]]
    assert read_me(said, answers) == (folder / "README.md").read_text()
    assert codebook(said) == (folder / "codebook.md").read_text()
    assert deployment_yaml(said) == (folder / "deployment.yaml").read_text()


@pytest.mark.parametrize(
    ("epsilon", "factor", "said"),
    [
        ("0.0001", "1.00011", "**The release says little of `n`**"),
        (1, "2.72", "The counts of `n` are not the true ones."),
        (10, "22,100", "**Most noisy counts of `n` are the true ones"),
    ],
)
def test_the_readme_says_what_noise_hides(tmp_path, epsilon, factor, said):
    counts = np.arange(200) % 7
    text = words(made_release({"n": counts}, epsilon=epsilon).save(tmp_path / "r") / "README.md")
    assert f"at most {factor} times as probable with any one person counted" in text
    others = ("The release says little", "are the true ones:", "are not the true ones.")
    assert said in text and sum(other in text for other in others) == 1


def test_an_epsilon_is_written_in_one_way(tmp_path):
    folder = made_release({"n": [1, 2, 0] * 9}, epsilon="1/10000").save(tmp_path / "r")
    for name in ("README.md", "distribution.svg"):
        assert "epsilon = 0.0001" in (folder / name).read_text()
    spent = re.findall(r"([0-9.]+) on ", words(folder / "README.md"))
    assert sum(map(Fraction, spent[:2])) == Fraction("0.0001")


def test_a_release_that_is_no_simulation_is_not_called_one(tmp_path):
    release = made_release({"n": [1, 2, 0] * 9})
    release = replace(release, promise=replace(release.promise, simulated=False))
    folder = release.save(tmp_path / "r")
    for path in folder.iterdir():
        assert "SIMULATION" not in path.read_text()
    assert "SIMULATION" not in repr(release)


def test_the_codebook_names_every_column_of_every_file(demo):
    _, folder = demo
    text = (folder / "codebook.md").read_text()
    for path in folder.glob("*.csv"):
        for name in path.read_text().splitlines()[0].split(","):
            assert f"`{name}`" in text


def run(folder, monkeypatch):
    """What the recipes of a codebook find, run as they are printed."""
    monkeypatch.chdir(folder)
    found = {}
    for recipe in re.findall(r"```python\n(.*?)```", (folder / "codebook.md").read_text(), re.S):
        exec(recipe, found)
    return found


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_what_the_codebook_teaches_is_unbiased(tmp_path, monkeypatch, delimiter):
    pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    x = rng.normal(3, 2, 4000)
    true = rng.poisson(np.maximum(x, 0.1))
    errors = {"total": [], "variance": [], "correlation": [], "slope": [], "zeros": []}
    held = []
    for seed in range(15):
        release = made_release({"n": true}, epsilon="0.7", seed=seed)
        release = replace(release, dialect=Dialect(delimiter=delimiter))
        found = run(release.save(tmp_path / str(seed)), monkeypatch)
        y, public = found["y"], found["pd"].Series(x)
        held.append(found["interval"][0] <= true.sum() <= found["interval"][1])
        errors["total"].append(found["total"] / true.sum() - 1)
        errors["variance"].append(found["true_variance"] / true.var() - 1)
        errors["correlation"].append(
            found["correlation"](public, y) / np.corrcoef(x, true)[0, 1] - 1
        )
        own = np.cov(true, x)[0, 1] / true.var()
        errors["slope"].append(found["slope"](y, public, found["variance"]) / own - 1)
        errors["zeros"].append(found["share_of_zeros"] / (true == 0).mean() - 1)
    for name, found in errors.items():
        assert abs(np.mean(found)) < 4 * np.std(found) / np.sqrt(15) + 1e-3, name
        assert np.std(found) < 0.25, name
    assert np.mean(held) >= 0.7


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_r_and_a_spreadsheet_find_what_pandas_finds(tmp_path, monkeypatch, delimiter):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    x = rng.normal(3, 2, 300).round(3)
    cells = {"county": [f"0{i}" for i in range(300)], "x": list(map(str, x))}
    release = made_release({"d 'e": rng.poisson(np.maximum(x, 0.1))}, cells, missing=[5])
    folder = replace(release, dialect=Dialect(delimiter=delimiter)).save(tmp_path / "r")
    found = run(folder, monkeypatch)
    y, public = found["y"], pandas.Series(x)
    numbers = {
        "total": found["total"],
        "error": found["error"],
        "true_variance": found["true_variance"],
        "correlation": found["correlation"](public[y.index], y),
        "slope": found["slope"](y, public[y.index], found["variance"]),
        "share_of_zeros": found["share_of_zeros"],
    }
    book = (folder / "codebook.md").read_text()
    code = re.search(r"```r\n(.*?)```", book, re.S)[1]
    if shutil.which("Rscript"):
        code += f"""
x <- c({", ".join(map(str, public[y.index]))})
stopifnot(rows[[1]][2] == "01")
for (number in c(total, (interval[2] - total) / 1.645, true_variance, correlation(x, y),
                 slope(y, x, variance), share_of_zeros)) cat(format(number, digits = 12), "\\n")
"""
        (folder / "recipe.R").write_text(code)
        said = subprocess.run(["Rscript", "recipe.R"], cwd=folder, text=True, capture_output=True)
        assert [float(line) for line in said.stdout.split()] == pytest.approx(
            list(numbers.values())
        ), said.stderr
    if shutil.which("soffice"):
        formulas = re.findall(r"\| `(=.*?)` \|", book)
        assert calculated(folder, delimiter, x, formulas) == pytest.approx(
            list(numbers.values()), rel=1e-4
        )


def calculated(folder, delimiter, x, formulas):
    """What LibreOffice makes of formulas beside rows.csv with x in column Z."""
    text = (folder / "rows.csv").read_text(encoding="utf-8")
    lines = list(csv.reader(text.splitlines(), delimiter=delimiter))
    beside = [
        [*line, *[""] * (25 - len(line)), number, formula]
        for line, number, formula in zip_longest(lines, ["x", *x], formulas, fillvalue="")
    ]
    with (folder / "recipe.csv").open("w", newline="") as file:
        csv.writer(file).writerows(beside)
    formulas_too = "CSV:44,34,76,1,,1033,false,true,false,false,false,0,true"
    subprocess.run(
        ["soffice", f"-env:UserInstallation={(folder / 'office').as_uri()}", "--headless",
         f"--infilter={formulas_too}", "--convert-to", "csv", "--outdir", "done", "recipe.csv"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    found = list(csv.reader((folder / "done" / "recipe.csv").read_text().splitlines()))
    return [float(line[26]) for line in found[: len(formulas)]]


def test_noise_of_several_contributions_has_no_three_point_formula(demo):
    _, folder = demo
    assert "mean_of" not in (folder / "codebook.md").read_text()


def test_the_deployment_is_yaml_that_says_at_least_what_was_spent(demo):
    _, folder = demo
    found = yaml.safe_load((folder / "deployment.yaml").read_text())["deployment"]
    assert found["privacy_loss"]["privacy_parameters"]["epsilon"] >= 1
    assert found["dp_variant"]["variant_name"] == "Pure DP"
    third = json.loads((folder / "release.json").read_text())
    third["promise"]["epsilon"] = "1/3"
    loss = yaml.safe_load(deployment_yaml(third))["deployment"]["privacy_loss"]
    assert Fraction(repr(loss["privacy_parameters"]["epsilon"])) >= Fraction(1, 3)
    assert "1/3. homicides: " in loss["privacy_parameters_details"]
    assert "Fill in a copy, outside of this folder" in (folder / "deployment.yaml").read_text()


def test_bars_are_zero_and_then_equal_bins():
    for highest in (0, 1, 5, 20, 21, 99, 1000, 10**6):
        histogram = Histogram(
            values=np.arange(highest + 1), rows=np.ones(highest + 1, dtype=np.int64)
        )
        starts = bins(histogram)
        assert starts[:2] == [0, 1] and len(starts) <= 22
        assert len(set(np.diff(starts[1:]))) <= 1


def test_bars_have_the_shares_of_the_table_and_whiskers_around_them(demo):
    release, _ = demo
    column = release.only
    found = bars(release, column, None, [0, 1, 5, 9])
    known = release.counts[release.counts >= 0]
    shares = [(known == 0).mean(), *(((known >= a) & (known < a + 4)).mean() for a in (1, 5))]
    assert [bar.share for bar in found[:3]] == pytest.approx(shares)
    assert sum(bar.share for bar in found) == pytest.approx(1)
    assert [bar.label for bar in found] == ["0", "1–4", "5–8", "9+"]
    for bar in found:
        assert bar.low <= bar.high


def test_the_picture_has_few_panels_with_names_and_axes(demo):
    _, folder = demo
    root = ET.parse(folder / "distribution.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    texts = [node.text for node in root.iter(f"{space}text")]
    assert "homicides, 2,196 rows" in texts
    assert any(text.startswith("By 30 classes of population: the 8 largest") for text in texts)
    assert sum(text == "homicides" for text in texts) == 9  # the axes of the panels
    assert len(list(root.iter(f"{space}rect"))) > 9 * 10


@pytest.mark.parametrize("step", [1, 2, 20, 5000])
def test_names_of_bars_stand_at_equal_distances_and_over_no_other(step):
    starts = [0, *range(1, 2 + 20 * step, step)]
    some = [Bar(label=name, share=0.1, low=0.0, high=0.2) for name in labels(starts)]
    named = [shown for bar in panel("n", "n", some, 560, 220) if (shown := bar.partition(">")[2])]
    names = [bar.label for bar in some]
    shown = [text.removesuffix("</text>") for text in named]
    places = [names.index(text) for text in shown if text in names]
    assert places[0] == 0 and places[-1] == len(some) - 1
    assert len(places) > 4 and len(set(np.diff(places[:-1]))) == 1


def test_several_columns_have_a_panel_each_and_no_more_than_four(tmp_path):
    release = made_release({f"n{k}": [0, 1, 2, k] * 20 for k in range(6)})
    text = (release.save(tmp_path / "r") / "distribution.svg").read_text()
    assert text.count("80 rows") == 4 and "2 further columns in distribution.csv" in text
    assert "last bar: all higher counts" in text and "Groups are in" not in text
    grouped = made_release({"n": [0, 1] * 20, "m": [0, 2] * 20}, {"at": ["a", "b"] * 20})
    text = (grouped.by("at").save(tmp_path / "g") / "distribution.svg").read_text()
    assert "Groups are in distribution.csv." in text


@pytest.mark.parametrize("epsilon", ["0.3", "1"])
def test_the_codebook_bounds_the_error_of_the_share_of_zeros(tmp_path, epsilon):
    release = made_release({"n": [1, 2, 0] * 9}, epsilon=epsilon)
    text = words(release.save(tmp_path / "r") / "codebook.md")
    stated = float(re.search(r"zeros in n rows is up to ([\d.e+]+)", text)[1])
    noise = release.only.measurement.noise
    a, y = np.exp(-float(noise.epsilon)), np.arange(-300, 301)
    estimate = ((1 + a * a) * (y == 0) - a * (np.abs(y) == 1)) / (1 - a) ** 2
    for true in (0, 1, 2, 7):
        chances = noise.probability(y - true)
        assert chances @ estimate == pytest.approx(float(true == 0), abs=1e-6)
        error = (chances @ estimate**2 - (true == 0)) ** 0.5
        assert error <= stated * 1.01 and (true or error > 0.8 * stated)
