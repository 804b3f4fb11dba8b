"""Who is protected: the parts of the columns come to epsilon, exactly, whatever is combined."""

import random
from fractions import Fraction

import pytest

from holdfast.errors import HoldfastError
from holdfast.privacy.promise import PersonIn, Persons, charges_of, sums_of
from holdfast.request import Request
from holdfast.request.checks import read_persons

NAMES = ("a", "b", "c", "d")


def combination(seed):
    """Some way to release some columns."""
    rng = random.Random(seed)
    columns = NAMES[: rng.randint(2, 4)]
    one = rng.random() < 0.4
    return {
        "count": list(columns),
        "epsilon": Fraction(rng.randint(1, 60), rng.randint(6, 20)),
        "contributions": {name: rng.randint(1, 5) for name in columns},
        "rows": rng.randint(1, 4),
        "person_in": "one column" if one else "all columns",
        "weights": None
        if one or rng.random() < 0.5
        else {name: Fraction(rng.randint(1, 9), rng.randint(1, 9)) for name in columns},
        "totals": rng.choice([None, True, "1/5"]),
        "split": rng.choice([None, "1/4", "0.001"]),
    }


def part_by_hand(chosen, column):
    """What a column may spend, by hand."""
    if chosen["person_in"] == "one column":
        return chosen["epsilon"]
    weights = chosen["weights"] or dict.fromkeys(chosen["count"], 1)
    return chosen["epsilon"] * Fraction(weights[column]) / sum(map(Fraction, weights.values()))


@pytest.mark.parametrize("batch", range(10))
def test_200_combinations_of_parts_are_exact(batch):
    for seed in range(20 * batch, 20 * batch + 20):
        chosen = combination(seed)
        promise = Request.read(**chosen).promise(1000 + seed, 1 + seed % 7)
        for column, budget in zip(chosen["count"], promise.budgets, strict=True):
            reach = chosen["rows"] * chosen["contributions"][column]
            rest = budget.sums + budget.whole + budget.totals
            assert budget.epsilon == part_by_hand(chosen, column) == budget.counts + rest
            assert budget.reach == reach
            noise = budget.noise_of_counts
            assert noise.epsilon * chosen["rows"] == budget.counts
            assert noise.shift == chosen["contributions"][column]
            sums = ((budget.noises["sums"], budget.sums), (budget.noises["whole"], budget.whole))
            for noise_of_sums, spent in sums:
                assert (noise_of_sums.epsilon * reach if noise_of_sums else 0) == spent
            assert budget.whole > 0 and (budget.sums == 0 or seed % 7)
        assert sums_of(charges_of(promise)) == (chosen["epsilon"], 0)


def test_words_say_who_may_change_what():
    persons = read_persons(["a", "b"], rows=2, unit="firm", person_in="one column")
    assert persons.neighbours == (
        "Two tables are neighbours when one firm is added to or removed from one of them: at most "
        "2 rows change, each in one of their columns of counts: a by at most 1, b by at most 1."
    )


def test_words_of_one_column_do_not_name_it():
    one = read_persons(["count"])
    assert one.neighbours.endswith("from one of them: at most 1 row changes by at most 1.")
    more = read_persons(["count"], rows=1200, contributions=5)
    assert more.neighbours.endswith("at most 1,200 rows change, each by at most 5.")


def test_columns_of_one_person_add_up_unless_that_person_is_in_one():
    for person_in in PersonIn:
        persons = Persons(columns=("a", "b"), contributions=(1, 1), person_in=person_in)
        assert persons.together(persons.parts(Fraction(1))) == 1
    assert persons.parts(Fraction(1)) == (1, 1)


WRONG = [
    {"person_in": "some columns"},
    {"person_in": "one column", "weights": [1, 2]},
    {"weights": [1, 0]},
    {"weights": 3},
    {"weights": {"a": 1}},
    {"contributions": [1]},
    {"contributions": 0},
    {"rows": 0},
    {"unit": "Household"},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_what_cannot_be_said_of_persons_is_refused_by_its_name(wrong):
    with pytest.raises(HoldfastError) as error:
        read_persons(["a", "b"], **wrong)
    assert any(f"`{name}`" in str(error.value) for name in wrong)
