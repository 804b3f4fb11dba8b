"""Releases through a ledger: paid first, measured once, shown again."""

import hashlib
import json
import os
import re
import shutil
import signal
from fractions import Fraction

import numpy as np
import pytest

from forked import end_of
from holdfast.errors import BudgetError, HoldfastError, Spent, spent_by
from holdfast.ledger.chain import releases_of
from holdfast.ledger.entries import Payment
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.pay import pay_and_measure
from holdfast.privacy.promise import Charge
from small_engine import COUNTS, SmallRun, fail, release


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger(tmp_path / "budget.ledger")
    ledger.set_limit("crime", epsilon=1)
    return ledger


def spent(ledger):
    return ledger.balance("crime").epsilon_spent


def states(ledger):
    return ledger.balance("crime").states


def test_the_spend_is_on_record_before_anything_is_measured(ledger):
    seen = []
    release(ledger, watch=lambda: seen.append(ledger.balance("crime")))
    assert seen[0].epsilon_spent == Fraction(1, 2)
    assert seen[0].states == {"done": 0, "open": 1, "abandoned": 0}
    assert states(ledger) == {"done": 1, "open": 0, "abandoned": 0}


def test_the_same_release_is_shown_again_and_costs_nothing(ledger):
    first, again = release(ledger), release(str(ledger.path), COUNTS.tolist(), epsilon="1/2")
    assert not again.repeated  # "0.5" and "1/2" are two texts: the request has one for both
    again = release(str(ledger.path), COUNTS.tolist())
    assert not first.repeated and again.repeated
    assert first.noisy == again.noisy and first.receipt == again.receipt
    assert spent(ledger) == 1


def test_without_a_ledger_nothing_is_paid_and_nothing_remembered():
    made = release(None, dataset=None)
    assert made.receipt is None and not made.repeated


OTHER = {
    "epsilon": {"epsilon": "0.25"},
    "a parameter": {"request": {"contributions": 2}},
    "structural zeros": {"zeros": [False] * 59 + [True]},
    "a count": {"counts": COUNTS + (np.arange(60) == 7)},
    "the order of rows": {"counts": np.append(COUNTS[1:], COUNTS[0])},
    "the name of the counts": {"counts": {"m": COUNTS}},
    "the groups": {"group": np.arange(60) % 2},
    "the other cells": {"beside": {"place": list("ab" * 30)}},
    "a row less": {"counts": COUNTS[:59]},
}


@pytest.mark.parametrize("change", OTHER)
def test_another_release_is_measured_and_paid(ledger, change):
    counts = COUNTS * (np.arange(60) < 59)
    release(ledger, counts)
    assert not release(ledger, **{"counts": counts} | OTHER[change]).repeated
    assert len(ledger.spends("crime")) == 2


def test_two_columns_that_happen_to_be_equal_are_two_releases(ledger):
    """Else the ledger would tell by showing one for the other that they are equal."""
    made = [release(ledger, {name: COUNTS}) for name in "aab"]
    assert [each.repeated for each in made] == [False, True, False]


def test_rows_of_equal_counts_that_changed_places_are_measured_and_paid_again(ledger):
    made = [
        release(ledger, [2, 2, 0, 1], beside={"place": list(labels)}, category="place")
        for labels in ("abcd", "abcd", "bacd")
    ]
    assert [each.repeated for each in made] == [False, True, False]
    assert spent(ledger) == 1


def test_several_columns_are_one_release(ledger):
    both = {"murder": COUNTS, "rape": COUNTS[::-1]}
    first, again = release(ledger, both), release(ledger, both)
    assert again.repeated and again.noisy == first.noisy and spent(ledger) == Fraction(1, 2)
    exchanged = {"murder": both["rape"], "rape": both["murder"]}
    assert not release(ledger, exchanged).repeated


def test_what_cannot_be_known_again_is_measured_and_paid_whenever_it_is_run(ledger):
    made = [release(ledger, known=False) for _ in range(2)]
    assert not any(each.repeated for each in made) and all(each.receipt for each in made)
    assert spent(ledger) == 1 and states(ledger)["done"] == 2
    with pytest.raises(BudgetError):
        release(ledger, known=False, watch=lambda: pytest.fail("was measured"))


def test_what_cannot_be_afforded_is_not_measured(ledger):
    release(ledger)
    with pytest.raises(BudgetError, match=r"spent 0\.5, requested 0\.6, limit 1"):
        release(ledger, epsilon="0.6", watch=lambda: pytest.fail("was measured"))
    assert spent(ledger) == Fraction(1, 2)


def test_what_this_machine_cannot_do_fails_before_anything_is_paid(ledger):
    for known in (True, False):
        with pytest.raises(RuntimeError):
            release(ledger, prepares=lambda: fail(RuntimeError("no compiler")), known=known)
    assert ledger.spends("crime") == []


@pytest.mark.parametrize("error", [RuntimeError(), KeyboardInterrupt(), SystemExit()])
def test_a_run_that_fails_while_measuring_is_abandoned_and_counts(ledger, error):
    with pytest.raises(type(error)) as caught:
        release(ledger, watch=lambda: fail(error))
    assert spent_by(caught.value) is Spent.YES
    assert states(ledger)["abandoned"] == 1 and spent(ledger) == Fraction(1, 2)
    assert not release(ledger).repeated and spent(ledger) == 1


def test_a_run_that_fails_after_its_copy_was_stored_is_shown_again(ledger):
    """What is paid is never lost: only the writing of what was asked for had failed."""

    class Full(SmallRun):
        def _released(self, *given):
            raise OSError(28, "No space left on device")

    charges = (Charge(epsilon=Fraction(1, 2)),)
    payment = Payment(rows=60, charges=charges, request={"epsilon": "0.5"})
    counts = {"n": COUNTS}
    with pytest.raises(OSError):
        pay_and_measure(Full(counts=counts), payment, ledger, "crime")
    assert states(ledger) == {"done": 1, "open": 0, "abandoned": 0}
    assert pay_and_measure(SmallRun(counts=counts), payment, ledger, "crime").repeated
    assert spent(ledger) == Fraction(1, 2)


def test_a_run_that_is_killed_while_it_measures_counts(ledger):
    kill = lambda: os.kill(os.getpid(), signal.SIGKILL)  # noqa: E731
    assert end_of(lambda: release(ledger, watch=kill)) == -signal.SIGKILL
    assert states(ledger)["open"] == 1 and spent(ledger) == Fraction(1, 2)


def test_a_run_killed_after_its_release_was_stored_is_shown_again(ledger, monkeypatch):
    monkeypatch.setattr(Ledger, "finish", lambda *_: fail(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt) as caught:
        release(ledger)
    assert spent_by(caught.value) is Spent.YES
    monkeypatch.undo()
    assert states(ledger)["open"] == 1
    assert release(ledger).repeated
    assert states(ledger) == {"done": 1, "open": 0, "abandoned": 0}


def test_a_run_killed_while_its_release_was_being_stored_counts_and_holds_up_no_other(ledger):
    kill = lambda _folder: os.kill(os.getpid(), signal.SIGKILL)  # noqa: E731
    assert end_of(lambda: release(ledger, watch_stored=kill)) == -signal.SIGKILL
    (half,) = (path for path in releases_of(ledger.path).iterdir() if ".partial-" in path.name)
    assert (half / "release.json").exists()
    assert not release(ledger).repeated
    assert states(ledger) == {"done": 1, "open": 1, "abandoned": 0}


def test_whoever_is_stopped_while_paying_is_told_that_it_may_count(ledger, monkeypatch):
    monkeypatch.setattr(Ledger, "record", lambda *_, **__: fail(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt) as caught:
        release(ledger)
    assert spent_by(caught.value) is Spent.MAYBE


def busy(self, spend, state):
    raise HoldfastError("in use by other processes")


def test_a_release_that_cannot_be_marked_is_given_stored_and_counted(ledger, monkeypatch):
    monkeypatch.setattr(Ledger, "finish", busy)
    first = release(ledger)
    assert states(ledger)["open"] == 1 and spent(ledger) == Fraction(1, 2)
    monkeypatch.undo()
    again = release(ledger)
    assert again.repeated and first.noisy == again.noisy
    assert states(ledger) == {"done": 1, "open": 0, "abandoned": 0}


def test_a_stored_release_that_is_gone_or_damaged_is_not_measured_again(ledger):
    release(ledger)
    stored = ledger.folder(ledger.spends()[0])
    (stored / "release.json").write_text("{")
    with pytest.raises(HoldfastError, match="changed after"):
        release(ledger)
    shutil.rmtree(stored)
    with pytest.raises(HoldfastError, match="where it was stored, is gone"):
        release(ledger)
    assert spent(ledger) == Fraction(1, 2)


def test_a_simulation_spends_nothing_and_says_so(ledger):
    simulated = release(ledger, seed=1)
    assert any("ledger was not touched" in note for note in simulated.notes)
    assert ledger.spends("crime") == [] and simulated.receipt is None
    release("nowhere.ledger", seed=1)  # not opened


def test_the_ledger_holds_no_count_and_no_plain_digest_of_the_table(ledger):
    release(ledger)
    content = ledger.path.read_bytes()
    for plain in (COUNTS.astype("<i8").tobytes(), json.dumps(COUNTS.tolist()).encode()):
        assert plain not in content
        assert hashlib.sha256(plain).hexdigest().encode() not in content
    other = Ledger(ledger.path.with_name("other.ledger"))
    other.set_limit("crime", epsilon=1)
    release(other)  # two ledgers know the same table by different prints
    assert ledger.spends()[0].known_by != other.spends()[0].known_by


def test_ledger_and_dataset_go_together(ledger):
    for given in ({"ledger": ledger, "dataset": None}, {"ledger": None}):
        with pytest.raises(HoldfastError, match="go together"):
            release(**given)
    for name in (" ", "home\u200b", "home\n", "h\u00ado"):
        with pytest.raises(HoldfastError, match="`dataset` must be a name"):
            release(ledger, dataset=name)


def test_a_delta_is_paid_for_as_well(ledger):
    charges = (Charge(epsilon=Fraction(1, 2), delta=Fraction(1, 10**6)),)
    run = SmallRun(counts={"n": COUNTS})
    payment = Payment(rows=60, charges=charges, request={})
    with pytest.raises(BudgetError, match="delta spent 0, requested"):
        pay_and_measure(run, payment, ledger, "crime")
    ledger.set_limit("crime", epsilon=1, delta="1e-5")
    pay_and_measure(run, payment, ledger, "crime")
    assert ledger.balance("crime").delta_spent == Fraction(1, 10**6)


def test_words_are_the_same_for_equal_requests_however_they_were_spelled():
    def words(**changes):
        charges = (Charge(epsilon=Fraction(1, 2)),)
        common = {"rows": 10, "charges": charges}
        return Payment(**common | {"request": {"a": [1, None, "x"], "b": True}} | changes).words

    assert words() == words(request={"b": True, "a": [1, None, "x"]})
    assert json.loads(words())["rows"] == 10 and re.fullmatch(r"\S+", words())
    others = [{"rows": 8}, {"request": {}}, {"charges": (Charge(epsilon=Fraction(1)),)}]
    assert len({words(**other) for other in others} | {words()}) == 4
    for vague in (float("nan"), {1}, object()):
        with pytest.raises((TypeError, ValueError)):
            words(request={"a": vague})
