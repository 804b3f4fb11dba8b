"""Columns that follow from a release: sums of counts, and rates with a public number."""

import json

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former.analysis.derived.formula import parse_derived
from holdfast.former.analysis.derived.sums import add_channels
from holdfast.former.analysis.pairs.joint_law import channel_of

ROWS = 300
CHANCE = np.random.default_rng(5)
MURDER = np.minimum(CHANCE.poisson(CHANCE.gamma(1, 1.5, ROWS)), 6)
FRAME = pd.DataFrame(
    {
        "county": [f"c{k}" for k in range(ROWS)],
        "state": np.array(["NE", "CA", "TX"])[np.arange(ROWS) % 3],
        "people": CHANCE.integers(1_000, 90_000, ROWS),
        "murder": MURDER,
        "theft": np.minimum(CHANCE.binomial(2 * MURDER + 1, 0.5), 6),
    }
)
ROLES = {"category": "county", "keep": ["state", "people"], "epsilon": 4, "max_count": 6, "seed": 1}


@pytest.fixture(scope="module")
def one():
    return holdfast.privatize(FRAME, count="murder", **ROLES)


@pytest.fixture(scope="module", params=[False, True])
def several(request):
    return holdfast.privatize(FRAME, count=["murder", "theft"], joint=request.param, **ROLES)


def test_a_rate_is_the_count_over_the_public_number(one):
    rate = one.derive("rate = murder per 100,000 of people", level=0.8)
    scale = 100_000 / FRAME.people.to_numpy()
    np.testing.assert_allclose(rate.values, one.counts * scale)
    ends = one.intervals(0.8)
    np.testing.assert_allclose(rate.low, ends.low * scale)
    np.testing.assert_allclose(rate.high, np.where(ends.high < 6, ends.high, np.inf) * scale)
    np.testing.assert_allclose(rate.expected, ends.mean * scale)


def test_the_rate_of_a_group_is_its_total_over_the_sum_of_the_public_number(one):
    rate = one.derive("rate = murder per 1000 people")
    by_state, totals = rate.ask(by="state"), one.ask("total", by="state")
    people = FRAME.groupby("state").people.sum()
    for state in ("NE", "CA", "TX"):
        found, total = by_state[state], totals[state]
        assert found.estimate == pytest.approx(1000 * total.estimate / people[state])
        assert found.interval[1] == pytest.approx(1000 * total.interval[1] / people[state])
    some = rate.ask(where="state == 'NE'")
    assert some.estimate == pytest.approx(by_state["NE"].estimate)
    capped = "counts capped at 6, a lower bound"
    assert by_state["NE"].question == f"rate = murder per 1,000 of people, {capped}, state NE"


def test_rows_without_the_public_number_are_left_empty_and_said():
    people = FRAME.people.where(FRAME.index != 3, 0)
    one = holdfast.privatize(FRAME.assign(people=people), count="murder", **ROLES)
    rate = one.derive("rate = murder per people")
    assert np.isnan(rate.values[3]) and not np.isnan(np.delete(rate.values, 3)).any()
    assert rate.notes[0] == "1 row without people above 0 left empty"
    assert rate.to_pandas().rate.isna().sum() == 1


def test_a_sum_is_what_its_columns_add_up_to_and_its_intervals_cover(several):
    both = several.derive("both = murder + theft")
    released = several["murder"].counts + several["theft"].counts
    np.testing.assert_array_equal(both.values, released)
    truth = (FRAME.murder + FRAME.theft).to_numpy()
    inside = (both.low <= truth) & (truth <= both.high)
    assert inside.mean() > 0.84
    parts = [several[name].intervals(0.9) for name in ("murder", "theft")]
    widths = sum(part.high - part.low for part in parts)
    closed = np.isfinite(both.high)
    assert (both.high - both.low)[closed].mean() < widths[closed].mean()
    assert closed.mean() > 0.7 and not closed[released == 12].any()
    assert np.abs(both.expected - truth).mean() < 1.2 * np.abs(both.values - truth).mean()


def test_the_law_of_a_sum_is_that_of_the_pairs_that_add_up_to_it(several):
    channels = [channel_of(one) for one in several.values()]
    total = add_channels(*channels)
    assert total.prior.sum() == pytest.approx(1) and len(total.prior) == 13
    assert total.likelihood.shape == (13, len(np.unique(total.kinds)))
    shown = several["murder"].counts + several["theft"].counts
    np.testing.assert_array_equal(total.shown[total.kinds], shown)


def test_totals_of_sums_are_sums_of_totals(several):
    both = several.derive("both = theft + murder").ask(by="state")
    for state, found in both.items():
        parts = [several[name].ask("total", by="state")[state] for name in ("murder", "theft")]
        assert found.estimate == pytest.approx(sum(part.estimate for part in parts))
        truth = FRAME[FRAME.state == state][["murder", "theft"]].to_numpy().sum()
        assert found.interval[0] - 20 < truth < found.interval[1] + 20
        reach = np.hypot(*(part.interval[1] - part.estimate for part in parts))
        assert found.interval[1] - found.estimate == pytest.approx(reach)


def test_a_derived_column_stands_beside_the_table(several):
    frame = several.derive("both = murder + theft").to_pandas()
    assert list(frame.columns[-5:]) == ["murder", "theft", "both", "both_low", "both_high"]
    assert (frame.both == frame.murder + frame.theft).all()


WRONG = {
    "murder + theft": "does not say what to derive",
    "x =": "does not say what to derive",
    "x = murder + rape": "no column of counts 'rape'",
    "x = murder + murder": "enter a sum once",
    "x = murder per state": "holds texts",
    "x = murder per height": "height",
    "people = murder": "the table already has a column 'people'",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_cannot_be_derived_is_refused(one, text):
    with pytest.raises(HoldfastError, match=WRONG[text]):
        one.derive(text)


def test_names_may_stand_in_quotes():
    formula = parse_derived(
        "'my rate' = \"all murders\" per 1_000 of 'people 18+'", ["all murders"]
    )
    assert (formula.name, formula.parts, formula.per) == ("my rate", ("all murders",), 1000)
    assert formula.column == "people 18+"


def test_the_command_line_derives_a_rate_and_writes_it(one, cli):
    one.save("release")
    words = "derive", "release", "rate = murder per 100,000 of people"
    code, out, err = cli(*words, "--by", "state", "--out", "rates.csv")
    assert code == 0 and "rate = murder per 100,000 of people, by state" in out, err
    written = pd.read_csv("rates.csv")
    assert {"rate", "rate_low", "rate_high"} < set(written.columns) and len(written) == ROWS
    _, out, _ = cli(*words, "--json", "--where", "state == 'NE'")
    assert json.loads(out)["estimate"] > 0
    assert cli(*words, "--out", "rates.csv")[0] == 2


def test_a_sum_of_columns_with_different_caps_names_each_of_them():
    found = holdfast.privatize(
        FRAME, count=["murder", "theft"], **ROLES | {"max_count": {"murder": 2, "theft": 3}}
    )
    total = found.derive("both = murder + theft").ask()
    assert "counts capped at 2 (murder) and 3 (theft), a lower bound" in total.question
    assert total.counts_words == "capped at 2 (murder) and 3 (theft)"
    same = found.derive("one = theft").ask()
    assert "counts capped at 3, a lower bound" in same.question
