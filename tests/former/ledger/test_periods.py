"""Releases of several periods: each has its own limit, what overlaps adds up."""

import json
import random
from datetime import date, timedelta
from fractions import Fraction

import pytest

import holdfast.former as holdfast
from command_line import table
from holdfast.errors import BudgetError, HoldfastError
from holdfast.former.constructors import Heuristic
from holdfast.former.ledger.entries import Limit
from holdfast.former.ledger.ledger import Ledger
from holdfast.former.ledger.periods import DatedPaid, charged_on_a_day, period_in, read_period
from holdfast.former.ledger.subsets import charged
from holdfast.former.tables.subset import Subset

COUNTS = [0, 3, 1, 0, 2, 0, 0, 5, 1, 0] * 4
USUAL = {"epsilon": "0.5", "max_count": 5, "constructor": Heuristic(selector="min")}


@pytest.fixture
def ledger(quick):
    ledger = Ledger(quick / "budget.ledger")
    ledger.set_limit("crime", epsilon=1, delta="0.25", per_period=True)
    return ledger


def release(ledger, **changes):
    return holdfast.privatize(COUNTS, **(USUAL | changes), ledger=ledger, dataset="crime")


def spent(ledger, period=None):
    return ledger.balance("crime", period=period).epsilon_spent


SAME = [
    ("2026", "2026-01..2026-12"),
    (2026, " 2026-Q1..2026-Q4 "),
    ("2024-02", "2024-02-01..2024-02-29"),
    ("2026-w01", "2025-12-29..2026-01-04"),
    ("2026-q3", "2026-07-01..2026-09"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spellings_of_one_time_are_one_period(one, other):
    assert read_period(one) == read_period(other)
    assert str(read_period(one)) == str(read_period(other)) == str(one).upper()


WRONG = ["", "26", "2O26", "2206", "2026-13", "2026-W54", "2026-02-30", "2026..2025", "..", 2026.0]


@pytest.mark.parametrize("text", WRONG)
def test_a_misspelt_period_opens_no_account(ledger, text):
    with pytest.raises(HoldfastError, match="`period` must be a year"):
        release(ledger, period=text)
    assert spent(ledger) == 0


def test_each_year_has_an_allowance_of_its_own(ledger):
    for year in (2025, 2026):
        ledger.spend("crime", epsilon=1, period=year)
    with pytest.raises(BudgetError, match="cannot afford this in 2026: epsilon spent 1, requested"):
        ledger.spend("crime", epsilon="1/9", period=2026)
    assert [b.when for b in ledger.balances("crime")] == ["2025", "2026"]
    assert spent(ledger, 2027) == 0


def test_periods_that_overlap_pay_together(ledger):
    ledger.spend("crime", epsilon="1/2", period="2026-Q1")
    ledger.spend("crime", epsilon="1/4", period="2026-Q2")
    ledger.spend("crime", epsilon="1/2", period="2025-09..2026-02")
    assert spent(ledger, 2026) == spent(ledger, "2026-02") == 1
    assert spent(ledger, "2026-03") == spent(ledger, 2025) == Fraction(1, 2)
    with pytest.raises(BudgetError, match=r"in 2024\.\.2026"):
        ledger.spend("crime", epsilon="1/8", period="2024..2026")


def test_a_release_without_a_period_is_paid_by_every_one(ledger):
    ledger.spend("crime", epsilon="1/2")
    ledger.spend("crime", epsilon="1/2", period=2026)
    assert spent(ledger, 1999) == Fraction(1, 2)
    with pytest.raises(BudgetError, match="in any one period"):
        ledger.spend("crime", epsilon="1/8")


def test_a_limit_for_all_time_binds_beside_that_of_each_period(ledger):
    ledger.set_limit("crime", epsilon="3/2")
    ledger.spend("crime", epsilon=1, period=2025)
    with pytest.raises(BudgetError, match=r"cannot afford this: epsilon spent 1, .* limit 1\.5"):
        ledger.spend("crime", epsilon=1, period=2026)
    ledger.spend("crime", epsilon="1/2", period=2026)
    assert [b.epsilon_spent for b in ledger.must_fit("crime", period=2026)] == [
        Fraction(1, 2),
        Fraction(3, 2),
    ]
    assert spent(ledger) == Fraction(3, 2)


def test_a_limit_for_all_time_alone_adds_up_whatever_the_periods(quick):
    ledger = Ledger(quick / "budget.ledger")
    ledger.set_limit("crime", epsilon=1)
    for year in (2025, 2026):
        ledger.spend("crime", epsilon="1/2", period=year)
    assert spent(ledger, 2026) == 1


def test_delta_has_an_allowance_in_each_period_too(ledger):
    ledger.spend("crime", epsilon="1/8", delta="1/4", period=2025)
    ledger.spend("crime", epsilon="1/8", delta="1/4", period=2026)
    with pytest.raises(BudgetError, match="delta spent"):
        ledger.spend("crime", epsilon="1/8", delta="1/8", period=2026)


def some_period(chance):
    if chance.random() < 0.2:
        return None
    first = date(2026, 1, 1) + timedelta(days=chance.randrange(20))
    return read_period(f"{first}..{first + timedelta(days=chance.randrange(8))}")


def test_what_is_charged_is_what_the_worst_day_of_the_worst_row_has_paid():
    chance = random.Random(7)
    days = [date(2025, 12, 31) + timedelta(days=k) for k in range(40)]
    for _ in range(100):
        subsets = [None, Subset("state", "NE"), Subset("state", "CA"), Subset("urban", "yes")]
        paid = [
            DatedPaid(
                period=some_period(chance),
                subset=chance.choice(subsets),
                amount=Fraction(chance.randrange(9), 4),
            )
            for _ in range(chance.randrange(8))
        ]
        window, of = some_period(chance), chance.choice(subsets)
        expected = max(
            charged([p.paid for p in paid if p.period is None or p.period.covers(day)], of)
            for day in days
            if window is None or window.covers(day)
        )
        assert charged_on_a_day(paid, window, of) == expected


def test_no_day_pays_more_than_the_limit_and_nothing_that_fits_is_refused(ledger):
    chance, paid = random.Random(3), []
    for _ in range(25):
        period, amount = some_period(chance), Fraction(chance.randrange(1, 4), 8)
        now = [*paid, DatedPaid(period=period, subset=None, amount=amount)]
        fits = charged_on_a_day(now, period) <= 1
        try:
            ledger.spend("crime", epsilon=amount, period=period)
        except BudgetError:
            assert not fits
        else:
            assert fits
            paid = now
    assert charged_on_a_day(paid, None) == spent(ledger) <= 1


def test_the_period_is_part_of_what_a_release_is(ledger):
    first = release(ledger, period=2025)
    other = release(ledger, period=2026, publish_anyway=["same counts"])
    again = release(ledger, period="2026-Q1..2026-Q4")
    assert (first.repeated, other.repeated, again.repeated) == (False, False, True)
    assert first.notes[0] == "these are the counts of 2025" and again.notes == other.notes
    assert (again.counts == other.counts).all()


def test_a_period_without_a_ledger_is_said_in_the_release():
    found = holdfast.privatize(COUNTS, **USUAL, seed=1, period="2026-07")
    assert "these are the counts of 2026-07" in found.notes


def test_entries_without_a_period_stay_as_they_were(quick):
    ledger = Ledger(quick / "budget.ledger")
    ledger.set_limit("crime", epsilon=2)
    ledger.spend("crime", epsilon=1)
    assert ledger.spends("crime")[0].period is None
    ledger.set_limit("crime", epsilon=1, per_period=True)
    limits = [entry for entry in ledger.history() if isinstance(entry, Limit)]
    assert [entry.per_period for entry in limits] == [False, True]
    assert spent(ledger, 2026) == spent(ledger) == 1


def test_the_command_line_pays_from_the_allowance_of_a_year(cli):
    table(name="t.csv")
    limit = "ledger", "set-limit", "l.ledger", "crime", "--epsilon", "1", "--per-period"
    code, out, _ = cli(*limit)
    assert code == 0 and "of 1 in any one period" in out and "no limit for all time" in out
    run = [*["privatize", "t.csv", "--count", "n", "--category", "place", "--keep-none"]]
    run += [*["--max-count", "5", "--epsilon", "1", "--ledger", "l.ledger", "--dataset", "crime"]]
    run += ["--publish-anyway", "same counts"]
    for year in ("2025", "2026"):
        code, out, err = cli(*run, "--period", year, "--out", f"r{year}")
        assert code == 0, err
        assert f"has spent epsilon 1 of 1 in {year}; 0 is left" in out
    code, _, err = cli(*run, "--period", "2026-Q2", "--out", "r3")
    assert code == 2 and "cannot afford this in 2026-Q2" in err
    code, out, _ = cli(*run, "--period", "2026-Q2", "--dry-run", "--json")
    assert json.loads(out)["ledger"]["period"] == "2026-Q2"
    _, out, _ = cli("ledger", "show", "l.ledger", "--json")
    assert [(b["period"], b["epsilon_spent"]) for b in json.loads(out)] == [
        ("2025", "1"),
        ("2026", "1"),
    ]
    _, out, _ = cli("ledger", "history", "l.ledger")
    assert {"limit", "each", "period", "set", "2026"} <= set(out.split())  # in lines of any width


def test_the_name_of_a_column_is_not_taken_for_a_period():
    forged = "these are the counts of 2020 has repeated values; every row is treated as one"
    assert period_in([forged]) is None
    assert period_in([forged, "these are the counts of 2025-09..2026-08"]) == "2025-09..2026-08"
