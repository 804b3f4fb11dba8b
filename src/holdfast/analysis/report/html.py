"""The report as one HTML file: no script, no request, readable on a phone, printable."""

import re
from collections.abc import Iterable
from html import escape
from typing import Any

from holdfast.analysis.answer import percent
from holdfast.analysis.report.content import NO_ANSWERS, row_notes, share_words
from holdfast.analysis.report.pictures import band_picture, row_picture
from holdfast.errors import one_line

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
STYLE = """
:root{color-scheme:light dark}
body{font:17px/1.5 system-ui,sans-serif;max-width:46rem;margin:0 auto;padding:1rem}
h1{font-size:1.6rem;line-height:1.2}h2{font-size:1.2rem;margin-top:2.2rem}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.95em}
th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid #8886;vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}td.n{white-space:nowrap}
th{vertical-align:bottom}
svg{width:100%;height:auto}svg text{fill:currentColor}svg circle{fill:currentColor}
.alarm{border:3px solid #b91c1c;padding:.7rem 1rem;font-weight:bold}
.small{font-size:.88em;color:#667}code{overflow-wrap:anywhere}
@media (prefers-color-scheme:dark){svg path{stroke:currentColor}.small{color:#99a}}
summary{cursor:pointer;margin:.6rem 0}td{overflow-wrap:anywhere}
td:first-child{min-width:7rem}td:first-child:not(.n){width:42%}
@media (max-width:34rem){body{font-size:16px;padding:.7rem}table{font-size:.82em}
th,td{padding:.3rem .25rem}td.n{white-space:normal;overflow-wrap:normal}
td:first-child{min-width:4.2rem}td.n:first-child{min-width:0}
td:first-child:not(.n){width:32%}svg{font-size:26px}}
@media print{:root{color-scheme:light}body{max-width:none;font-size:11pt}
h2{break-after:avoid}svg,table,.alarm{break-inside:avoid}}
"""


def html(content: dict[str, Any]) -> str:
    """The whole page."""
    title = escape(content["title"])
    alarm = (
        '<p class="alarm">SIMULATION: a seed made this release. It protects nobody and must not '
        "be published as private.</p>"
    )
    sections = (
        _promise, _distribution, _questions, _one_count, _single_rows, _top_rows, _do_not, _facts,
        _cite,
    )  # fmt: skip
    body = "\n".join(section(content) for section in sections)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{title}</title><style>{STYLE}</style></head>\n'
        f"<body><h1>{title}</h1>\n{alarm if content['simulated'] else ''}\n{body}\n</body></html>\n"
    )


def _promise(content: dict[str, Any]) -> str:
    promise = content["promise"]
    stages = [
        (stage["name"], f"{stage['promised']:g}", f"{stage['certified']:.6g}", stage["how"])
        for stage in promise["stages"]
    ]
    total = (
        "one person, in all",
        f"{promise['epsilon_decimal']:g}",
        f"{promise['certified']:.6g}",
        "the sum",
    )
    return (
        f"<h2>What was promised</h2><p>{escape(promise['words'])}</p>"
        + _table(("", "epsilon promised", "certified", "by"), [*stages, total], numbers=(1, 2))
        + f'<p class="small">{_with_code(promise["neighbours"])} Randomness: '
        f"{escape(promise['randomness'])}.</p>"
    )


def _distribution(content: dict[str, Any]) -> str:
    level = percent(content["level"])
    return (
        "<h2>The distribution of counts</h2>"
        + band_picture(content["distribution"])
        + f"<p>Bars: share of rows with each count in the released table. Dots and lines: the "
        f"best estimate of the true share and its {level} interval, from all that "
        "the release says; the estimates add up to 1. Lines that leave the picture are longer "
        "than drawn.</p>"
        + _small(content["distribution_notes"])
        + f"<details><summary>All shares in numbers</summary>{_shares(content)}</details>"
    )


def _shares(content: dict[str, Any]) -> str:
    rows = [share_words(bar) for bar in content["distribution"]]
    head = ("count", "released", "best estimate", f"{percent(content['level'])} interval")
    return _table(head, rows, numbers=(0, 1, 2, 3))


def _questions(content: dict[str, Any]) -> str:
    if not content["questions"]:
        return f"<h2>Common questions</h2><p>{NO_ANSWERS}</p>"
    rows = [
        (q["question"], q["words"], q["interval_words"], q["released_words"])
        for q in content["questions"]
    ]
    notes = dict.fromkeys(
        note for q in content["questions"] for note in q["notes"] if "SIMULATION" not in note
    )
    kinds = "".join(
        f"<li><b>{escape(e['name'])}</b>: {escape(e['words'])}</li>" for e in content["estimators"]
    )
    head = (
        "question",
        "best estimate",
        f"{percent(content['level'])} interval",
        "released table says",
    )
    return (
        "<h2>Common questions</h2>"
        + _table(head, rows, numbers=(1, 2, 3))
        + _small(notes)
        + f"<p>These estimators can be asked for:</p><ul>{kinds}</ul>"
    )


def _one_count(content: dict[str, Any]) -> str:
    row = content["one_count"]
    return (
        "<h2>How far a single count may be off</h2>"
        f"<p>A row whose true count is {row['true_count']} was published as one of these, with "
        f"these probabilities: unchanged {row['unchanged']:.0%}, within one of it "
        f"{row['within_one']:.0%}, off by {row['expected_change']:.2g} on average. Counts above "
        f"{content['facts']['max_count']} enter as {content['facts']['max_count']}.</p>"
        + row_picture(row)
    )


def _single_rows(content: dict[str, Any]) -> str:
    rows = [
        (
            str(row["released"]),
            row["interval_words"],
            f"{row['expected']:.1f}",
            f"{row['zero']:.0%}",
            f"{row['same']:.0%}",
        )
        for row in content["single_rows"]
    ]
    head = ("released", "true count", "expected", "truly 0", "unchanged")
    return (
        f"<p>The other way round, what a released count says of the true one "
        f"({percent(content['level'])} of the rows at least lie within, on average, if the "
        "distribution is right):</p>"
        + _table(head, rows, numbers=(0, 1, 2, 3, 4))
        + _small([*row_notes(content, "single_rows"), *content["single_rows_notes"]])
    )


def _top_rows(content: dict[str, Any]) -> str:
    if not content["top_rows"]:
        return ""
    rows = [
        (
            row["label"],
            str(row["released"]),
            row["interval_words"],
            f"{row['probability']:.0%}",
            f"{row['highest']:.0%}",
        )
        for row in content["top_rows"]
    ]
    number = len(rows)
    head = ("row", "released", "true count", f"among the {number} highest", "the highest")
    return (
        "<h2>Which rows are highest</h2>"
        f"<p>The rows that are most likely among the {number} highest, with the probability that "
        "they truly are. Rows that look alike share the chance; a small one means that nobody can "
        "tell.</p>"
        + _table(head, rows, numbers=(1, 2, 3, 4))
        + _small(row_notes(content, "top_rows"))
    )


def _do_not(content: dict[str, Any]) -> str:
    items = "".join(f"<li>{escape(item)}</li>" for item in content["do_not"])
    notes = "".join(f"<li>Note: {escape(one_line(note))}.</li>" for note in content["notes"])
    return f"<h2>What not to do with it</h2><ul>{items}{notes}</ul>"


def _facts(content: dict[str, Any]) -> str:
    facts = content["facts"]
    rows = [
        ("rows through the mechanism", f"{facts['rows']:,}"),
        ("rows publicly known to be zero", f"{facts['structural_zeros']:,}"),
        ("top code", facts["top_code"]),
        ("count column", facts["count_column"] or "count"),
        ("published unchanged", ", ".join(facts["unchanged_columns"]) or "no other column"),
        ("methods", "; ".join(facts["methods"])),
        ("SHA-256 of the mechanism", facts["mechanism_digest"]),
    ]
    return "<h2>What was released</h2>" + _table((), rows, code=(1,))


def _cite(content: dict[str, Any]) -> str:
    return f"<h2>How to cite</h2><p>{escape(content['cite'])}</p>"


def _with_code(text: str) -> str:
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(text))


def _small(notes: Iterable[str]) -> str:
    return "".join(f'<p class="small">{escape(note[:1].upper() + note[1:])}.</p>' for note in notes)


def _table(
    head: Iterable[str],
    rows: Iterable[tuple[str, ...]],
    numbers: tuple[int, ...] = (),
    code: tuple[int, ...] = (),
) -> str:
    def cell(tag: str, place: int, text: str) -> str:
        words = escape(one_line(text))
        inner = f"<code>{words}</code>" if place in code else words
        return f"<{tag}{' class=n' if place in numbers else ''}>{inner}</{tag}>"

    titles = "".join(cell("th", place, text) for place, text in enumerate(head))
    lines = ("".join(cell("td", place, text) for place, text in enumerate(row)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    top = f"<tr>{titles}</tr>" if titles else ""
    return f'<div class="wide"><table>{top}{body}</table></div>'
