"""Relations between columns of counts in the released table itself."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import holdfast
from forging import forged, of_record
from holdfast.errors import HoldfastError

CRIME = Path(os.environ.get("HOLDFAST_DATA", "data")) / "crime_by_county.csv"
ANYWAY = {"keep_none": True, "publish_anyway": ["row order", "totals"]}


def a_table(rows=3000, sign=1, seed=0):
    """Counts whose relations noise of epsilon 1/3 hides: skewed, of three columns."""
    rng = np.random.default_rng(seed)
    rate = rng.gamma(0.5, 8.0, rows)
    other = rate if sign > 0 else np.maximum(20 - rate, 0)
    return pd.DataFrame(
        {
            "place": [f"p{k:05d}" for k in rng.permutation(rows)],
            "state": rng.choice(["KS", "NE", "TX"], rows),
            "a": rng.poisson(rate),
            "b": rng.poisson(2 * other + 1),
            "c": rng.poisson(rng.gamma(2.0, 2.0, rows)),
        }
    )


def released(table, **options):
    names = options.pop("count", ["a", "b"])
    return holdfast.privatize(
        table, count=names, category="place", epsilon=options.pop("epsilon", 1), seed=4, **options
    )


def in_table(release, one="a", other="b"):
    columns = (release[one], release[other])
    known = ~columns[0].missing & ~columns[1].missing
    return np.corrcoef(*(column.counts[known] for column in columns))[0, 1]


@pytest.mark.parametrize("sign", [1, -1])
def test_the_table_has_the_correlation_that_is_answered(sign):
    plain = released(a_table(sign=sign), keep=["state"])
    related, answer = plain.related(), plain.ask("correlation", of=["a", "b"]).estimate
    assert abs(in_table(plain)) < abs(answer) - 0.05
    assert in_table(related) == pytest.approx(answer, abs=0.005)
    assert related.ask("correlation", of=["a", "b"]).estimate == answer


def test_every_column_keeps_its_distribution_and_the_first_its_counts():
    plain = released(a_table(), within="state")
    related = plain.related()
    assert (related["a"].counts == plain["a"].counts).all()
    assert (related["b"].counts != plain["b"].counts).any()
    for group in range(3):
        rows = plain["b"].group == group
        assert (np.sort(related["b"].counts[rows]) == np.sort(plain["b"].counts[rows])).all()


def test_of_three_columns_every_pair_has_its_correlation():
    release = released(a_table(), count=["a", "b", "c"], epsilon=3, keep=["state"], relations=True)
    for pair in (("a", "b"), ("a", "c"), ("b", "c")):
        answer = release.ask("correlation", of=list(pair)).estimate
        assert in_table(release, *pair) == pytest.approx(answer, abs=0.02)


@pytest.mark.skipif(not CRIME.is_file(), reason="HOLDFAST_DATA names no folder with crimes")
@pytest.mark.parametrize("epsilon", ["0.5", "1", "2"])
def test_murders_and_rapes_have_their_correlation_of_0_73(epsilon):
    table = pd.read_csv(CRIME)[["MURDER", "RAPE"]].clip(upper=[40, 80], axis=1)
    names, answers, shown = ["MURDER", "RAPE"], [], []
    for seed in range(5):
        release = holdfast.privatize(
            table, count=names, epsilon=epsilon, seed=seed, relations=True, **ANYWAY
        )
        answers.append(release.ask("correlation", of=names).estimate)
        shown.append(in_table(release, *names))
    assert np.mean(answers) == pytest.approx(0.734, abs=0.012)
    assert np.mean(shown) == pytest.approx(0.734, abs=0.012)


def test_rows_without_a_count_and_known_zeros_stay_what_they_are():
    table = a_table()
    table["closed"] = np.arange(len(table)) % 7 == 0
    table.loc[table.closed, ["a", "b"]] = 0
    table.loc[3:200:11, "a"] = -9
    table.loc[4:200:11, "b"] = -9
    table.loc[table.closed, ["a", "b"]] = 0
    release = released(
        table, keep=["state"], missing=[-9], structural_zero="closed", relations=True
    )
    for name in ("a", "b"):
        assert (release[name].counts[table[name] == -9] == -1).all()
        assert (release[name].counts[table.closed] == 0).all()
    answer = release.ask("correlation", of=["a", "b"]).estimate
    assert in_table(release) == pytest.approx(answer, abs=0.005)


def test_relations_are_written_verified_and_read_again(tmp_path):
    release = released(a_table(), within="state", relations=True)
    folder = release.save(tmp_path / "r")
    verified = holdfast.verify(folder)
    assert verified, str(verified)
    again = holdfast.load(folder)
    assert (again["b"].counts == release["b"].counts).all()
    assert again["b"].relations == release["b"].relations != ()


def test_a_weight_that_is_not_that_of_the_table_is_found(tmp_path):
    folder = released(a_table(300), keep=["state"], relations=True).save(tmp_path / "r")

    def change(record):
        record["counts"][1]["relations"][0] += 100

    assert not holdfast.verify(forged(folder, tmp_path / "forged", of_record(change)))


def test_relations_stay_when_groups_are_chosen_later():
    release = released(a_table(), keep=["state"], relations=True).by("state")
    answer = release.ask("correlation", of=["a", "b"]).estimate
    assert in_table(release) == pytest.approx(answer, abs=0.005)


def test_a_file_in_batches_has_the_same_relations(tmp_path):
    table = a_table()
    table.to_csv(tmp_path / "t.csv", index=False)
    file = released(tmp_path / "t.csv", keep=["state"], relations=True, out=tmp_path / "r")
    assert (released(table, keep=["state"], relations=True)["b"].counts == file["b"].counts).all()
    lines = pd.read_csv(tmp_path / "r" / "table.csv")
    assert (lines.b.to_numpy() == file["b"].counts).all()


def test_counts_that_noise_drowns_are_matched_as_they_are():
    table = pd.DataFrame({"place": [f"p{k}" for k in range(40)], "a": 1, "b": 1})
    plain = released(table, epsilon="0.01", keep_none=True)
    related = plain.related()
    assert (related["b"].counts == plain["b"].counts).all() and related["b"].relations == ()


def test_one_column_has_no_relations():
    with pytest.raises(HoldfastError, match="several columns"):
        released(a_table(50), count="a", keep_none=True, relations=True)
