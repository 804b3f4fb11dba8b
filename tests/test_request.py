"""A request is declared once, and means the same in Python, in words, and in a record."""

import json
import re
import shlex
from fractions import Fraction

import pytest

from holdfast.errors import HoldfastError
from holdfast.request import FIELDS, Form, Panel, Request

BASE = {"epsilon": "1", "count": "homicides", "category": "county"}
SEVERAL = {"count": ["murder", "rape"]}
LEDGER = {"ledger": "budget.ledger", "dataset": "homicides"}
PEOPLE = {"from_people": True, "by": "county", "categories": "counties.csv"}
NEEDED = {
    "weights": SEVERAL,
    "relations": SEVERAL,
    "person_in": SEVERAL,
    "ledger": LEDGER,
    "dataset": LEDGER,
    "purpose": LEDGER,
    "corrects": LEDGER,
    "from_people": PEOPLE,
    "by": PEOPLE,
    "categories": PEOPLE,
    "per": PEOPLE,
}
"""What a field cannot be given without."""


def options_with(name):
    """Options of `holdfast.privatize` in which one field has the value of its example."""
    about = FIELDS[name]
    needed = NEEDED.get(name, {})
    base = {"epsilon": "1"} if needed is PEOPLE else BASE
    return base | needed | {name: about.read(list(about.example))}


def words_of(command):
    """The words of each option of a command, as a command line collects them."""
    words, found, name = shlex.split(command)[3:], {}, ""
    for word in words:
        if word.startswith("--"):
            name = word[2:].replace("-", "_")
            found.setdefault(name, [])
        else:
            found[name].append(word)
    return found


def evaluated(call):
    """The arguments that a call in Python gives."""
    import holdfast.tables.groups as groups

    class Recorder:
        classes = staticmethod(groups.classes)

        @staticmethod
        def privatize(source, **options):
            return options

    found = {}
    exec(call.replace("import holdfast\n", ""), {"holdfast": Recorder}, found)
    return found["release"]


fields = pytest.mark.parametrize("name", FIELDS)


@fields
def test_a_field_means_the_same_as_words_and_in_python(name):
    request = Request.read(**options_with(name))
    assert Request.from_words(words_of(request.as_command("a.csv"))) == request
    assert Request.read(**evaluated(request.as_python("a.csv"))) == request


def filled_in(request):
    """The page's form as somebody fills it in for a request."""
    from starlette.datastructures import FormData

    from holdfast.page.form import BLANK

    typed = []
    for name, words in words_of(request.as_command("a.csv")).items():
        words = [word or BLANK for word in words]
        if FIELDS[name].form is Form.FLAG:
            typed.append((name, "yes"))
        elif FIELDS[name].form.repeated:
            typed.append((f"{name}.others", "\n".join(words)))
        else:
            typed.append((name, words[-1]))
    return FormData(typed)


@fields
def test_a_field_means_the_same_in_the_form_of_the_page(name):
    pytest.importorskip("starlette")
    from holdfast.page.form import ELSEWHERE, read_form

    request = Request.read(**options_with(name))
    if name in ELSEWHERE:
        assert name in ("query", "keep_none")
        return
    found = Request.from_words(read_form(filled_in(request)))
    withheld = {} if request.keep or request.from_people else {"keep_none": True}
    assert found == Request.read(**options_with(name) | withheld)


def options_without(name):
    """The same options where the field is not given, nor what goes with it alone."""
    needed = NEEDED.get(name, {})
    gone = needed if name in needed else {name}
    base = BASE if needed is PEOPLE and name in needed else {}
    return base | {key: value for key, value in options_with(name).items() if key not in gone}


optional = pytest.mark.parametrize("name", [name for name in FIELDS if name not in BASE])


@optional
def test_an_example_is_not_the_default(name):
    given = Request.read(**options_with(name))
    assert getattr(given, name) != getattr(Request.read(**options_without(name)), name)


@fields
def test_a_recorded_field_comes_back_from_json(name):
    request = Request.read(**options_with(name))
    record = json.loads(json.dumps(request.to_dict()))
    again = Request.read(**record)
    recorded = [name for name, about in FIELDS.items() if about.recorded]
    assert {name: getattr(again, name) for name in recorded} == {
        name: getattr(request, name) for name in recorded
    }
    assert again.to_dict() == record


@optional
def test_a_ledger_tells_apart_what_decides_the_noise_and_nothing_else(name):
    if FIELDS[name].panel is Panel.PEOPLE:
        return  # these make another table, whose counts the ledger knows
    given, without = Request.read(**options_with(name)), Request.read(**options_without(name))
    assert (given.words() != without.words()) is FIELDS[name].decides


@fields
def test_a_field_says_what_it_is_in_one_sentence(name):
    about = FIELDS[name]
    assert re.fullmatch(r"[A-Z].*[^.]\.", about.help)
    assert "\n" not in about.help and ". " not in about.help
    assert bool(about.takes) is (about.form is not Form.FLAG)
    assert about.example or about.form is Form.FLAG


def test_nine_fields_are_seen_first_and_the_tenth_is_the_dry_run():
    first = [name for name, about in FIELDS.items() if about.panel is Panel.FIRST]
    assert first == [
        *("count", "category", "keep", "epsilon", "within", "missing", "header_row", "out"),
        "seed",
    ]
    assert {about.panel for about in FIELDS.values()} == set(Panel)


def test_equal_requests_in_other_spellings_have_the_same_words():
    one = Request.read(epsilon="1.0", count=["a", "b"], contributions={"a": 2, "b": 2})
    two = Request.read(epsilon=1, count=("a", "b"), contributions=[2, 2], weights=[3, 3])
    assert one.words() == two.words()
    assert Request.read(epsilon=1, totals=True) == Request.read(epsilon=1, totals="0.1")
    assert Request.read(epsilon=1, totals=True) == Request.read(epsilon=1, totals="yes")


def test_where_a_release_goes_and_who_pays_are_not_recorded():
    record = Request.read(**BASE, **LEDGER, purpose="report", out="x", seed=3).to_dict()
    assert not {"ledger", "dataset", "purpose", "out", "seed", "publish_anyway"} & record.keys()


def test_budgets_are_exact_and_add_up():
    request = Request.read(
        epsilon="1",
        count=["a", "b"],
        weights={"a": 2, "b": 1},
        rows=3,
        contributions={"a": 1, "b": 5},
        totals="0.1",
        split="0.25",
    )
    promise = request.promise({"a": 1000, "b": 900}, 8)
    assert [budget.epsilon for budget in promise.budgets] == [Fraction(2, 3), Fraction(1, 3)]
    first = promise.budgets[0]
    assert first.totals == Fraction(2, 30)
    assert first.sums + first.whole == Fraction(2, 3) * Fraction(9, 10) / 4
    assert promise.budgets[1].contributions == 5
    assert not promise.simulated


def test_a_person_in_one_column_is_promised_all_of_epsilon_in_each():
    options = {"person_in": "one column", "split": "0.1", "seed": 1}
    promise = Request.read(epsilon="0.5", count=["a", "b"], **options).promise(100, 1)
    assert [budget.epsilon for budget in promise.budgets] == [Fraction(1, 2)] * 2
    assert promise.simulated


def test_persons_are_counted_into_columns_of_their_own():
    request = Request.read(epsilon=1, **PEOPLE | {"by": ["county", "sex"]})
    assert (request.count, request.category, request.keep) == (("count",), "county", ("sex",))
    assert request.repeated_categories
    assert not {"count", "category", "keep"} & request.given().keys()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "`epsilon` is missing"),
        ({"epsilon": -1}, "`epsilon` must be positive, got -1. Hint: 0.1 to 5 is usual."),
        ({"epsilon": 1, "keep": "a", "keep_none": True}, "`keep` or `keep_none`, not both"),
        ({"epsilon": 1, "ledger": "x"}, "`ledger` and `dataset` go together"),
        ({"epsilon": 1, "purpose": "x"}, "`purpose` goes with `ledger`"),
        ({"epsilon": 1, "count": "a", "weights": [1]}, "`weights` is for several columns"),
        ({"epsilon": 1, "count": ["a", "a"]}, "`count` names a column twice"),
        ({"epsilon": 1, "by": "a"}, "`by` goes with `from_people`"),
        ({"epsilon": 1, "from_people": True}, "`from_people` needs `by` and `categories`"),
        ({"epsilon": 1} | PEOPLE | {"keep": "a"}, "`from_people` makes the columns"),
        ({"epsilon": 1, "query": "FROM a", "sheet": "b"}, "`sheet` is for files"),
        (
            {"epsilon": 1, "top": 0},
            "`top` must be a whole number from 1 to 9,007,199,254,740,992, got 0",
        ),
        ({"epsilon": 1, "split": 2}, "`split` must lie between 0 and 1"),
        ({"epsilon": 1, "table_format": "xls"}, "`table_format` must be 'csv' or 'parquet'"),
        ({"epsilon": "0.000001", "count": ["a", "b"]}, "`epsilon of a column`"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(options, message):
    with pytest.raises(HoldfastError, match=re.escape(message)):
        Request.read(**options)


def test_an_unknown_option_is_refused_as_python_does():
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_count'"):
        Request.read(epsilon=1, max_count=50)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"rows": ["1,000"]}, "Hint: write all digits and no marks, such as 1000."),
        ({"subset": ["NE"]}, "Hint: --subset state=NE."),
        ({"contributions": ["a=1", "2"]}, "Hint: --contributions COLUMN=VALUE."),
    ],
)
def test_words_that_cannot_be_read_are_refused_with_what_to_write(words, message):
    with pytest.raises(HoldfastError, match=re.escape(message)):
        Request.from_words({"epsilon": ["1"]} | words)
