"""`holdfast explain`: what an epsilon means, for people who decide."""

import json
from typing import Annotated

import typer

from holdfast.errors import roughly
from holdfast.former.cli.options import says
from holdfast.former.cli.screen import screen, tabled


def explain(
    epsilon: Annotated[str, says("The whole budget, such as 1 or 1/2.")],
    delta: Annotated[str, says("0 for pure privacy, as by default.")] = "0",
    as_json: Annotated[bool, says("Print one JSON object.", "--json")] = False,
) -> None:
    """Say in words and odds what an epsilon promises to one person, and who uses which.

    Example: [bold]holdfast explain --epsilon 1[/bold]
    """
    from holdfast.former.studies.explain import SUSPICIONS, deployments
    from holdfast.former.studies.explain import explain as explained
    from holdfast.former.privacy.delta import beyond_epsilon

    told = explained(epsilon, delta)
    if as_json:
        typer.echo(json.dumps(told.to_dict()))
        return
    name = f"epsilon = {float(told.epsilon):g}"
    screen.print(
        f"With {name} anything that is published is at most {roughly(told.factor, 3)} times as "
        "probable with any one person counted as without, or the reverse.\n",
        style="bold",
    )
    screen.print(
        "So whoever knows everybody else in the data, and must say whether this person was "
        f"counted, with even odds before, is right at most {100 * told.guess:.0f} times in 100; "
        "a coin is right 50 times."
    )
    if told.delta:
        screen.print(beyond_epsilon(told.delta))
    odds = [(f"{before:.1%}", f"{told.suspicion(before):.1%}") for before in SUSPICIONS]
    believe = "What somebody may come to believe of one person"
    screen.print(tabled(("before the release", "after it, at most"), odds, title=believe))
    screen.print(
        "It holds whatever else is known, now or later, and for everything in a release together: "
        "the counts, their distribution, totals and groups share this epsilon and add nothing to "
        "it. It does not hide what is true of people in general, nor columns that are published as "
        "they are. Another release of the same data adds its own epsilon.\n"
    )
    uses = []
    for known in deployments():
        small = "" if known.delta is None else f"{known.delta:g}"
        local = " (local)" if known.kind == "local" else ""
        what = known.protects, known.product + local, known.by, str(known.year)
        uses.append((f"{known.epsilon:g}", small, *what))
    left = ("protects", "product", "by", "year")
    which = "Who uses which epsilon (OpenDP Deployments Registry)"
    screen.print(tabled(("epsilon", "delta", *left), uses, title=which, left=left))
    screen.print("An epsilon for a day or a month is spent again every day or month.")
