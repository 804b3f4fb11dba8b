"""What a report of a release says, as plain values, which JSON prints as they are."""

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError, numbered, one_line, roughly
from holdfast.former.analysis import linear, nonlinear
from holdfast.former.analysis.answer import SIMULATED, Answer
from holdfast.former.analysis.every_count import rarely_covered
from holdfast.former.analysis.known_zeros import drawn_rows
from holdfast.former.analysis.parts.part import members_of
from holdfast.former.analysis.parts.totals import MEASURED_QUESTIONS
from holdfast.former.analysis.posterior import (
    check_level,
    posterior,
    run_words,
)
from holdfast.former.analysis.rows import label_column
from holdfast.former.analysis.stage_one import has_stage_1
from holdfast.former.release.bins import widening
from holdfast.former.release.svg import STEPS
from holdfast.former.privacy.delta import beyond_epsilon
from holdfast.former.privacy.persons import protected

if TYPE_CHECKING:
    from holdfast.former.release.release import Release
    from holdfast.former.release.several import TableRelease

BARS, TOP, MOST_GROUPS = 61, 5, 100
FAR = 1001  # counts from which on runs widen
SMALL_COUNTS, FEW_COUNTS = (1, 3, 5, 10, 20), 100
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
Content = dict[str, Any]
PAPER = (
    "N. Kohli and P. Laskowski, Preserving Target Distributions With Differentially Private Count "
    "Mechanisms, 2026."
)

DO_NOT = (
    "Do not read a single row as a fact. Its count was drawn at random; the report says how far "
    "from the truth it may be.",
    "Do not add up released counts of a part of the rows: ask for the total of that part, whose "
    "interval says how far it can be known.",
    "Do not compare two releases of the same data row by row: their difference is noise from both.",
    "Do not correct or redraw rows that look wrong and publish the result as this release.",
    "Do not take the other columns as private: they were published as they were.",
)
ESTIMATORS = (
    ("best", "both stages combined, each weighed by what it knows; mostly, not always, the "
     "least error"),
    ("released", "what anyone computes from the released table; use it to match other people's "
     "figures"),
    ("target", "the private distribution z of stage 1 alone; its intervals keep their level most "
     "surely"),
)  # fmt: skip
ONE_STAGE = (
    ("best", "the released distribution with the mechanism's noise taken out again"),
    ("released", "what anyone computes from the released table, biased by the noise; use it to "
     "match other people's figures"),
)  # fmt: skip
NO_ANSWERS = (
    "The noise of this release is not known well enough for estimates with intervals, so none are "
    "given. What the released table says of each count stands under the distribution of counts."
)
KNOWN = "rows publicly known to be zero are not among them"


@dataclass(frozen=True, kw_only=True)
class Cover:
    """What the steward writes above a report; everything may be left out."""

    title: str | None = None
    """What the table is."""
    by: str | None = None
    """Who publishes it."""
    date: str | None = None
    """When."""
    purpose: str | None = None
    """What for."""

    @property
    def line(self) -> str:
        """Who, when and what for, in a line."""
        return " · ".join(one_line(part) for part in (self.by, self.date, self.purpose) if part)


def report(release: "Release", level: float = 0.9, cover: Cover | None = None) -> Content:
    """Everything that a report says."""
    cover = cover or Cover()
    level = check_level(level)
    kinds = ESTIMATORS if has_stage_1(release) else ONE_STAGE
    asked = questions(release, level)
    bars, doubts = distribution(release, level)
    return opening(release, level, cover) | {
        "distribution": bars,
        "distribution_notes": doubts,
        "questions": asked,
        "groups": groups(release, level),
        "estimators": [{"name": name, "words": words} for name, words in kinds if asked],
        "one_count": one_count(release),
        "single_rows": single_rows(release, level),
        "single_rows_notes": single_rows_notes(release, level),
        "top_rows": top_rows(release, level),
        "do_not": list(DO_NOT),
        "cite": cite(release),
    }


def report_of_several(
    release: "TableRelease", level: float = 0.9, cover: Cover | None = None
) -> Content:
    """What is promised of several counts in all, and the report of each."""
    columns = {name: report(one, level, cover) for name, one in release.columns.items()}
    return {"promise": release.privacy.to_dict(), "columns": columns}


def opening(release: "Release", level: float, cover: Cover) -> Content:
    """What a report says before anything is estimated."""
    return {
        "title": cover.title or default_title(release),
        "cover": cover.line,
        "simulated": release.privacy.simulated,
        "level": level,
        "promise": promise(release),
        "facts": facts(release),
        "notes": list(release.notes),
    }


def default_title(release: "Release") -> str:
    """What a report is called where the steward gives no title."""
    what = "A private table of counts"
    if release.count_column is not None and release.category is not None:
        what = f"{release.count_column} by {release.category}, with differential privacy"
    return f"{what}: {rows_words(release)}"


def rows_words(release: "Release") -> str:
    """How many rows the table has, and how many of them have no count."""
    missing = int((release.counts < 0).sum())
    of_which = f", of which {missing:,} without a count" if missing else ""
    return numbered(len(release.counts), "row") + of_which


def promise(release: "Release") -> Content:
    """What was promised and certified, in plain words."""
    privacy, budget = release.privacy, release.privacy.budget
    factor = float(np.exp(float(privacy.epsilon)))
    return {
        "epsilon": str(privacy.epsilon),
        "epsilon_decimal": float(privacy.epsilon),
        "certified": float(privacy.certified_epsilon),
        "stages": stages(release),
        "words": (
            "Whoever reads this release learns almost the same whether or not any one "
            f"{budget.unit} was counted. Precisely: for {protected(privacy.to_dict())}, anything "
            "the release can say is at most "
            f"{roughly(factor, 3)} times as probable with that {budget.unit} as without, or the "
            f"reverse ({privacy.promise})."
            + (f" {beyond_epsilon(privacy.delta)}" if privacy.delta else "")
        ),
        "unit": budget.unit,
        "neighbours": privacy.neighbours.replace("`contributions`", f"{budget.contributions:,}"),
        "randomness": privacy.randomness,
    }


def stages(release: "Release") -> list[Content]:
    """What each part of the release was given of epsilon, and what was certified for it."""
    return [
        {"name": name, "promised": float(given), "certified": float(proved), "how": how}
        for name, given, proved, how in release.privacy.parts
        if given
    ]


def facts(release: "Release") -> Content:
    """What was released."""
    top = len(release.target) - 1
    return {
        "rows": release.rows,
        "structural_zeros": release.structural_zeros,
        "missing": int((release.counts < 0).sum()),
        "max_count": top,
        "top_code": f"{top:,} means {top:,} or more",
        "count_column": release.count_column,
        "label_column": label_column(release),
        "unchanged_columns": list(release.unchanged_columns),
        "methods": list(release.methods),
        "expected_change": release.expected_change,
        "mechanism_digest": release.drawn_with.digest,
    }


def distribution(
    release: "Release", level: float, most: int = BARS
) -> tuple[list[Content], list[str]]:
    """The share of every count, or of at most so many runs of counts, with its interval, and
    what to know about them. The estimates are those of one distribution and add up to 1.
    Estimate and interval are None where none can be computed."""
    bars, notes, places = [], dict[str, list[str]](), runs(len(release.target), most)
    for first, last in places:
        bar: Content = {"first": first, "last": last, "open": last == len(release.target) - 1}
        bar["released"] = float(release.distribution[first : last + 1].sum())
        try:
            answer = release.ask("share", between=(first, last), level=level)
        except HoldfastError as error:
            bar |= {"estimate": None, "interval": None, "notes": [str(error)]}
        else:
            told = [note for note in answer.notes if note != SIMULATED]
            bar |= {"estimate": answer.estimate, "interval": list(answer.interval), "notes": told}
        for note in bar["notes"]:
            notes.setdefault(note.rstrip("."), []).append(run_name(bar))
        bars.append(bar)
    return bars, [_where(note, names, len(places)) for note, names in notes.items()]


def _where(note: str, names: list[str], places: int) -> str:
    return note if len(names) == places else f"{note} (counts {', '.join(names)})"


def run_name(bar: Content) -> str:
    """A count, or a run of counts, as a label; the highest stands for all above it.

    >>> run_name({"first": 3, "last": 5}), run_name({"first": 50, "last": 50, "open": True})
    ('3-5', '50+')
    """
    if bar.get("open"):
        return f"{bar['first']:,}+"
    ends = (bar["first"],) if bar["first"] == bar["last"] else (bar["first"], bar["last"])
    return "-".join(f"{end:,}" for end in ends)


def share_words(bar: Content) -> tuple[str, str, str, str]:
    """Name, released share, best estimate and interval, as people write them."""
    name, shown = run_name(bar), f"{bar['released']:.2%}"
    if bar["interval"] is None:
        return name, shown, "unknown", "unknown"
    low, high = bar["interval"]
    return name, shown, f"{bar['estimate']:.2%}", f"{low:.2%} to {high:.2%}"


def runs(n: int, most: int = BARS) -> list[tuple[int, int]]:
    """The counts 0 ... n-1 in at most so many runs; the first and the last count stay alone. Where
    they would be long, they widen, as counts that run far mostly thin out.

    >>> runs(4), len(runs(501)), runs(501)[1], runs(100_001)[9]
    ([(0, 0), (1, 1), (2, 2), (3, 3)], 58, (1, 9), (17, 22))
    """
    if n <= most:
        return [(i, i) for i in range(n)]
    if n > FAR:
        return [(int(a), int(b) - 1) for a, b in pairwise([*widening(n), n])]
    width = -(-(n - 2) // (most - 2))
    inner = [(i, min(i + width - 1, n - 2)) for i in range(1, n - 1, width)]
    return [(0, 0), *inner, (n - 1, n - 1)]


def questions(release: "Release", level: float) -> list[Content]:
    """Common questions, each with the best answer and what the released table says itself."""
    asked: list[tuple[str, dict[str, Any]]] = [("share", {"equal": 0})]
    asked += [("share", {"at_least": k}) for k in thresholds(release.target)]
    asked += [("mean", {}), ("total", {}), ("median", {}), ("quantile", {"at": 0.9}), ("gini", {})]
    return [row for name, options in asked if (row := _question(release, level, name, options))]


def thresholds(target: Floats) -> list[int]:
    """Counts of which it tells something how many rows have as many: small ones, or where counts
    are higher round ones near quantiles of z.

    >>> thresholds(np.eye(1, 31, 4)[0]), thresholds(np.ones(100_000) / 100_000)
    ([1, 3, 5, 10, 20], [10000, 20000, 50000])
    """
    sums = np.cumsum(target)
    at = [max(int(np.searchsorted(sums, q * sums[-1])), 1) for q in QUANTILES]
    if at[QUANTILES.index(0.9)] <= FEW_COUNTS:
        return [k for k in SMALL_COUNTS if k < len(target)]
    near = {min(STEPS, key=lambda step: abs(np.log(step / count))) for count in at}
    return sorted(k for k in near if k < len(target) - 1)  # the highest is told least


def _question(
    release: "Release", level: float, name: str, options: dict[str, Any]
) -> Content | None:
    try:
        best: Answer = release.ask(name, level=level, **options)
        plain = _released(release, level, name, options)
    except HoldfastError:  # a quantile or Gini of a mechanism that is too large
        return None
    return best.to_dict() | {
        "words": best.in_words(best.estimate),
        "interval_words": best.interval_words,
        "released": plain,
        "released_words": best.in_words(plain),
    }


def _released(release: "Release", level: float, name: str, options: dict[str, Any]) -> float:
    """What anyone computes from the released table."""
    measured = release.totals is not None and name in MEASURED_QUESTIONS
    if release.groups is None and not measured:
        plain: Answer = release.ask(name, level=level, estimator="released", **options)
        return plain.estimate
    shares, n = release.distribution, len(release.target)
    if name == "share":
        return float(linear.share(n, **options).f @ shares)
    if name in ("mean", "total"):
        return float(shares @ np.arange(n)) * (release.rows if name == "total" else 1)
    if name == "gini":
        return float(nonlinear.gini(shares))
    if name == "variance":
        return float(nonlinear.variance(shares))
    if name in ("median", "quantile"):
        return float(np.searchsorted(np.cumsum(shares), options.get("at", 0.5) - 1e-12))
    raise HoldfastError(f"the report does not know what released counts say of {name!r:.40}.")


def groups(release: "Release", level: float) -> list[Content]:
    """What each group of a release by group has: its rows, its mean count, its share of zeros."""
    if release.groups is None or release.groups.members is None:
        return []
    known, found = release.known, []
    members = members_of(known)
    for number, name in enumerate(release.groups.names[:MOST_GROUPS]):
        rows = np.asarray(members == number)
        mean = known.ask("mean", where=rows, level=level)
        zero = known.ask("share", equal=0, where=rows, level=level)
        words = [mean.in_words(mean.estimate), mean.interval_words]
        words += [zero.in_words(zero.estimate), zero.interval_words]
        numbers = [x for each in (mean, zero) for x in (each.estimate, *each.interval)]
        entry = {"name": name, "rows": int(rows.sum()), "words": words, "numbers": numbers}
        found.append(entry | {"mean_counts": mean.counts_words or "as they are"})
    return found


def one_count(release: "Release") -> Content:
    """One row of T: what may be published for one true count."""
    count = round(float(release.target @ np.arange(len(release.target))))
    if release.groups is None:
        mechanism = release.mechanism
    else:  # that of the largest group
        mechanism = release.groups.at(int(np.argmax(release.groups.sizes))).mechanism
    row = mechanism.row(count) / float(mechanism.total)
    away = np.abs(np.arange(len(row)) - count)
    return {
        "true_count": count,
        "probabilities": row.tolist(),
        "unchanged": float(row[count]),
        "within_one": float(row[away <= 1].sum()),
        "expected_change": float(row @ away),
    }


def single_rows(release: "Release", level: float) -> list[Content]:
    """For some released counts, what the true one may be, in rows that were drawn."""
    if release.groups is not None:  # a released count says different things in each group
        return []
    present = np.flatnonzero(drawn_rows(release))
    wanted = [int(j) for j in present if j in (0, 1, 2, 3, 5, 10, 20, 50, int(present[-1]))]
    found = []
    for count in wanted:
        try:
            law = posterior(release, count)
        except HoldfastError:  # a distribution that cannot be told from what was released
            continue
        found.append(
            {
                "released": count,
                "interval": list(law.interval(level)),
                "interval_words": run_words(law.interval(level), len(release.target) - 1),
                "notes": list(law.notes),
                "expected": law.mean,
                "zero": law.equal(0),
                "same": law.equal(count),
            }
        )
    return found


def top_rows(release: "Release", level: float) -> list[Content]:
    """The rows most likely to be among the five highest, and how likely that is."""
    try:
        rows = release.top(min(TOP, len(release.counts)), level=level)
    except HoldfastError:  # a distribution that cannot be told from what was released
        return []
    return [
        {
            "label": row.name,
            "released": row.released,
            "interval": list(row.interval),
            "interval_words": run_words(row.interval, len(release.target) - 1),
            "notes": [note for note in row.notes if note != SIMULATED],
            "probability": row.probability,
            "highest": row.highest,
        }
        for row in rows
    ]


def notes_of_rows(rows: list[Content]) -> list[str]:
    """What to know about the rows of one table of the report, each thing once."""
    return list(dict.fromkeys(note for row in rows for note in row["notes"]))


def single_rows_notes(release: "Release", level: float) -> list[str]:
    """What to know about single rows."""
    known = [f"{KNOWN}: {release.structural_zeros:,}"] if release.structural_zeros else []
    try:
        return [*known, *rarely_covered(release, level)]
    except HoldfastError:  # nothing is said of single rows where the distribution is unknown
        return known


def cite(release: "Release") -> str:
    """How to name this release in a text."""
    made = f"made with holdfast {release.made_with}"
    kind = "SIMULATED table of counts" if release.privacy.simulated else "Private table of counts"
    return (
        f"{kind}, {rows_words(release)}, counts 0 to {len(release.target) - 1:,}, "
        f"{release.privacy.promise} (certified "
        f"{float(release.privacy.certified_epsilon):.6g}), {made}, "
        f"mechanism {release.drawn_with.digest[:16]}. Method: "
        + (PAPER if has_stage_1(release) else f"{release.methods[-1]}, in one stage.")
    )
