import sys

import numpy as np
import pytest

import stage_1 as command
import stage_1_study as stage_1
from contenders import CONTENDERS, DEFAULT, contender, pairs
from holdfast.former.engines.memory import privatize
from holdfast.former.privatizers.named_projections import PROJECTIONS
from holdfast.former.studies.runner import run
from holdfast.former.tables.histogram import histogram_of_counts
from stage_1_study import contests, figure_study, table_study


@pytest.fixture
def no_folder(monkeypatch):
    monkeypatch.delenv(stage_1.FOLDER, raising=False)
    stage_1.load.cache_clear()
    yield
    stage_1.load.cache_clear()


def test_the_table_has_every_privatizer_with_every_projection_on_every_data_set(no_folder):
    study = table_study(draws=2)
    assert {(t["privatizer"], t["projection"]) for t in study.tasks} == set(pairs())
    assert len(pairs()) >= len(CONTENDERS) * len(PROJECTIONS)
    assert len({t["epsilon"] for t in study.tasks}) == 5
    made = {t["data"] for t in study.tasks}
    assert made == set(stage_1.DATA) - {"crime"}  # which nobody can make
    assert all("seed" in t["source"] for t in study.tasks)


def test_crime_is_there_when_its_folder_is(shared_data, monkeypatch):
    monkeypatch.setenv(stage_1.FOLDER, str(shared_data))
    stage_1.load.cache_clear()
    assert {t["data"] for t in table_study(draws=2).tasks} == set(stage_1.DATA)


def test_the_study_calls_the_default_what_privatize_uses():
    counts = np.repeat(np.arange(6), [40, 10, 0, 7, 3, 1])
    release = privatize(counts, epsilon=1, max_count=5, seed=1)
    again = contender(*DEFAULT)(
        histogram_of_counts(counts, 5), epsilon=release.privacy.budget.unit_1, rng=1
    )
    assert np.array_equal(release.target, again)


def test_the_default_beats_the_papers_method_and_the_errors_are_measured(no_folder):
    study = table_study(draws=30, data=("heaped",), epsilons=("0.05",))
    rows = run(study, jobs=1, progress=False)
    found = {(row["privatizer"], row["projection"]): row for row in rows}
    paper, ours = found["cyclic Laplace", "clip"], found[DEFAULT]
    for metric in command.METRICS:
        assert 0 < ours[f"{metric}_se"] < ours[metric] < paper[metric]
    assert contests(rows, "wasserstein", DEFAULT)[0].kept
    lost = contests(rows, "wasserstein", ("cyclic Laplace", "clip"))[0]
    assert not lost.kept and lost.ratio > 2 and lost.bars > 3


def test_the_papers_figure_keeps_its_ordering(no_folder):
    """The cyclic mechanism is the best of the four that the paper compares, at every n."""
    rows = run(figure_study(draws=40, bins=(21, 81)), jobs=1, progress=False)
    by_bins = [row | {"data": row["bins"]} for row in rows]
    for metric in ("wasserstein", "kolmogorov_smirnov"):
        for contest in contests(by_bins, metric, ("cyclic Laplace", "clip")):
            assert contest.tied == (("cyclic Laplace", "clip"),)


@pytest.mark.parametrize("mode", [[], ["--figure"], ["--rule"]])
def test_the_command_prints_its_tables(mode, capsys, monkeypatch, tmp_path, no_folder):
    arguments = ["stage_1.py", "--quick", "--draws", "2", "--jobs", "1", "--folder", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", [*arguments, *mode])
    command.main()
    text = capsys.readouterr().out
    if mode == ["--figure"]:
        assert "STAND-IN" in text and "smallest at every n" in text
    else:
        assert "crime: LEFT OUT" in text and "the default beats or ties" in text
    assert len(list(tmp_path.glob("stage-1*.csv"))) == 1
