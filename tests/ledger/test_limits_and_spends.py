"""A ledger: exact, never overspent, never short of a spend."""

import sqlite3
import stat
import tempfile
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from holdfast.errors import BudgetError, HoldfastError, plainly
from holdfast.ledger.entries import Limit, Payment, Spend
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.recognition import Content
from holdfast.ledger.sqlite_file import change
from holdfast.privacy.promise import Charge
from ledger_hammer import hammer, kills


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger(tmp_path / "budget.ledger")
    ledger.set_limit("crime", epsilon=2)
    return ledger


def test_spends_add_up_exactly(ledger):
    for _ in range(20):
        ledger.spend("crime", epsilon="0.1")  # in floats 20 times 0.1 is above 2
    assert ledger.balance("crime").epsilon_spent == 2
    assert ledger.balance("crime").epsilon_left == 0
    with pytest.raises(BudgetError):
        ledger.spend("crime", epsilon="1/1000000")


def test_a_refusal_states_spent_requested_and_limit(ledger):
    ledger.spend("crime", epsilon="1.5")
    with pytest.raises(BudgetError) as refusal:
        ledger.spend("crime", epsilon="2/3")
    words = str(refusal.value)
    for part in ("'crime'", "spent 1.5", "requested 2/3 (0.666667)", "limit 2", "at most 0.5"):
        assert part in words
    assert len(ledger.spends("crime")) == 1


def test_delta_has_a_limit_of_its_own(ledger):
    with pytest.raises(BudgetError, match=r"delta spent 0, requested 0\.000001, limit 0"):
        ledger.spend("crime", epsilon=1, delta="1e-6")
    ledger.set_limit("crime", epsilon=2, delta="2e-6")
    ledger.spend("crime", epsilon=1, delta="1e-6")
    assert ledger.balance("crime").delta_left == Fraction(1, 10**6)


def test_a_dataset_without_a_limit_may_spend_nothing(ledger):
    with pytest.raises(BudgetError, match="'crimes' has no limit"):
        ledger.spend("crimes", epsilon="0.1")


def test_datasets_are_counted_apart(ledger):
    ledger.set_limit("schools", epsilon=1)
    ledger.spend("schools", epsilon=1)
    assert ledger.balance("crime").epsilon_left == 2
    assert [balance.dataset for balance in ledger.balances()] == ["crime", "schools"]


def test_abandoned_and_open_spends_count(ledger):
    ledger.finish(ledger.spend("crime", epsilon=1), "abandoned")
    ledger.spend("crime", epsilon="1/2")
    balance = ledger.balance("crime")
    assert balance.epsilon_spent == Fraction(3, 2)
    assert balance.states == {"done": 0, "open": 1, "abandoned": 1}


def test_a_finished_spend_stays_as_it_is(ledger):
    number = ledger.spend("crime", epsilon=1)
    ledger.finish(number, "done")
    ledger.finish(number, "done")
    for wrong in ("abandoned", "open", "forgiven"):
        with pytest.raises(HoldfastError):
            ledger.finish(number, wrong)
    for no_spend in (1, 99):
        with pytest.raises(HoldfastError, match="not open"):
            ledger.finish(no_spend, "done")


def test_a_lowered_limit_stops_spending_and_stays_on_record(ledger):
    ledger.spend("crime", epsilon=1)
    ledger.set_limit("crime", epsilon="1/2")
    assert ledger.balance("crime").epsilon_left == 0
    with pytest.raises(BudgetError, match=r"spent 1, requested 0\.1, limit 0\.5"):
        ledger.spend("crime", epsilon="0.1")
    kinds = [type(entry) for entry in ledger.history("crime")]
    assert kinds == [Limit, Spend, Limit]


def test_the_charges_of_a_spend_are_kept_exactly(ledger):
    parts = (Charge(epsilon=Fraction(1, 7), times=3), Charge(epsilon=Fraction(4, 7)))
    assert ledger.record("crime", Payment(charges=parts)) == ledger.spends("crime")[0]
    assert ledger.spends("crime")[0].charges == parts
    assert ledger.balance("crime").epsilon_spent == 1


def test_what_costs_nothing_is_no_spend(ledger):
    with pytest.raises(HoldfastError, match="more than 0"):
        ledger.record("crime", Payment(charges=()))
    for wrong in ({"epsilon": -1}, {"epsilon": 1, "delta": 1}, {"epsilon": 1, "times": 0}):
        with pytest.raises(HoldfastError, match="a charge must be"):
            Charge(**wrong)


@pytest.mark.parametrize("epsilon", [0, -1, "nan", "x", True, None])
def test_a_bad_epsilon_is_refused(ledger, epsilon):
    for call in (ledger.spend, ledger.set_limit):
        with pytest.raises(HoldfastError, match="`epsilon`"):
            call("crime", epsilon=epsilon)


@pytest.mark.parametrize("name", ["", " ", " crime", "x" * 201, None, 3])
def test_a_bad_name_is_refused(ledger, name):
    with pytest.raises(HoldfastError, match="`dataset`"):
        ledger.set_limit(name, epsilon=1)


def test_a_missing_or_foreign_file_is_refused_and_left_alone(tmp_path):
    with pytest.raises(HoldfastError, match="is not there"):
        Ledger(tmp_path / "typo.ledger").spend("crime", epsilon=1)
    assert not (tmp_path / "typo.ledger").exists()
    text, other = tmp_path / "a.txt", tmp_path / "other.db"
    text.write_text("not a database, and long enough to be looked at " * 40)
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE mine (x)")
    db.close()
    for path in (text, other):
        before = path.read_bytes()
        with pytest.raises(HoldfastError, match="not a ledger of this holdfast"):
            Ledger(path).balance("crime")
        with pytest.raises(HoldfastError, match="not a ledger of this holdfast"):
            Ledger(path).set_limit("crime", epsilon=1)
        assert path.read_bytes() == before


def test_a_ledger_is_not_begun_where_there_is_no_folder(tmp_path):
    with pytest.raises(HoldfastError, match="cannot be made"):
        Ledger(tmp_path / "nowhere" / "b.ledger").set_limit("crime", epsilon=1)


def test_an_empty_file_is_no_ledger_and_none_is_begun_in_it(tmp_path):
    (tmp_path / "b.ledger").touch()  # a ledger that lost all its bytes looks like this
    ledger = Ledger(tmp_path / "b.ledger")
    for call in (ledger.balance, lambda name: ledger.set_limit(name, epsilon=1)):
        with pytest.raises(HoldfastError, match="not a ledger of this holdfast, or it was damaged"):
            call("crime")


def test_the_file_is_its_owners_alone(ledger):
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600


def test_spends_and_limits_cannot_be_taken_out_by_accident(ledger):
    ledger.spend("crime", epsilon=1)
    with sqlite3.connect(ledger.path) as db:
        for statement in (
            "DELETE FROM entries",
            "UPDATE entries SET body = '{}'",
            "UPDATE entries SET hash = 'x'",
            "INSERT OR REPLACE INTO entries SELECT entry, '{}', hash FROM entries",
            "INSERT INTO entries VALUES (0, '{}', '')",
            "UPDATE about SET key = x'00'",
            "UPDATE about SET id = ''",
            "UPDATE about SET entries = 1",
            "DELETE FROM about",
            "INSERT INTO about VALUES ('', x'00', 1, '')",
        ):
            with pytest.raises(sqlite3.IntegrityError):
                db.execute(statement)
    db.close()


def test_every_commit_is_flushed_to_disk_before_it_returns(ledger):
    with change(ledger.path, 1) as pages:
        assert pages.db.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA
        assert pages.db.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_a_ledger_in_use_is_waited_for_and_then_given_up(ledger):
    with change(ledger.path, 1), pytest.raises(HoldfastError, match="in use by other processes"):
        Ledger(ledger.path, timeout=0.05).spend("crime", epsilon=1)
    assert ledger.spends("crime") == []


def test_a_failure_inside_a_transaction_leaves_nothing(ledger):
    with pytest.raises(RuntimeError), change(ledger.path, 1) as pages:
        limit = {"kind": "limit", "dataset": "x", "epsilon": "1", "delta": "0"}
        pages.append(limit | {"per_period": False, "time": "", "user": ""})
        raise RuntimeError
    assert [balance.dataset for balance in ledger.balances()] == ["crime"]


def test_an_entry_that_makes_no_sense_is_not_written(ledger):
    for wrong in ({"kind": "mystery"}, {"kind": "end", "spend": 2, "state": "done", "time": ""}):
        with pytest.raises(ValueError), change(ledger.path, 1) as pages:
            pages.append(wrong)
    assert len(ledger.history()) == 2


def test_prints_differ_between_ledgers_contents_and_kinds(ledger, tmp_path):
    other = Ledger(tmp_path / "other.ledger")
    other.set_limit("crime", epsilon=1)
    one, two = Content(table=b"a", counts=b"a"), Content(table=b"b", counts=b"a")
    assert ledger.prints(one) == ledger.prints(one)
    prints = ledger.prints(one), ledger.prints(two), other.prints(one)
    assert len({each.table for each in prints} | {prints[0].counts}) == 4


def test_numbers_are_shown_exactly_where_that_is_short():
    assert plainly(Fraction("0.1")) == "0.1" and plainly(0) == "0" and plainly(20) == "20"
    assert plainly(Fraction(2, 3)) == "2/3 (0.666667)"
    assert plainly(Fraction(10**30, 3 * 10**30 + 1)) == "0.333333333"


def test_history_is_in_the_order_of_payment_whatever_the_clock_says(ledger, monkeypatch):
    for year in ("2031", "1999", "2026"):
        monkeypatch.setattr("holdfast.ledger.recorder.now", lambda year=year: f"{year}-01-01")
        ledger.spend("crime", epsilon="1/2")
    spends = ledger.history("crime")[1:]
    assert [spend.time[:4] for spend in spends] == ["2031", "1999", "2026"]
    assert [spend.id for spend in spends] == [3, 4, 5]


def test_a_spend_says_who_of_what_where_to_and_why(ledger, monkeypatch):
    monkeypatch.setattr("holdfast.ledger.recorder.user", lambda: "ada")
    told = ledger.telling(purpose="yearly report", file=Path("in.csv"), column="n", folder="out")
    told.telling(purpose="draft").spend("crime", epsilon=1)
    (spend,) = ledger.spends("crime")
    about = spend.purpose
    assert (spend.user, about.file, about.column, about.folder) == ("ada", "in.csv", "n", "out")
    assert about.purpose == "draft"


def test_a_machine_without_users_can_keep_a_ledger(ledger, monkeypatch):
    def nobody():
        raise KeyError("uid not found")

    monkeypatch.setattr("holdfast.ledger.sqlite_file.getuser", nobody)
    ledger.spend("crime", epsilon=1)
    assert ledger.spends("crime")[0].user == ""


def test_eight_processes_together_never_exceed_the_limit(quick):
    result = hammer(quick / "b.ledger", seconds=1)
    assert not result["exceeded"] and result["lost"] == 0 and result["sums agree"]
    assert result["workers that failed"] == 0
    assert result["spends"] > 8 and result["refusals"] > 8


def test_the_hammer_catches_a_ledger_that_looks_first_and_records_later(quick):
    # it ends when the limit was exceeded, which takes a moment
    assert hammer(quick / "b.ledger", seconds=60, processes=4, kind="racy")["exceeded"]


def test_kills_lose_no_spend_and_leave_no_lock(tmp_path):
    result = kills(tmp_path / "b.ledger", 20, seed=1)
    assert result["lost"] == 0 and result["sums agree"]
    assert result["spends"] > 20
    assert result["recorded, killed before it could say so"] <= 20


NAMES = st.sampled_from(["a", "b", "c"])
AMOUNTS = st.fractions(min_value=Fraction(1, 100), max_value=1, max_denominator=100)
DELTAS = st.sampled_from([Fraction(0), Fraction(1, 10**6), Fraction(1, 3 * 10**5)])


class AgainstAModel(RuleBasedStateMachine):
    """Random operations on a ledger and on a dictionary of fractions."""

    numbers = Bundle("numbers")

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "b.ledger"
        self.limits, self.spends = {}, {}
        Ledger(self.path).set_limit("a", epsilon=1)
        self.limits["a"] = (Fraction(1), Fraction(0))

    def teardown(self):
        self.folder.cleanup()

    @rule(name=NAMES, epsilon=AMOUNTS, delta=DELTAS)
    def set_limit(self, name, epsilon, delta):
        Ledger(self.path).set_limit(name, epsilon=epsilon, delta=delta)
        self.limits[name] = (epsilon, delta)

    @rule(target=numbers, name=NAMES, epsilon=AMOUNTS, delta=DELTAS)
    def spend(self, name, epsilon, delta):
        spent = [s[1:3] for s in self.spends.values() if s[0] == name]
        sums = (sum(s[0] for s in spent) + epsilon, sum(s[1] for s in spent) + delta)
        affordable = name in self.limits and all(
            total <= limit for total, limit in zip(sums, self.limits[name], strict=True)
        )
        try:
            number = Ledger(self.path).spend(name, epsilon=str(epsilon), delta=delta)
        except BudgetError:
            assert not affordable
            return None
        assert affordable and number not in self.spends
        self.spends[number] = [name, epsilon, delta, "open"]
        return number

    @rule(number=numbers, state=st.sampled_from(["done", "abandoned"]))
    def finish(self, number, state):
        if number is None:
            return
        if self.spends[number][3] in ("open", state):
            Ledger(self.path).finish(number, state)
            self.spends[number][3] = state
        else:
            with pytest.raises(HoldfastError):
                Ledger(self.path).finish(number, state)

    @invariant()
    def the_file_says_what_the_model_says(self):
        ledger = Ledger(self.path)
        balances = {balance.dataset: balance for balance in ledger.balances()}
        assert balances.keys() == self.limits.keys()
        for name, balance in balances.items():
            mine = [s for s in self.spends.values() if s[0] == name]
            assert (balance.epsilon_limit, balance.delta_limit) == self.limits[name]
            assert balance.epsilon_spent == sum(s[1] for s in mine)
            assert balance.delta_spent == sum(s[2] for s in mine)
            assert [s.state for s in ledger.spends(name)] == [s[3] for s in mine]


TestAgainstAModel = AgainstAModel.TestCase
TestAgainstAModel.settings = settings(max_examples=15, stateful_step_count=20)
