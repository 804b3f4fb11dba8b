"""Who is protected: the parts of the columns come to epsilon, exactly, whatever is combined."""

import random
from fractions import Fraction

import pytest

from holdfast.former.engines.several import check_several
from holdfast.privacy.persons import PersonIn, Persons, exact_parts, read_persons

NAMES = ("a", "b", "c", "d")


def combination(seed):
    """Some way to release some columns."""
    rng = random.Random(seed)
    columns = NAMES[: rng.randint(2, 4)]
    one = rng.random() < 0.4
    return {
        "count": list(columns),
        "epsilon": Fraction(rng.randint(1, 60), rng.randint(6, 20)),
        "max_count": {name: rng.randint(1, 90) for name in columns},
        "contributions": {name: rng.randint(1, 5) for name in columns},
        "rows": rng.randint(1, 4),
        "person_in": "one column" if one else "all columns",
        "weights": None
        if one or rng.random() < 0.5
        else {name: Fraction(rng.randint(1, 9), rng.randint(1, 9)) for name in columns},
        "totals": rng.choice([None, True, "1/5"]),
        "split": rng.choice([None, "1/4", "paper"]),
    }


def own_formula(chosen, column):
    """The part of a column for one step, by hand."""
    epsilon, columns = chosen["epsilon"], chosen["count"]
    if chosen["person_in"] == "one column":
        part = epsilon
    else:
        weights = chosen["weights"] or dict.fromkeys(columns, 1)
        part = epsilon * Fraction(weights[column]) / sum(map(Fraction, weights.values()))
    added = min(chosen["contributions"][column], chosen["max_count"][column])
    return part, chosen["rows"] * added


@pytest.mark.parametrize("batch", range(10))
def test_200_combinations_of_parts_are_exact(batch):
    for seed in range(20 * batch, 20 * batch + 20):
        chosen = combination(seed)
        parameters = check_several(**chosen)
        rows = [1000 + seed] * len(chosen["count"])
        stages = parameters.for_rows(rows, [None] * len(rows))
        spent = Fraction(0)
        for column, one in zip(chosen["count"], stages.columns, strict=True):
            budget, (part, steps) = one.budget, own_formula(chosen, column)
            assert (budget.epsilon, budget.steps) == (part, steps)
            assert budget.stage_1 + budget.stage_2 + budget.totals == part
            assert budget.unit_1 * steps + budget.unit_2 * steps + budget.totals == part
            assert budget.moved == chosen["rows"] * chosen["contributions"][column]
            alone = chosen["person_in"] == "one column"
            spent = max(spent, part) if alone else spent + part
        charged = sum(charge.epsilon * charge.times for charge in stages.charges)
        assert spent == charged == chosen["epsilon"]


def test_words_say_who_may_change_what():
    persons = read_persons(["a", "b"], rows=2, unit="firm", person_in="one column")
    assert persons.neighbours == (
        "Two tables are neighbours when one firm is added to or removed from one of them: at most "
        "2 rows change, each in one of their columns of counts: a by at most 1, b by at most 1."
    )
    assert Persons.from_dict(["a", "b"], persons.to_dict()) == persons


def test_columns_of_one_person_add_up_unless_that_person_is_in_one():
    for person_in, spent in ((PersonIn.ALL, 1), (PersonIn.ONE, 1)):
        persons = Persons(columns=("a", "b"), contributions=(1, 1), person_in=person_in)
        assert persons.together(exact_parts(persons, 1)) == spent
