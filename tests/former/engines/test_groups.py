"""A release by group: every group's distribution holds, and one certificate is over all."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import holdfast.former as holdfast
from holdfast.errors import CertificateError, HoldfastError, LeakError
from holdfast.former.mechanism.grouped import GroupedMechanism, RowSampler
from holdfast.former.privacy.randomness import Simulation
from holdfast.former.tables.group_rows import partition
from holdfast.former.tables.groups import Within

STATES = ("AK", "NE", "WY", "")


def frame(rows=300, seed=1):
    rng = np.random.default_rng(seed)
    state = np.array(STATES, dtype=object)[rng.integers(0, 4, rows)]
    return pd.DataFrame(
        {
            "place": [f"p{i}" for i in range(rows)],
            "state": state,
            "people": rng.integers(10, 1000, rows),
            "n": rng.poisson(1 + 3 * (state == "NE")),
        }
    )


def release(table=None, **options):
    usual = {"epsilon": 1, "max_count": 9, "count": "n", "category": "place", "seed": 1}
    return holdfast.privatize(frame() if table is None else table, **usual | options)


def test_every_group_keeps_its_distribution_and_is_certified():
    found = release(within="state")
    assert list(found.groups) == ["(missing)", "AK", "NE", "WY"]
    for group in found.groups.values():
        kept = group.target @ group.mechanism.matrix
        assert np.abs(kept - group.target).max() < 1e-12
        assert group.mechanism.certified_epsilon <= found.privacy.budget.unit_2
    worst = max(group.mechanism.certified_epsilon for group in found.groups.values())
    assert found.privacy.stage_2_certified == worst
    weighted = sum(g.rows * g.target for g in found.groups.values()) / found.rows
    assert np.abs(weighted - found.target).max() < 1e-12


def test_groups_and_their_columns_are_published_and_their_sizes_are_right():
    table = frame()
    found = release(table, within="state")
    assert found.unchanged_columns == ("place", "state")
    for name, group in found.groups.items():
        assert group.rows == (table.state == ("" if name == "(missing)" else name)).sum()
        assert (found.groups.members == found.groups.names.index(name)).sum() == group.rows
    with pytest.raises(HoldfastError, match=r"release.groups\[name\].mechanism"):
        _ = found.mechanism


def test_columns_are_crossed_and_labels_find_what_names_do_not():
    table = frame().assign(side=["a, b", "c"] * 150, other=["d", "b, d"] * 150)
    found = release(table, within=["state", "side", "other"])
    assert len(found.groups) == 8
    assert found.groups["NE", "c", "b, d"].label == ("NE", "c", "b, d")
    assert found.groups["NE, c, b, d"].rows == found.groups["NE", "c", "b, d"].rows


def test_a_seeded_release_without_groups_is_what_it_was():
    usual = release()
    again = release(within=None, totals=None)
    assert (usual.counts == again.counts).all() and usual.summary() == again.summary()
    assert usual.summary()["schema"] == 3 and "totals" not in usual.privacy.to_dict()


def test_classes_are_equally_large_and_keep_ties_together():
    people = [5, 1, 1, 1, 9, 7, 8, 6]
    groups, codes = partition(Within((holdfast.classes("x", 4),)), [people], np.ones(8, bool))
    assert groups.names == ("1 to 1", "5 to 5", "6 to 7", "8 to 9")
    assert codes.tolist() == [1, 0, 0, 0, 3, 2, 3, 2] and groups.sizes.tolist() == [3, 1, 2, 2]


def test_more_classes_than_values_leave_none_empty():
    found = release(frame(50).assign(people=[1, 2] * 25), within=holdfast.classes("people", 40))
    assert [group.rows for group in found.groups.values()] == [25, 25]


def test_the_number_of_classes_follows_from_the_rows_where_it_is_open():
    few, many = (release(frame(rows), within=holdfast.classes("people")) for rows in (40, 4000))
    assert (len(few.groups), len(many.groups)) == (4, 16)
    assert few.groups.within.parts[0].number == 4


@pytest.mark.parametrize("rows", [1, 2, 7])
def test_a_group_may_have_one_row(rows):
    table = frame(rows).assign(state=[f"s{i}" for i in range(rows)])
    found = release(table, within="state", totals=True)
    assert [group.rows for group in found.groups.values()] == [1] * rows
    assert ((found.counts >= 0) & (found.counts <= 9)).all()


def test_structural_zeros_and_missing_counts_are_in_no_group():
    table = frame(60).astype({"n": object})
    table.loc[3, "n"] = None
    table["known"] = [i < 2 for i in range(60)]
    table.loc[table.known, "n"] = 0
    found = release(table, within="state", structural_zero="known", missing=[None])
    assert (found.groups.members[[0, 1, 3]] == -1).all()
    assert sum(group.rows for group in found.groups.values()) == 57


def test_frames_of_all_kinds_and_types_of_labels_make_the_same_groups(tmp_path):
    codes = frame().assign(state=lambda t: t.state.map({"AK": 1, "NE": 2, "WY": 3, "": np.nan}))
    flags = frame().assign(state=lambda t: t.state == "NE")
    for kind in (codes, flags, pl.from_pandas(codes), pl.from_pandas(flags)):
        found = release(kind, within="state")
        for form in ("csv", "parquet"):
            folder = tmp_path / f"{form}{id(kind)}"
            again = holdfast.load(found.save(folder, table_format=form))
            assert (again.groups.members == found.groups.members).all()


class EqualToAll(holdfast.former.privatizers.CumulativeIsotonic):
    """A stage of its own that says it is the default."""

    def __eq__(self, other):
        return True

    __hash__ = None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"within": "stat"}, "did you mean 'state'"),
        ({"within": "n"}, "`within` must not name the column of counts"),
        ({"within": ["state", "state"]}, "must name a column once"),
        ({"within": holdfast.classes("state", 3)}, "'state' must hold a number in every row"),
        ({"within": "share"}, "must hold labels: text or whole numbers; data row 1 does not"),
        ({"within": 7}, "must be the name of a column"),
        ({"within": []}, "must be the name of a column"),
        (
            {"within": "state", "privatizer": holdfast.privatizers.CyclicLaplace()},
            "goes with the default stages alone",
        ),
        (
            {"within": "state", "constructor": holdfast.constructors.Heuristic()},
            "goes with the default stages alone",
        ),
        (
            {"within": "state", "constructor": holdfast.constructors.Optimal(error="squared")},
            "goes with the default stages alone",
        ),
        (
            {"within": "state", "constructor": holdfast.constructors.Optimal(target=[1])},
            "goes with the default stages alone",
        ),
        ({"within": "state", "privatizer": EqualToAll()}, "goes with the default stages alone"),
        ({"totals": 2}, "`totals` must be True or lie between 0 and 1"),
    ],
)
def test_what_cannot_be_grouped_is_refused_by_name(options, words):
    with pytest.raises(HoldfastError, match=words.replace("(", r"\(")):
        release(frame().assign(share=0.5), **options)


def test_an_array_has_no_columns_to_be_grouped_by():
    with pytest.raises(HoldfastError, match="within"):
        holdfast.privatize([1, 2, 3], epsilon=1, max_count=9, within="state")


def test_a_group_column_that_gives_the_counts_away_is_refused():
    with pytest.raises(LeakError, match="'copy'"):
        release(frame().assign(copy=lambda t: t.n), within="copy")


def test_too_many_groups_for_memory_are_refused_before_anything_is_drawn():
    table = frame(3000).assign(state=range(3000))
    with pytest.raises(HoldfastError, match=r"fewer groups, or a max_count of [0-9]+ at the most"):
        release(table, within="state", max_count=10_000)


def test_small_groups_are_told_of_with_the_number_of_classes_that_would_do():
    found = release(frame().assign(state=[str(i) for i in range(100)] * 3), within="state")
    (note,) = [note for note in found.notes if "too small" in note]
    assert "100 groups of 100 are too small" in note and "of equal size would do" in note
    assert not [note for note in release(within="state", epsilon=5).notes if "too small" in note]


def test_a_grouped_mechanism_needs_certified_curves_that_keep_their_targets():
    good = holdfast.constructors.Optimal()([0.5, 0.3, 0.2], epsilon=1).mechanism
    other = holdfast.constructors.Optimal()([0.5, 0.3, 0.2], epsilon=2).mechanism
    weights = holdfast.Mechanism(weights=good.weights, epsilon=1, target=good.target)
    keeps_none = holdfast.Mechanism(curves=good.curves, epsilon=1)
    for parts in ([], [good, other], [weights], [keeps_none], [object()]):
        with pytest.raises(CertificateError):
            GroupedMechanism(parts, range(len(parts)))
    for index in ([0, 1], [1], [[0]]):
        with pytest.raises(CertificateError):
            GroupedMechanism([good], index)
    grouped = GroupedMechanism([good], [0, 0])
    with pytest.raises(AttributeError):
        grouped.epsilon = Fraction(9)
    with pytest.raises(HoldfastError, match="which group a row is in"):
        RowSampler(grouped)(np.zeros(3, dtype=np.int64), None, Simulation(1))


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_a_label_that_holds_the_end_of_a_line_is_read_as_it_was_written(tmp_path, end):
    table = frame(60).assign(state=[f"a{end}b", "c"] * 30)
    release(table, within="state", totals=True).save(tmp_path / "out")
    assert holdfast.verify(tmp_path / "out").damage == ()
    assert list(holdfast.load(tmp_path / "out").groups) == [f"a{end}b", "c"]


def test_a_draw_goes_through_the_mechanism_of_its_own_group():
    found = release(frame(4000), within="state", epsilon=4)
    high = found.groups["NE"].target
    for number, group in enumerate(found.groups.values()):
        drawn = found.counts[found.groups.members == number]
        shares = np.cumsum(np.bincount(drawn, minlength=10) / group.rows)
        assert np.abs(shares - np.cumsum(group.target)).max() < 3 / np.sqrt(group.rows)
        if group.name != "NE":
            assert np.abs(np.cumsum(high) - shares).max() > 0.2


def test_a_ledger_shows_a_release_by_group_again(tmp_path):
    ledger, table = tmp_path / "a.ledger", frame(80)
    holdfast.Ledger(ledger).set_limit("d", epsilon=2)
    paid = {"ledger": ledger, "dataset": "d", "seed": None, "totals": True}
    first = release(table, within="state", **paid)
    again = release(table, within="state", **paid)
    assert again.repeated and (again.counts == first.counts).all()
    assert list(again.table.columns) == ["place", "state", "n"]
    assert (again.groups.members == first.groups.members).all()
    assert again.totals.whole == first.totals.whole
    other = release(table, within=["state"], **paid | {"totals": None})
    assert not other.repeated and holdfast.Ledger(ledger).balance("d").epsilon_left == 0
    assert holdfast.verify(again.save(tmp_path / "release"))


def test_curves_with_a_lift_are_refused_where_draws_would_leave_it_out():
    good = holdfast.constructors.Optimal()([0.4, 0.3, 0.2, 0.1], epsilon=1).mechanism
    lifted = holdfast.Mechanism(
        curves=replace(good.curves, lift=5), epsilon=1, target=[0.4, 0.3, 0.2, 0.1]
    )
    assert not np.array_equal(lifted.weights, good.weights)
    with pytest.raises(CertificateError, match="all groups need curves"):
        GroupedMechanism([lifted], [0])


def test_small_groups_follow_the_others_on_either_side_of_single_counts(tmp_path):
    frame = pd.DataFrame({"n": [0, 7, 900, 4] * 15, "state": ["a"] * 55 + ["b"] * 5})
    options = {"count": "n", "within": "state", "totals": True, "epsilon": 1, "seed": 1}
    for top in (10_000, 10_001):
        release = holdfast.privatize(frame, max_count=top, **options)
        said = (release.save(tmp_path / str(top)) / "deployment.yaml").read_text()
        assert "steer the distributions" in said
        assert any("those of the other groups" in note for note in release.notes)
