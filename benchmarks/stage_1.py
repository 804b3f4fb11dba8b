"""Stage 1: the mean error of z for all privatizers and projections, and who wins where.

    python benchmarks/stage_1.py [--folder RESULTS] [--data DATA] [--draws 200] [--quick]
    python benchmarks/stage_1.py --figure      # the paper's figure: W1 and KS by number of bins
    python benchmarks/stage_1.py --rule        # at the paper's split, beside its method

Crime, and the paper's own draws of the synthetic sets, come from the folder DATA (or the variable
HOLDFAST_DATA); without it crime is left out and the others are drawn anew. With --folder a
killed run resumes where it stopped, and a CSV of all figures is left there.
"""

import argparse
import itertools
import os
from collections.abc import Iterable
from fractions import Fraction

from contenders import DEFAULT, DELTA
from holdfast.former.studies.runner import Row, Study, run
from holdfast.former.privacy.budget import paper_rule
from stage_1_study import (
    DATA,
    FIGURE_PAIRS,
    FOLDER,
    clearly_above,
    contests,
    figure_study,
    present,
    table_study,
)

METRICS = {"wasserstein": "W1", "kolmogorov_smirnov": "KS", "total_variation": "TV"}
QUICK_DATA, QUICK_EPSILONS = ("binomial", "crime", "schools", "heaped"), ("0.05", "1")
RULE_TOTALS = ("0.1", "0.48", "1")


def cell(row: Row, metric: str) -> str:
    return f"{row[metric]:.3g} ±{row[metric + '_se']:.1g}"


def label(row: Row) -> str:
    return f"{row['privatizer']}, {row['projection']}"


def print_table(title: str, rows: list[Row], metric: str, by: str) -> None:
    columns = list(dict.fromkeys(row[by] for row in rows))
    found = {(label(row), row[by]): cell(row, metric) for row in rows}
    print(f"\n{title}, mean {METRICS[metric]}")
    print(f"{by:<32}" + "".join(f"{column!s:>16}" for column in columns))
    for name in dict.fromkeys(map(label, rows)):
        mark = "*" if name == ", ".join(DEFAULT) else " "
        print(f"{mark}{name:<31}" + "".join(f"{found[name, c]:>16}" for c in columns))


def print_sources(names: Iterable[str]) -> None:
    found = present(names)
    for data in found:
        n, total = len(data.histogram), data.histogram.sum()
        print(f"{data.name}: n = {n}, N = {total}, {data.source}")
    for name in set(names) - {data.name for data in found}:
        print(f"{name}: LEFT OUT, no file; name its folder with --data")


def print_summary(rows: list[Row]) -> None:
    print(
        f"\nThe default (*) is {', '.join(DEFAULT)}. The Gaussian ones spend δ = {DELTA} as well."
    )
    for metric, short in METRICS.items():
        cells = contests(rows, metric, DEFAULT)
        kept = sum(c.kept for c in cells)
        print(f"\n{short}: the default beats or ties every other in {kept} of {len(cells)} cells")
        wins: dict[str, list[str]] = {}
        for c in cells:
            wins.setdefault(", ".join(c.winner), []).append(f"{c.data} {c.epsilon}")
        for name, where in sorted(wins.items(), key=lambda item: -len(item[1])):
            print(f"  smallest: {name} ({len(where)}): {'; '.join(where)}")
        for c in cells:
            if not c.kept:
                beaten = f"{', '.join(c.winner)} at {c.data} {c.epsilon}"
                print(f"  default {c.ratio:.2f} x {beaten} ({c.bars:.1f} standard errors)")


def print_figure(rows: list[Row]) -> None:
    for metric in ("wasserstein", "kolmogorov_smirnov"):
        print_table(f"schools ({rows[0]['source']}), ε1 = 1", rows, metric, "bins")
        for n in dict.fromkeys(row["bins"] for row in rows):
            print(f"  n = {n:4d}: {ordering([r for r in rows if r['bins'] == n], metric)}")
        first = {c.winner[0] for c in contests(_by_bins(rows), metric, FIGURE_PAIRS[0])}
        print(f"  smallest at every n: {', '.join(first) if len(first) == 1 else 'none'}")


def ordering(rows: list[Row], metric: str) -> str:
    """Names from the smallest mean up, with ≈ between neighbours within error bars."""
    ordered = sorted(rows, key=lambda row: row[metric])
    text = ordered[0]["privatizer"]
    for before, row in itertools.pairwise(ordered):
        text += (" < " if clearly_above(row, before, metric) else " ≈ ") + row["privatizer"]
    return text


def _by_bins(rows: list[Row]) -> list[Row]:
    return [row | {"data": row["bins"]} for row in rows]


def rule_study(draws: int) -> Study:
    """The paper's split at a few totals, for the data that its method was tried on."""
    shares = [Fraction(total) * paper_rule(Fraction(total)) for total in RULE_TOTALS]
    return table_study(draws=draws, data=("binomial", "crime"), epsilons=[str(s) for s in shares])


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", help="where results are kept and a killed run is found again")
    parser.add_argument("--data", help="folder of the data sets")
    parser.add_argument("--draws", type=int, help="draws per figure; 200, or 20 with --quick")
    parser.add_argument("--jobs", type=int, help="processes; as many as there are cores")
    parser.add_argument("--quick", action="store_true", help="fewer data sets, budgets and draws")
    parser.add_argument("--figure", action="store_true", help="the paper's figure")
    parser.add_argument("--rule", action="store_true", help="at the paper's split")
    return parser.parse_args()


def main() -> None:
    given = options()
    if given.data:
        os.environ[FOLDER] = given.data
    draws = given.draws or (20 if given.quick else 200)
    kept = {"folder": given.folder, "jobs": given.jobs}
    if given.figure:
        bins = {"bins": (21, 81, 161)} if given.quick else {}
        print_figure(run(figure_study(draws=draws, **bins), **kept))
        return
    data, epsilons = (QUICK_DATA, {"epsilons": QUICK_EPSILONS}) if given.quick else (DATA, {})
    if given.rule:
        data, study = ("binomial", "crime"), rule_study(draws)
    else:
        study = table_study(draws=draws, data=data, **epsilons)
    print_sources(data)
    rows = run(study, **kept)
    for name in dict.fromkeys(row["data"] for row in rows):
        for metric in METRICS:
            print_table(name, [row for row in rows if row["data"] == name], metric, "epsilon")
    print_summary(rows)


if __name__ == "__main__":
    main()
