"""The release itself: columns, groups, groups chosen later, frames and figures."""

import copy
import pickle
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import holdfast
from holdfast.errors import HoldfastError
from holdfast.release import frames
from holdfast.release.load import load
from holdfast.request import Request
from holdfast.tables.groups import classes
from made_releases import counties, made_release


@pytest.fixture(scope="module")
def demo():
    cells, counts = counties()
    return made_release({"homicides": counts}, cells, missing=[3], structural_zero=[1500])


def test_a_release_says_in_a_line_what_it_is(demo):
    said = repr(demo)
    assert "SIMULATION" in said and "2,197 rows" in said and "epsilon = 1 for one person" in said
    assert "46 groups" in repr(demo.by("state")) and len(demo) == 2197


def test_a_release_is_not_handed_on_with_the_table_that_it_knows(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("place,n\n" + "".join(f"p{k},{1000003 + k * 17 % 40}\n" for k in range(40)))
    release = holdfast.privatize(
        path, count="n", category="place", keep_none=True, order_by="place", epsilon=1, seed=1
    )
    for hand_on in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(HoldfastError, match=r"it knows the true table.*save"):
            hand_on(release)


@pytest.mark.parametrize(
    ("table", "name"), [([1, 2, 0], "count"), (pd.DataFrame({"deaths": [1, 2, 0]}), "deaths")]
)
def test_the_only_column_has_one_name_in_table_promise_and_record(table, name, tmp_path):
    release = holdfast.privatize(table, epsilon=1, seed=1)
    again = load(release.save(tmp_path / "r"))
    assert [each.only.name for each in (release, again)] == [name, name]
    assert release.promise.persons.columns == (name,) and release.promise == again.promise


def test_columns_are_found_by_name_and_one_stands_for_itself():
    two = made_release({"a": [1, 2] * 30, "b": [0, 1] * 30})
    one = holdfast.privatize([1] * 9, epsilon=1, seed=1)
    assert two["b"].name == "b" and one["count"] is one.only and one.only.name == "count"
    with pytest.raises(HoldfastError, match=r"several columns.*'a', 'b'"):
        two.counts  # noqa: B018
    with pytest.raises(HoldfastError, match=r"no column of counts.*'a', 'b'"):
        two["c"]


def test_missing_counts_are_minus_one_and_structural_zeros_are_zero(demo):
    assert demo.counts[3] == -1 and demo.counts[1500] == 0
    assert demo.distribution.size == 2195 and demo.histogram(demo.only).size == 2196


def test_groups_by_name_have_their_distribution():
    cells, counts = counties()
    release = made_release({"n": counts}, cells, within="state")
    group = release.groups["56"]
    inside = release.counts[np.array(release.cells["state"]) == "56"]
    assert group.distribution.counts().tolist() == sorted(inside)
    assert group["n"] is group.distribution and group.label == ("56",)
    with pytest.raises(HoldfastError, match="no group 'Texas'"):
        release.groups["Texas"]


def test_groups_chosen_later_have_a_distribution_of_their_own_at_no_cost(demo):
    later = demo.by("state")
    assert later.promise == demo.promise and later.regrouped and not demo.regrouped
    assert (later.noisy == demo.noisy).all() and later.only.ties == demo.only.ties
    assert later.only.measurement.whole is demo.only.measurement.whole
    assert later.only.measurement.sums == () and later.only.measurement.groups > 40
    states = np.array(demo.cells["state"])
    for name in ("01", "48"):
        inside = (states == name) & later.only.measured
        assert sorted(later.counts[inside]) == later.groups[name].distribution.counts().tolist()
    assert later.histogram(later.only).size == demo.histogram(demo.only).size


def test_groups_chosen_later_can_be_classes_and_crossed_and_chosen_again(demo):
    crossed = demo.by(["state", classes("population", 3)])
    assert len(crossed.group_names) > 60 and "01, " in crossed.group_names[0]
    again = crossed.by(classes("population", 4))
    assert again.only.measurement.whole is demo.only.measurement.whole
    direct = demo.by(classes("population", 4))
    assert (again.counts == direct.counts).all()


def test_one_group_chosen_later_is_the_whole_table(demo):
    cells = {name: list(column) for name, column in demo.cells.items()} | {"one": ["x"] * 2197}
    release = replace(demo, published=tuple(cells), _cells=lambda: iter([cells]))
    assert (release.by("one").counts == demo.counts).all()


def test_groups_chosen_later_stand_in_the_bundle(demo, tmp_path):
    later = demo.by("state")
    again = load(later.save(tmp_path / "r"))
    assert again.regrouped and (again.counts == later.counts).all()
    assert "chosen after the measurement" in (tmp_path / "r" / "README.md").read_text()


def test_groups_by_what_is_not_published_are_refused(demo):
    with pytest.raises(HoldfastError, match="must name published columns, got 'homicides'"):
        demo.by("homicides")
    with pytest.raises(HoldfastError, match="needs a published column"):
        demo.by(None)


def test_a_data_frame_has_numbers_as_numbers_and_codes_as_texts(demo):
    pytest.importorskip("pandas")
    frame = demo.to_pandas()
    assert list(frame.columns) == ["county", "population", "state", "homicides"]
    assert frame["county"][0] == "01001" and frame["population"].dtype == np.int64
    assert frame["homicides"].isna().sum() == 1 and frame["homicides"][0] == demo.counts[0]
    assert demo.head(3).astype(str).equals(frame.head(3).astype(str))
    shown = replace(demo, top_code=5)
    assert shown.to_pandas()["homicides"].max() == 5 and shown.counts.max() > 5


def test_without_pandas_a_table_of_text_is_shown(demo, monkeypatch):
    monkeypatch.setattr(frames, "find_spec", lambda _: None)
    monkeypatch.setattr("holdfast.release.release.find_spec", lambda _: None)
    head = demo.head(4)
    assert head.columns == ["county", "population", "state", "homicides"]
    assert head.column("homicides")[3] == "" and len(head) == 4
    with pytest.raises(HoldfastError, match="needs pandas"):
        demo.to_pandas()


def test_a_figure_has_the_bars_of_the_picture(demo):
    pytest.importorskip("matplotlib")
    axes = demo.plot().axes[0]
    heights = [bar.get_height() for bar in axes.patches]
    assert heights[0] == pytest.approx((demo.counts == 0).sum() / 2196)
    assert sum(heights) == pytest.approx(1)
    assert axes.get_xlabel() == "homicides"
    assert "01" in demo.by("state").plot(group="01").axes[0].get_title()


def test_a_figure_without_matplotlib_is_refused_in_words(demo, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(HoldfastError, match="needs matplotlib"):
        demo.plot()


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "2"])
@pytest.mark.parametrize("groups", [2, 8, 50, 3000])
def test_the_whole_table_never_pays_for_its_groups(epsilon, groups):
    request = Request.read(epsilon=epsilon, count="n", within="state")
    alone, grouped = (request.promise(3000, number).budgets[0] for number in (1, groups))
    assert grouped.whole == alone.whole > 0 and alone.sums == 0
    assert grouped.counts + grouped.whole + grouped.sums == grouped.epsilon


def test_groups_have_sums_only_where_these_beat_their_noisy_counts():
    request = Request.read(epsilon="0.1", count="n", within="state")
    few, many = (request.promise(3000, number).budgets[0].sums for number in (8, 50))
    assert few > 0 and many == 0


def test_a_share_that_is_named_is_for_all_sums_together():
    request = Request.read(epsilon=1, count="n", within="state", split="0.9")
    budget = request.promise(3000, 3).budgets[0]
    assert budget.sums > 0 and budget.sums + budget.whole == Fraction(9, 10)
