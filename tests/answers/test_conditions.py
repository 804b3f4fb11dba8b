"""Conditions on published columns, and other ways to choose rows."""

import numpy as np
import pytest

from holdfast.answers.conditions import fulfilled
from holdfast.errors import HoldfastError
from private_tables import private_table

TABLE = {
    "code": ["12345678901234567", "12345678901234568", "7"],
    "zip": ["01001", "1001", "02001"],
    "rural": [True, False, None],
    "people": ["12", "", "2.5"],
    "county name": ["Kent", "St. Mary", "Ely"],
}


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("code == 12345678901234568", [1]),
        ("code > 12345678901234567", [1]),
        ("zip == 01001", [0]),
        ("zip == 1001", [1]),
        ("rural == True", [0]),
        ("rural == false", [1]),
        ("rural != True", [1]),
        ("people >= 2.50", [0, 2]),
        ("people != 12", [2]),
        ("`county name` == Kent or people < 3", [0, 2]),
        ("not (`county name` in (Kent, Ely))", [1]),
        ("2 < people <= 12 and not rural == False", [0]),
        ("rural not in (True)", [1]),
        ("not people > 5", [2]),
        ("not (people > 5 or rural == True)", []),
        ("people > 5 or rural == False", [0, 1]),
        ("people == ''", [1]),
        ("people != '' and not people == ''", [0, 2]),
        ("`county name` == 'St. Mary'", [1]),
    ],
)
def test_conditions_compare_numbers_texts_and_truth_values_exactly(text, rows):
    assert np.flatnonzero(fulfilled(text, TABLE.__getitem__)).tolist() == rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("zip < 3", "not all of its values are numbers"),
        ("zip", "ends where a comparison should come"),
        ("zip == 1 zip", "not expected"),
        ("people < 1,000", "numbers are written without commas"),
        ("", "it is empty"),
        ("'zip' == 1", "a comparison is a column, a sign and a value"),
        ("(" * 60 + "zip == 1", "too deep"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(text, message):
    with pytest.raises(HoldfastError, match=message):
        fulfilled(text, TABLE.__getitem__)


def test_every_way_to_choose_rows_chooses_the_same():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    counts = np.arange(60) % 7
    cells = {"county": [f"c{row}" for row in range(60)], "state": ["NE", "KS"] * 30}
    table = pandas.DataFrame(cells | {"murders": counts})
    release = private_table(counts, cells=cells, epsilon=3, table=table)
    shuffled = (table.state == "NE").sample(frac=1, random_state=1)
    wanted = release.ask("mean", where="state == NE")
    for where in (
        (table.state == "NE").to_list(),
        (table.state == "NE").to_numpy(),
        table.state == "NE",
        shuffled,
        polars.Series((table.state == "NE").to_list()),
        lambda frame: frame.state == "NE",
        [f"c{row}" for row in range(0, 60, 2)],
        list(range(0, 60, 2)),
    ):
        answer = release.ask("mean", where=where)
        assert (answer.estimate, answer.interval) == (wanted.estimate, wanted.interval)


@pytest.mark.parametrize("typed", ["Wurttemberg", "württemberg", "Württembrg", '"Wurttemberg"'])
def test_a_value_that_is_spelt_a_little_otherwise_is_answered_with_it(typed):
    release = private_table([1, 2, 3] * 10, cells={"state": ["Württemberg", "New York", "x"] * 10})
    with pytest.raises(HoldfastError, match=r"no row. Hint: did you mean 'Württemberg'\?"):
        release.ask("mean", where=f"state == {typed}")
    with pytest.raises(HoldfastError, match="did you mean 'New York'"):
        release.ask("mean", where='state == "New Yorck"')
    with pytest.raises(HoldfastError, match=r"no row. Hint: look at release.table"):
        release.ask("mean", where="state == Kent")


def test_what_chooses_no_rows_is_refused_in_words():
    release = private_table([1, 2, 3] * 10, cells={"county": list(map(str, range(30)))})
    for where, message in (
        ([True] * 3, "one True or False per row"),
        ([None] * 30, "empty entries"),
        ("county == 99", "chooses no row"),
        (["99"], "labels of this table are numbers"),
    ):
        with pytest.raises(HoldfastError, match=message):
            release.ask("mean", where=where)


@pytest.mark.parametrize(
    ("text", "why"),
    [("staff > '10'", "quotes make it a text"), ("staff > people", "with values only"),
     ("staff > state", "with values only"), ("state > 3", "not all of its values are numbers")],
)  # fmt: skip
def test_an_order_of_numbers_and_texts_is_refused(text, why):
    cells = {"staff": ["9", "100"], "people": ["1", "2"], "state": ["AL", "GA"]}
    with pytest.raises(HoldfastError, match=why):
        fulfilled(text, cells.__getitem__)
    assert fulfilled("state > 'B'", cells.__getitem__).tolist() == [False, True]
