"""What a bundle of several counts says of itself to a person who has nothing else.

A function of release.json alone: `holdfast.verify` compares every byte.
"""

from fractions import Fraction
from typing import Any

from holdfast.errors import code_span, markdown_text
from holdfast.former.release.text import SIMULATED
from holdfast.former.privacy.delta import beyond_epsilon, rounded_up

JOINT = """The relation between the columns is kept: each was drawn given those before it. The pairs
of released counts are distributed nearly as the true ones, and single counts are changed more
for it."""
APART = """Each column was drawn by itself. The distribution of each is kept; the relation between
columns is weakened by the noise on each."""


def several_read_me(record: dict[str, Any], table: str) -> str:
    """The README.md of a bundle of several counts."""
    privacy = record["privacy"]
    heading = f"{SIMULATED}: a seed was used. Do not publish it.\n\n" * privacy["simulated"]
    delta = Fraction(privacy["delta"])
    promise = f"epsilon = {privacy['epsilon']}"
    notes = "".join(f"- Note: {markdown_text(note)}.\n" for note in record["notes"])
    if delta:
        promise += f" with delta = {rounded_up(delta, 3)}"
        notes = f"- {beyond_epsilon(delta)}\n{notes}"
    kept = ", ".join(map(code_span, record["unchanged_columns"])) or "none"
    folders = "".join(
        f"- {code_span(place['column'])}: `{place['folder']}`, start with its README.md.\n"
        for place in record["counts"]
    )
    return f"""# A private table with several columns of counts

{heading}The counts in `{table}` are not the true counts. Each was drawn at random from the true
one, so that whoever reads the table learns almost the same whether or not any one {privacy["unit"]}
was counted. {JOINT if record["joint"] else APART}

- Promise: {promise} for all columns together;
  {privacy["certified_epsilon_decimal"]} was certified from what was drawn.
- {markdown_text(privacy["neighbours"])}
- Columns published unchanged: {kept}.
{notes}
Each column of counts has a folder with its part of the budget, its certificate and the integers
that it was drawn with:

{folders}
`release.json` holds the promise and SHA-256 sums. `holdfast verify` followed by the name of this
folder recomputes all of it. Made with holdfast {record["holdfast"]}.
"""
