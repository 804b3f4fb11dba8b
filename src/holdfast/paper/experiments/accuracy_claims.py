"""What the paper says of its accuracy experiments, beside what was found."""

import math
from collections.abc import Sequence

from holdfast.paper.experiments.claims import (
    Cell,
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
from holdfast.paper.experiments.runner import Row
from holdfast.paper.experiments.simulation import FIXED_POINT

SANDWICH = "heuristic-sandwich"
CLOSE = 0.1  # curves nearer than this, relatively, coincide in a figure
WORDS = {
    "unfixed-optimum": "two-stage unfixed optimum",
    SANDWICH: "fixed point (sandwich)",
    "paper": "fixed-point optimum",
    "truncated-geometric": "truncated geometric",
    "staircase": "staircase",
    "discrete-gaussian": "discrete Gaussian",
    "wasserstein": "W1",
    "kolmogorov_smirnov": "KS distance",
    "total_variation": "total variation",
    "absolute": "absolute deviation",
}
MEASURES = ("wasserstein", "kolmogorov_smirnov", "total_variation")
EXCEPTION = ("crime", 0.1)  # that the paper names: data set and budget
SAID = "often, with exceptions, this one in particular"
LARGE_BUDGETS = (
    "At the largest budgets the truncated geometric, which spends nothing on stage 1, changes one "
    "count in a hundred, and what is left of either curve is mostly the scatter of the draw."
)


def distribution_claims(rows: Sequence[Row]) -> list[Claim]:
    """What the paper says of the curves of distribution error."""
    w1 = means_of(rows, "wasserstein")
    return [
        *(_below_baselines(means_of(rows, measure), measure) for measure in MEASURES),
        *_lying_together(w1),
        *_closest_baseline(w1, rows),
    ]


def _below_baselines(means: Means, measure: str) -> Claim:
    said, why = "similar to W1, omitted", LARGE_BUDGETS
    if measure == "wasserstein":
        said = SAID
        why += " On crime the curves cross near ε_t = 0.15." if EXCEPTION in means.cells else ""
    return often_below(means, f" ({WORDS[measure]})", "", "here", paper=said, reason=why)


def often_below(
    means: Means, what: str, where: str, fixed: str, *, paper: str = SAID, reason: str
) -> Claim:
    """The fixed point is mostly below the baselines, but above on crime at the smallest budget."""
    exceptions, cells = means.beaten(SANDWICH), means.cells
    above = EXCEPTION not in cells or EXCEPTION in means.surely_beaten(SANDWICH)
    return sentence(
        "The fixed point often has less distribution error than every baseline; there are "
        f"exceptions, in particular the crime data at ε_t = 0.1{what}",
        len(exceptions) < len(cells) / 2
        and (above or (None if EXCEPTION in exceptions else False)),
        f"{where}exceptions at {len(exceptions)} of {len(cells)} points: "
        f"{_in_words(means, SANDWICH, fixed)}",
        paper=paper,
        reason=reason,
    )


def _in_words(means: Means, method: str, called: str) -> str:
    """Where a baseline is below the method, and by how much."""
    words, sure = [], means.surely_beaten(method)
    for data, epsilon in means.beaten(method):
        cell = data, epsilon
        best = means.best(cell)
        doubt = "" if cell in sure else ", within sampling error"
        words.append(
            f"{data} at {epsilon:g} ({means.at(cell, best):.2g} {WORDS[best]}, "
            f"{means.at(cell, method):.2g} {called}{doubt})"
        )
    return listing(words, most=9)


def _lying_together(w1: Means) -> list[Claim]:
    cells = w1.cells
    small = [cell for cell in cells if cell[1] <= 1]
    apart, at_most = _furthest(w1, small, FIXED_POINT), _furthest(w1, cells, FIXED_POINT)
    twins = ("truncated-geometric", "staircase")
    return [
        sentence(
            "All fixed-point methods coincide in distribution error",
            at_most < 0.5,
            f"mean W1 up to {apart:.0%} from their average for ε_t ≤ 1, {at_most:.0%} at any; "
            "agrees below 50%",
            reason="A selector that moves counts more often scatters more: max on binomial and "
            "schools, min on crime. The optimum and the sandwich selector lie together.",
        ),
        sentence(
            "Staircase and truncated geometric coincide",
            _furthest(w1, cells, twins) < CLOSE,
            f"mean W1 up to {_furthest(w1, small, twins):.0%} from their "
            f"average for ε_t ≤ 1, {_furthest(w1, cells, twins):.0%} at any; agrees below "
            f"{CLOSE:.0%}",
            reason="With the recommended γ the rounded staircase has more noise than the geometric "
            "once ε_t is large: the step's centre is narrower than the interval that rounds to 0.",
        ),
    ]


def _closest_baseline(w1: Means, rows: Sequence[Row]) -> list[Claim]:
    source, first = sources(rows).get("schools"), nearest(rows, 0.1)
    if source is None:
        return []
    cell = "schools", first
    ratio = w1.at(cell, w1.best(cell)) / w1.at(cell, SANDWICH)
    what = "schools, ε_t = 0.1: the closest baseline is more than 40 times further off"
    return [sentence(what, ratio > 40, f"{ratio:.0f} times", source=source)]


def _furthest(w1: Means, cells: Sequence[Cell], methods: Sequence[str]) -> float:
    """The largest relative distance of a mean from the average of the methods' means."""
    return max((_spread([w1.at(cell, m) for m in methods]) for cell in cells), default=0.0)


def _spread(values: Sequence[float]) -> float:
    middle = sum(values) / len(values)
    return max(abs(value / middle - 1) for value in values)


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
