"""The report as Markdown."""

from collections.abc import Iterable
from typing import Any

from holdfast.analysis.report_pictures import run_name


def markdown(content: dict[str, Any]) -> str:
    """The whole page."""
    promise, facts, row = content["promise"], content["facts"], content["one_count"]
    level = f"{content['level']:.0%} interval"
    alarm = ["**SIMULATION: a seed made this release; it protects nobody.**"]
    blocks = [
        f"# {content['title']}",
        *(alarm if content["simulated"] else []),
        f"## What was promised\n\n{promise['words']}",
        _table(
            ("", "epsilon promised", "certified", "by"),
            (
                (s["name"], f"{s['promised']:g}", f"{s['certified']:.6g}", s["how"])
                for s in promise["stages"]
            ),
        ),
        "## Common questions",
        _table(
            ("question", "best estimate", level, "released table says"),
            (
                (q["question"], q["words"], q["interval_words"], q["released_words"])
                for q in content["questions"]
            ),
        ),
        "## The distribution of counts",
        _table(
            ("count", "released", "best estimate", level),
            (
                (
                    run_name(bar),
                    f"{bar['released']:.2%}",
                    f"{bar['estimate']:.2%}",
                    f"{bar['interval'][0]:.2%} to {bar['interval'][1]:.2%}",
                )
                for bar in content["distribution"]
            ),
        ),
        "## How far a single count may be off\n\n"
        f"A true count of {row['true_count']} was published unchanged with probability "
        f"{row['unchanged']:.0%}, within one of it with {row['within_one']:.0%}; it is off by "
        f"{row['expected_change']:.2g} on average.",
        _table(
            ("released", f"true count, {level}", "expected", "truly 0"),
            (
                (
                    str(r["released"]),
                    f"{r['interval'][0]} to {r['interval'][1]}",
                    f"{r['expected']:.1f}",
                    f"{r['zero']:.0%}",
                )
                for r in content["single_rows"]
            ),
        ),
        "## What not to do with it",
        "\n".join(f"- {item}" for item in [*content["do_not"], *content["notes"]]),
        "## What was released",
        f"{facts['rows']:,} rows through the mechanism, {facts['structural_zeros']:,} publicly "
        f"known to be zero; {facts['top_code']}. Published unchanged: "
        f"{', '.join(facts['unchanged_columns']) or 'no other column'}. "
        f"Methods: {'; '.join(facts['methods'])}.",
        f"## How to cite\n\n{content['cite']}",
    ]
    return "\n\n".join(blocks) + "\n"


def _table(head: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    titles = list(head)
    lines = [titles, ["---"] * len(titles), *([_cell(c) for c in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
