"""The report as a list of blocks: what a page and a Markdown file both say."""

from typing import Any

from holdfast.errors import roughly
from holdfast.former.analysis.answer import SIMULATED, percent
from holdfast.former.analysis.document import (
    Block,
    Bullets,
    Code,
    Drawing,
    Heading,
    Notes,
    Paragraph,
    Quotation,
    Table,
    Title,
    Tone,
    html_page,
)
from holdfast.former.analysis.document import markdown as markdown_of
from holdfast.former.analysis.report.content import NO_ANSWERS, notes_of_rows, run_name, share_words
from holdfast.former.analysis.report.pictures import band_picture, row_picture, tail_of, widens

Content = dict[str, Any]
SEVERAL = "A private table with several columns of counts"
WRITTEN = 0.00005  # a share that is not 0.00 %
IN_THE_PICTURE = (
    "Bars are released shares, dots best estimates, lines intervals; lines that leave the picture "
    "are longer than drawn."
)
WIDENING = " Bars stand for more and more counts."
NOTHING_TOLD = "Counts that are not listed have a share below 0.01% in every respect."
STYLE = """
:root{color-scheme:light dark}
body{font:17px/1.5 system-ui,sans-serif;max-width:46rem;margin:0 auto;padding:1rem}
h1{font-size:1.6rem;line-height:1.2}h2{font-size:1.2rem;margin-top:2.2rem}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.95em}
th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid #8886;vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}td.n,tbody th.n{white-space:nowrap}
thead th{vertical-align:bottom}th[scope=row]{font-weight:normal}
svg{width:100%;height:auto}svg text{fill:currentColor}svg circle{fill:currentColor}
.alarm{border:3px solid #b91c1c;padding:.7rem 1rem;font-weight:bold}
.small{font-size:.88em;color:#667}code{overflow-wrap:anywhere}
@media (prefers-color-scheme:dark){svg path{stroke:currentColor}.small{color:#99a}}
summary{cursor:pointer;margin:.6rem 0}td,th[scope=row]{overflow-wrap:anywhere}
th[scope=row]{min-width:7rem}th[scope=row]:not(.n){width:42%}
@media (max-width:34rem){body{font-size:16px;padding:.7rem}table{font-size:.82em}
th,td{padding:.3rem .25rem}td.n{white-space:normal;overflow-wrap:normal}
th[scope=row]{min-width:4.2rem}th.n[scope=row]{min-width:0}
th[scope=row]:not(.n){width:32%}svg{font-size:26px}}
@media print{:root{color-scheme:light}body{max-width:none;font-size:11pt}
h2{break-after:avoid}svg,table,.alarm{break-inside:avoid}}
"""


def html(content: Content) -> str:
    """The report of one count, or of several, as one page."""
    return html_page(blocks(content), title=content.get("title", SEVERAL), style=STYLE)


def markdown(content: Content) -> str:
    """The report as Markdown."""
    return markdown_of(blocks(content))


def _several(content: Content) -> list[Block]:
    """What is promised in all, and the reports of all columns."""
    said = content["promise"]
    promise = f"Promise: {said['promise']} for all columns together. {said['neighbours']}"
    found: list[Block] = [Title(SEVERAL), Paragraph(promise)]
    for name, column in content["columns"].items():
        found += [Heading(2, f"The column {name}"), *blocks(column)[1:]]
    return found


def blocks(content: Content) -> list[Block]:
    """Everything that the report says, in order."""
    if "columns" in content:
        return _several(content)
    alarm = (
        "SIMULATION: a seed made this release. It protects nobody and must not be published as "
        "private."
    )
    return [
        Title(content["title"]),
        *([Quotation(content["cover"])] if content["cover"] else []),
        *([Paragraph(alarm, Tone.ALARM)] if content["simulated"] else []),
        *_promise(content["promise"]),
        *_distribution(content),
        *_questions(content),
        *_groups(content),
        *_one_count(content["one_count"], content["facts"]["max_count"]),
        *_single_rows(content),
        *_top_rows(content),
        *_do_not(content),
        *_facts(content["facts"]),
        Heading(2, "How to cite"),
        Quotation(content["cite"]),
    ]


def _promise(promise: Content) -> list[Block]:
    stages = [
        (stage["name"], f"{stage['promised']:g}", f"{stage['certified']:.6g}", stage["how"])
        for stage in promise["stages"]
    ]
    given, certified = f"{promise['epsilon_decimal']:g}", f"{promise['certified']:.6g}"
    return [
        Heading(2, "What was promised"),
        Paragraph(promise["words"]),
        Table(
            header=("", "epsilon promised", "certified", "by"),
            rows=[*stages, (f"one {promise['unit']}, in all", given, certified, "the sum")],
            numbers=(1, 2),
        ),
        Paragraph(f"{promise['neighbours']} Randomness: {promise['randomness']}.", Tone.SMALL),
    ]


def _distribution(content: Content) -> list[Block]:
    level = f"{percent(content['level'])} interval"
    bars = content["distribution"]
    told = [share_words(bar) for bar in bars if _tells(bar)]
    tail = tail_of(bars)
    same = f"The same from {run_name(bars[tail])} on, enlarged:"
    enlarged = [Drawing(band_picture(bars[tail:], "The same, enlarged"), same)] if tail else []
    return [
        Heading(2, "The distribution of", _count(content)),
        Paragraph(
            "Released is the share of rows with each count in the released table. Beside it stand "
            f"the best estimate of the true share and its {level}, from all that the release says; "
            "the estimates add up to 1."
        ),
        Drawing(band_picture(bars), IN_THE_PICTURE + (WIDENING if widens(bars) else "")),
        *enlarged,
        Notes(content["distribution_notes"]),
        Table(
            header=(_count(content), "released", "best estimate", level),
            rows=told,
            numbers=(0, 1, 2, 3),
            folded="All shares in numbers",
        ),
        *([Paragraph(NOTHING_TOLD)] if len(told) < len(bars) else []),
    ]


def _tells(bar: Content) -> bool:
    """Whether a count has a share that is not written as 0.00 % in every respect."""
    known = [bar["released"], bar["estimate"] or 0.0, *(bar["interval"] or (0.0, 1.0))]
    return bool(max(known) >= WRITTEN)


def _count(content: Content) -> str:
    """What the counts are called."""
    return content["facts"]["count_column"] or "count"


def _groups(content: Content) -> list[Block]:
    if not content["groups"]:
        return []
    level = f"{percent(content['level'])} interval"
    return [
        Heading(2, "By group"),
        Paragraph("The distribution of counts holds within each group."),
        Table(
            header=("group", "rows", "mean count", level, "share of zeros", level),
            rows=[(g["name"], f"{g['rows']:,}", *g["words"]) for g in content["groups"]],
            numbers=(1, 2, 3, 4, 5),
        ),
    ]


def _questions(content: Content) -> list[Block]:
    heading = Heading(2, "Common questions")
    if not content["questions"]:
        return [heading, Paragraph(NO_ANSWERS)]
    level = f"{percent(content['level'])} interval"
    notes = (note for asked in content["questions"] for note in asked["notes"])
    return [
        heading,
        Table(
            header=("question", "best estimate", level, "released table says"),
            rows=[
                (q["question"], q["words"], q["interval_words"], q["released_words"])
                for q in content["questions"]
            ],
            numbers=(1, 2, 3),
        ),
        Notes([note for note in notes if note != SIMULATED]),
        Paragraph("These estimators can be asked for:"),
        Bullets([(kind["name"], kind["words"]) for kind in content["estimators"]]),
    ]


def _one_count(row: Content, top: int) -> list[Block]:
    return [
        Heading(2, "How far a single count may be off"),
        Paragraph(
            f"A row whose true count is {row['true_count']:,} was published unchanged with "
            f"probability {row['unchanged']:.0%}, within one of it with {row['within_one']:.0%}; "
            f"it is off by {roughly(row['expected_change'])} on average. "
            f"Counts above {top:,} enter as {top:,}."
        ),
        Drawing(row_picture(row)),
    ]


def _single_rows(content: Content) -> list[Block]:
    if not content["single_rows"]:  # in a release by group a count says other things in each
        return [Notes(content["single_rows_notes"])] if content["single_rows_notes"] else []
    return [
        Paragraph(
            "The other way round, what a released count says of the true one "
            f"({percent(content['level'])} of the rows at least lie within, on average over the "
            "table, if the distribution is right):"
        ),
        Table(
            header=("released", "true count", "expected", "truly 0", "unchanged"),
            rows=[
                (
                    f"{row['released']:,}",
                    row["interval_words"],
                    f"{row['expected']:,.1f}",
                    f"{row['zero']:.0%}",
                    f"{row['same']:.0%}",
                )
                for row in content["single_rows"]
            ],
            numbers=(0, 1, 2, 3, 4),
        ),
        Notes([*notes_of_rows(content["single_rows"]), *content["single_rows_notes"]]),
    ]


def _top_rows(content: Content) -> list[Block]:
    number, label = len(content["top_rows"]), content["facts"]["label_column"] or "row"
    if not number:
        return []
    return [
        Heading(2, "Which rows are highest"),
        Paragraph(
            f"The rows that are most likely among the {number} highest, with the probability that "
            "they truly are. Rows that look alike share the chance; a small one means that nobody "
            "can tell."
        ),
        Table(
            header=(
                label,
                "released",
                "true count",
                f"among the {number} highest",
                "the highest",
            ),
            rows=[
                (
                    row["label"],
                    f"{row['released']:,}",
                    row["interval_words"],
                    f"{row['probability']:.0%}",
                    f"{row['highest']:.0%}",
                )
                for row in content["top_rows"]
            ],
            numbers=(1, 2, 3, 4),
        ),
        Notes(notes_of_rows(content["top_rows"])),
    ]


def _do_not(content: Content) -> list[Block]:
    return [
        Heading(2, "What not to do with it"),
        Bullets(content["do_not"]),
        Notes([f"note: {note}" for note in content["notes"]]),
    ]


def _facts(facts: Content) -> list[Block]:
    columns = ", ".join(facts["unchanged_columns"])
    rows = [
        ("rows through the mechanism", f"{facts['rows']:,}"),
        ("rows publicly known to be zero", f"{facts['structural_zeros']:,}"),
        ("rows without a count", f"{facts['missing']:,}"),
        ("top code", facts["top_code"]),
        ("count column", facts["count_column"] or "count"),
        ("published unchanged", columns or "no other column"),
        ("methods", "; ".join(facts["methods"])),
        ("SHA-256 of the mechanism", facts["mechanism_digest"]),
    ]
    table = Table(rows=[(name, Code(value)) for name, value in rows])
    return [Heading(2, "What was released"), table]
