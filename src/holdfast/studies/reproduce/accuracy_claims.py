"""What the paper says of its accuracy experiments, beside what was found."""

from collections.abc import Sequence

from holdfast.studies.reproduce.claims import Claim, Estimate, number, sentence, versus
from holdfast.studies.reproduce.distribution_claims import (
    CLOSE,
    SANDWICH,
    WORDS,
    default_below_baselines,
    distribution_claims,
)
from holdfast.studies.reproduce.means import Means, listing, means_of, nearest, sources
from holdfast.studies.reproduce.methods import BASELINES, FIXED
from holdfast.studies.runner import Row

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
SELECTORS = (("crime", "max", "min"), ("binomial", "min", "max"), ("schools", "min", "max"))
DECREASES = (("binomial", "94%"), ("crime", "74%"), ("schools", "87%"))
TEXT_SAYS_1 = " (the text says ε_t = 1)"
PAPER_RUNS = 10


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Printed numbers, then statements about the curves."""
    where = sources(rows)
    tables = {measure: means_of(rows, measure) for measure in ("wasserstein", "absolute")}
    found = [
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
    found += [
        number(
            f"{data}, ε_t = 0.48: decrease of W1 from the best baseline to a fixed point",
            printed,
            _decrease(tables["wasserstein"], data, middle),
            runs=PAPER_RUNS,
            source=where[data],
        )
        for data, printed in DECREASES
        if data in where
    ]
    found += _count_ratios(tables["absolute"], where, middle)
    found += distribution_claims(rows)
    return found + _count_statements(tables["absolute"], rows)


def _decrease(w1: Means, data: str, epsilon: float) -> Estimate:
    """In percent, with the error carried over from both means."""
    best = min((w1[data, name, epsilon] for name in BASELINES), key=lambda e: e.mean)
    fixed = w1[data, SANDWICH, epsilon]
    ratio = fixed.mean / best.mean
    relative = ((fixed.error / fixed.mean) ** 2 + (best.error / best.mean) ** 2) ** 0.5
    spread = ((fixed.spread / fixed.mean) ** 2 + (best.spread / best.mean) ** 2) ** 0.5
    return Estimate(100 * (1 - ratio), 100 * ratio * relative, 100 * ratio * spread)


def _count_ratios(absolute: Means, where: dict[str, str], middle: float) -> list[Claim]:
    if "crime" not in where:
        return []
    fixed, unfixed = (absolute["crime", m, middle] for m in ("paper", "unfixed-optimum"))
    rise = 100 * (fixed.mean / unfixed.mean - 1)
    relative = ((fixed.error / fixed.mean) ** 2 + (unfixed.error / unfixed.mean) ** 2) ** 0.5
    return [
        number(
            "crime, ε_t = 0.48: increase of count error, unfixed optimum to fixed-point optimum",
            "5.7%",
            Estimate(rise, 100 * relative),
            runs=PAPER_RUNS,
            source=where["crime"],
            reason="5.7 % is the increase to the sandwich selector in the paper's own draws, and "
            "4.5 % that to the optimum (published-draws).",
        )
    ]


def _count_statements(absolute: Means, rows: Sequence[Row]) -> list[Claim]:
    budgets = sorted({row["epsilon"] for row in rows})
    where = sources(rows)
    cells = [(data, epsilon) for data in where for epsilon in budgets]

    def mean(data: str, method: str, epsilon: float) -> float:
        return absolute[data, method, epsilon].mean

    crossed = [
        f"{d} at {e:g}" for d, e in cells if mean(d, "unfixed-optimum", e) > mean(d, "paper", e)
    ]
    heuristics = [m for m in FIXED if m != "paper"]
    above = max(mean(d, SANDWICH, e) / min(mean(d, m, e) for m in heuristics) - 1 for d, e in cells)
    beaten = [
        f"{d} at {e:g}"
        for d, e in cells
        if mean(d, "truncated-geometric", e) < mean(d, "unfixed-optimum", e)
    ]
    found = [
        sentence(
            "The unfixed optimum always has less count error than the fixed-point optimum",
            not crossed,
            f"exceptions: {listing(crossed)}",
            reason="Both minimise the error under z, not under the true distribution; where z is "
            "far from it the order can turn.",
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
    ]
    return [*found, *_among_fixed(absolute, cells), *_selectors(absolute, rows)]


def _among_fixed(absolute: Means, cells: Sequence[tuple[str, float]]) -> list[Claim]:
    heuristics = [m for m in FIXED if m != "paper"]
    means = {(d, e): {m: absolute[d, m, e].mean for m in FIXED} for d, e in cells}
    higher = [f"{d} at {e:g}" for (d, e), at in means.items() if at["paper"] > min(at.values())]
    best = dict.fromkeys(heuristics, 0)
    for at in means.values():
        best[min(heuristics, key=lambda m: at[m])] += 1
    cheaper = sum(
        min(at[m] for m in heuristics) - at["paper"]
        < at["paper"] - min(absolute[d, b, e].mean for b in BASELINES)
        for (d, e), at in means.items()
    )
    return [
        sentence(
            "Among the fixed-point methods the optimum has the lowest count error",
            not higher,
            f"exceptions: {listing(higher)}",
            reason="It minimises the error under z, not under the true distribution.",
        ),
        sentence(
            "Each of the three selectors is the best choice somewhere",
            True if all(best.values()) else None,
            "best at " + ", ".join(f"{n} points {m}" for m, n in best.items()),
            reason="The paper varied more parameters than these curves.",
        ),
        sentence(
            "From the optimum to a heuristic usually costs less than from the best baseline to the "
            "optimum",
            2 * cheaper > len(cells),
            f"at {cheaper} of {len(cells)} points; agrees above half",
        ),
    ]


def _selectors(absolute: Means, rows: Sequence[Row]) -> list[Claim]:
    where, budgets = sources(rows), sorted({row["epsilon"] for row in rows})
    claims = []
    for data, good, bad in SELECTORS:
        if data in where:
            wins = sum(
                absolute[data, f"heuristic-{good}", e].mean
                <= absolute[data, f"heuristic-{bad}", e].mean
                for e in budgets
            )
            claims.append(
                sentence(
                    f"{data}: the {good} selector does well, the {bad} selector does not",
                    2 * wins > len(budgets),
                    f"{good} below {bad} at {wins} of {len(budgets)} budgets",
                    source=where[data],
                )
            )
    return claims


def squared_claims(rows: Sequence[Row]) -> list[Claim]:
    """The paper: the figure of the squared error is similar."""
    squared = means_of(rows, "squared")
    budgets = sorted({row["epsilon"] for row in rows})
    cells = [(data, epsilon) for data in sources(rows) for epsilon in budgets]
    crossed = [
        f"{d} at {e:g}"
        for d, e in cells
        if squared[d, "unfixed-optimum", e].mean > squared[d, "paper", e].mean
    ]
    heuristics = sum(
        min(squared[d, m, e].mean for m in FIXED) == squared[d, "paper", e].mean for d, e in cells
    )
    return [
        sentence(
            "With the mean squared error the picture is similar: unfixed optimum below fixed-point "
            "optimum",
            not crossed,
            f"exceptions: {listing(crossed)}",
            reason="Both minimise the error under z, not under the true distribution; where z is "
            "far from it the order can turn.",
        ),
        sentence(
            "... and the fixed-point optimum below the heuristics",
            heuristics > 0.8 * len(cells),
            f"at {heuristics} of {len(cells)} points",
        ),
    ]


def beyond(rows: Sequence[Row]) -> list[Claim]:
    """The default beside the paper's method and the baselines."""
    w1, absolute = means_of(rows, "wasserstein"), means_of(rows, "absolute")
    budgets = sorted({row["epsilon"] for row in rows})
    found = default_below_baselines(rows)
    for data, source in sources(rows).items():
        for epsilon in (budgets[0], nearest(rows, 0.48), nearest(rows, 1.05), budgets[-1]):
            for measure, means in (("W1", w1), ("absolute deviation", absolute)):
                what = (
                    f"{data}, ε_t = {epsilon:g}: {measure}, the paper's method (cyclic Laplace, "
                    "its split, optimum) and holdfast's default"
                )
                theirs, ours = means[data, "paper", epsilon], means[data, "default", epsilon]
                found.append(versus(what, theirs, ours, source=source))
    return found
