"""Several columns of counts: one table, one payment, one promise."""

from fractions import Fraction

import numpy as np
import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError, LeakError
from holdfast.former.release.several_bundle import load_table
from holdfast.former.tables.csv import CsvTable
from several_tables import NAMES, TOPS, three_counts

OPTIONS = {"category": "name", "max_count": TOPS, "epsilon": 3, "seed": 1}


def release_of(columns=NAMES, table=None, **options):
    tops = {name: TOPS[name] for name in columns}
    table = three_counts() if table is None else table
    return holdfast.privatize(table, count=list(columns), **OPTIONS | {"max_count": tops} | options)


@pytest.fixture(scope="module")
def joint():
    return release_of(joint=True)


def test_a_release_of_several_counts_has_a_release_for_each_and_one_table(joint):
    assert list(joint) == list(NAMES) and joint.cells.columns == ["name", *NAMES]
    for name in NAMES:
        assert [str(x) for x in joint[name].counts] == joint.cells.column(name, "column")
        assert joint[name].ask("mean").estimate >= 0


def test_what_is_not_named_is_not_published():
    assert release_of(("a", "b")).cells.columns == ["name", "a", "b"]


def test_the_parts_of_the_columns_add_up_to_the_whole_promise(joint):
    assert joint.privacy.epsilon == 3 == sum(joint[name].privacy.epsilon for name in NAMES)
    assert joint.privacy.certified_epsilon <= 3


def test_a_person_in_one_column_leaves_every_column_the_whole_of_epsilon():
    release = release_of(person_in="one column")
    assert [release[name].privacy.epsilon for name in NAMES] == [3, 3, 3]
    assert release.privacy.epsilon == 3
    assert "in one of its columns of counts" in release.privacy.neighbours


def test_weights_divide_epsilon():
    release = release_of(weights={"a": 1, "b": 2, "c": 3})
    assert [release[n].privacy.epsilon for n in NAMES] == [Fraction(1, 2), 1, Fraction(3, 2)]


def test_a_person_in_several_rows_has_each_of_them_paid():
    release = release_of(rows=3, unit="household", contributions={"a": 1, "b": 2, "c": 50})
    budgets = [release[name].privacy.budget for name in NAMES]
    assert [one.steps for one in budgets] == [3, 6, 3 * TOPS["c"]]
    assert "one household" in release.privacy.neighbours
    assert "at most 3 rows change" in release.privacy.neighbours


def test_of_one_count_several_rows_of_a_person_are_paid_too():
    options = {"count": "a", "category": "name", "max_count": 6, "epsilon": 1, "seed": 1}
    release = holdfast.privatize(three_counts(), **options, rows=2, totals=True)
    assert release.privacy.budget.steps == 2 and release.totals.moved == 2
    assert "at most 2 rows change, each by" in release.privacy.neighbours


def test_columns_are_drawn_with_different_noise():
    table = three_counts()
    same = CsvTable(("a", "b"), [[row[2], row[2]] for row in table.rows])
    release = holdfast.privatize(
        same, count=["a", "b"], max_count=6, epsilon=1, seed=1, publish_anyway=()
    )
    assert (release["a"].counts != release["b"].counts).any()


def test_the_joint_release_keeps_a_relation_that_separate_ones_lose():
    table = three_counts(1500)
    true = [np.array([int(row[k]) for row in table.rows]) for k in (2, 3)]
    want = np.corrcoef(*true)[0, 1]

    def found(joint):
        release = release_of(("a", "b"), table, joint=joint, epsilon="0.5")
        return np.corrcoef(release["a"].counts, release["b"].counts)[0, 1]

    assert abs(found(True) - want) < abs(found(False) - want) / 2


def test_a_column_is_given_the_last_two_before_it(joint):
    assert [joint[name].given for name in NAMES] == [(), ("a",), ("a", "b")]
    assert [joint[name].later for name in NAMES] == [("b", "c"), ("c",), ()]
    assert joint["a"].cells.columns == ["name", "a"]


def test_every_kernel_has_the_law_it_is_for(joint):
    for name in NAMES[1:]:
        groups = joint[name].groups
        for number in range(len(groups)):
            group = groups.at(number)
            away = group.mechanism.image(group.target) - group.released
            assert np.abs(away).max() <= 1e-9
            assert group.mechanism.certified_epsilon <= joint[name].privacy.budget.unit_2


def test_within_goes_with_both():
    for joint in (False, True):
        release = release_of(("a", "b"), within="group", joint=joint, totals=True)
        assert list(release.table.columns) == ["name", "group", "a", "b"]
        columns = ("group", "a") if joint else ("group",)
        assert release["b"].groups.within.columns == columns


@pytest.mark.parametrize("joint", [False, True])
def test_a_bundle_of_several_loads_as_it_was_saved(tmp_path, joint):
    release = release_of(joint=joint, within="group" if joint else None, rows=2, unit="firm")
    release.save(tmp_path / "out")
    assert holdfast.verify(tmp_path / "out").damage == ()
    again = load_table(tmp_path / "out")
    assert again.privacy == release.privacy and again.joint is joint
    for name in NAMES:
        assert (again[name].counts == release[name].counts).all()
        assert again[name].target == pytest.approx(release[name].target)
    alone = holdfast.load(tmp_path / "out" / "2-b")
    mean = release["b"].ask("mean").estimate  # laws are normalised again when they are loaded
    assert alone.ask("mean").estimate == pytest.approx(mean, rel=1e-13)
    with pytest.raises(HoldfastError, match="several counts"):
        holdfast.load(tmp_path / "out")


def test_a_kept_column_that_is_the_sum_of_the_counts_is_refused():
    table = three_counts()
    rows = [[*row, str(int(row[2]) + int(row[3]))] for row in table.rows]
    spoiled = CsvTable((*table.columns, "sum"), rows)
    with pytest.raises(HoldfastError, match="sum"):
        release_of(("a", "b"), spoiled, keep=["sum"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"weights": {"a": 1}}, "weights"),
        ({"person_in": "two columns"}, "person_in"),
        ({"person_in": "one column", "weights": [1, 1, 1]}, "weights"),
        ({"rows": 0}, "rows"),
        ({"unit": "<b>"}, "unit"),
        ({"max_count": [5, 5]}, "max_count"),
        ({"keep": ["b"]}, "keep"),
        ({"joint": True, "split": None, "constructor": len}, "default stages"),
        ({"joint": True, "max_count": "auto"}, r"PrivateQuantile\('0.999', highest=10000\)"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_drawn(options, words):
    with pytest.raises(HoldfastError, match=words):
        release_of(**options)


def test_what_is_for_several_columns_is_refused_for_one():
    with pytest.raises(HoldfastError, match="joint"):
        holdfast.privatize([1, 2, 3], epsilon=1, max_count=5, joint=True)


def test_joint_needs_the_same_rows_in_all_columns():
    table = three_counts()
    rows = [[*row[:3], "" if k == 3 else row[3], row[4]] for k, row in enumerate(table.rows)]
    gaps = CsvTable(table.columns, rows)
    release = release_of(("a", "b"), gaps, missing=[""])
    assert release["b"].counts[3] == -1 and release["a"].counts[3] >= 0
    with pytest.raises(HoldfastError, match="none: in data row 4 'b' is missing, 'a' not"):
        release_of(("a", "b"), gaps, missing=[""], joint=True)


def ledger_with(tmp_path, epsilon):
    ledger = holdfast.Ledger(tmp_path / "budget.ledger")
    ledger.set_limit("d", epsilon=epsilon)
    return ledger


@pytest.mark.parametrize(("person_in", "spent"), [("all columns", 3), ("one column", 3)])
def test_one_payment_for_all_columns_which_are_shown_again(tmp_path, person_in, spent):
    ledger = ledger_with(tmp_path, 4)
    options = {"person_in": person_in, "ledger": ledger, "dataset": "d", "seed": None}
    first = release_of(joint=True, **options)
    again = release_of(joint=True, **options)
    assert again.repeated and ledger.balance("d").epsilon_spent == spent
    assert all((first[name].counts == again[name].counts).all() for name in NAMES)


def test_what_a_ledger_cannot_afford_is_not_drawn(tmp_path):
    ledger = ledger_with(tmp_path, 2)
    with pytest.raises(holdfast.BudgetError):
        release_of(ledger=ledger, dataset="d", seed=None)


def beside(**made):
    rng = np.random.default_rng(3)
    a, b, c = rng.poisson(3, 400), rng.poisson(4, 400), rng.poisson(2, 400)
    more = {name: make(a, b, c) for name, make in made.items()}
    columns = {"name": [f"n{i}" for i in range(400)], "a": a, "b": b, "c": c, **more}
    rows = [list(map(str, row)) for row in zip(*columns.values(), strict=True)]
    return CsvTable(tuple(columns), rows)


def in_memory(table, tmp_path, **options):
    return holdfast.privatize(table, **options)


def streamed(table, tmp_path, **options):
    lines = [",".join(row) for row in [table.columns, *table.rows]]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    return holdfast.privatize_stream(tmp_path / "t.csv", tmp_path / "out", **options)


@pytest.mark.parametrize("way", [in_memory, streamed])
@pytest.mark.parametrize(
    "formula",
    [lambda a, b, c: a + b, lambda a, b, c: b - a, lambda a, b, c: a + 2 * c],
    ids=["sum", "difference", "weighted"],
)
def test_a_column_that_follows_from_some_of_the_counts_is_refused(tmp_path, way, formula):
    options = {
        "count": ["a", "b", "c"],
        "category": "name",
        "max_count": 9,
        "epsilon": 1,
        "seed": 1,
    }
    with pytest.raises(LeakError, match="'d' with"):
        way(beside(d=formula), tmp_path, keep=["d"], **options)
    way(beside(d=formula), tmp_path, keep=["d"], publish_anyway=["d"], **options)


@pytest.mark.parametrize("way", [in_memory, streamed])
def test_a_total_among_the_counts_has_everybody_in_two_columns(tmp_path, way):
    table = beside(t=lambda a, b, c: a + b)
    options = {"category": "name", "max_count": 9, "epsilon": 1, "seed": 1}
    with pytest.raises(HoldfastError, match="as a total does"):
        way(table, tmp_path, count=["a", "b", "t"], person_in="one column", **options)
    way(table, tmp_path, count=["a", "b"], person_in="one column", **options)
    (tmp_path / "more").mkdir()
    way(table, tmp_path / "more", count=["a", "b", "t"], **options)


@pytest.mark.parametrize("way", [in_memory, streamed])
def test_rows_in_the_order_of_what_the_counts_add_up_to_are_refused(tmp_path, way):
    table = beside()
    table.rows.sort(key=lambda row: int(row[1]) + int(row[2]))
    options = {"count": ["a", "b"], "category": "name", "max_count": 9, "epsilon": 1, "seed": 1}
    with pytest.raises(LeakError, match="row order"):
        way(table, tmp_path, **options)
