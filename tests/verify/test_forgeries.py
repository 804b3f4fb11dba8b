"""Releases that lie: every sum is made anew, and verify finds what does not follow."""

import csv
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import holdfast
from forging import forged, of_lines, of_record, of_text, read
from holdfast.fit.estimate import fit
from holdfast.fit.histogram import collected
from holdfast.measure.measurement import Tally
from holdfast.release.codebook import codebook
from holdfast.release.deployment import deployment_yaml
from holdfast.release.readme import read_me
from holdfast.release.relations import ranked

STATES = ["AL", "KS", "NE", "TX"]


def a_table(rows=240, seed=0):
    rng = np.random.default_rng(seed)
    state = rng.integers(0, 4, rows)
    return pd.DataFrame(
        {
            "county": [f"c{k:03d}" for k in range(rows)],
            "state": [STATES[k] for k in state],
            "people": rng.integers(100, 10**6, rows),
            "none": (rng.random(rows) < 0.05).astype(int),
            "deaths": rng.negative_binomial(0.8, 0.1 + 0.1 * state),
            "births": rng.poisson(3.0, rows),
        }
    )


def made(kind):
    table = a_table()
    known = {"count": "deaths", "category": "county", "epsilon": "1", "seed": 3}
    match kind:
        case "plain":
            return holdfast.privatize(table, keep=["people"], **known)
        case "grouped":
            return holdfast.privatize(table, within="state", totals=True, **known)
        case "classes":
            within = holdfast.classes("people", 5)
            return holdfast.privatize(table, within=within, top=12, **known)
        case "several":
            known["count"] = ["deaths", "births"]
            return holdfast.privatize(table, within="state", contributions=3, rows=2, **known)
        case "gaps":
            table["deaths"] = table["deaths"].astype("Int64")
            table.loc[table.none == 1, "deaths"] = 0
            table.loc[5:9, "deaths"] = pd.NA
            return holdfast.privatize(
                table, missing=[""], structural_zero="none", within="state", **known
            )


KINDS = ["plain", "grouped", "classes", "several", "gaps"]


@pytest.fixture(scope="module", params=KINDS)
def bundle(request, tmp_path_factory):
    return made(request.param).save(tmp_path_factory.mktemp("bundles") / request.param)


def test_a_release_passes(bundle):
    report = holdfast.verify(bundle)
    assert report, report.damage
    assert report.simulated and not report.warnings


def test_a_file_beside_a_release_is_named_and_the_rest_is_checked(tmp_path):
    bundle = made("plain").save(tmp_path / "plain")
    (bundle / "notes.txt").write_text("mine")
    report = holdfast.verify(bundle)
    assert not report and report.failure.value == "beside"
    assert report.damage == ("the folder holds 'notes.txt', which is not a file of a release.",)
    assert all(check.passed for check in report.checks[1:])
    assert report.verdict.endswith("The rest holds.") and "damaged" not in report.verdict
    (bundle / "README.md").write_text("trust me")
    assert "damaged" in holdfast.verify(bundle).verdict


def test_a_release_of_many_rows_passes(tmp_path):
    counts = np.random.default_rng(0).poisson(2, 30_000)
    report = holdfast.verify(holdfast.privatize(counts, epsilon=1, seed=1).save(tmp_path / "many"))
    assert report, report.damage
    assert not report.warnings


@pytest.mark.parametrize("noisy, is_told", [(-20, False), (-60, True)])
def test_a_noisy_count_further_below_0_than_noise_goes_is_told(tmp_path, noisy, is_told):
    def change(lines):
        at = lines[0].index("deaths_noisy")
        lines[3][at : at + 3] = [str(noisy), "0", "0"]

    bundle = made("plain").save(tmp_path / "plain")
    warnings = holdfast.verify(
        forged(bundle, tmp_path / "odd", of_lines("rows.csv", change))
    ).warnings
    assert any("further below 0" in warning for warning in warnings) == is_told


def cell_changed(column, by):
    def change(lines):
        at = lines[0].index(column)
        row = next(line for line in lines[3:] if line[at].isdigit())
        row[at] = str(int(row[at]) + by)

    return change


def two_swapped(column):
    """Released counts of two rows with the same noisy count change places: another tie order."""

    def apply(folder):
        noisy = pd.read_csv(folder / "rows.csv", dtype=str, keep_default_na=False)
        groups = noisy["group"] if "group" in noisy else pd.Series("", index=noisy.index)
        table = pd.read_csv(folder / "table.csv", dtype=str, keep_default_na=False)
        keys = groups + " " + noisy[f"{column}_noisy"]
        for _, part in table.groupby(keys):
            values = part[column]
            if values.nunique() > 1 and not (values == "").any():
                first = values.index[0]
                other = values.index[values != values.iloc[0]][0]
                table.loc[[first, other], column] = table.loc[[other, first], column].to_numpy()
                newline = read(folder)["table"]["newline"]
                table.to_csv(folder / "table.csv", index=False, lineterminator=newline)
                return
        pytest.skip("no tie has two values here")

    return apply


def promise(change):
    return of_record(lambda record: change(record["promise"]))


def first_count(change):
    return of_record(lambda record: change(record["counts"][0]))


def more(number, by=Fraction(1, 10)):
    return str(Fraction(number) + by)


def spend_less(promise):
    budget = promise["budgets"][0]
    budget["counts"], budget["whole"] = (
        more(budget["counts"]),
        more(budget["whole"], -Fraction(1, 10)),
    )


def last_digit(lines):
    line = next(line for line in lines[1:] if "." in line[3])
    line[3] = line[3][:-1] + str((int(line[3][-1]) + 1) % 10)


LIES = {
    "one released count": of_lines("table.csv", cell_changed("deaths", 1)),
    "one noisy count": of_lines("rows.csv", cell_changed("deaths_noisy", 1)),
    "a plain interval": of_lines("rows.csv", cell_changed("deaths_high", 1)),
    "a likely interval": of_lines("rows.csv", cell_changed("deaths_likely_high", 3)),
    "another order of ties": two_swapped("deaths"),
    "another seed of ties": first_count(lambda said: said.update(ties="12345")),
    "rows of a count": of_lines("distribution.csv", cell_changed("rows", 1)),
    "an answer": of_lines("answers.csv", lambda lines: lines[2].__setitem__(3, "0.99")),
    "the last digit of an answer": of_lines("answers.csv", last_digit),
    "the header of the answers": of_lines(
        "answers.csv", lambda lines: lines[0].__setitem__(3, "truth")
    ),
    "an interval of an answer": of_lines(
        "answers.csv", lambda lines: lines[2].__setitem__(5, "1.7")
    ),
    "a row less": of_lines("rows.csv", lambda lines: lines.pop()),
    "a row less in the table": of_lines("table.csv", lambda lines: lines.pop()),
    "a label": of_lines("rows.csv", lambda lines: lines[4].__setitem__(0, "elsewhere")),
    "epsilon of the promise": promise(lambda said: said.update(epsilon="1/2")),
    "epsilon everywhere in the record": promise(
        lambda said: (said.update(epsilon="1/2"), said["budgets"][0].update(epsilon="1/2"))
    ),
    "parts of the budget": promise(spend_less),
    "contributions": promise(lambda said: said["persons"].update(contributions=[7])),
    "who is protected": promise(lambda said: said["persons"].update(unit="household")),
    "rows of a person": promise(lambda said: said["persons"].update(person_rows=9)),
    "no simulation": promise(
        lambda said: said.update(simulated=False, randomness="operating system")
    ),
    "noise of counts": first_count(lambda said: said["noise"].update(epsilon="2")),
    "width of the noise": first_count(
        lambda said: said["noise"].update(width=said["noise"]["width"] + 1)
    ),
    "missing rows": first_count(lambda said: said.update(missing=said["missing"] + 1)),
    "known zeros": of_record(lambda record: record["table"].update(structural_zeros=99)),
    "number of rows": of_record(lambda record: record["table"].update(rows=10)),
    "another schema field": of_record(lambda record: record.update(extra=1)),
    "a field less": of_record(lambda record: record.pop("level")),
    "a published column": of_record(lambda record: record["published"].append("people2")),
    "a note of another epsilon": of_record(
        lambda record: record["notes"].append("in truth epsilon = 0.01 was spent")
    ),
    "words of the promise": of_text("README.md", "- epsilon = 1 ", "- epsilon = 1/100 "),
    "words beside it": of_text("README.md", "## What it says", "epsilon = 0.01\n\n## What it says"),
    "the codebook": of_text("codebook.md", "noisy", "true"),
    "the draft for the registry": of_text("deployment.yaml", "epsilon", "epsi1on"),
    "a picture that does something": of_text("distribution.svg", "</svg>", "<script/></svg>"),
    "a picture with a link": of_text("distribution.svg", "<svg ", '<svg onload="x()" '),
    "a bar of the picture": of_text("distribution.svg", '" fill="#1d3f70"', '9" fill="#1d3f70"'),
    "a whisker": of_text("distribution.svg", 'y2="', 'y2="1'),
    "a word of the picture": of_text("distribution.svg", "90 %", "99 %"),
}


@pytest.mark.parametrize("bundle", ["gaps", "several"], indirect=True)
@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_found_though_every_sum_is_right(bundle, tmp_path, lie):
    place = forged(bundle, tmp_path / "forged", LIES[lie])
    report = holdfast.verify(place)
    assert not report
    assert all(check.passed is not False or check.detail for check in report.checks)


REPEATED = {
    "README.md states another epsilon": lambda record: record["notes"].append(
        "in truth epsilon = 0.01 was spent"
    ),
    "a note of release.json states an epsilon": lambda record: record["notes"].append(
        "the epsilon of this release is 0.01"
    ),
    "the promise in words": lambda record: record["promise"].update(
        neighbours="Two tables are neighbours when all people of ten counties are added."
    ),
    "words of release.json is not": lambda record: record["promise"].update(
        randomness="a seed of a certified generator"
    ),
    "the request of release.json is not": lambda record: record["request"].update(epsilon="1/100"),
    "request of release.json is": lambda record: record["request"].update(contributions=1000),
}


@pytest.mark.parametrize("found", REPEATED)
def test_a_lie_of_the_record_is_found_though_the_texts_repeat_it(tmp_path, found):
    def change(folder):
        record = read(folder)
        REPEATED[found](record)
        of_record(lambda said: said.update(record))(folder)
        table = record["table"]
        with (folder / "answers.csv").open(encoding="utf-8-sig", newline="") as file:
            _, *answers = csv.reader(file, delimiter=table["delimiter"])
        (folder / "README.md").write_text(read_me(record, [tuple(line) for line in answers]))
        (folder / "codebook.md").write_text(codebook(record))
        (folder / "deployment.yaml").write_text(deployment_yaml(record))

    bundle = made("plain").save(tmp_path / "plain")
    place = forged(bundle, tmp_path / "forged", change)
    assert found in str(holdfast.verify(place).damage)


@pytest.mark.parametrize("weight", [None, 16384, -16384])
def test_weights_of_relations_are_those_that_the_noisy_counts_ask_for(tmp_path, weight):
    release = holdfast.privatize(
        a_table(), count=["deaths", "births"], category="county", epsilon=5, seed=3, relations=True
    )
    first, second = release.columns
    if weight is not None:
        second = ranked(second, [first], (weight,))
    place = replace(release, columns=(first, second)).save(tmp_path / "bundle")
    assert holdfast.verify(place).damage == (
        ()
        if weight is None
        else ("the relations of release.json do not follow from the noisy counts.",)
    )


def moved_to(release, labels, group):
    """A release whose rows are said to be in other groups, with these labels."""
    (column,) = release.columns
    tally = Tally.of_rows(column.noisy.astype(np.int64), group, groups=len(labels))
    measurement = replace(column.measurement, tally=tally)
    column = replace(column, group=group, measurement=measurement, published=None)
    sizes = np.bincount(group, minlength=len(labels))
    groups = replace(release.partition, labels=labels, sizes=sizes)
    return replace(release, columns=(column,), partition=groups)


def test_classes_that_overlap_are_found(tmp_path):
    release = made("plain").by(holdfast.classes("people", 2))
    high = (release.columns[0].noisy > 1).astype(np.int32)
    labels = (("0 to 99999999",), ("1 to 99999999",))
    place = moved_to(release, labels, high).save(tmp_path / "forged")
    assert holdfast.verify(place).damage == ("the classes of release.json overlap.",)


def test_rows_do_not_change_between_labels_of_nearly_one_spelling(tmp_path):
    table = a_table().assign(state=[("1", "01", "NE", "ne")[k % 4] for k in range(240)])
    release = holdfast.privatize(
        table, count="deaths", category="county", keep="state", epsilon=1, seed=3
    ).by("state")
    assert holdfast.verify(release.save(tmp_path / "honest"))
    labels, own = release.partition.labels, release.columns[0].group
    assert labels == (("01",), ("1",), ("NE",), ("ne",))
    high = release.columns[0].noisy > 1
    for first in (0, 2):
        group = np.where((own < 2) == (first < 2), first + high, own).astype(np.int32)
        place = moved_to(release, labels, group).save(tmp_path / f"forged{first}")
        assert "its published cells do not say" in str(holdfast.verify(place).damage)


def test_a_few_counts_may_not_be_far_from_the_fit(tmp_path):
    release = made("plain")
    (column,) = release.columns
    counts = column.histograms[0].counts()
    counts[-2:] = 10**12
    column = replace(column, published=(collected(counts, np.ones_like(counts)),))
    place = replace(release, columns=(column,)).save(tmp_path / "forged")
    (damage,) = holdfast.verify(place).damage
    assert damage == "distribution.csv is not what the fit makes of the measurement."


def test_likely_intervals_may_not_all_be_a_little_shorter(tmp_path):
    def change(lines):
        low, high = (lines[0].index(f"deaths_likely_{end}") for end in ("low", "high"))
        for line in lines[1:]:
            if int(line[high]) - int(line[low]) > 1:
                line[high] = str(int(line[high]) - 1)

    bundle = made("plain").save(tmp_path / "plain")
    place = forged(bundle, tmp_path / "forged", of_lines("rows.csv", change))
    (damage,) = holdfast.verify(place).damage
    assert damage == "a likely interval of rows.csv does not follow from the release."


@pytest.mark.parametrize("notes, cut", [({"promise": "epsilon = 0.01"}, 9999), (None, 100)])
def test_a_parquet_table_with_notes_or_cut_otherwise_is_none(tmp_path, notes, cut):
    def change(folder):
        table = pq.read_table(folder / "table.parquet").replace_schema_metadata(notes)
        pq.write_table(table, folder / "table.parquet", row_group_size=cut)

    bundle = made("plain").save(tmp_path / "plain", table_format="parquet")
    assert holdfast.verify(bundle)
    place = forged(bundle, tmp_path / "forged", change)
    words = "holds notes" if notes else "is not cut into groups of rows"
    assert words in str(holdfast.verify(place).damage)


@pytest.mark.parametrize("statistics", [False, True])
def test_a_parquet_table_with_statistics_which_nobody_has_compared_is_none(tmp_path, statistics):
    def change(folder):
        table = pq.read_table(folder / "table.parquet")
        pq.write_table(table, folder / "table.parquet", write_statistics=statistics)

    bundle = made("plain").save(tmp_path / "plain", table_format="parquet")
    report = holdfast.verify(forged(bundle, tmp_path / "forged", change))
    assert report.passed != statistics
    assert ("has statistics beside its rows" in str(report.damage)) == statistics


@pytest.mark.parametrize(("rows", "honest"), [(1, True), (2, True), (5, False)])
def test_another_machine_s_rounding_is_a_warning_and_no_forgery(
    tmp_path, monkeypatch, rows, honest
):
    """A release whose maker's fit had so many rows one higher than the fit of this machine."""

    def fit_elsewhere(measurement):
        estimate = fit(measurement)
        moved = estimate.whole.counts()
        at = np.flatnonzero(moved == moved[len(moved) // 2])[-rows:]
        moved[at] += 1
        return replace(estimate, histograms=(collected(moved, np.ones_like(moved)),))

    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("holdfast.release.release.fit", fit_elsewhere)
        place = made("plain").save(tmp_path / "bundle")
    report = holdfast.verify(place)
    assert bool(report) == honest
    said = report.warnings if honest else report.damage
    assert (f"up to {rows} rows" if honest else "what the fit makes") in " ".join(said)


def test_sums_that_are_not_made_anew_are_damage(bundle, tmp_path):
    place = forged(bundle, tmp_path / "forged", lambda folder: None)
    with (place / "codebook.md").open("a") as file:
        file.write(" ")
    assert "codebook.md" in " ".join(holdfast.verify(place).damage)


def test_a_row_in_another_group_is_found(tmp_path):
    bundle = made("grouped").save(tmp_path / "bundle")

    def change(lines):
        at = lines[0].index("group")
        lines[7][at] = next(name for name in STATES if name != lines[7][at])

    place = forged(bundle, tmp_path / "forged", of_lines("rows.csv", change))
    assert not holdfast.verify(place)


@pytest.mark.parametrize("label", ["", "ZZ", "NE"])
def test_a_row_whose_published_cells_say_another_group_is_found(tmp_path, label):
    """Text is no number, and two things that are no numbers are not the same."""
    bundle = made("grouped").save(tmp_path / "bundle")

    def change(lines):
        at = lines[0].index("state")
        next(line for line in lines[1:] if line[at] != label)[at] = label

    place = forged(bundle, tmp_path / "forged", of_lines("table.csv", change))
    assert "in a group that its published cells do not say" in str(holdfast.verify(place).damage)


@pytest.mark.parametrize("seed", range(3))
def test_any_changed_number_of_any_file_is_found(bundle, tmp_path, seed):
    rng = random.Random(seed)

    def change(lines):
        for _ in range(1000):
            line = rng.choice(lines[1:])
            at = rng.randrange(len(line))
            if line[at].lstrip("-").isdigit() and lines[0][at] not in ("people", "row"):
                line[at] = str(int(line[at]) + rng.choice([-2, 2, 5]))
                return

    for name in ("rows.csv", "distribution.csv", "table.csv"):
        place = forged(bundle, tmp_path / f"forged {name}", of_lines(name, change))
        assert not holdfast.verify(place)


def test_links_pipes_and_other_files_are_refused(bundle, tmp_path):
    place = forged(bundle, tmp_path / "forged", lambda folder: None)
    (place / "more.txt").write_text("x")
    assert "more.txt" in " ".join(holdfast.verify(place).damage)
    (place / "more.txt").unlink()
    (place / "README.md").rename(tmp_path / "README.md")
    (place / "README.md").symlink_to(tmp_path / "README.md")
    assert "link" in " ".join(holdfast.verify(place).damage)


def test_nothing_of_the_maker_is_used_but_what_is_listed():
    import ast
    import re
    from pathlib import Path

    listed = (Path(__file__).parents[2] / "docs" / "verify.md").read_text("utf-8")
    borrowed = {
        f"holdfast.{name}" for name in re.findall(r"^\| `([a-z_.]+)` \|", listed, re.MULTILINE)
    }
    used = set()
    for path in (Path(holdfast.__file__).parent / "verify").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("holdfast."):
                used.add(node.module)
    used = {name for name in used if not name.startswith("holdfast.verify")}
    assert used - {"holdfast.arrays", "holdfast.errors"} == borrowed
