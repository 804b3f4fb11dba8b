"""What the paper says of its accuracy experiments, beside what was found."""

import math
from collections.abc import Sequence

from holdfast.paper.experiments.claims import (
    Claim,
    Means,
    RunMean,
    listing,
    means_of,
    nearest,
    number,
    sentence,
    sources,
)
from holdfast.paper.experiments.distribution_claims import (
    CLOSE,
    SANDWICH,
    WORDS,
    distribution_claims,
)
from holdfast.paper.experiments.runner import Row
from holdfast.paper.experiments.simulation import FIXED_POINT

PRINTED = (  # data, budget, measure, method, the paper's number
    ("binomial", 0.48, "wasserstein", "unfixed-optimum", "0.64"),
    ("binomial", 0.48, "wasserstein", SANDWICH, "0.04"),
    ("crime", 0.1, "wasserstein", "unfixed-optimum", "1.44"),
    ("crime", 0.1, "wasserstein", SANDWICH, "2.17"),
    ("schools", 0.1, "wasserstein", SANDWICH, "0.06"),
    ("schools", 0.1, "wasserstein", "truncated-geometric", "2.60"),
    ("crime", 0.48, "absolute", "unfixed-optimum", "1.27"),
    ("crime", 0.48, "absolute", "paper", "1.32"),
    ("crime", 1.05, "absolute", "truncated-geometric", "0.55"),
    ("crime", 1.05, "absolute", "paper", "0.64"),
    ("crime", 1.05, "absolute", SANDWICH, "0.66"),
)
HEURISTICS = tuple(method for method in FIXED_POINT if method != "paper")
SELECTORS = (("crime", "max", "min"), ("binomial", "min", "max"), ("schools", "min", "max"))
DECREASES = (("binomial", "94%"), ("crime", "74%"), ("schools", "87%"))
TEXT_SAYS_1 = " (the text says ε_t = 1)"
UNDER_Z = (
    "Both minimise the error under z, not under the true distribution; where z is far from it the "
    "order can turn."
)
PAPER_RUNS = 10


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Printed numbers, then statements about the curves."""
    where = sources(rows)
    tables = {measure: means_of(rows, measure) for measure in ("wasserstein", "absolute")}
    numbers = [
        number(
            f"{data}, ε_t = {epsilon:g}{TEXT_SAYS_1 if epsilon == 1.05 else ''}: "
            f"{WORDS[measure]} of {WORDS[method]}",
            printed,
            tables[measure][data, method, nearest(rows, epsilon)],
            runs=PAPER_RUNS,
            source=where[data],
        )
        for data, epsilon, measure, method, printed in PRINTED
        if data in where
    ]
    middle = nearest(rows, 0.48)
    numbers += _decreases(tables["wasserstein"], where, middle)
    numbers += _crime_increase(tables["absolute"], where, middle)
    numbers += distribution_claims(rows)
    return numbers + _count_statements(tables["absolute"], where)


def _decreases(w1: Means, where: dict[str, str], middle: float) -> list[Claim]:
    numbers = []
    for data, printed in DECREASES:
        if data in where:
            best = w1[data, w1.best((data, middle)), middle]
            change = _percent_change(best, w1[data, SANDWICH, middle])
            what = f"{data}, ε_t = 0.48: decrease of W1 from the best baseline to a fixed point"
            fall = RunMean(-change.mean, change.error, change.spread)
            numbers.append(number(what, printed, fall, runs=PAPER_RUNS, source=where[data]))
    return numbers


def _crime_increase(absolute: Means, where: dict[str, str], middle: float) -> list[Claim]:
    if "crime" not in where:
        return []
    fixed, unfixed = (absolute["crime", m, middle] for m in ("paper", "unfixed-optimum"))
    return [
        number(
            "crime, ε_t = 0.48: increase of count error, unfixed optimum to fixed-point optimum",
            "5.7%",
            _percent_change(unfixed, fixed),
            runs=PAPER_RUNS,
            source=where["crime"],
            reason="5.7 % is the increase to the sandwich selector in the paper's own draws, and "
            "4.5 % that to the optimum (published-draws).",
        )
    ]


def _percent_change(old: RunMean, new: RunMean) -> RunMean:
    """With the error and the spread carried over from both means."""
    ratio = new.mean / old.mean
    error = math.hypot(new.error / new.mean, old.error / old.mean)
    spread = math.hypot(new.spread / new.mean, old.spread / old.mean)
    return RunMean(100 * (ratio - 1), 100 * ratio * error, 100 * ratio * spread)


def _count_statements(absolute: Means, where: dict[str, str]) -> list[Claim]:
    cells = absolute.cells
    best = {cell: absolute.best(cell, HEURISTICS) for cell in cells}
    above = max(absolute.at(c, SANDWICH) / absolute.at(c, best[c]) - 1 for c in cells)
    beaten = absolute.above("unfixed-optimum", "truncated-geometric")
    crossed = absolute.above("unfixed-optimum", "paper")
    higher = [f"{d} at {e:g}" for d, e in cells if absolute.best((d, e), FIXED_POINT) != "paper"]
    wins = {method: list(best.values()).count(method) for method in HEURISTICS}
    cheaper = sum(
        absolute.at(c, best[c]) - absolute.at(c, "paper")
        < absolute.at(c, "paper") - absolute.at(c, absolute.best(c))
        for c in cells
    )
    return [
        sentence(
            "The unfixed optimum always has less count error than the fixed-point optimum",
            not crossed,
            f"exceptions: {listing(crossed)}",
            reason=UNDER_Z,
        ),
        sentence(
            "The sandwich selector is the best of the three or close to it everywhere",
            above < CLOSE,
            f"at most {above:.1%} above the best selector",
        ),
        sentence(
            "Sometimes the truncated geometric beats the two-stage unfixed optimum",
            bool(beaten),
            f"at {len(beaten)} of {len(cells)} points",
        ),
        sentence(
            "Among the fixed-point methods the optimum has the lowest count error",
            not higher,
            f"exceptions: {listing(higher)}",
            reason="It minimises the error under z, not under the true distribution.",
        ),
        sentence(
            "Each of the three selectors is the best choice somewhere",
            True if all(wins.values()) else None,
            "best at " + ", ".join(f"{n} points {m}" for m, n in wins.items()),
            reason="The paper varied more parameters than these curves.",
        ),
        sentence(
            "From the optimum to a heuristic usually costs less than from the best baseline to the "
            "optimum",
            2 * cheaper > len(cells),
            f"at {cheaper} of {len(cells)} points; agrees above half",
        ),
        *_selectors(absolute, where),
    ]


def _selectors(absolute: Means, where: dict[str, str]) -> list[Claim]:
    claims = []
    for data, good, bad in SELECTORS:
        cells = [cell for cell in absolute.cells if cell[0] == data]
        if cells:
            wins = sum(
                absolute.at(c, f"heuristic-{good}") <= absolute.at(c, f"heuristic-{bad}")
                for c in cells
            )
            claims.append(
                sentence(
                    f"{data}: the {good} selector does well, the {bad} selector does not",
                    2 * wins > len(cells),
                    f"{good} below {bad} at {wins} of {len(cells)} budgets",
                    source=where[data],
                )
            )
    return claims


def squared_claims(rows: Sequence[Row]) -> list[Claim]:
    """The paper: the figure of the squared error is similar."""
    squared = means_of(rows, "squared")
    crossed = squared.above("unfixed-optimum", "paper")
    lowest = [squared.best(cell, FIXED_POINT) for cell in squared.cells].count("paper")
    return [
        sentence(
            "With the mean squared error the picture is similar: unfixed optimum below fixed-point "
            "optimum",
            not crossed,
            f"exceptions: {listing(crossed)}",
            reason=UNDER_Z,
        ),
        sentence(
            "... and the fixed-point optimum below the heuristics",
            lowest > 0.8 * len(squared.cells),
            f"at {lowest} of {len(squared.cells)} points",
        ),
    ]
