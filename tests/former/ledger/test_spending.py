"""Releases through a ledger: paid first, drawn once, shown again."""

import json
import os
import re
import signal
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast
from forked import end_of
from holdfast.errors import BudgetError, CertificateError, HoldfastError
from holdfast.former.constructors import Heuristic
from holdfast.former.ledger.head import releases_of
from holdfast.former.ledger.ledger import Ledger
from holdfast.former.privatizers import CumulativeIsotonic
from holdfast.former.release import bundle

COUNTS = np.random.default_rng(3).poisson(1.5, 60)
USUAL = {"epsilon": "0.5", "max_count": 5, "constructor": Heuristic(selector="min")}


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger(tmp_path / "budget.ledger")
    ledger.set_limit("crime", epsilon=1)
    return ledger


def release(ledger, counts=COUNTS, **changes):
    return holdfast.privatize(counts, **(USUAL | changes), ledger=ledger, dataset="crime")


def spent(ledger):
    return ledger.balance("crime").epsilon_spent


@dataclass(frozen=True, kw_only=True)
class Watching(CumulativeIsotonic):
    """A privatizer that does something just before it draws."""

    watch: object = None

    def __call__(self, histogram, *, epsilon, rng=None):
        self.watch()
        return super().__call__(histogram, epsilon=epsilon, rng=rng)


def test_the_spend_is_on_record_before_anything_is_drawn(ledger):
    seen = []
    release(ledger, privatizer=Watching(watch=lambda: seen.append(ledger.balance("crime"))))
    assert seen[0].epsilon_spent == Fraction(1, 2)
    assert seen[0].states == {"done": 0, "open": 1, "abandoned": 0}
    assert ledger.balance("crime").states == {"done": 1, "open": 0, "abandoned": 0}


@pytest.mark.parametrize("kind", ["frame", "series"])
def test_rows_of_equal_counts_that_changed_places_are_drawn_and_paid_again(ledger, kind):
    def labelled(labels):
        if kind == "series":
            return pd.Series([2, 2, 0, 1], index=labels, name="n"), {}
        return pd.DataFrame({"place": labels, "n": [2, 2, 0, 1]}), {"count": "n"}

    for labels, repeated in ((list("abcd"), False), (list("abcd"), True), (list("bacd"), False)):
        counts, named = labelled(labels)
        assert release(ledger, counts, **named).repeated is repeated
    assert spent(ledger) == 1


def test_the_same_release_is_shown_again_and_costs_nothing(ledger):
    first = release(ledger)
    again = release(str(ledger.path), counts=COUNTS.tolist(), epsilon=Fraction(1, 2))
    assert not first.repeated and again.repeated
    assert np.array_equal(first.counts, again.counts)
    assert np.array_equal(first.target, again.target)
    assert first.mechanism.digest == again.mechanism.digest
    assert first.privacy == again.privacy and first.notes == again.notes
    assert spent(ledger) == Fraction(1, 2)


def test_it_comes_back_as_the_kind_of_table_that_was_given(ledger):
    frame = pd.DataFrame({"place": [f"p{i}" for i in range(60)], "n": COUNTS})
    first = release(ledger, frame, count="n", category="place")
    again = release(ledger, frame, count="n", category="place")
    assert again.repeated and type(again.table) is pd.DataFrame
    assert again.table.equals(first.table)
    assert again.unchanged_columns == ("place",)


OTHER = {
    "max_count": {"max_count": 6},
    "split": {"split": "1/4"},
    "contributions": {"contributions": 2},
    "constructor": {"constructor": Heuristic(selector="max")},
    "privatizer": {"privatizer": CumulativeIsotonic(projection="clip")},
    "structural zeros": {"structural_zero": [False] * 59 + [True]},
    "a count": {"counts": COUNTS + (np.arange(60) == 7)},
    "the order of rows": {"counts": np.append(COUNTS[1:], COUNTS[0])},
}


@pytest.mark.parametrize("change", OTHER)
def test_another_release_is_drawn_and_paid(ledger, change):
    counts = COUNTS * (np.arange(60) < 59)
    counts[0] = 4
    given = {"counts": counts} | OTHER[change]
    release(ledger, counts)
    assert not release(ledger, **given).repeated
    assert spent(ledger) == 1


def test_a_constructor_that_cannot_be_recognised_is_never_taken_for_another(ledger):
    for selector in ("min", "max"):
        method = Heuristic(selector=selector)
        made = release(ledger, constructor=lambda z, epsilon, m=method: m(z, epsilon=epsilon))
        assert not made.repeated
    assert spent(ledger) == 1


def test_what_cannot_be_afforded_is_not_drawn(ledger):
    release(ledger)
    drawn = []
    with pytest.raises(BudgetError, match=r"spent 0\.5, requested 0\.6, limit 1"):
        release(ledger, epsilon="0.6", privatizer=Watching(watch=lambda: drawn.append(1)))
    assert not drawn and spent(ledger) == Fraction(1, 2)


def test_what_fails_before_the_draw_leaves_no_row(ledger):
    for wrong in ({"max_count": 0}, {"split": 2}, {"counts": [1, -1]}, {"count": "n"}):
        with pytest.raises(HoldfastError):
            release(ledger, **wrong)
    assert ledger.spends("crime") == []


def fail(error):
    raise error


@pytest.mark.parametrize("error", [RuntimeError(), KeyboardInterrupt(), SystemExit()])
def test_a_run_that_fails_while_drawing_is_abandoned_and_counts(ledger, error):
    with pytest.raises(type(error)):
        release(ledger, privatizer=Watching(watch=lambda: fail(error)))
    assert ledger.balance("crime").states["abandoned"] == 1
    assert spent(ledger) == Fraction(1, 2)


def test_an_abandoned_release_is_drawn_and_paid_again(ledger):
    troubles = [RuntimeError()]
    privatizer = Watching(watch=lambda: fail(troubles.pop()) if troubles else None)
    with pytest.raises(RuntimeError):
        release(ledger, privatizer=privatizer)
    assert not release(ledger, privatizer=privatizer).repeated
    assert spent(ledger) == 1


def only_tried(then):
    """A constructor that does well while it is tried, on an even distribution, and then this."""
    well = Heuristic()
    return lambda z, *, epsilon: (well if np.ptp(z) == 0 else then)(z, epsilon=epsilon)


def test_a_mechanism_that_fails_its_certificate_counts_too(ledger):
    wrong = only_tried(lambda z, *, epsilon: Heuristic()(z, epsilon=2 * epsilon))
    with pytest.raises(CertificateError):
        release(ledger, constructor=wrong)
    assert ledger.balance("crime").states["abandoned"] == 1


def test_a_run_that_is_killed_between_the_stages_counts(ledger):
    killed = only_tried(lambda z, *, epsilon: os.kill(os.getpid(), signal.SIGKILL))
    assert end_of(lambda: release(ledger, constructor=killed)) == -signal.SIGKILL
    assert ledger.balance("crime").states["open"] == 1
    assert spent(ledger) == Fraction(1, 2)


def test_a_run_killed_after_its_release_was_kept_is_shown_again(ledger, monkeypatch):
    monkeypatch.setattr(Ledger, "finish", lambda *_: fail(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        release(ledger)
    monkeypatch.undo()
    assert ledger.balance("crime").states["open"] == 1
    assert release(ledger).repeated
    assert ledger.balance("crime").states == {"done": 1, "open": 0, "abandoned": 0}


def test_a_run_killed_while_its_release_was_being_kept_counts_and_holds_up_no_other(
    ledger, monkeypatch
):
    monkeypatch.setattr(bundle, "_put", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    assert end_of(lambda: release(ledger)) == -signal.SIGKILL
    monkeypatch.undo()
    (half,) = (path for path in releases_of(ledger.path).iterdir() if ".partial-" in path.name)
    assert (half / "release.json").exists()
    assert not release(ledger).repeated
    assert ledger.balance("crime").states == {"done": 1, "open": 1, "abandoned": 0}


def test_a_kept_release_that_is_gone_or_damaged_is_not_drawn_again(ledger):
    release(ledger)
    kept = ledger.folder(1, *_fingerprint(ledger)) / "table.csv"
    digit = re.compile(r"[0-9]")
    kept.write_text(digit.sub(lambda m: "1" if m[0] == "0" else "0", kept.read_text(), count=1))
    with pytest.raises(HoldfastError, match="changed after"):
        release(ledger)
    for path in kept.parent.iterdir():
        path.unlink()
    kept.parent.rmdir()
    with pytest.raises(HoldfastError, match="where it was stored, is gone"):
        release(ledger)
    assert spent(ledger) == Fraction(1, 2)


def test_a_simulation_spends_nothing_and_says_so(ledger):
    simulated = release(ledger, seed=1)
    assert any("ledger was not touched" in note for note in simulated.notes)
    assert ledger.spends("crime") == []


def test_the_ledger_holds_no_count_and_no_plain_digest_of_the_table(ledger):
    import hashlib

    release(ledger)
    content = ledger.path.read_bytes()
    for plain in (COUNTS.astype("<i8").tobytes(), json.dumps(COUNTS.tolist()).encode()):
        assert plain not in content
        assert hashlib.sha256(plain).hexdigest().encode() not in content
    # two ledgers know the same table under different names
    other = Ledger(ledger.path.with_name("other.ledger"))
    other.set_limit("crime", epsilon=1)
    release(other)
    assert _fingerprint(ledger) != _fingerprint(other)


def _fingerprint(ledger):
    from holdfast.former.ledger.sqlite_file import read

    with read(ledger.path, 1) as pages:
        return (pages.book.spends[1].fingerprint,)


def test_a_private_max_count_is_drawn_after_it_is_paid_for(ledger, monkeypatch):
    seen = []
    quantile = holdfast.PrivateQuantile("0.9", highest=8)
    draw = type(quantile).from_histogram
    monkeypatch.setattr(
        holdfast.PrivateQuantile,
        "from_histogram",
        lambda *a, **k: seen.append(spent(ledger)) or draw(*a, **k),
    )
    made = release(ledger, max_count=quantile)
    again = release(ledger, max_count=holdfast.PrivateQuantile("0.9", highest=8))
    assert seen == [Fraction(1, 2)] and again.repeated
    assert again.max_count_found == made.max_count_found and again.privacy == made.privacy
    parts = ledger.spends("crime")[0].charges
    assert [part.epsilon for part in parts] == [
        made.privacy.budget.quantile,
        Fraction(1, 2) - made.privacy.budget.quantile,  # its split is not known before it is drawn
    ]


@dataclass(frozen=True, kw_only=True)
class Approximate(CumulativeIsotonic):
    """A privatizer that declares a delta."""

    delta: Fraction = Fraction(1, 10**6)


def test_a_delta_is_paid_for_as_well(ledger):
    with pytest.raises(BudgetError, match="delta spent 0, requested"):
        release(ledger, privatizer=Approximate())
    ledger.set_limit("crime", epsilon=1, delta="1e-5")
    made = release(ledger, privatizer=Approximate())
    assert ledger.balance("crime").delta_spent == made.privacy.delta == Fraction(1, 10**6)
    made = release(ledger, privatizer=Approximate(), contributions=2)
    assert made.privacy.delta > Fraction(2, 10**6)
    assert ledger.balance("crime").delta_spent == made.privacy.delta + Fraction(1, 10**6)


@pytest.mark.parametrize("contributions", [1, 3])
def test_the_delta_of_a_baseline_is_known_before_it_is_drawn(ledger, contributions):
    gaussian = holdfast.baselines.DiscreteGaussian(delta="1e-6")
    given = {"constructor": gaussian, "contributions": contributions}
    with pytest.raises(BudgetError, match="delta spent 0, requested"):
        release(ledger, **given)
    ledger.set_limit("crime", epsilon=1, delta="1e-5")
    made = release(ledger, **given)
    assert 0 < made.privacy.delta <= ledger.balance("crime").delta_spent == Fraction(1, 10**6)
    (part,) = ledger.spends("crime")[0].charges  # it has no first stage
    assert part.epsilon == Fraction(1, 2)
    assert release(ledger, **given).repeated


def test_ledger_and_dataset_go_together(ledger):
    for given in ({"ledger": ledger}, {"dataset": "crime"}):
        with pytest.raises(HoldfastError, match="go together"):
            holdfast.privatize(COUNTS, **USUAL, **given)


def test_what_this_machine_cannot_do_fails_before_anything_is_paid(ledger, monkeypatch):
    def broken(*given, **named):
        raise RuntimeError("no compiler")

    monkeypatch.setattr("holdfast.former.mechanism.sampling_kernel.draw_bytes", broken)
    with pytest.raises(RuntimeError):
        release(ledger)
    assert ledger.spends("crime") == []


def test_methods_that_are_not_holdfasts_own_are_not_rehearsed(ledger):
    seen = []
    release(ledger, privatizer=Watching(watch=lambda: seen.append(spent(ledger))))
    assert seen == [Fraction(1, 2)]


def test_a_method_that_fits_no_made_up_table_is_not_held_against_the_run(ledger):
    release(ledger, constructor=holdfast.constructors.Optimal(target=np.full(6, 1 / 6)))
    assert spent(ledger) == Fraction(1, 2)


@pytest.mark.parametrize("way", ["series", "frame", "stream"])
def test_two_columns_that_happen_to_be_equal_are_two_releases(way, tmp_path):
    """Else the ledger would tell by showing one for the other that they are equal."""
    ledger = Ledger(tmp_path / "l")
    ledger.set_limit("x", epsilon=9)
    options = {"epsilon": 1, "max_count": 5, "ledger": ledger, "dataset": "x"}
    places = [f"p{k}" for k in range(20)]

    def released(name):
        frame = pd.DataFrame({"place": places, name: [0, 1, 2, 3] * 5})
        if way == "series":
            return holdfast.privatize(pd.Series(frame[name].tolist(), places, name=name), **options)
        if way == "frame":
            return holdfast.privatize(frame, count=name, category="place", **options)
        both = pd.DataFrame({"place": places, "a": [0, 1, 2, 3] * 5, "b": [0, 1, 2, 3] * 5})
        file, sink = tmp_path / "t.csv", tmp_path / f"out{len(list(tmp_path.iterdir()))}"
        both.to_csv(file, index=False)
        return holdfast.privatize_stream(file, sink, count=name, category="place", **options)

    assert [released(name).repeated for name in ("a", "a", "b", "a")] == [False, True, False, True]
    assert ledger.balance("x").epsilon_spent == 2
