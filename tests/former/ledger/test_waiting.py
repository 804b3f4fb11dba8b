"""Equal requests at one time: one pays, the others wait and are shown the same release."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from threading import Barrier

import numpy as np
import pytest
from test_spending import COUNTS, Watching, release

from holdfast.errors import BudgetError
from holdfast.former.ledger.ledger import Ledger
from holdfast.former.ledger.waiting import alone


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
    assert all(np.array_equal(each.counts, made[0].counts) for each in made)
    assert ledger.balance("crime").epsilon_spent == Fraction(1, 2)
    assert [path.name for path in ledger.folder(0, "").parent.glob("*.lock")] == []


def test_different_requests_at_once_all_pay(ledger):
    made = at_once(4, lambda index: release(ledger, COUNTS + index))
    assert not any(each.repeated for each in made)
    assert ledger.balance("crime").epsilon_spent == 2


def test_where_the_first_fails_the_next_one_pays_again(ledger):
    troubles = [RuntimeError()]

    def watch():
        if troubles:
            raise troubles.pop()

    def ask(_):
        try:
            return release(ledger, privatizer=Named(watch=watch))
        except RuntimeError:
            return None

    made = at_once(3, ask)
    assert made.count(None) == 1
    assert ledger.balance("crime").states == {"done": 1, "open": 0, "abandoned": 1}


class Named(Watching):
    """Known again, because it says so."""

    ledger_name = "named"


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
from holdfast.former.ledger.waiting import alone
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
        assert file.exists()
    assert not file.exists()


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
