"""What subsets and periods cost together: side by side where they do not overlap, else in full."""

import random
from datetime import date, timedelta
from fractions import Fraction
from itertools import product

import pytest

from holdfast.errors import BudgetError, HoldfastError
from holdfast.ledger.book import charged
from holdfast.ledger.chain import Receipt
from holdfast.ledger.entries import Limit, Purpose, Spend, SpendState
from holdfast.ledger.ledger import Ledger, worst_charges
from holdfast.privacy.composition import composed_epsilon
from holdfast.privacy.promise import Charge, sums_of
from holdfast.tables.subset import Subset, read_period, read_subset
from small_engine import release

NE, CA, URBAN = {"state": "NE"}, {"state": "CA"}, {"urban": "yes"}
LABELS = {"state": ["NE", "CA", "TX"], "urban": ["yes", "no"], "year": ["1", "2"]}
EVERY_ROW = [dict(zip(LABELS, labels, strict=True)) for labels in product(*LABELS.values())]


@pytest.fixture
def ledger(quick):
    ledger = Ledger(quick / "budget.ledger")
    ledger.set_limit("crime", epsilon=1, delta="0.25")
    return ledger


@pytest.fixture
def yearly(quick):
    ledger = Ledger(quick / "yearly.ledger")
    ledger.set_limit("crime", epsilon=1, delta="0.25", per_period=True)
    return ledger


def spent(ledger, **options):
    return ledger.balance("crime", **options).epsilon_spent


def spend(epsilon, subset=None, period=None, delta=0, times=1):
    """A spend as a ledger reads it."""
    charge = Charge(epsilon=Fraction(epsilon), delta=Fraction(delta), times=times)
    return Spend(
        receipt=Receipt("", 1, ""),
        dataset="crime",
        charges=(charge,),
        state=SpendState.OPEN,
        time="",
        ended=None,
        user="",
        words="",
        subset=subset,
        period=read_period(period),
        known_by=None,
        purpose=Purpose(),
    )


def test_other_labels_of_a_column_are_charged_once_for_all(ledger):
    for subset in (NE, CA, {"state": "TX"}):
        ledger.spend("crime", epsilon="0.5", subset=subset)
    assert spent(ledger) == Fraction(1, 2)


def test_overlaps_are_charged_in_full(ledger):
    ledger.spend("crime", epsilon="0.5", subset=NE)
    ledger.spend("crime", epsilon="0.5", subset=URBAN)
    assert spent(ledger) == 1
    for subset in (None, NE):
        with pytest.raises(BudgetError, match=r"spent 1, requested 0\.5, limit 1"):
            ledger.spend("crime", epsilon="0.5", subset=subset)


def test_a_subset_that_has_spent_less_has_more_left(ledger):
    ledger.spend("crime", epsilon="0.75", delta="0.125", subset=NE)
    assert ledger.balance("crime", subset=CA).epsilon_left == 1
    assert ledger.balance("crime", subset=NE).epsilon_left == Fraction(1, 4)
    assert ledger.balance("crime", subset=URBAN).delta_left == Fraction(1, 8)
    ledger.spend("crime", epsilon=1, delta="0.25", subset=CA)
    assert (spent(ledger), ledger.balance("crime").delta_spent) == (1, Fraction(1, 4))
    with pytest.raises(BudgetError):
        ledger.spend("crime", epsilon="0.001")


def test_a_limit_below_what_some_rows_have_spent_grants_nothing_to_any(ledger):
    ledger.spend("crime", epsilon="0.75", subset=NE)
    ledger.set_limit("crime", epsilon="0.7")
    with pytest.raises(BudgetError):
        ledger.spend("crime", epsilon="0.1", subset=CA)


def random_spends(chance):
    for _ in range(chance.randrange(1, 9)):
        column = chance.choice([None, *LABELS])
        subset = column and Subset(column, chance.choice(LABELS[column]))
        yield spend(Fraction(chance.randrange(1, 50), chance.randrange(1, 50)), subset)


def charges_of_row(row, spends):
    mine = [s for s in spends if s.subset is None or row[s.subset.column] == s.subset.label]
    return [charge for each in mine for charge in each.charges]


def paid_by(row, spends):
    return sums_of(charges_of_row(row, spends))[0]


def test_what_is_charged_is_what_the_worst_row_has_paid():
    chance = random.Random(1)
    for _ in range(300):
        spends = list(random_spends(chance))
        assert charged(spends)[0] == max(paid_by(row, spends) for row in EVERY_ROW)
        for column, label in [(name, each) for name in LABELS for each in LABELS[name]]:
            worst = max(paid_by(row, spends) for row in EVERY_ROW if row[column] == label)
            assert charged(spends, subset=Subset(column, label))[0] == worst


def test_no_row_pays_more_than_the_limit_and_nothing_that_fits_is_refused(ledger):
    ledger.set_limit("crime", epsilon=30)
    spends, chance = [], random.Random(2)
    for each in [one for _ in range(8) for one in random_spends(chance)]:
        fits = max(paid_by(row, [*spends, each]) for row in EVERY_ROW) <= 30
        try:
            ledger.spend("crime", epsilon=each.epsilon, subset=each.subset)
        except BudgetError:
            assert not fits
        else:
            assert fits
            spends.append(each)
    assert len(spends) > 10 and spent(ledger) == max(paid_by(row, spends) for row in EVERY_ROW)


def test_what_is_composed_holds_for_every_row():
    chance = random.Random(4)
    for _ in range(40):
        spends = [
            spend(s.epsilon / 50, s.subset, times=chance.randrange(1, 5))
            for s in random_spends(chance)
        ]
        stated = composed_epsilon(worst_charges(spends), delta="1e-3", sums=charged(spends))
        rows = [charges_of_row(row, spends) for row in EVERY_ROW]
        needed = max(composed_epsilon(charges, delta="1e-3") for charges in rows)
        assert needed <= stated * (1 + Fraction(1, 10**4)) and stated <= charged(spends)[0]


def test_equal_releases_of_every_label_compose_as_those_of_one_row():
    spends = [spend("0.1", Subset("state", label), times=20) for label in LABELS["state"]]
    assert list(worst_charges(spends)) == [Charge(epsilon=Fraction(1, 10), times=20)]


def test_labels_with_other_charges_compose_to_the_largest_of_each_rank():
    spends = [spend("0.1", Subset("state", "NE"), times=3), spend("0.5", Subset("state", "CA"))]
    spends.append(spend("0.2"))
    found = [(charge.epsilon, charge.times) for charge in worst_charges(spends)]
    assert found == [(Fraction(1, 5), 1), (Fraction(1, 2), 1), (Fraction(1, 10), 2)]


def test_many_columns_of_many_labels_are_composed_at_once(ledger):
    """Combinations of labels are 4^6 here, and 30^12 below."""
    for columns, labels in ((6, 4), (12, 30)):
        spends = [
            spend(Fraction(1 + (c * l) % 7, 100), Subset(f"c{c}", f"l{l}"), times=10)
            for c in range(columns)
            for l in range(labels)  # noqa: E741
        ]
        sums = charged(spends)
        assert 0 < composed_epsilon(worst_charges(spends), delta="1e-6", sums=sums) < sums[0]


def test_a_ledger_states_what_its_releases_cost_together(ledger):
    for subset in (NE, CA):
        for _ in range(10):
            ledger.spend("crime", epsilon="0.1", subset=subset)
    assert ledger.composed_epsilon("crime", delta=0) == 1
    assert 0.7 < ledger.composed_epsilon("crime", delta="1e-3") < 0.8
    assert ledger.composed_epsilon("nobody", delta="1e-3") == 0


def test_the_subset_is_part_of_what_a_release_is(ledger):
    first, again = release(ledger, subset=NE), release(ledger, subset={"state": "ne "})
    whole = release(ledger)
    assert not first.repeated and again.repeated and not whole.repeated
    assert spent(ledger) == 1 and ledger.spends()[0].subset == Subset("state", "NE")


SPELLED = [("01", 1), ("1e3", 1000), ("1.0", 1), (" NE", "ne"), (True, "TRUE"), (2.0, "2")]


@pytest.mark.parametrize("one, other", [*SPELLED, ("\uff11", "1")])
def test_spellings_of_one_label_are_one_subset(one, other):
    spends = [spend(1, read_subset({"state": label})) for label in (one, other)]
    assert charged(spends)[0] == 2


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
def test_a_misspelt_period_opens_no_account(yearly, text):
    with pytest.raises(HoldfastError, match="`period` must be a year"):
        yearly.spend("crime", epsilon="0.1", period=text)
    assert spent(yearly) == 0


def test_each_year_has_an_allowance_of_its_own(yearly):
    for year in (2025, 2026):
        yearly.spend("crime", epsilon=1, period=year)
    with pytest.raises(BudgetError, match="cannot afford this in 2026: epsilon spent 1, requested"):
        yearly.spend("crime", epsilon="1/9", period=2026)
    assert [b.when for b in yearly.balances("crime")] == ["2025", "2026"]
    assert spent(yearly, period=2027) == 0


def test_periods_that_overlap_pay_together(yearly):
    yearly.spend("crime", epsilon="1/2", period="2026-Q1")
    yearly.spend("crime", epsilon="1/4", period="2026-Q2")
    yearly.spend("crime", epsilon="1/2", period="2025-09..2026-02")
    assert spent(yearly, period=2026) == spent(yearly, period="2026-02") == 1
    assert spent(yearly, period="2026-03") == spent(yearly, period=2025) == Fraction(1, 2)
    with pytest.raises(BudgetError, match=r"in 2024\.\.2026"):
        yearly.spend("crime", epsilon="1/8", period="2024..2026")


def test_a_release_without_a_period_is_paid_by_every_one(yearly):
    yearly.spend("crime", epsilon="1/2")
    yearly.spend("crime", epsilon="1/2", period=2026)
    assert spent(yearly, period=1999) == Fraction(1, 2)
    with pytest.raises(BudgetError, match="in any one period"):
        yearly.spend("crime", epsilon="1/8")


def test_a_limit_for_all_time_binds_beside_that_of_each_period(yearly):
    yearly.set_limit("crime", epsilon="3/2")
    yearly.spend("crime", epsilon=1, period=2025)
    with pytest.raises(BudgetError, match=r"cannot afford this: epsilon spent 1, .* limit 1\.5"):
        yearly.spend("crime", epsilon=1, period=2026)
    yearly.spend("crime", epsilon="1/2", period=2026)
    balances = yearly.must_fit("crime", period=2026)
    assert [b.epsilon_spent for b in balances] == [Fraction(1, 2), Fraction(3, 2)]
    assert spent(yearly) == Fraction(3, 2)
    limits = [entry for entry in yearly.history() if isinstance(entry, Limit)]
    assert [entry.per_period for entry in limits] == [True, False]


def test_a_limit_for_all_time_alone_adds_up_whatever_the_periods(ledger):
    for year in (2025, 2026):
        ledger.spend("crime", epsilon="1/2", period=year)
    assert spent(ledger, period=2026) == 1


def test_delta_has_an_allowance_in_each_period_too(yearly):
    yearly.spend("crime", epsilon="1/8", delta="1/4", period=2025)
    yearly.spend("crime", epsilon="1/8", delta="1/4", period=2026)
    with pytest.raises(BudgetError, match="delta spent"):
        yearly.spend("crime", epsilon="1/8", delta="1/8", period=2026)


def some_period(chance):
    if chance.random() < 0.2:
        return None
    first = date(2026, 1, 1) + timedelta(days=chance.randrange(20))
    return f"{first}..{first + timedelta(days=chance.randrange(8))}"


def test_what_is_charged_is_what_the_worst_day_of_the_worst_row_has_paid():
    chance = random.Random(7)
    days = [date(2025, 12, 31) + timedelta(days=k) for k in range(40)]
    subsets = [None, Subset("state", "NE"), Subset("state", "CA"), Subset("urban", "yes")]
    for _ in range(100):
        spends = [
            spend(Fraction(chance.randrange(9), 4), chance.choice(subsets), some_period(chance))
            for _ in range(chance.randrange(8))
        ]
        window, of = read_period(some_period(chance)), chance.choice(subsets)
        expected = max(
            charged([s for s in spends if s.period is None or s.period.covers(day)], subset=of)
            for day in days
            if window is None or window.covers(day)
        )
        assert charged(spends, subset=of, period=window) == expected


def test_no_day_pays_more_than_the_limit_and_nothing_that_fits_on_it_is_refused(yearly):
    chance, paid = random.Random(3), []
    for _ in range(25):
        period, amount = some_period(chance), Fraction(chance.randrange(1, 4), 8)
        now = [*paid, spend(amount, period=period)]
        fits = charged(now, period=read_period(period))[0] <= 1
        try:
            yearly.spend("crime", epsilon=amount, period=period)
        except BudgetError:
            assert not fits
        else:
            assert fits
            paid = now
    assert charged(paid)[0] == spent(yearly) <= 1


def test_the_period_is_part_of_what_a_release_is(yearly):
    first = release(yearly, period=2025)
    other = release(yearly, period=2026, same_counts=True)
    again = release(yearly, period="2026-Q1..2026-Q4")
    assert (first.repeated, other.repeated, again.repeated) == (False, False, True)
    assert again.noisy == other.noisy
