"""How often intervals for two counts together, and for what is derived from them, cover.

    python benchmarks/pairs_coverage.py DATA [--releases 50] [--epsilon 1] [--joint] [--first 0]

DATA is the folder with `crime_by_county.csv`, which is not part of the project. Murders are capped
at 40 and rapes at 80; asked at 90 % are the four questions about both, the correlation within some
states, the sum of both in every row, and its total and its rate per 100,000 in those states.
"""

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd

import holdfast.former as holdfast
from holdfast.former.analysis.answer import Answer
from holdfast.former.analysis.pairs.questions import QUESTIONS

OF, CAPS = ("MURDER", "RAPE"), [40, 80]
STATES = ("TX", "GA", "KS", "CA")
SOME = " or ".join(f"state == '{state}'" for state in STATES)
SUM, RATE = "both = MURDER + RAPE", "rate = MURDER + RAPE per 100,000 of population"


def truths(frame: pd.DataFrame) -> dict[str, float]:
    """What the answers are about."""
    one, other = frame[list(OF)].to_numpy().T
    slope, intercept = np.polyfit(one, other, 1)
    return {
        "both zero": float(((one == 0) & (other == 0)).mean()),
        "correlation": float(np.corrcoef(one, other)[0, 1]),
        "slope": float(slope),
        "intercept": float(intercept),
    }


def run(frame: pd.DataFrame, seeds: range, epsilon: float, joint: bool) -> None:
    """Print the share of intervals that cover, and the mean and the spread of the estimates."""
    found = defaultdict[str, list[tuple[float, bool]]](list)
    capped = frame.assign(**{n: frame[n].clip(upper=c) for n, c in zip(OF, CAPS, strict=True)})
    whole, sums = truths(capped), capped.groupby("state")[[*OF, "population"]].sum()
    row_sums = capped[list(OF)].sum(axis=1).to_numpy()
    for seed in seeds:
        release = holdfast.privatize(
            frame, count=list(OF), max_count=CAPS, category="row", keep=["state", "population"],
            epsilon=epsilon, joint=joint, seed=seed, publish_anyway=["row order"],
        )  # fmt: skip
        for question in QUESTIONS:
            _note(found[question], release.ask(question, OF), whole[question])
        both, rate = release.derive(SUM), release.derive(RATE).ask(by="state", where=SOME)
        found["sum of a row"].append(
            (0.0, float(((both.low <= row_sums) & (row_sums <= both.high)).mean()))
        )
        totals = both.ask(by="state", where=SOME)
        for state in STATES:
            inside = capped[capped.state == state]
            answer = release.ask("correlation", OF, where=f"state == '{state}'")
            _note(found["correlation, state"], answer, truths(inside)["correlation"])
            total = float(sums.loc[state, list(OF)].sum())
            _note(found["total, state"], totals[state], total)
            below = float(sums.loc[state, "population"])
            _note(found["rate, state"], rate[state], 1e5 * total / below)
    for name, each in found.items():
        values, covers = np.array(each, dtype=float).T
        print(
            f"{name:20} true {whole.get(name, np.nan):8.3f}  mean {values.mean():9.3f}  "
            f"spread {values.std():8.4f}  covers {covers.mean():.3f} of {len(each)}"
        )


def _note(found: list[tuple[float, bool]], answer: Answer, truth: float) -> None:
    low, high = answer.interval
    found.append((answer.estimate, bool(low <= truth <= high)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--releases", type=int, default=50)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--joint", action="store_true")
    given = parser.parse_args()
    frame = pd.read_csv(given.data / "crime_by_county.csv")
    frame = frame.assign(row=np.arange(len(frame)))
    seeds = range(given.first, given.first + given.releases)
    run(frame, seeds, given.epsilon, given.joint)


if __name__ == "__main__":
    main()
