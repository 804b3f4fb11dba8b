"""What the commands show: the promise as a table, distributions as bars."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

from holdfast.arrays import Floats
from holdfast.errors import one_line
from holdfast.former.privacy.delta import beyond_epsilon
from holdfast.former.privacy.persons import protected

if TYPE_CHECKING:
    from holdfast.former.release.release import Release

screen = Console(highlight=False, markup=False)
asides = Console(stderr=True, highlight=False, markup=False)
PROMISED = "What was promised, and what was certified"
COMPILING = "Compiling, which only the first run does …"
SHOWN = 20
FEW = 0.1  # share of the rows that one bar may stand for without a closer look
NOTHING = 0.001  # so few rows need no bar of their own
WIDTHS = (1, 5, *(k * 10**d for d in range(1, 6) for k in (1, 5)), 10**6)  # each fits the next
Column = tuple[str, Floats]


@contextmanager
def working(message: str, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Show that something takes a moment; what it gives changes the words. Silent if unwatched."""
    if quiet or not asides.is_terminal:
        yield lambda words: None
    else:
        with asides.status(message) as status:
            yield lambda words: status.update(words)


@contextmanager
def working_with_kernels(message: str, *, quiet: bool = False) -> Iterator[None]:
    """The same for what uses kernels: while these are compiled it says so, and that it is once."""
    with working(message, quiet=quiet) as say:
        if quiet or not asides.is_terminal:
            yield
            return
        from holdfast.compiled import watched

        with watched(lambda compiling: say(COMPILING if compiling else message)):
            yield


def tabled(
    headings: Iterable[str],
    rows: Iterable[Iterable[str]],
    *,
    title: str | None = None,
    left: Collection[str] = (),
    caption: str | None = None,
    **column: Any,
) -> Table:
    """Rows under their headings, to the right of each column but those in `left`."""
    justify: dict[str, Any] = {"title_justify": "left", "caption_justify": "left"}
    table = Table(title=title, caption=caption, **justify)
    for heading in headings:
        table.add_column(heading, justify="left" if heading in left else "right", **column)
    for row in rows:
        table.add_row(*row)
    return table


def marked(name: str) -> str:
    """A name for machines as people read it, with marks between thousands.

    >>> marked("1000-9999"), marked("above 10")
    ('1,000-9,999', 'above 10')
    """
    return re.sub(r"\d{4,}", lambda number: f"{int(number[0]):,}", name)


def promise(release: "Release") -> Table:
    """Promised and certified, as a table."""
    privacy = release.privacy
    whole = f"one {privacy.budget.unit}, in all", privacy.epsilon, privacy.certified_epsilon
    shown = [
        (name, f"{float(promised):g}", f"{float(certified):.9g}", source)
        for name, promised, certified, source in (*privacy.parts, (*whole, "the sum"))
        if promised or name not in ("max_count", "totals")
    ]
    whom = f"Protected is {protected(privacy.to_dict())}. Randomness: {privacy.randomness}."
    return tabled(
        ("", "epsilon promised", "certified", "how"),
        shown,
        title=PROMISED,
        left=("", "how"),
        caption=f"{whom}\n{beyond_epsilon(privacy.delta)}" if privacy.delta else whom,
    )


def counted_twice(unit: str) -> str:
    """What to ask a steward who has not said how often, and in how many rows, one is counted."""
    return (
        f"If one {one_line(unit)} may be counted more than once in a row, as with visits, say how "
        "often at the most, such as --contributions 5; if in several rows, --rows 3."
    )


def bars(columns: Sequence[Column], title: str, width: int = 13) -> Table:
    """Distributions side by side, one bar per count; on wide ranges neighbours share a bar."""
    starts = _starts([shares for _, shares in columns])
    folded = [(name, np.add.reduceat(shares, starts)) for name, shares in columns]
    highest = max(float(shares.max()) for _, shares in folded)
    table = Table(title=title, title_justify="left")
    table.add_column("count", justify="right", min_width=5)
    for name, _ in folded:
        table.add_column(name, width=width + 7, no_wrap=True)
    for i, label in enumerate(_labels(starts)):
        table.add_row(label, *(_bar(float(s[i]), highest, width) for _, s in folded))
    return table


def _labels(starts: list[int]) -> list[str]:
    ends = [start - 1 for start in starts[1:]]
    ranges = zip(starts[:-1], ends, strict=True)
    return [*(f"{a:,}" if a == b else f"{a:,}-{b:,}" for a, b in ranges), f"{starts[-1]:,}+"]


def _starts(columns: Sequence[Floats]) -> list[int]:
    """Where each bar begins; the top count has the last one to itself.

    Single counts and one bar for the rest, where few rows are in the rest; otherwise the heaviest
    bar is parted again and again, so that bars are narrow where the rows are.

    >>> _starts([np.array([0.5, 0.3, 0.2])])
    [0, 1, 2]
    >>> _starts([np.full(1001, 1 / 1001)])[:4]
    [0, 100, 200, 300]
    """
    top = len(columns[0]) - 1
    if top <= SHOWN + 1:
        return list(range(top + 1))
    if all(shares[SHOWN:top].sum() <= FEW for shares in columns):
        return [*range(SHOWN + 1), top]
    sums = np.array([np.append(0.0, np.cumsum(shares[:top])) for shares in columns])

    def weight(start: int, end: int) -> float:
        return float((sums[:, end] - sums[:, start]).max())

    widths = {0: next(w for w in WIDTHS if w >= top)}
    while len(_joined(sorted(widths), top, weight)) <= SHOWN:
        wide = [start for start, width in widths.items() if width > 1]
        if not wide:
            break
        heaviest = max(wide, key=lambda start: weight(start, min(start + widths[start], top)))
        end = min(heaviest + widths[heaviest], top)
        if weight(heaviest, end) <= FEW:
            break
        narrower = WIDTHS[WIDTHS.index(widths[heaviest]) - 1]
        widths |= dict.fromkeys(range(heaviest, end, narrower), narrower)
    return [*_joined(sorted(widths), top, weight), top]


def _joined(starts: list[int], top: int, weight: Callable[[int, int], float]) -> list[int]:
    """Neighbours that hold next to nothing together share a bar."""
    kept = [starts[0]]
    for start, end in pairwise([*starts[1:], top]):
        if weight(kept[-1], end) > NOTHING:
            kept.append(start)
    return kept


def _bar(share: float, highest: float, width: int) -> str:
    eighths = round(share / highest * width * 8)
    bar = "█" * (eighths // 8) + ("", *"▏▎▍▌▋▊▉")[eighths % 8]
    return f"{share:6.1%} {bar}"
