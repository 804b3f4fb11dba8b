"""The report as a list of blocks: what a page and a Markdown file both say."""

from holdfast.answers.answer import percent
from holdfast.answers.report.content import OF_GROUPS, Content
from holdfast.answers.report.document import (
    Block,
    Bullets,
    Drawing,
    Heading,
    Paragraph,
    TableBlock,
    html_of,
    html_page,
)
from holdfast.answers.report.document import markdown as markdown_of
from holdfast.errors import numbered, roughly
from holdfast.release.picture import distribution_picture
from holdfast.release.release import Release

ALARM = (
    "SIMULATION: a seed made this release. It protects nobody and must not be published as private."
)
STYLE = """
:root{color-scheme:light dark}
body{font:17px/1.5 system-ui,sans-serif;max-width:46rem;margin:0 auto;padding:1rem}
h1{font-size:1.6rem;line-height:1.2}h2{font-size:1.2rem;margin-top:2.2rem}h3{font-size:1rem}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.95em}
th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid #8886;vertical-align:top}
.n{text-align:right;font-variant-numeric:tabular-nums}td.n{white-space:nowrap}
thead th{vertical-align:bottom}tbody th{font-weight:normal;overflow-wrap:anywhere;min-width:5rem}
svg{width:100%;height:auto}code{overflow-wrap:anywhere}summary{cursor:pointer;margin:.6rem 0}
.alarm{border:3px solid #b91c1c;padding:.7rem 1rem;font-weight:bold}.small{font-size:.88em}
@media (max-width:34rem){body{font-size:16px;padding:.7rem}table{font-size:.82em}
th,td{padding:.3rem .25rem}td.n{white-space:normal}}
@media print{:root{color-scheme:light}body{max-width:none;font-size:11pt}
h2{break-after:avoid}svg,table,.alarm{break-inside:avoid}}
"""


def html(content: Content, release: Release) -> str:
    """The report as one page, with the picture of the distribution."""
    picture = Drawing(distribution_picture(release))
    return html_page(blocks(content, picture), title=content["title"], style=STYLE)


def elements(content: Content, release: Release) -> str:
    """The same without its title, to stand in another page."""
    return html_of(blocks(content, Drawing(distribution_picture(release)))[1:])


def markdown(content: Content) -> str:
    """The report as Markdown."""
    return markdown_of(blocks(content))


def blocks(content: Content, picture: Drawing | None = None) -> list[Block]:
    """Everything that the report says, in order."""
    page: list[Block] = [Heading(1, content["title"])]
    page += [Paragraph(content["cover"])] * bool(content["cover"])
    page += [Paragraph(ALARM, "alarm")] * content["simulated"]
    page += _promise(content["promise"])
    level = f"{percent(content['level'])} interval"
    several, pictures = len(content["columns"]) > 1, [picture] if picture else []
    page += pictures * several  # it has all columns
    for column in content["columns"]:
        page += [Heading(2, f"What it says of {column['name']}" if several else "What it says")]
        page += pictures * (not several)
        page += _column(column, level)
    page += [Heading(2, "What not to do with it"), Bullets(content["do_not"])]
    page += [Paragraph(note, "small") for note in content["notes"]]
    page += _facts(content["facts"])
    return [*page, Heading(2, "How to cite"), Paragraph(content["cite"])]


def _promise(promise: Content) -> list[Block]:
    spent = [(part["column"], part["on"], part["epsilon"]) for part in promise["spent"]]
    spent.append((f"one {promise['unit']}", "in all", promise["epsilon"]))
    return [
        Heading(2, "What was promised"),
        Paragraph(promise["words"]),
        TableBlock(header=("", "spent on", "epsilon"), rows=spent, texts=2),
        Paragraph(f"{promise['neighbours']} Randomness: {promise['randomness']}.", "small"),
    ]


def _column(column: Content, level: str) -> list[Block]:
    said: list[Block] = [
        Paragraph(
            "The numbers are what you count in the released table; the intervals say where the "
            "true ones are, for all that can be known from it."
        ),
        TableBlock(
            header=("question", "answer", level),
            rows=[(a["question"], a["words"], a["interval_words"]) for a in column["answers"]],
        ),
        TableBlock(
            header=(column["name"], "share of rows", level),
            rows=[
                (bar["counts"], f"{bar['share']:.2%}", f"{bar['low']:.2%} to {bar['high']:.2%}")
                for bar in column["distribution"]
            ],
            folded="The distribution in numbers",
        ),
        *_groups(column, level),
        *_single_rows(column["noise"]),
        *_top_rows(column, level),
    ]
    if column["missing"]:
        said.append(Paragraph(f"{numbered(column['missing'], 'row')} without a count.", "small"))
    return said


def _groups(column: Content, level: str) -> list[Block]:
    if not column["groups"]:
        return []
    header = ["group", "rows"]
    for question in OF_GROUPS:
        header += [question, level]
    rows = [
        [group["name"], f"{group['rows']:,}", *(cell for said in group["answers"] for cell in
         (said["words"], said["interval_words"]))]
        for group in column["groups"]
        if len(group["answers"]) == len(OF_GROUPS)
    ]  # fmt: skip
    words = "The distribution of counts holds within each group."
    return [Heading(3, "By group"), Paragraph(words), TableBlock(header=header, rows=rows)]


def _single_rows(noise: Content) -> list[Block]:
    words = (
        f"By its noise each noisy count is off by {roughly(noise['mean_absolute'])} on average, up "
        f"or down. It is within {noise['reach']:,} of the true one in a row like any other; "
        "rows.csv has the intervals of every row."
    )
    return [Heading(3, "Single rows"), Paragraph(words)]


def _top_rows(column: Content, level: str) -> list[Block]:
    rows = column["top_rows"]
    heading = Heading(3, "The highest rows")
    if not rows:
        return [heading, Paragraph("Nobody can tell which they are: no row is likely to be one.")]
    return [
        heading,
        Paragraph(
            f"The rows that are most likely among the {len(rows)} highest, with the probability "
            "that each truly is. Rows that look alike share the chance; a small one means that "
            "nobody can tell."
        ),
        TableBlock(
            header=("row", "released", level, f"among the {len(rows)} highest", "the highest"),
            rows=[
                (
                    row["label"],
                    f"{row['released']:,}",
                    f"{row['interval'][0]:,} to {row['interval'][1]:,}",
                    f"{row['probability']:.0%}",
                    f"{row['highest']:.0%}",
                )
                for row in rows
            ],
        ),
    ]


def _facts(facts: Content) -> list[Block]:
    top = facts["top_code"]
    rows = [
        ("rows", f"{facts['rows']:,}"),
        ("of them publicly known to be zero", f"{facts['structural_zeros']:,}"),
        ("groups", facts["groups"]),
        ("published unchanged", ", ".join(facts["published"]) or "no other column"),
    ]
    rows += [("shown as", f"{top:,} or more, from there on")] if top is not None else []
    rows += [("period", facts["period"])] if facts["period"] else []
    return [Heading(2, "What was released"), TableBlock(rows=rows, texts=2)]
