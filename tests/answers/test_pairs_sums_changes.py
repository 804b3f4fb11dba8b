"""Two columns of counts, sums and rates, two years, and columns of one's own."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import holdfast
from holdfast.answers.laws import CombinedNoise, row_law
from holdfast.errors import HoldfastError
from private_tables import private_table

ROWS = 1200
GENERATOR = np.random.default_rng(4)
LEVEL = GENERATOR.gamma(1.0, 1.0, ROWS)
MURDERS, RAPES = GENERATOR.poisson(3 * LEVEL), GENERATOR.poisson(5 * LEVEL)
STATE = np.array(["IA", "NE"])[GENERATOR.integers(0, 2, ROWS)]
PEOPLE = GENERATOR.integers(100, 1000, ROWS)
CELLS = {
    "county": [f"c{row}" for row in range(ROWS)],
    "state": STATE.tolist(),
    "people": PEOPLE.astype(str).tolist(),
}
BOTH = {"murders": MURDERS, "rapes": RAPES}
OF = ["murders", "rapes"]


@pytest.fixture(scope="module")
def release():
    return private_table(BOTH, epsilon=2, cells=CELLS)


@cache
def releases():
    return [private_table(BOTH, epsilon=2, seed=50 * seed, cells=CELLS) for seed in range(24)]


def coverage(question, truth):
    covered, values = [], []
    for each in releases():
        answer = each.ask(question, of=OF)
        covered.append(answer.interval[0] <= truth <= answer.interval[1])
        values.append(answer.estimate)
    return np.mean(covered), np.mean(values)


TRUE = {
    "correlation": np.corrcoef(MURDERS, RAPES)[0, 1],
    "slope": np.polyfit(RAPES, MURDERS, 1)[0],
    "intercept": np.polyfit(RAPES, MURDERS, 1)[1],
    "ratio": MURDERS.sum() / RAPES.sum(),
    "both zero": ((MURDERS == 0) & (RAPES == 0)).mean(),
}


@pytest.mark.parametrize("question", TRUE)
def test_answers_about_pairs_are_covered_and_not_bent(question):
    covered, mean = coverage(question, TRUE[question])
    assert covered >= 0.7
    assert mean == pytest.approx(TRUE[question], rel=0.12, abs=0.02)


def test_pairs_are_typed_and_grouped(release):
    typed = release.ask("correlation of murders and rapes by state")
    assert set(typed) == {"IA", "NE"}
    given = release.ask("correlation", of=OF, where="state == NE")
    assert given.estimate == typed["NE"].estimate
    assert release.ask("both", of=OF, at_least=3).estimate > 0.2
    with pytest.raises(HoldfastError, match="must name two columns"):
        release.ask("correlation", of="murders")
    with pytest.raises(HoldfastError, match="fewer than 20 rows"):
        release.ask("correlation", of=OF, where=["c1", "c2"])
    with pytest.raises(HoldfastError, match="several columns of counts"):
        release.ask("mean")


def test_a_relation_that_noise_hides_is_answered_by_what_may_be():
    """By luck of the noise it was refused: the correlations that were answered were too low."""
    kept = GENERATOR.integers(0, 2, ROWS) == 1
    rare = {"murders": MURDERS * kept, "rapes": GENERATOR.poisson(MURDERS * kept * 0.1)}
    made = [private_table(rare, epsilon="0.8", seed=50 * seed, cells=CELLS) for seed in range(20)]
    true = np.corrcoef(rare["murders"], rare["rapes"])[0, 1]
    slope = np.polyfit(rare["rapes"], rare["murders"], 1)[0]
    found = [release.ask("correlation", of=OF) for release in made]
    lines = [release.ask("slope", of=OF) for release in made]
    for answers, value in ((found, true), (lines, slope)):
        assert sum(a.interval[0] <= value <= a.interval[1] for a in answers) >= 16
    assert np.median([answer.estimate for answer in found]) == pytest.approx(true, abs=0.3)
    assert any(answer.interval[1] == np.inf for answer in lines)
    flat = {"murders": np.full(200, 3), "rapes": np.full(200, 5)}
    hidden = private_table(flat, epsilon="0.2").ask("correlation", of=OF)
    assert hidden.interval[1] - hidden.interval[0] > 1
    assert "say little" in str(hidden)


def test_a_ratio_of_a_total_that_may_be_0_has_no_upper_end():
    rare = {"murders": GENERATOR.poisson(0.2, 200), "rapes": GENERATOR.poisson(0.2, 200)}
    cells = {"half": ["a", "b"] * 100}
    made = [private_table(rare, epsilon="0.3", seed=9 * seed, cells=cells) for seed in range(12)]
    answers = [release.ask("ratio", of=OF, where="half == a") for release in made]
    assert any(answer.interval[1] == np.inf for answer in answers)
    assert all(answer.interval[0] >= 0 for answer in answers)
    unknown = next(answer for answer in answers if answer.interval[1] == np.inf)
    assert "or more" in str(unknown) or "cannot be told" in str(unknown)
    assert unknown.to_dict()["interval"][1] is None


def test_no_answer_is_outside_what_can_be():
    rare = np.random.default_rng(5).poisson(0.3, ROWS)
    for seed in range(4):
        release = private_table(rare, epsilon="0.15", seed=seed, cells=CELLS)
        for question in ("total", "mean", "share 0", "share 5 or more", "rows 20+"):
            answer = release.ask(question, where="state == NE")
            assert 0 <= answer.interval[0] <= answer.estimate
            assert answer.interval[1] <= 1 or not question.startswith("share")


def test_sums_and_rates_of_rows_and_of_groups(release):
    derived = release.derive("violent = murders + rapes")
    true = MURDERS + RAPES
    assert 0.87 <= ((derived.low <= true) & (true <= derived.high)).mean() <= 0.97
    total = release.ask("murders + rapes")
    assert total.estimate == release["murders"].counts.sum() + release["rapes"].counts.sum()
    rate = release.ask("murders per 1,000 of people by state")
    people = PEOPLE[STATE == "NE"].sum()
    shown = release.ask("total", of="murders", where="state == NE").estimate
    assert rate["NE"].estimate == pytest.approx(1000 * shown / people)
    with pytest.raises(HoldfastError, match="no column of counts"):
        release.derive("x = murders + thefts")
    with pytest.raises(HoldfastError, match="holds no number"):
        release.derive("x = murders per 10 of state")


def test_rows_without_the_public_number_are_left_empty_and_said():
    cells = CELLS | {"people": ["", *CELLS["people"][1:]]}
    derived = private_table(BOTH, cells=cells).derive("rate = murders per 10 of people")
    assert derived.columns()["rate"][0] is None and len(derived) == ROWS
    assert derived.notes[0] == "1 row without people above 0 left empty"
    assert "not to be averaged" in str(derived)


def later(seed=9, shift=0, epsilon=2):
    counts = MURDERS.copy()
    counts[:5] += shift
    return private_table(counts, epsilon=epsilon, seed=seed, cells=CELLS)


EARLIER = private_table(MURDERS, epsilon=2, seed=1, cells=CELLS)


def test_the_noise_of_a_change_is_that_of_two_noises():
    law = CombinedNoise([EARLIER.only, later().only])
    noise = EARLIER.only.measurement.noise
    drawn = np.random.default_rng(0).geometric(-np.expm1(-float(noise.epsilon)), (4, 200_000))
    away = np.abs(drawn[0] - drawn[1] + drawn[2] - drawn[3])
    for level in (0.5, 0.9, 0.99):
        assert law.reach(level) == np.quantile(away, level, method="inverted_cdf")
    assert law.p_values(np.array([0]))[0] == pytest.approx(1)
    assert law.p_values(np.array([4]))[0] == pytest.approx((away >= 4).mean(), abs=0.01)


def test_changes_of_rows_are_covered_and_rows_that_rose_stand_out():
    changes = later(shift=40).changes(EARLIER)
    true = np.where(np.arange(ROWS) < 5, 40, 0)
    assert ((changes.low <= true) & (true <= changes.high)).mean() >= 0.89
    assert changes.stands_out[:5].all() and changes.stands_out[5:].sum() <= 5
    assert "stand out" in str(changes)
    assert "a change is the later release less the earlier one" in changes.notes


def test_the_change_of_a_row_that_does_not_stand_out_has_the_law_of_two_counts():
    then, now = later(seed=1, epsilon=0.5), later(epsilon=0.5)
    changes, noise = now.changes(then), CombinedNoise([then.only, now.only])
    assert np.mean(changes.high - changes.low) < 0.9 * 2 * noise.reach(0.9)
    assert ((changes.low <= 0) & (changes.high >= 0)).mean() >= 0.9
    row = int(np.flatnonzero(~changes.stands_out)[7])
    laws = [row_law(release.only, row) for release in (now, then)]
    chances = dict[int, float]()
    for value, chance in zip(laws[0].values, laws[0].probabilities, strict=True):
        for other, more in zip(laws[1].values, laws[1].probabilities, strict=True):
            chances[value - other] = chances.get(value - other, 0) + chance * more
    for end, least in ((changes.low, 0.05), (changes.high, 0.95)):
        upto = sum(chance for value, chance in chances.items() if value <= end[row])
        assert upto >= least - 1e-9 and upto - chances[end[row]] < least
    law = laws[0].less(laws[1])
    assert law.equal(1) == pytest.approx(chances[1])
    assert changes.expected[row] == pytest.approx(law.mean)


def test_where_nothing_changed_hardly_a_row_stands_out():
    picked = [later(seed=seed).changes(EARLIER).stands_out.sum() for seed in range(20, 40)]
    assert np.mean([number > 0 for number in picked]) <= 0.4
    assert "no row stands out" in str(later(seed=20).changes(EARLIER)) or picked[0]


def test_the_change_of_an_answer_is_newer_less_older():
    now = later(shift=500)
    answer = now.ask("total", against=EARLIER)
    assert answer.interval[0] <= 2500 <= answer.interval[1]
    assert answer.estimate == now.counts.sum() - EARLIER.counts.sum()
    groups = now.ask("share zero by state", against=EARLIER)
    assert set(groups) == {"IA", "NE"}
    one = now.ask("change of c1, c2", against=EARLIER)
    assert len(one) == 2 and one.noisy[0] > 300


def test_what_makes_no_change_is_refused_or_said():
    with pytest.raises(HoldfastError, match="the same release"):
        EARLIER.changes(EARLIER)
    assert any("two releases of the same data" in note for note in later().changes(EARLIER).notes)
    with pytest.raises(HoldfastError, match="rows stand in other places"):
        later().ask("mean", where=[True] * ROWS, against=EARLIER)


def test_it_is_said_which_of_two_releases_has_no_period():
    of_2025 = replace(EARLIER, period="2025")
    for now, then, which in (
        (replace(later(), period="2026"), EARLIER, "the earlier one"),
        (later(), of_2025, "this one"),
        (later(), EARLIER, "neither"),
    ):
        assert any(f"and {which} has no period" in note for note in now.changes(then).notes)
    notes = replace(later(), period="2026").changes(of_2025).notes
    assert not any("period" in note for note in notes)


def test_rows_left_out_of_changes_are_told_apart_by_why():
    def some(first, missing, seed):
        cells = {"county": CELLS["county"][first : first + 300]}
        counts = MURDERS[first : first + 300]
        return private_table(
            counts, seed=seed, cells=cells, missing=np.isin(cells["county"], missing)
        )

    changes = some(1, ["c4", "c300"], 2).changes(some(0, ["c7", "c0"], 1))
    assert (changes.only_after, changes.only_before) == ((), ())
    assert changes.notes[-1] == (
        "left out, because their count was not measured in one of the two: c4, c7"
    )
    changes = some(1, ["c4"], 2).changes(some(0, ["c7"], 1))
    assert (changes.only_after, changes.only_before) == (("c300",), ("c0",))
    assert len(changes) == 297 and not {"c4", "c7"} & set(changes.labels)
    with pytest.raises(HoldfastError, match="'c7' has no count in both releases"):
        some(1, ["c4"], 2).changes(some(0, ["c7"], 1), ["c7"])


def test_columns_of_ones_own_are_merged_and_empty_rows_are_counted():
    pandas = pytest.importorskip("pandas")
    release = private_table(MURDERS, epsilon=2, cells=CELLS)
    shuffled = list(range(ROWS - 7))[::-1]
    table = pandas.DataFrame({
        "county": [f"c{row}" for row in shuffled],
        "rural": [bool(row % 2) for row in shuffled],
        "income": [row * 1.5 for row in shuffled],
    })  # fmt: skip
    merged = release.merge(table, on="county")
    assert "merged: 7 rows of 1,200 are not in the table" in merged.notes[-1]
    assert list(merged.table["income"][:3]) == [0.0, 1.5, 3.0]
    assert merged.table["rural"][:2].tolist() == [False, True]
    assert list(merged.table["murders"]) == list(release.table["murders"])
    rural = merged.ask("mean", where="rural == True")
    assert "7 rows of 1,200 are not in the table" in str(rural)
    assert merged.ask("mean", where="not rural").rows == (ROWS - 7 + 1) // 2
    assert rural.rows == (ROWS - 7) // 2
    assert set(merged.ask("mean", by="rural")) == {"", "false", "true"}
    assert merged.regress("murders ~ income").rows == ROWS - 7
    with pytest.raises(HoldfastError, match="cannot be saved"):
        merged.save("x")
    for wrong, on, message in (
        (table, "state", "does not have"),
        (table[["county"]], "county", "only the columns of `on`"),
        (pandas.concat([table, table]), "county", "in several rows"),
        (table.assign(county="z"), "county", "in several rows"),
        (table.assign(county=range(ROWS - 7)), "county", "no row of the release"),
        (table.rename(columns={"rural": "state"}), "county", "both tables have"),
    ):
        with pytest.raises(HoldfastError, match=message):
            release.merge(wrong, on=on)


def test_imputed_tables_are_plausible(release):
    with pytest.warns(UserWarning, match="to other columns fade"):
        tables = release.impute(3)
    assert len(tables) == 3
    drawn = np.array([table["murders"] for table in tables])
    assert drawn.min() >= 0
    assert np.abs(drawn - MURDERS).mean() < 3
    assert abs(drawn.mean() - MURDERS.mean()) < 0.3


def test_a_question_about_two_columns_that_names_none_says_how_to_ask(release):
    with pytest.raises(HoldfastError, match="Hint: 'correlation of A and B'"):
        release.ask("correlation")


def test_imputed_tables_are_of_one_kind_from_a_file_and_from_its_bundle(tmp_path):
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame(CELLS | {"murders": MURDERS}).to_csv(tmp_path / "table.csv", index=False)
    made = holdfast.privatize(
        tmp_path / "table.csv", epsilon=1, count="murders", category="county", keep=["state"]
    )
    loaded = holdfast.load(made.save(tmp_path / "bundle"))
    with pytest.warns(UserWarning):
        tables = [each.impute(1)[0] for each in (made, loaded)]
    assert all(isinstance(table, pandas.DataFrame) for table in tables)
    assert tables[0].equals(tables[1])


def test_an_answer_of_several_columns_names_its_own(release):
    assert str(release.ask("mean", of="rapes")).startswith("mean rapes: ")
    assert "highest rapes" in release.ask("maximum", of="rapes", by="state").question
    assert release.ask("total NE", of="rapes").question.startswith("total of rapes of NE")


def test_a_count_is_no_public_number_and_a_public_number_is_no_count(release):
    for question, hint in (
        ("murders per 100 of rapes", "ratio of A and rapes"),
        ("correlation of murders and people", "'murders ~ people' has a slope"),
        ("murders per people", "'murders per 1000 of people'"),
        ("both of murders and rapes", "in Python"),
    ):
        with pytest.raises(HoldfastError, match=hint):
            release.ask(question)
    assert "SIMULATION" in str(release.derive("murders + rapes"))
    assert repr(release["rapes"]) == "Column('rapes', 1,200 measured rows)"


def both_later(rows=ROWS):
    both = {name: counts[:rows] for name, counts in BOTH.items()}
    cells = {name: column[:rows] for name, column in CELLS.items()}
    return private_table(both, epsilon=2, seed=77, cells=cells)


def test_ratios_rates_and_correlations_have_changes(release):
    now = both_later()
    for question in ("ratio of murders and rapes", "murders per 1000 of people",
                     "correlation of murders and rapes by state"):  # fmt: skip
        change, mine, theirs = (
            now.ask(question, against=release), now.ask(question), release.ask(question),
        )  # fmt: skip
        if "by" in question:
            change, mine, theirs = change["NE"], mine["NE"], theirs["NE"]
        assert change.estimate == pytest.approx(mine.estimate - theirs.estimate)
        assert change.interval[0] <= 0.2 and change.interval[1] >= -0.2


def test_changes_of_groups_say_how_many_rows_the_groups_have(release):
    change = both_later(1000).ask("mean murders by state", against=release)
    here, there = int((STATE[:1000] == "NE").sum()), int((STATE == "NE").sum())
    assert f"{here:,} rows here, and {there:,} in the earlier one" in str(change)
    assert "1,000 rows here" not in str(change)
    cells = {name: column for name, column in CELLS.items() if name != "people"}
    bare = private_table(BOTH, epsilon=2, seed=3, cells=cells)
    with pytest.raises(HoldfastError, match=r"of the earlier release: .*people"):
        both_later().ask("mean murders where people > 500", against=bare)


def test_rows_that_were_named_are_all_shown_and_by_themselves():
    now = later(shift=40)
    both, alone = (now.changes(EARLIER, rows) for rows in (["c1", "c9", "c8"], ["c9"]))
    assert all(name in str(both) for name in ("c1", "c9", "c8"))
    place = both.labels.index("c9")
    assert (both.low[place], both.high[place]) == (alone.low[0], alone.high[0])
