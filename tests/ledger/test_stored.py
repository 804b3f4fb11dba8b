"""Releases that a ledger keeps: never taken for another, and room for them before the spend."""

import shutil
from fractions import Fraction

import numpy as np
import pytest
from test_spending import COUNTS, _fingerprint, ledger, release, spent  # noqa: F401

from holdfast.errors import COUNTED, HoldfastError
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.sqlite_file import change


def fresh(ledger):  # noqa: F811
    """The ledger made anew in the same place; the folder of releases stays."""
    ledger.path.unlink()
    ledger.set_limit("crime", epsilon=1)


def test_a_ledger_that_was_made_anew_shows_no_release_of_the_old_one(ledger):  # noqa: F811
    old = release(ledger)
    fresh(ledger)
    other = release(ledger, np.full(60, 5), max_count=6)
    assert not other.repeated and len(other.target) == 7 and len(old.target) == 6
    assert release(ledger, np.full(60, 5), max_count=6).repeated
    assert spent(ledger) == Fraction(1, 2)


def test_a_killed_run_in_a_new_ledger_does_not_show_an_old_release(ledger, monkeypatch):  # noqa: F811
    release(ledger)
    fresh(ledger)
    monkeypatch.setattr("holdfast.ledger.spending._draw", lambda *_: None)  # as if killed
    release(ledger, max_count=6)
    monkeypatch.undo()
    again = release(ledger, max_count=6)
    assert not again.repeated and len(again.target) == 7


OTHER = {
    "epsilon": {"epsilon": "0.4"},
    "max_count": {"max_count": 4},
    "contributions": {"contributions": 2},
    "structural zeros": {"structural_zero": [False] * 59 + [True]},
    "rows": {"counts": COUNTS[:50]},
}


@pytest.mark.parametrize("change", OTHER)
def test_a_folder_with_another_release_is_not_shown(ledger, change):  # noqa: F811
    counts = COUNTS * (np.arange(60) < 59)
    release(ledger, counts)
    place = ledger.folder(1, *_fingerprint(ledger))
    stranger = Ledger(ledger.path.with_name("other.ledger"))
    stranger.set_limit("crime", epsilon=1)
    release(stranger, **({"counts": counts} | OTHER[change]))
    shutil.rmtree(place)
    shutil.copytree(stranger.folder(1, *_fingerprint(stranger)), place)
    with pytest.raises(HoldfastError, match="holds another release"):
        release(ledger, counts)
    assert spent(ledger) == Fraction(1, 2)


def test_an_older_copy_of_the_ledger_is_noticed_before_anything_is_spent(ledger):  # noqa: F811
    older = ledger.path.read_bytes()
    release(ledger)
    ledger.path.write_bytes(older)
    with pytest.raises(HoldfastError, match=r"does not know of it\. Nothing was drawn or spent"):
        release(ledger)
    assert ledger.spends("crime") == []


def test_no_message_says_that_nothing_was_drawn_once_something_was(tmp_path, ledger):  # noqa: F811
    made = release(ledger)
    (tmp_path / "there").mkdir()
    with pytest.raises(HoldfastError, match="exists already") as caught:
        made.save(tmp_path / "there")
    assert "nothing was drawn" not in str(caught.value)


def busy(self, spend, state):
    raise HoldfastError("in use by other processes")


def test_a_release_that_cannot_be_marked_is_given_kept_and_counted(ledger, monkeypatch):  # noqa: F811
    monkeypatch.setattr(Ledger, "finish", busy)
    first = release(ledger)
    assert ledger.balance("crime").states["open"] == 1 and spent(ledger) == Fraction(1, 2)
    monkeypatch.undo()
    again = release(ledger)
    assert again.repeated and np.array_equal(first.counts, again.counts)
    assert ledger.balance("crime").states == {"done": 1, "open": 0, "abandoned": 0}


def test_whoever_is_stopped_while_it_is_marked_is_told_that_it_counts(ledger, monkeypatch):  # noqa: F811
    def stopped(self, spend, state):
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "finish", stopped)
    with pytest.raises(KeyboardInterrupt) as caught:
        release(ledger)
    assert COUNTED in caught.value.__notes__


def test_a_busy_ledger_does_not_say_that_nothing_was_recorded(ledger):  # noqa: F811
    quick = Ledger(ledger.path, timeout=0.1)
    with change(ledger.path, 1), pytest.raises(HoldfastError, match="was not changed"):
        quick.finish(1, "done")


def test_a_release_shown_again_states_the_version_that_made_it(ledger, monkeypatch, tmp_path):  # noqa: F811
    monkeypatch.setattr("holdfast.release.release._version", lambda: "0.0.7")
    release(ledger)
    monkeypatch.undo()
    again = release(ledger)
    assert again.repeated and again.summary()["holdfast"] == "0.0.7"
    assert "Made with holdfast 0.0.7." in (again.save(tmp_path / "r") / "README.md").read_text()
