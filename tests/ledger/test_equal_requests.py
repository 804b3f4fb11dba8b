"""Equal requests at one time: one pays, the others wait and are shown the same release."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from threading import Barrier

import pytest

from holdfast.errors import BudgetError, HoldfastError
from holdfast.ledger.chain import releases_of
from holdfast.ledger.entries import SpendState
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.stored import alone, same_but_for_labels
from small_engine import COUNTS, release


@pytest.fixture
def ledger(quick):
    ledger = Ledger(quick / "budget.ledger")
    ledger.set_limit("crime", epsilon=100)
    return ledger


def at_once(number, work):
    """Run something in many threads that begin together."""
    together = Barrier(number)

    def one(index):
        together.wait()
        return work(index)

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(one, range(number)))


def test_of_eight_equal_requests_at_once_one_pays_and_all_get_the_same(ledger):
    made = at_once(8, lambda _: release(ledger))
    assert sorted(each.repeated for each in made) == [False] + [True] * 7
    assert all(each.noisy == made[0].noisy for each in made)
    assert ledger.balance("crime").epsilon_spent == Fraction(1, 2)
    (lock,) = releases_of(ledger.path).glob("*.lock")  # stays, with nothing in it
    assert lock.stat().st_size == 0


def test_different_requests_at_once_all_pay(ledger):
    made = at_once(4, lambda index: release(ledger, COUNTS + index))
    assert not any(each.repeated for each in made)
    assert ledger.balance("crime").epsilon_spent == 2


def test_a_request_that_is_being_measured_is_not_the_same_counts_beside_other_labels(ledger):
    said = []

    def watch():
        (spend,) = ledger.spends("crime")
        said.append((spend.state, same_but_for_labels(ledger, "crime", spend.known_by)))

    release(ledger, watch=watch)
    assert said == [(SpendState.OPEN, "")]


def test_where_the_first_fails_the_next_one_pays_again(ledger):
    troubles = [RuntimeError()]

    def watch():
        if troubles:
            raise troubles.pop()

    def ask(_):
        try:
            return release(ledger, watch=watch)
        except RuntimeError:
            return None

    made = at_once(3, ask)
    assert made.count(None) == 1
    assert ledger.balance("crime").states == {"done": 1, "open": 0, "abandoned": 1}


def test_equal_requests_that_cannot_be_afforded_are_all_refused(ledger):
    ledger.set_limit("crime", epsilon="0.1")

    def ask(_):
        with pytest.raises(BudgetError):
            release(ledger)

    at_once(3, ask)
    assert ledger.spends("crime") == []


HOLDS = """
import sys, time
from pathlib import Path
from holdfast.ledger.stored import alone
with alone(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_process_that_is_killed_holds_nobody_up(quick):
    file = quick / "a.lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout.readline() == b"held\n"
        holder.kill()
    with alone(file):
        assert file.stat().st_size == 0


def test_only_one_is_alone_at_a_time(quick):
    inside, most = [], []

    def enter(_):
        for _ in range(5):
            with alone(quick / "a.lock"):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    at_once(6, enter)
    assert set(most) == {1} and len(most) == 30


def test_nobody_waits_for_ever_where_there_is_no_folder(quick):
    with pytest.raises(HoldfastError, match="cannot be used"), alone(quick / "no" / "a.lock"):
        pass
