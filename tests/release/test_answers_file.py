"""answers.csv and distribution.csv say what counting in the table gives."""

import csv

import numpy as np
import pytest

from holdfast.answers.answer import Answer
from holdfast.cli.released import _share_and_bar
from holdfast.release.common import common_answers, known_digits
from holdfast.request.questions import Unit
from made_releases import counties, made_release


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    cells, counts = counties()
    release = made_release(
        {"homicides": counts, "half": counts // 2}, cells, within="state",
        missing=[3, 900], structural_zero=np.flatnonzero(counts == 0)[::9],
    )  # fmt: skip
    return release, release.save(tmp_path_factory.mktemp("demo") / "release")


COUNTED = {
    "rows": len,
    "share with 0": lambda n: (n == 0).mean(),
    "share with 1 or more": lambda n: (n >= 1).mean(),
    "share with 10 or more": lambda n: (n >= 10).mean(),
    "mean": np.mean,
    "total": np.sum,
    "median": lambda n: np.sort(n)[max(int(np.ceil(len(n) / 2)) - 1, 0)],
    "quantile 0.9": lambda n: np.sort(n)[max(int(np.ceil(0.9 * len(n) - 1e-6)) - 1, 0)],
    "highest": np.max,
}


def counted(folder, column, group):
    """The counts of a group as somebody takes them from the files, in a spreadsheet say."""
    table, rows = read(folder / "table.csv"), read(folder / "rows.csv")
    return np.array(
        [
            int(row[column])
            for row, beside in zip(table, rows, strict=True)
            if row[column] and group in ("all rows", beside["group"])
        ]
    )


@pytest.mark.parametrize("column", ["homicides", "half"])
@pytest.mark.parametrize("group", ["all rows", "01", "48", "56"])
def test_every_answer_is_what_counting_in_the_table_gives(demo, column, group):
    _, folder = demo
    counts = counted(folder, column, group)
    lines = [
        line
        for line in read(folder / "answers.csv")
        if (line["column"], line["group"]) == (column, group)
    ]
    asked = {line["question"]: line for line in lines}
    assert len(asked) == len(lines) >= 8
    for question, count in COUNTED.items():
        if question in asked:
            answer = asked[question]["answer"]
            digits = len(answer.partition(".")[2])
            assert float(answer) == pytest.approx(count(counts), abs=0.51 * 10.0**-digits)


def test_every_group_and_column_is_answered(demo):
    release, folder = demo
    said = {(line["column"], line["group"]) for line in read(folder / "answers.csv")}
    assert said == {
        (column.name, name)
        for column in release.columns
        for name in ("all rows", *release.group_names)
    }


def test_intervals_are_of_90_percent_and_hold_the_truth_about_as_often():
    cells, counts = counties()
    held = []
    for seed in range(30):
        release = made_release({"n": counts}, cells, epsilon="0.5", seed=seed)
        for answer in common_answers(release):
            truth = COUNTED.get(answer.question)
            if truth is not None and answer.question in ("share with 0", "mean", "total"):
                held.append(answer.low <= truth(counts) <= answer.high)
    assert 0.75 <= np.mean(held) <= 1


@pytest.mark.parametrize("group", ["all rows", "01", "56"])
def test_the_distribution_is_the_histogram_of_the_table(demo, group):
    _, folder = demo
    values, rows = np.unique(counted(folder, "homicides", group), return_counts=True)
    lines = [
        line
        for line in read(folder / "distribution.csv")
        if (line["column"], line["group"]) == ("homicides", group)
    ]
    assert [int(line["count"]) for line in lines] == values.tolist()
    assert [int(line["rows"]) for line in lines] == rows.tolist()
    for line in lines:
        share = int(line["rows"]) / rows.sum()
        assert float(line["share"]) == pytest.approx(share, abs=0.01)
        assert (line["low"] == "") == (line["high"] == "")
    assert lines[0]["low"] != "" and float(lines[0]["low"]) <= float(lines[0]["high"])


def test_single_high_counts_have_no_interval_of_a_share():
    release = made_release({"n": [0, 1, 2] * 300 + [10**6]}, epsilon="0.3")
    lines = list(csv.reader(",".join(line) for line in _lines(release)))
    assert lines[0][5] != "" and lines[-1][5] == "" and int(lines[-1][2]) > 900_000


def _lines(release):
    from holdfast.release.common import summaries

    return next(iter(summaries(release))).distribution()


def test_a_group_without_measured_rows_is_answered_by_its_known_zeros(tmp_path):
    cells = {"id": list("abcdefghij"), "kind": ["x"] * 8 + ["y"] * 2}
    release = made_release({"n": [1, 2] * 4 + [0, 0]}, cells, within="kind", structural_zero=[8, 9])
    answers = read(release.save(tmp_path / "r") / "answers.csv")
    told = {a["question"]: a["answer"] for a in answers if a["group"] == "y"}
    assert told["rows"] == "2" and told["share with 0"] == "1" and told["highest"] == "0"


@pytest.mark.parametrize(
    ("number", "low", "high", "text"),
    [
        (0.3731343283, 0.31, 0.44, "0.373"),
        (0.0875, 0.026, 0.143, "0.088"),
        (0.2875, 0.278, 0.299, "0.288"),
        (0.0087336257, 0.0087336245, 0.0087336269, "0.00873363"),
        (12.5, 12.5, 12.5, "12.5"),
        (1 / 3, 1 / 3, 1 / 3, "0.333333"),
        (1234.5678, 1000, 1500, "1235"),
        (2196.999999999999, 2196.999999999999, 2197.0000000001, "2197"),
        (10**15, 0, 1, "1000000000000000"),
        (float("nan"), 0, 1, ""),
    ],
)
def test_numbers_have_the_digits_that_are_known(number, low, high, text):
    assert known_digits(number, low, high) == text


def test_a_share_halfway_between_two_decimals_is_the_same_in_a_file_and_on_a_screen():
    for value, in_file, said in ((0.0875, "0.088", "8.8%"), (0.2875, "0.288", "28.8%")):
        answer = Answer.of("", value, np.array([value - 0.05, value + 0.05]), unit=Unit.SHARE)
        assert known_digits(value, *answer.interval) == in_file == str(answer.rounded(value))
        assert answer.in_words(value) == said == _share_and_bar(value, 1, 9).split()[0]


def test_the_mean_and_the_total_of_one_row_are_one_answer():
    cells = {"id": list(map(str, range(61))), "kind": ["x"] * 60 + ["y"]}
    release = made_release({"n": [*range(60), 45]}, cells, within="kind", epsilon="0.5")
    lines = {a.question: a.record()[3:] for a in common_answers(release) if a.group == "y"}
    assert lines["mean"] == lines["total"] and lines["mean"][1] != lines["mean"][2]
    mean, total = (release.ask(name, by="kind")["y"] for name in ("mean", "total"))
    assert mean.interval == total.interval and mean.ends_words == total.ends_words
