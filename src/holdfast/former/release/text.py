"""What a bundle says of itself to a person who has nothing else.

All of it is a function of release.json and of the released counts, and `holdfast.verify` compares
every byte with what is made here. So the words belong to the schema: a release that is out in the
world verifies only as long as the words of its schema can be made.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.arrays import Floats
from holdfast.errors import code_span, markdown_text, numbered, roughly
from holdfast.former.release.codebook import codebook
from holdfast.former.release.deployment import deployment_yaml, number_in_words
from holdfast.former.release.group_pictures import Shown, group_picture
from holdfast.former.release.pictures import distribution_picture
from holdfast.former.release.recipes import has_mechanism_csv, recipes
from holdfast.former.release.share_recipes import share_recipes
from holdfast.former.privacy.delta import beyond_epsilon, rounded_up
from holdfast.former.privacy.persons import protected

SIMULATED = "SIMULATION, protects nobody"
KEPT = """, and so that the distribution of the counts (how many rows have 0, 1,
2, ...) stays close to the true one."""
NOT_KEPT = """. The mechanism that drew them does not keep the
distribution of the counts: there may be more or fewer rows with 0, 1, 2, ... than in truth."""


LEFT_OUT = """\
An interval may leave the released count of its row out: where few rows have that many, it was more
probably drawn for a row that has another. It is the interval that tells of the row.
"""
FEW_ROWS = """\
- A total of a few rows is off by more than one row is; a difference between two releases of the
  same data is noise alone."""
FEW_ROWS_AT_FIRST = """\
- Totals of a few rows, and differences between two releases of the same data, are mostly noise."""
NO_MECHANISM = """
`mechanism.csv`, from which the same can be computed without holdfast, is written up to a max_count
of 200 and 250,000 probabilities in all (counts by counts by groups): here there are more.
"""


def written(
    record: dict[str, Any],
    histogram: Sequence[int],
    table: str,
    mechanism: str,
    groups: Sequence[tuple[str, int, Floats]] = (),
    first: bool = False,
) -> dict[str, str]:
    """The files of a bundle that people read, by their names.

    Args:
        record: release.json, with or without the sums of these files.
        histogram: How many rows have each released count, without the structural zeros.
        table: The name of the file with the table.
        mechanism: The name of the file with the mechanism's integers.
        groups: The name of each group, its rows and its target, where there are groups.
        first: As the first bundles of schemas 3 to 5 had them, up to a max_count of 1000.
    """
    shares = np.array(histogram, dtype=np.float64) / record["rows"]
    name, title = record["count_column"] or "count", _picture_title(record)
    book: dict[str, str] = {}
    how: dict[str, Any] = {"title": title, "first": first}
    how["open_end"] = not first or "intervals" in record
    if "intervals" in record:
        book = {"codebook.md": codebook(record, table, has_mechanism_csv(record))}
    return book | {
        "README.md": read_me(record, table, mechanism, first),
        "deployment.yaml": deployment_yaml(record, first),
        "distribution.svg": group_picture(name, shares, [Shown(*g) for g in groups], **how)
        if groups
        else distribution_picture([(name, shares)], **how),
    }


def _picture_title(record: dict[str, Any]) -> str:
    privacy = record["privacy"]
    kind = SIMULATED if privacy["simulated"] else "released with differential privacy"
    return f"{numbered(record['rows'], 'row')}, {kind}, {privacy['promise']}"


def change_in_words(change: float | None, first: bool = False) -> str:
    """An expected change of a count, where one can be stated."""
    if change is None:
        return "an unknown amount"
    return f"{change:.2g}" if first else roughly(change)


def rows_at_the_top(target: Sequence[float] | Floats, rows: int) -> int:
    """How many rows have the highest count or more, by z alone."""
    return round(float(target[-1]) * rows)


def _groups_in_words(summary: dict[str, Any]) -> str:
    """What a release by group, or with totals, says beside the others: schema 4."""
    within, totals = summary.get("within"), summary.get("totals")
    words = ""
    if totals:
        level = f"{float(Fraction(totals['level'])):.0%}"
        words += (
            f"- The true counts, not capped, add up to {totals['total']:,}; with a probability of "
            f"{level} they\n  lie between {totals['low']:,} and {totals['high']:,}. Totals were "
            "measured by themselves, for a part of epsilon:\n  use them, not sums of released "
            "counts. "
        )
        words += "`groups.csv` has those of the groups, which add up.\n" if within else "\n"
    if within and summary.get("given"):
        names = " and ".join(map(code_span, summary["given"]))
        words += (
            f"- The relation to {names} is kept: each of the\n  "
            f"{numbered(within['groups'], 'class', 'classes')} of released counts that "
            "`groups.csv` lists has a mechanism of its own.\n"
        )
    elif within:
        words += (
            f"- The distribution holds within each of the {numbered(within['groups'], 'group')} "
            "that `groups.csv` lists with their\n  rows: each has a target and a mechanism of its "
            "own. Which group a row is in follows from\n  public columns.\n"
        )
    return words


def _several_in_words(summary: dict[str, Any]) -> str:
    """What a release says that is one column of several: schema 5."""
    if not summary.get("other_counts"):
        return ""
    others = ", ".join(map(code_span, summary["other_counts"]))
    return (
        f"- This is one column of counts of a release of several; the others are {others}.\n"
        "  What the release promises in all is in the folder above.\n"
    )


def _rows_in_words(summary: dict[str, Any], first: bool) -> str:
    """What a row's true count may be: where the bundle has intervals.csv."""
    if "intervals" not in summary:
        return ""
    stated, top = summary["intervals"], summary["max_count"]
    level = f"{float(Fraction(stated['level'])):.0%}"
    lines = "row of the table, in its order" if stated["lines"] == "rows" else "released count"
    kind = "whatever it is" if stated["every"] else "on average over the rows"
    recipe = f"\n{recipes(summary)}" if has_mechanism_csv(summary) else ""
    if "words" in stated:
        recipe = f"\n{LEFT_OUT}{recipe}{share_recipes(summary) if recipe else NO_MECHANISM}"
    return f"""
## What the true count of a row may be

`intervals.csv` has a line for each {lines}: the released count, the
true count to expect, and an interval in which the true count lies with a probability of {level},
{kind}; a `high` of {top} means {number_in_words(top, first)} or more. `codebook.md` says what
each column of each file holds.
{recipe}"""


def read_me(summary: dict[str, Any], table: str, mechanism: str, first: bool = False) -> str:
    """The README.md of a bundle."""
    privacy, top = summary["privacy"], number_in_words(summary["max_count"], first)
    change = change_in_words(summary["expected_change_of_a_count"], first)
    law = KEPT if summary["fixed_point"] else NOT_KEPT
    heading = f"{SIMULATED}: a seed was used. Do not publish it.\n\n" * privacy["simulated"]
    column = code_span(summary["count_column"] or "count")
    kept = ", ".join(map(code_span, summary["unchanged_columns"])) or "none"
    notes = "".join(f"- Note: {markdown_text(note)}.\n" for note in summary["notes"])
    zeros = summary["structural_zeros"]
    known = f"{numbered(zeros, 'row')} {'is' if zeros == 1 else 'are'}"
    delta = Fraction(privacy["delta"])
    promise = f"epsilon = {privacy['epsilon']}"
    if delta:
        promise += f" with delta = {rounded_up(delta, 3)}"
        notes = f"- {beyond_epsilon(delta)}\n{notes}"
    more, gaps = _several_in_words(summary) + _groups_in_words(summary), summary.get("missing", 0)
    if gaps:
        more += f"- In {numbered(gaps, 'row')} the count is missing: it was not known.\n"
    whom = protected(privacy, gap="\n  ")
    certified = f"{privacy['certified_epsilon_decimal']} was certified from what was drawn."
    at_top = numbered(rows_at_the_top(summary["target"], summary["rows"]), "row")
    found = "; this bound came from the data, privately" * bool(summary["max_count_found"])
    return f"""# A private table of counts

{heading}The counts in `{table}` (column {column}) are not the true counts. Each was drawn at
random from the true one, so that whoever reads the table learns almost the same whether or not
any one {privacy.get("unit", "person")} was counted{law}

- Promise: {promise} for {whom}; {certified}
- {numbered(summary["rows"], "row")} went through the mechanism; {known}
  publicly known to be zero and left so.
{more}- {top} means {top} or more{found}.
- A released count is off by {change} on average
  from the true one capped at {top}, if the true counts are distributed as the private
  distribution says: of those, about {at_top} have {top} or more. Do not read a
  single row as a fact; ask for shares, averages and distributions over many rows.
{FEW_ROWS_AT_FIRST if first else FEW_ROWS}
- Columns published unchanged: {kept}. The rows stand in their own
  order, or in that of a public column: their order is published as well.
{notes}
`release.json` holds the exact budget, the methods, the certificate and SHA-256 sums of these
files; `{mechanism}` the integers that every count was drawn with; `SHA256SUMS` the
sums again, for `sha256sum -c`; `deployment.yaml` a draft for OpenDP's registry of deployments;
`distribution.svg` a picture. `holdfast verify` followed by the name of this folder recomputes
all of it. It finds accidents, and whatever does not fit the certificate; whoever forges a whole
release on purpose can forge its sums too, so get the sums from its maker.
Made with holdfast {summary["holdfast"]}.
{_rows_in_words(summary, first)}"""
