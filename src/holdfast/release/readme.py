"""README.md of a bundle: what a release is, promises and says, for somebody with nothing else.

A function of the record and of the records of answers.csv, so that a verifier can make it again.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from math import floor, log10
from typing import Any

from holdfast.errors import decimal_above, decimal_or_fraction, numbered, roughly
from holdfast.privacy.rational import exp_above
from holdfast.release import escape
from holdfast.release.record import read_noise, spent, titles
from holdfast.tables.partition import ALL_ROWS

SIMULATED = "SIMULATION, protects nobody"
Record = Sequence[str]
"""Of answers.csv."""
Answers = dict[tuple[str, str, str], tuple[str, str, str]]
"""Answer and ends of its interval, by column, group and question."""
ASKED = ("rows", "share with 0", "mean", "total", "median", "highest")
ASKED_OF_GROUPS = ("rows", "share with 0", "mean", "total")
PARTS = """\
- **A column that is part of another** can exceed it in a row: each has noise of its own.
"""
SHOWN_GROUPS = 20  # that the README shows; answers.csv has all of them
SPOKEN = 100  # rows times epsilon, from which on a release says something under any noise


def read_me(record: dict[str, Any], answers: Iterable[Record]) -> str:
    """README.md."""
    said = {(a[0], a[1], a[2]): (a[3], a[4], a[5]) for a in answers}
    names = titles(record)
    table, groups = f"`{record['table']['file']}`", _grouped(record)
    listed = ", ".join(map(escape.code, names))
    warning = f"**{SIMULATED}: a seed was used. Do not publish it.**\n\n"
    of = "" if record["period"] is None else f" of {escape.markdown(record['period'])}"
    return f"""# Counts published with privacy protection: {listed}{of}

{warning * record["promise"]["simulated"]}\
Random noise was added to each count in {table} ({"columns" if len(names) > 1 else "column"} {
        listed
    }),
so that {bounded(record["promise"]["epsilon"], record["promise"]["persons"]["unit"])}
Then the rows were ranked by their noisy counts and given, in that order, the values of the
distribution that the noise leaves to be seen. So the table has about as many rows with 0, 1, 2, …
as the true one{", and so has each group" * groups}.
{_noise_of_counts(record, said)}\

## What is promised

{_promise(record)}
## What it says

{_answers(record, names, said)}
Intervals are made to hold the truth in 90 of 100 releases. `answers.csv` has more questions{
        " and all groups" * groups
    },
`distribution.csv` how many rows have each count, `distribution.svg` a picture.

## How to read it

- **Shares, means, totals, quantiles of all rows{" and of each group" * groups}**: count in
  {table}. The intervals stand in `answers.csv`.
- **A single row** is no fact. `rows.csv` has its noisy count and two intervals of the true one: a
  plain one that is right for every row, and a shorter one that is right on average.
{_off(record)}{PARTS * (len(names) > 1)}\
- **Other rows**, chosen by something public, and **counts beside other columns**, as in rates of
  rows, correlations and regressions: not from the table, which keeps how many rows have each count,
  not which rows. Use noisy counts, as `codebook.md` teaches, or ask holdfast: `holdfast ask`
  followed by the name of this folder.
- **Never choose rows by their released or noisy counts**: those at the top are there by luck too.
{_shown(record)}\
- The rows stand in their own order, or in that of a public column, which is published as well.
{_notes(record)}
## How to check it

`holdfast verify` followed by the name of this folder recomputes the budget, the distributions and
every released count from the measurement. `release.json` is the record, `SHA256SUMS` has the sums
of all files for `sha256sum --check SHA256SUMS`, `deployment.yaml` is a draft for OpenDP's registry
of deployments. This finds accidents and whatever does not fit together. Somebody who forges a whole
release can forge its sums too, so get them from its maker.

Made with holdfast {escape.markdown(record["made_with"])}, the program that the commands above need.
"""


def factor_above(epsilon: Fraction) -> str:
    """e^epsilon in decimals, rounded up, with three digits or two of what it is above 1.

    >>> factor_above(Fraction(1)), factor_above(Fraction(10)), factor_above(Fraction("0.0049"))
    ('2.72', '22,100', '1.0050')
    """
    above = exp_above(epsilon)
    digits = max(3, 2 - floor(log10(above - 1)))
    return f"{Decimal(decimal_above(above, digits)):,f}"


def drowns(reach: int, highest: float, rows: int, epsilon: Fraction) -> bool:
    """Whether noise hides all counts, and the rows are too few to make up for it.

    >>> drowns(3_289, 20, 900, Fraction(1, 1000)), drowns(9, 20, 900, Fraction(1, 1000))
    (True, False)
    """
    return reach > highest and rows * epsilon < SPOKEN


def bare(name: str) -> str:
    """What to say of counts whose noise is 0, nine times in ten."""
    return (
        f"Most noisy counts of {name} are the true ones: their noise is 0 nine times in ten or "
        "more, and whoever reads them learns much about one person"
    )


def bounded(epsilon: Fraction | str, unit: str) -> str:
    """What an epsilon promises one person, in words."""
    return (
        f"anything published is at most {factor_above(Fraction(epsilon))} times as probable with "
        f"any one {unit} counted as without, or the reverse."
    )


def _noise_of_counts(record: dict[str, Any], answers: Answers) -> str:
    """What to know of noise that hides almost nothing, or almost all."""
    lines, rows = "", record["table"]["rows"]
    columns = zip(titles(record), record["counts"], record["promise"]["budgets"], strict=True)
    for name, column, budget in columns:
        reach = read_noise(column["noise"]).quantile(0.9)
        highest = answers.get((name, ALL_ROWS, "highest"), ("",))[0] or "inf"
        if not reach:
            lines += f"\n**{bare(escape.code(name))}.**\n"
        elif drowns(reach, float(highest), rows, Fraction(budget["epsilon"])):
            lines += (
                f"\n**The release says little of {escape.code(name)}**: noise of up to {reach:,}, "
                f"nine times in ten, is larger than every count, and {numbered(rows, 'row')} are "
                "too few to make up for it.\n"
            )
        else:
            lines += f"\nThe counts of {escape.code(name)} are not the true ones.\n"
    return lines


def _grouped(record: dict[str, Any]) -> bool:
    return len(record["groups"]["names"]) > 1


def _promise(record: dict[str, Any]) -> str:
    promise, persons = record["promise"], record["promise"]["persons"]
    lines = [
        f"- epsilon = {decimal_or_fraction(promise['epsilon'])} for one {persons['unit']}.",
        "- What that covers, in the terms of differential privacy: "
        f"{escape.markdown(promise['neighbours'])}",
    ]
    for name, budget in zip(titles(record), promise["budgets"], strict=True):
        lines.append(f"- {escape.code(name)} spends {spent(budget)}.")
    kept = ", ".join(map(escape.code, record["published"])) or "none"
    lines.append(f"- Columns published unchanged: {kept}.")
    return "".join(f"{line}\n" for line in lines)


def _answers(record: dict[str, Any], names: Sequence[str], answers: Answers) -> str:
    text = ""
    for name in names:
        lines = [
            (question, cells[0], "exact" if question == "rows" else f"{cells[1]} to {cells[2]}")
            for question in ASKED
            if (cells := _numbers(answers, name, ALL_ROWS, question)) is not None
        ]
        if lines and lines[0][1] != str(record["table"]["rows"]):
            every = f"{record['table']['rows']:,}"
            lines[0] = (f"rows with a count, of {every}", *lines[0][1:])
        text += f"{escape.code(name)}, all rows:\n\n"
        text += _table(("", "in the table", "90 % interval"), lines) + "\n"
        if _grouped(record):
            text += _groups(record, name, answers)
    return text


def _groups(record: dict[str, Any], name: str, answers: Answers) -> str:
    columns = " and ".join(map(escape.code, record["groups"]["columns"]))
    groups = record["groups"]["names"]
    lines = []
    for group in groups[:SHOWN_GROUPS]:
        cells = [_numbers(answers, name, group, question) for question in ASKED_OF_GROUPS]
        if cells[0] is not None:
            said = [f"{c[0]} ({c[1]} to {c[2]})" if c else "" for c in cells[1:]]
            lines.append((escape.table_code(group), cells[0][0], *said))
    rest = len(groups) - SHOWN_GROUPS
    more = f"\n{numbered(rest, 'further group')} in `answers.csv`.\n" if rest > 0 else ""
    head = ("group", *ASKED_OF_GROUPS)
    return f"By {columns}:\n\n{_table(head, lines)}{more}\n"


def _numbers(answers: Answers, *key: str) -> tuple[str, str, str] | None:
    column, group, question = key
    cells = answers.get((column, group, question))
    if cells is None or not question.startswith("share"):
        return cells
    return percent(cells[0]), percent(cells[1]), percent(cells[2])


def percent(share: str) -> str:
    """A share as it is written in answers.csv, in percent, with at most two decimals.

    >>> percent("0.0329"), percent("1"), percent("0.00"), percent("0.00000034")
    ('3.29 %', '100 %', '0 %', '0.01 %')
    """
    if 0 < float(share) < 1e-4:
        return "0.01 %"
    digits = min(max(len(share.partition(".")[2]) - 2, 0), 2)
    return f"{100 * float(share):.{digits}f} %"


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _off(record: dict[str, Any]) -> str:
    lines = ""
    for name, column in zip(titles(record), record["counts"], strict=True):
        noise = read_noise(column["noise"])
        lines += (
            f"  A noisy count of {escape.code(name)} is off by "
            f"{roughly(noise.mean_absolute)} on average.\n"
        )
    return lines


def _shown(record: dict[str, Any]) -> str:
    """What of the table is not what it seems."""
    lines, table = "", record["table"]
    if record["top"] is not None:
        lines += (
            f"- Counts of {record['top']:,} and above are shown as {record['top']:,} or more; "
            "take means and totals from `distribution.csv`, which has all of them.\n"
        )
    if table["structural_zeros"]:
        rows = numbered(table["structural_zeros"], "row")
        lines += f"- {rows} publicly known to be zero: no noise was added there.\n"
    for name, column in zip(titles(record), record["counts"], strict=True):
        if column["missing"]:
            number = numbered(column["missing"], "row")
            lines += f"- In {number} {escape.code(name)} is missing: it was not known.\n"
    if record["groups"]["regrouped"]:
        lines += "- The groups were chosen after the measurement, which cost nothing.\n"
    return lines


def _notes(record: dict[str, Any]) -> str:
    notes = "".join(f"- {escape.markdown(note)}.\n" for note in record["notes"])
    return f"\n## Notes\n\n{notes}" if notes else ""
