"""What `holdfast privatize` shows of a release that it has made."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import numbered, one_line, roughly
from holdfast.former.cli.dry_run import warn
from holdfast.former.cli.screen import PROMISED, asides, bars, promise, screen, tabled

if TYPE_CHECKING:
    from holdfast.former.release.facts import ReleaseFacts
    from holdfast.former.release.release import Release
    from holdfast.former.release.several import SeveralFacts


def say_notes(notes: Sequence[str], columns: "Mapping[str, ReleaseFacts]") -> None:
    """What a steward should know of a release; where most rows are at max_count that comes first,
    of each column of counts."""
    from holdfast.former.release.usefulness import is_mostly_capped, top_notes

    loud = set[str]()
    for name, one in columns.items():
        if is_mostly_capped(one.target):
            (note,) = top_notes(one.target, one.rows, totals=one.totals is not None)
            column = f"column {one_line(name)}: " * (len(columns) > 1)
            spent = "" if one.privacy.simulated else "; this budget is spent"
            asides.print(f"WARNING: {column}{note}{spent}.", style="bold")
            loud.add(note)
    for note in (note for note in notes if note not in loud):
        warn(note)


def show(release: "Release", folder: Path, whom: str) -> None:
    """What was promised, certified and released; `whom` is what to ask of who is protected."""
    from holdfast.former.release.text import change_in_words, rows_at_the_top

    simulated = release.privacy.simulated
    name = "SIMULATION" if simulated else "released (private)"
    screen.print(promise(release))
    if whom:
        screen.print(whom)
    screen.print()
    screen.print(bars([(name, release.distribution)], "Share of rows with each count", width=40))
    screen.print()
    zeros = release.structural_zeros
    extra = f", and {numbered(zeros, 'structural zero')} passed through" if zeros else ""
    extra += f", beside {numbered(release.gaps, 'row')} without a count" if release.gaps else ""
    others = ", ".join(map(one_line, release.unchanged_columns))
    top = len(release.target) - 1
    high = numbered(rows_at_the_top(release.distribution, release.rows), "row")
    screen.print(
        f"Released {numbered(release.rows, 'row')}{extra}: {high} with {top:,}, which means "
        f"{top:,} or more. If counts are distributed as the release says, a released count is off "
        f"by {change_in_words(release.expected_change)} on average from the true one capped at "
        f"{top:,}.{_groups_in_words(release)}\n"
        f"Published unchanged: {others or 'no column'}, and the order of the rows.\n"
        f"The release is in {folder}; start with its README.md."
    )
    _say_if_simulated(simulated)


def _groups_in_words(release: "Release") -> str:
    words = ""
    if release.groups is not None:
        words += f" The distribution holds within each of {numbered(len(release.groups), 'group')}."
    if release.totals is not None:
        whole = release.totals.whole
        words += (
            f"\nThe true counts, not capped, add up to about {whole.value:,}, or between "
            f"{whole.low:,} and {whole.high:,} with a probability of {float(whole.level):.0%}."
        )
    return words


def show_several(release: "SeveralFacts[Any]", folder: Path, whom: str) -> None:
    """What was promised and certified, of each column and in all; `whom` as in `show`."""
    privacy = release.privacy
    parts = [
        (one_line(name), one.privacy, "-" if change is None else roughly(change))
        for name, one in release.columns.items()
        for change in [one.expected_change]
    ]
    rows = [
        (name, f"{float(own.epsilon):g}", f"{float(own.certified_epsilon):.9g}", off)
        for name, own, off in [*parts, (f"one {privacy.persons.unit}, in all", privacy, "")]
    ]
    headings = ("column", "epsilon promised", "certified", "off by")
    screen.print(tabled(headings, rows, title=PROMISED, left=("column",)))
    for name, one in release.columns.items():
        screen.print(bars([("released", one.distribution)], f"Share of rows by {name}", width=40))
    how = "each given those before it" if release.joint else "each by itself"
    others = ", ".join(map(one_line, release.unchanged_columns))
    most = max(one.rows for one in release.columns.values())
    screen.print(
        f"Released {numbered(most, 'row')}. The columns of counts were drawn {how}.\n"
        f"Published unchanged: {others or 'no column'}, and the order of the rows."
    )
    screen.print(f"{one_line(privacy.neighbours)} {whom}".rstrip())
    screen.print(f"The release is in {folder}; start with its README.md.")
    _say_if_simulated(privacy.simulated)


def _say_if_simulated(simulated: bool) -> None:
    if simulated:
        screen.print("SIMULATION: a seed was given, so this release protects nobody.", style="bold")
