"""What agencies do today: their laws, what they promise, and how they compare."""

from fractions import Fraction

import numpy as np
import pytest

import holdfast.former as holdfast
from command_line import run
from holdfast.errors import HoldfastError
from holdfast.former.studies.agencies import (
    CellKey,
    RandomRounding,
    Rounding,
    Suppression,
    entropy_table,
    promise_of,
    read_ptable,
)

PTABLE = """i,j,p,v,p_int_lb,p_int_ub,type
0,0,1,0,0,1,all
1,0,0.5,-1,0,0.5,all
1,1,0.25,0,0.5,0.75,all
1,3,0.25,2,0.75,1,all
2,1,0.3,-1,0,0.3,all
2,2,0.4,0,0.3,0.7,all
2,3,0.3,1,0.7,1,all
"""

EXPORTED = """i;j;p;v;p_int_ub
0;0;1.00000000; 0;1.00000000
1;0;0.36648551;-1;0.36648551
1;1;0.36648550; 0;0.73297101
1;2;0.16757247; 1;0.90054348
1;3;0.09945652; 2;1.00000000
2;0;0.06382714;-2;0.06382714
2;1;0.24469145;-1;0.30851859
2;2;0.38296282; 0;0.69148141
2;3;0.24469145; 1;0.93617286
2;4;0.06382714; 2;1.00000000
"""  # pt_export(create_cnt_ptable(D = 2, V = 1), file = "ptable.txt")


def ptable(tmp_path, text=PTABLE):
    path = tmp_path / "ptable.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize("method", [Suppression(), Rounding(), RandomRounding(), CellKey()])
def test_every_method_is_a_law_and_its_matrix_is_stochastic(method):
    assert all(sum(method(count).values()) == 1 for count in range(40))
    matrix = method.matrix(30)
    np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("method", [RandomRounding(base=3), RandomRounding(), CellKey()])
def test_random_methods_keep_the_mean_of_every_count(method):
    for count in range(30):
        mean = sum(shown * share for shown, share in method(count).items())
        assert abs(mean - count) < 1e-9


@pytest.mark.parametrize("method", [Suppression(), Rounding()])
def test_what_involves_no_chance_promises_nothing(method):
    found = promise_of(method, 5, max_count=30)
    assert found.delta == found.certain == 1 and str(found).startswith("nothing")


def test_the_promise_of_a_perturbation_table_is_exact(tmp_path):
    method = CellKey(table=read_ptable(ptable(tmp_path)))
    assert method(1) == {0: Fraction(1, 2), 1: Fraction(1, 4), 3: Fraction(1, 4)}
    assert method(9) == {8: Fraction(3, 10), 9: Fraction(2, 5), 10: Fraction(3, 10)}
    # 1 against 0: publishes 1 or 3, which 0 never does; 0 against 1: 1 - e^ε/2, below that
    found = promise_of(method, "1e-6", max_count=10)
    assert found.certain == Fraction(1, 2) and found.counts in {(0, 1), (1, 0), (1, 2), (2, 1)}
    loose = promise_of(method, 1, max_count=10)
    assert loose.certain == loose.delta == Fraction(1, 2)


def test_delta_is_the_hockey_stick_by_brute_force():
    method, factor = CellKey(), np.exp(0.7)
    rows = method.matrix(60)[:40]
    gaps = [np.maximum(a - factor * b, 0).sum() for k in range(39) for a, b in
            ((rows[k], rows[k + 1]), (rows[k + 1], rows[k]))]  # fmt: skip
    assert float(promise_of(method, "0.7", max_count=39).delta) == pytest.approx(max(gaps))


def test_a_file_that_ptable_exports_is_read_to_its_last_digit(tmp_path):
    law = read_ptable(ptable(tmp_path, EXPORTED)).noise(2)
    assert law[0] == Fraction("0.38296282") and sum(law.values()) == 1
    found = promise_of(CellKey(table=read_ptable(ptable(tmp_path, EXPORTED))), 2, max_count=9)
    assert found.delta == found.certain == 1 - Fraction("0.36648551")


def test_a_file_with_decimal_commas_is_the_same_table(tmp_path):
    commas = ptable(tmp_path, EXPORTED.replace(".", ","))
    assert read_ptable(commas) == read_ptable(ptable(tmp_path, EXPORTED))


def test_the_table_of_maximum_entropy_is_the_one_that_ptable_makes(tmp_path):
    theirs = read_ptable(ptable(tmp_path, EXPORTED))
    for count, law in enumerate(entropy_table(2, 1.0).rows):
        assert law.keys() == theirs.noise(count).keys()
        assert all(abs(p - theirs.noise(count)[v]) < 1e-7 for v, p in law.items())


@pytest.mark.parametrize(("largest", "variance"), [(1, 0.5), (5, 3.0), (10, 4.0), (8, 12.0)])
def test_the_table_of_maximum_entropy_keeps_what_ptable_asks_for(largest, variance):
    table = entropy_table(largest, variance)
    for law in table.rows:
        assert float(sum(v * v * p for v, p in law.items())) <= variance + 1e-9
        assert all(law[v] <= law[v + 1] * (1 + Fraction(1, 10**6)) for v in law if v < 0)
    last = float(sum(v * v * p for v, p in table.rows[-1].items()))
    assert last == pytest.approx(min(variance, largest * (largest + 1) / 3), abs=1e-6)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1,0,0.5", "1,0,0.4"),
        ("2,1,0.3", "5,1,0.3"),
        ("0.25,0", "x,0"),
        ("1,3,0.25,2", "1,3,-0.25,2"),
        ("1,all\n2", "1,odd\n2"),
    ],
)
def test_a_damaged_perturbation_table_is_refused(tmp_path, old, new):
    with pytest.raises(HoldfastError):
        read_ptable(ptable(tmp_path, PTABLE.replace(old, new)))


def test_the_audit_of_a_perturbation_table(tmp_path, capsys, monkeypatch):
    path = ptable(tmp_path)
    code, said, _ = run(capsys, monkeypatch, "audit", path, "--epsilon", "1", "--delta", "0.4")
    assert code == 1 and "VIOLATION" in said
    code, said, _ = run(capsys, monkeypatch, "audit", path, "--epsilon", "1", "--delta", "0.6")
    assert code == 0 and "delta = 0.5" in said


def test_agencies_methods_stand_beside_the_default(tmp_path):
    names = ["truncated-geometric", "suppression", "rounding", "random-rounding"]
    found = holdfast.compare(
        [0] * 40 + [1, 2, 3, 4, 6, 7, 9] * 5,
        max_count=12,
        epsilons=[1],
        methods=[*names, f"cell-key:{ptable(tmp_path)}"],
        repetitions=2,
        jobs=1,
    )
    errors = {row["method"]: row for row in found.non_private_summary()}
    assert list(errors) == [*names, "cell-key"]
    assert errors["rounding"]["spread of w1"] == 0
    assert errors["suppression"]["tv"] > 0.1
    assert abs(errors["random-rounding"]["absolute"]) > errors["suppression"]["absolute"]


def test_a_comparison_says_what_each_promises(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("n\n" + "0\n3\n7\n" * 9)
    words = ("compare", "t.csv", "--max-count", "9", "--epsilon", "1", "--jobs", "1")
    code, said, _ = run(
        capsys, monkeypatch, *words, "--repetitions", "1", "--methods", "rounding,random-rounding"
    )
    assert code == 0
    assert "rounding promises nothing" in said and "delta = 0.2" in " ".join(said.split())
