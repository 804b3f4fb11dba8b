"""Counts that were released as those of another period: asked about before they are paid for."""

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast
from attacks import plant_record
from bundles import read_record
from holdfast.errors import HoldfastError
from holdfast.former.constructors import Heuristic
from holdfast.former.ledger.ledger import Ledger
from holdfast.former.ledger.receipts import disagreements
from holdfast.former.ledger.sqlite_file import change

ROWS = 40
CHANCE = np.random.default_rng(3)
FRAME = pd.DataFrame(
    {
        "county": [f"county {k}" for k in range(ROWS)],
        "murder": CHANCE.poisson(1.0, ROWS),
        "theft": CHANCE.poisson(1.5, ROWS),
    }
)
USUAL = {"epsilon": "0.5", "max_count": 3, "constructor": Heuristic(selector="min")}
MEANT = {"publish_anyway": ["same counts"]}


@pytest.fixture
def ledger(quick):
    ledger = Ledger(quick / "budget.ledger")
    ledger.set_limit("crime", epsilon=1, per_period=True)
    return ledger


def release(ledger, frame=FRAME, **changes):
    usual = USUAL | {"count": "murder", "category": "county", "ledger": ledger, "dataset": "crime"}
    return holdfast.privatize(frame, **(usual | changes))


def test_the_counts_of_another_period_are_asked_about_before_they_are_paid(ledger):
    release(ledger, period=2025)
    with pytest.raises(HoldfastError, match=r"for 2026 are, row by row, .* for 2025") as error:
        release(ledger, period=2026)
    assert "--publish-anyway 'same counts'" in str(error.value)
    renamed = FRAME.rename(columns={"murder": "murder 2026"})
    with pytest.raises(HoldfastError, match="those that were released for 2025"):
        release(ledger, renamed, count="murder 2026", period=2026, epsilon="0.25", max_count=2)
    assert len(ledger.spends("crime")) == 1


def test_what_is_meant_is_drawn_and_paid_and_no_published_file_tells(ledger, tmp_path):
    release(ledger, period=2025)
    same = release(ledger, period=2026, **MEANT)
    other = release(ledger, FRAME.assign(murder=FRAME.theft), period=2027)
    assert not same.repeated and len(ledger.spends("crime")) == 3
    folders = [one.save(tmp_path / name) for name, one in (("a", same), ("b", other))]
    files = [path for path in folders[0].rglob("*") if path.is_file()]
    assert files and not any(b"same counts" in path.read_bytes() for path in files)
    records = [read_record(folder) for folder in folders]
    assert records[0].keys() == records[1].keys()
    assert [record["notes"][0] for record in records] == [
        "these are the counts of 2026",
        "these are the counts of 2027",
    ]
    assert not any("2025" in note for note in records[0]["notes"])


def test_one_row_of_difference_and_one_period_are_not_asked_about(ledger):
    release(ledger, period=2025)
    release(ledger, period=2025, epsilon="0.25")
    changed = FRAME.assign(murder=FRAME.murder.where(FRAME.index != 3, FRAME.murder + 1))
    release(ledger, changed, period=2026)
    assert len(ledger.spends("crime")) == 3


def test_of_several_counts_the_columns_that_repeat_are_named(ledger):
    several = {"count": ["murder", "theft"], "constructor": None}
    release(ledger, period=2025, **several)
    half = FRAME.assign(theft=FRAME.theft[::-1].to_numpy())
    with pytest.raises(HoldfastError, match="the counts of 'murder' for 2026"):
        release(ledger, half, period=2026, **several)
    with pytest.raises(HoldfastError, match="the counts for 2026"):
        release(ledger, period=2026)
    release(ledger, half, period=2026, **several, **MEANT)
    assert len(ledger.spends("crime")) == 2


def test_a_ledger_of_before_remembers_no_counts_alone_and_goes_on(ledger):
    release(ledger, period=2025)
    with change(ledger.path, ledger.timeout) as pages:
        spend = pages.book.spends[1]
        body = {"kind": "spend", "spend": 2, "dataset": "crime", "epsilon": "1/4", "delta": "0"}
        known = {k: v for k, v in spend.known_by.to_body().items() if k != "alone"}
        body |= {"charges": [["1/4", "0", 1]], "fingerprint": "00", "what": "", "time": "now"}
        pages.append(body | {"period": "2024-01-01..2024-12-31", "known_by": known})
    with pytest.raises(HoldfastError, match="released for 2025"):
        release(ledger, period=2026)


def test_streams_and_dry_runs_ask_too_from_the_command_line(cli):
    FRAME.to_csv("table.csv", index=False)
    cli("ledger", "set-limit", "l.ledger", "crime", "--epsilon", "1", "--per-period")
    run = "privatize table.csv --count murder --category county --keep-none --max-count 3 "
    run += "--epsilon 1 --ledger l.ledger --dataset crime"
    first = [*run.split(), "--stream", "--period", "2025"]
    assert cli(*first, "--out", "first")[0] == 0
    for more in ([], ["--stream"]):
        again = [*run.split(), *more, "--period", "2026"]
        code, _, err = cli(*again, "--out", "second")
        assert code == 2 and "those that were released for 2025" in " ".join(err.split())
        code, _, err = cli(*again, "--dry-run")
        assert code == 0 and "A run would ask whether that is meant" in " ".join(err.split())
    assert cli(*again, "--publish-anyway", "same counts", "--out", "second")[0] == 0
    assert cli("ledger", "check", "l.ledger", "first", "second")[0] == 0


FORGED = {
    "the period": lambda record: record["notes"].__setitem__(0, "these are the counts of 2031"),
    "the rows that were chosen": lambda record: record["notes"].insert(
        0, "these are the rows whose state is NE"
    ),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_release_that_says_other_than_was_paid_for_fails_the_check(ledger, tmp_path, cli, what):
    folder = release(ledger, period=2025).save(tmp_path / "first")
    assert disagreements(ledger, folder) == []
    record = read_record(folder)
    FORGED[what](record)
    plant_record(folder, record, strong=True)
    assert holdfast.verify(folder)  # nothing but the ledger knows better
    assert disagreements(ledger, folder) == [what]
    code, out, _ = cli("ledger", "check", str(ledger.path), str(folder))
    assert code == 1 and f"NOT as the release says: {what}" in " ".join(out.split())


def test_a_release_with_other_counts_than_were_stored_fails_the_check(ledger, tmp_path):
    one = release(ledger, period=2025)
    two = release(ledger, FRAME.assign(murder=FRAME.theft), period=2026)
    folder, other = one.save(tmp_path / "one"), two.save(tmp_path / "two")
    record = read_record(other) | {"receipt": read_record(folder)["receipt"]}
    plant_record(other, record, strong=True)
    assert disagreements(ledger, other) == ["the period", "the counts"]
