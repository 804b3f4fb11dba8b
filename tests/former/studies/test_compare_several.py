"""Joint and separate releases side by side: the relation that is kept, and the price of it."""

import json

import pytest

from command_line import run
from holdfast.former.studies.compare.several import compare_several
from several_tables import three_counts


@pytest.fixture(scope="module")
def found():
    return compare_several(
        three_counts(600), count=["a", "b"], max_count={"a": 6, "b": 9}, epsilons=["0.5"],
        repetitions=3,
    )  # fmt: skip


def test_joint_keeps_more_of_the_relation_and_changes_single_counts_more(found):
    truth, apart, joint = found
    want = truth["correlation"]["a and b"]
    off = [abs(line["correlation"]["a and b"] - want) for line in (apart, joint)]
    assert off[1] < off[0] and joint["change"]["b"] > apart["change"]["b"]
    assert joint["change"]["a"] == apart["change"]["a"] and truth["w1"] == {"a": 0, "b": 0}


@pytest.mark.parametrize("command", ["compare", "plan"])
def test_the_price_is_printed_beside_separate_releases(tmp_path, capsys, monkeypatch, command):
    file, table = tmp_path / "table.csv", three_counts()
    file.write_text("\n".join(",".join(row) for row in (table.columns, *table.rows)) + "\n")
    where = (file,) if command == "compare" else ("--prior", file, "--categories", "200")
    code, said, _ = run(
        capsys, monkeypatch, command, *where, "--count", "a", "--count", "b",
        *("--max-count", "a=6", "--max-count", "b=9", "--epsilon", "1", "--repetitions", "1"),
        "--json",
    )  # fmt: skip
    ways = [line["way"] for line in json.loads(said)["several"]]
    assert code == 0 and ways == ["truth", "separate", "joint"]
