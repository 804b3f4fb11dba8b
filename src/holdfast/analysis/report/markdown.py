"""The report as Markdown."""

from collections.abc import Iterable
from typing import Any

from holdfast.analysis.answer import SIMULATED, percent
from holdfast.analysis.report.content import NO_ANSWERS, row_notes, share_words
from holdfast.errors import code_span, markdown_text, numbered


def markdown(content: dict[str, Any]) -> str:
    """The whole page."""
    promise, facts, row = content["promise"], content["facts"], content["one_count"]
    level = f"{percent(content['level'])} interval"
    total = ("one person, in all", f"{promise['epsilon_decimal']:g}")
    alarm = ["**SIMULATION: a seed made this release; it protects nobody.**"]
    blocks = [
        f"# {content['title']}",
        *(alarm if content["simulated"] else []),
        f"## What was promised\n\n{promise['words']}",
        _table(
            ("", "epsilon promised", "certified", "by"),
            [
                *(
                    (s["name"], f"{s['promised']:g}", f"{s['certified']:.6g}", s["how"])
                    for s in promise["stages"]
                ),
                (*total, f"{promise['certified']:.6g}", "the sum"),
            ],
        ),
        f"{promise['neighbours']} Randomness: {promise['randomness']}.",
        "## Common questions",
        *_questions(content, level),
        "## The distribution of counts",
        _table(
            ("count", "released", "best estimate", level),
            (share_words(bar) for bar in content["distribution"]),
        ),
        *_notes(content["distribution_notes"]),
        "## How far a single count may be off\n\n"
        f"A true count of {row['true_count']} was published unchanged with probability "
        f"{row['unchanged']:.0%}, within one of it with {row['within_one']:.0%}; it is off by "
        f"{row['expected_change']:.2g} on average. Counts above {facts['max_count']} enter as "
        f"{facts['max_count']}.",
        _table(
            ("released", f"true count, {level}", "expected", "truly 0"),
            (
                (
                    str(r["released"]),
                    r["interval_words"],
                    f"{r['expected']:.1f}",
                    f"{r['zero']:.0%}",
                )
                for r in content["single_rows"]
            ),
        ),
        "Of single rows, this holds on average over the table, if the distribution is right.",
        *_notes([*row_notes(content, "single_rows"), *content["single_rows_notes"]]),
        *_top_rows(content),
        "## What not to do with it",
        "\n".join(
            f"- {item}" for item in [*content["do_not"], *map(markdown_text, content["notes"])]
        ),
        "## What was released",
        f"{numbered(facts['rows'], 'row')} through the mechanism, {facts['structural_zeros']:,} "
        f"publicly known to be zero; {facts['top_code']}. Published unchanged: "
        f"{', '.join(map(code_span, facts['unchanged_columns'])) or 'no other column'}. "
        f"Count column: {code_span(facts['count_column'] or 'count')}. "
        f"Methods: {'; '.join(map(code_span, facts['methods']))}.",
        f"## How to cite\n\n{markdown_text(content['cite'])}",
    ]
    return "\n\n".join(blocks) + "\n"


def _questions(content: dict[str, Any], level: str) -> list[str]:
    if not content["questions"]:
        return [NO_ANSWERS]
    head = ("question", "best estimate", level, "released table says")
    rows = (
        (q["question"], q["words"], q["interval_words"], q["released_words"])
        for q in content["questions"]
    )
    return [
        _table(head, rows),
        *_notes(note for q in content["questions"] for note in q["notes"]),
        "These estimators can be asked for:",
        "\n".join(f"- **{e['name']}**: {e['words']}" for e in content["estimators"]),
    ]


def _top_rows(content: dict[str, Any]) -> list[str]:
    rows = [
        (
            r["label"],
            str(r["released"]),
            r["interval_words"],
            f"{r['probability']:.0%}",
            f"{r['highest']:.0%}",
        )
        for r in content["top_rows"]
    ]
    head = ("row", "released", "true count", f"among the {len(rows)} highest", "the highest")
    said = "The rows most likely on top, with the probability that they truly are."
    notes = _notes(row_notes(content, "top_rows"))
    return [f"## Which rows are highest\n\n{said}", _table(head, rows), *notes] if rows else []


def _notes(notes: Iterable[str]) -> list[str]:
    told = dict.fromkeys(note for note in notes if note != SIMULATED)
    return (
        ["\n".join(f"- {markdown_text(note[:1].upper() + note[1:])}." for note in told)]
        if told
        else []
    )


def _table(head: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    titles = list(head)
    lines = [titles, ["---"] * len(titles), *([_cell(c) for c in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return markdown_text(text).replace("|", "\\|")
