"""`holdfast demo`: the main job on a table inside the package."""

from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import numpy as np
from rich.table import Table

from holdfast.arrays import Integers
from holdfast.former.cli.options import says
from holdfast.former.cli.screen import (
    Column,
    bars,
    promise,
    screen,
    tabled,
    working,
    working_with_kernels,
)

EPSILON, MAX_COUNT = "0.5", 30


def demo(
    picture: Annotated[Path | None, says("Also write the comparison as an SVG picture.")] = None,
    table: Annotated[
        Path | None, says("Only write the table itself, as CSV, to try other commands on.")
    ] = None,
    later: Annotated[
        Path | None, says("Only write a made-up table of the next year, with lower counts.")
    ] = None,
    seed: Annotated[int | None, says("Make the run repeatable: a simulation.")] = None,
) -> None:
    """Privatize a real public table and compare the release with the truth.

    The table: homicides in 2,197 US counties in 1996 (public data, source in the package).

    Examples: [bold]holdfast demo --picture demo.svg[/bold]; [bold]holdfast demo --table
    homicides.csv[/bold], and then holdfast privatize homicides.csv.
    """
    from rich.panel import Panel

    import holdfast.former as holdfast
    from holdfast.errors import HoldfastError
    from holdfast.former.tables.histogram import histogram_of_counts, top_code
    from holdfast.former.tables.table import read_table

    source = files("holdfast") / "data" / "county_homicides_1996.csv"
    if table is not None:
        _write_new(table, source.read_text(encoding="utf-8"))
        screen.print(f"Table: {table}, public data: county, population and homicides.")
    if later is not None:
        _write_new(later, _a_year_later(source.read_text(encoding="utf-8")))
        screen.print(f"Table: {later}, made up: one homicide in four less.")
    if table is not None or later is not None:
        return
    if picture is not None and (picture.suffix != ".svg" or not picture.parent.is_dir()):
        raise HoldfastError(
            f"`--picture` must be an .svg file in a folder that exists, got {picture}."
        )
    with as_file(source) as path:
        with working_with_kernels("Building the mechanism …"):
            release = holdfast.privatize(
                path,
                epsilon=EPSILON,
                max_count=MAX_COUNT,
                count="homicides",
                category="county",
                seed=seed,
            )
        counts = top_code(read_table(path, count="homicides").counts, MAX_COUNT)
    truth = histogram_of_counts(counts, MAX_COUNT) / len(counts)
    with working("Drawing the truncated geometric beside it …"):
        baseline = holdfast.baselines.TruncatedGeometric()(release.target, epsilon=EPSILON)
        geometric = baseline.mechanism.sample(counts, rng=seed)
    rival = histogram_of_counts(geometric, MAX_COUNT) / len(counts)

    screen.print(
        f"Homicides in {len(counts):,} US counties, 1996, published with epsilon = {EPSILON}; "
        f"counts above {MAX_COUNT} are published as {MAX_COUNT}.\n"
    )
    screen.print(promise(release))
    screen.print()
    columns = [
        ("true (NOT PRIVATE)", truth),
        ("holdfast", release.distribution),
        ("truncated geometric", rival),
    ]
    screen.print(bars(columns, "Share of counties with each count"))
    screen.print()
    screen.print(_errors(counts, release.counts, geometric, columns))
    screen.print(
        Panel(
            "This page is NOT PRIVATE: it shows the true distribution and errors against it. "
            "Of all this, only the bars under 'holdfast' could be published.",
            style="bold",
        )
    )
    if picture is not None:
        _draw(picture, columns)
        screen.print(f"Picture: {picture}")


def _errors(counts: Integers, ours: Integers, rival: Integers, columns: Sequence[Column]) -> Table:
    from holdfast.former.privacy.metrics import wasserstein

    shares = [share for _, share in columns]
    steps = np.arange(len(shares[0]))
    distances = (f"{wasserstein(shares[0], s):.3f}" for s in shares[1:])
    changes = (f"{np.abs(c - counts).mean():.2f}" for c in (ours, rival))
    rows = [
        ("counties without homicide", *(f"{s[0]:.1%}" for s in shares)),
        ("mean count", *(f"{s @ steps:.2f}" for s in shares)),
        ("counties with 10 or more", *(f"{s[10:].sum():.1%}" for s in shares)),
        ("distance of distributions (W1)", "", *distances),
        ("average change of a count", "", *changes),
    ]
    headings = ("", "true", "holdfast", "truncated geometric")
    return tabled(headings, rows, title="How far off (NOT PRIVATE)", left=("",))


def _a_year_later(text: str) -> str:
    """The table with a quarter of every count taken off, rounded down."""
    head, *lines = text.splitlines()
    cells = (line.rsplit(",", 1) for line in lines)
    changed = (f"{rest},{int(count) - int(count) // 4}" for rest, count in cells)
    return "\n".join([head, *changed, ""])


def _write_new(path: Path, text: str) -> None:
    from holdfast.errors import HoldfastError

    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    except FileExistsError:
        raise HoldfastError(f"`{path}` exists already. Hint: name a new file.") from None
    except OSError as error:
        raise HoldfastError(f"`{path}` cannot be written ({error.strerror}).") from None


def _draw(picture: Path, columns: Sequence[Column]) -> None:
    from holdfast.errors import HoldfastError
    from holdfast.former.release.pictures import distribution_picture

    (_, truth), *published = columns
    svg = distribution_picture(
        [("true", truth), *published],
        title=f"Homicides per US county, 1996, epsilon = {EPSILON}: NOT PRIVATE, "
        "the line is the true distribution",
        outline=truth,
        open_end=True,
    )
    try:
        picture.write_text(svg, encoding="utf-8")
    except OSError as error:
        raise HoldfastError(f"`{picture}` cannot be written ({error.strerror}).") from None
