"""What the commands show: the promise as a table, distributions as bars."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from holdfast.delta import beyond_epsilon

if TYPE_CHECKING:
    from holdfast.release import Release

screen = Console(highlight=False, markup=False)
asides = Console(stderr=True, highlight=False, markup=False)
SHOWN = 20
Column = tuple[str, NDArray[np.float64]]


@contextmanager
def working(message: str, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Show that something takes a moment; what it gives changes the words. Silent if unwatched."""
    if quiet or not asides.is_terminal:
        yield lambda words: None
    else:
        with asides.status(message) as status:
            yield lambda words: status.update(words)


def promise(release: "Release") -> Table:
    """Promised and certified, as a table."""
    privacy, budget = release.privacy, release.privacy.budget
    table = Table(title="What was promised, and what was certified", title_justify="left")
    table.add_column("")
    table.add_column("epsilon promised", justify="right")
    table.add_column("certified", justify="right")
    table.add_column("how")
    who = privacy.stage_1_certified_by
    rows = [
        ("max_count", budget.bound, privacy.bound_certified, "OpenDP's map"),
        ("distribution of counts", budget.stage_1, privacy.stage_1_certified, who),
        ("the counts themselves", budget.stage_2, privacy.stage_2_certified, "exact integers"),
        ("one person, in all", privacy.epsilon, privacy.certified_epsilon, "the sum"),
    ]
    for name, promised, certified, source in rows[budget.bound == 0 :]:
        table.add_row(name, f"{float(promised):g}", f"{float(certified):.9g}", source)
    person = f"A person adds at most {budget.contributions} to one row."
    table.caption = f"{person} Randomness: {privacy.randomness}."
    if privacy.delta:
        table.caption += f"\n{beyond_epsilon(privacy.delta)}"
    table.caption_justify = "left"
    return table


def bars(columns: Sequence[Column], title: str, width: int = 13) -> Table:
    """Distributions side by side, one bar a count; 20 up to the top share a line."""
    folded = [(name, _fold(shares)) for name, shares in columns]
    highest = max(float(shares.max()) for _, shares in folded)
    table = Table(title=title, title_justify="left")
    table.add_column("count", justify="right", min_width=5)
    for name, _ in folded:
        table.add_column(name, width=width + 7, no_wrap=True)
    for i, label in enumerate(_labels(len(columns[0][1]))):
        table.add_row(label, *(_bar(float(s[i]), highest, width) for _, s in folded))
    return table


def _labels(n: int) -> list[str]:
    if n <= SHOWN + 2:
        return [*(str(i) for i in range(n - 1)), f"{n - 1}+"]
    return [*(str(i) for i in range(SHOWN)), f"{SHOWN}-{n - 2}", f"{n - 1}+"]


def _fold(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    if len(shares) <= SHOWN + 2:
        return shares
    return np.array([*shares[:SHOWN], shares[SHOWN:-1].sum(), shares[-1]])


def _bar(share: float, highest: float, width: int) -> str:
    eighths = round(share / highest * width * 8)
    bar = "█" * (eighths // 8) + ("", *"▏▎▍▌▋▊▉")[eighths % 8]
    return f"{share:6.1%} {bar}"
