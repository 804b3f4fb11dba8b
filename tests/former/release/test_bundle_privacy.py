"""Nothing in a bundle depends on the true table, except through what the two stages gave."""

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast
from bundles import COUNTS
from holdfast.former.privatizers import CumulativeIsotonic, certifier
from holdfast.former.release.promise import Privacy
from holdfast.former.release.release import Release
from holdfast.former.release.usefulness import usefulness_notes
from holdfast.former.tables.table import read_table

ZERO_ROWS = [3, 5]


def table_of(counts):
    """The public columns and some counts; the category repeats a value, which is noted."""
    places = [f"p{i % 399}" for i in range(400)]
    return pd.DataFrame({"place": places, "area": np.arange(400) / 7, "n": counts})


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def options(**more):
    zeros = [i in ZERO_ROWS for i in range(400)]
    names = {"count": "n", "category": "place", "keep": ["area"], "repeated_categories": True}
    return names | {"structural_zero": zeros} | more


@pytest.mark.parametrize("seed", [None, 7])
@pytest.mark.parametrize("table_format", ["csv", "parquet"])
def test_a_bundle_can_be_made_from_stage_outputs_alone(tmp_path, table_format, seed):
    true = np.where(np.isin(np.arange(400), ZERO_ROWS), 0, COUNTS)
    stage_1 = CumulativeIsotonic()
    released = holdfast.privatize(
        table_of(true),
        **options(privatizer=stage_1, seed=seed),
        epsilon="0.9",
        max_count=8,
        contributions=2,
    )
    original = contents(released.save(tmp_path / "original", table_format=table_format))

    # from here on the truth is gone: the measurement, the mechanism and the released counts came
    # out of the stages, z out of the measurement; the rest is public or was chosen
    noisy, mechanism, counts = released.measurement, released.mechanism, released.counts
    del true, released
    public = read_table(table_of(np.zeros(400, dtype=np.int64)), **options())
    budget = holdfast.privacy.budget.split_budget("0.9", max_count=8, rows=398, contributions=2)
    target = stage_1.fit(noisy, 9, 398, budget.unit_1)
    again = Release(
        counts=counts,
        cells=public.replace(counts),
        target=target,
        measurement=noisy,
        drawn_with=holdfast.Mechanism(
            curves=mechanism.curves, epsilon=budget.unit_2, target=target
        ),
        privacy=Privacy(
            budget=budget,
            stage_1_certified=2 * stage_1.certified_epsilon(budget.unit_1),
            stage_2_certified=2 * mechanism.certified_epsilon,
            stage_1_certified_by=certifier(stage_1),
            simulated=seed is not None,
        ),
        rows=398,
        structural_zeros=2,
        structural_zero_rows=public.structural_zero,
        methods=(
            repr(stage_1),
            holdfast.constructors.Optimal()(target, epsilon=budget.unit_2).description,
        ),
        count_column="n",
        unchanged_columns=("place", "area"),
        category="place",
        notes=public.notes + usefulness_notes(mechanism, target, stage_1, budget, 398),
    )
    assert contents(again.save(tmp_path / "again", table_format=table_format)) == original


class Fixed(holdfast.former.privatizers.Privatizer):
    """A stage 1 that looks at nothing: as if its noise had led to the same z twice."""

    def __call__(self, histogram, *, epsilon, rng=None):
        return np.array([0.2, 0.3, 0.3, 0.1, 0.05, 0.05, 0, 0, 0])

    def certified_epsilon(self, epsilon):
        return holdfast.privacy.budget.exact_epsilon(epsilon)

    def __repr__(self):
        return "Fixed()"


def test_two_truths_with_the_same_stage_outputs_give_the_same_bytes(tmp_path, monkeypatch):
    drawn = np.random.default_rng(0).integers(0, 6, 400)
    module = __import__("sys").modules["holdfast.former.engines.steps"]
    monkeypatch.setattr(module, "RowSampler", lambda mechanism: lambda *_: drawn)
    bundles = []
    for index, true in enumerate([COUNTS, COUNTS[::-1] + 3, np.zeros(400, dtype=np.int64)]):
        release = holdfast.privatize(
            table_of(true), count="n", epsilon=1, max_count=8, privatizer=Fixed()
        )
        bundles.append(contents(release.save(tmp_path / str(index))))
    assert bundles[0] == bundles[1] == bundles[2]
    assert set(bundles[0]) == {
        "README.md", "SHA256SUMS", "codebook.md", "deployment.yaml", "distribution.svg",
        "intervals.csv", "mechanism.csv", "mechanism.curves", "release.json", "table.csv",
    }  # fmt: skip
