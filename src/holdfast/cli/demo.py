"""`holdfast demo`: the main job on a table inside the package, beside the truth."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from secrets import randbits
from typing import TYPE_CHECKING, Any

from holdfast.cli.options import check_new, explained
from holdfast.cli.screen import show, tabled, working

if TYPE_CHECKING:
    from holdfast.fit.histogram import Histogram
    from holdfast.plan.simulation import KnownTable

EPSILON, COUNT, CATEGORY = "0.5", "homicides", "county"
HIGH = 10
Columns = Sequence[tuple[str, "Histogram"]]


@contextmanager
def demo_table() -> Iterator[Path]:
    """The built-in table: homicides by US county in 1996, with populations; public data."""
    with as_file(files("holdfast") / "plan" / "data" / "county_homicides_1996.csv") as path:
        yield path


@explained
def demo(
    picture: Path | None = None,
    table: Path | None = None,
    later: Path | None = None,
    seed: int | None = None,
) -> None:
    """Release a public table and show the release beside the truth.

    The table: homicides in 2,197 US counties in 1996.

    Examples:

        holdfast demo --picture demo.svg

        holdfast demo --table homicides.csv

    Options:

    --picture FILE: Also write the comparison as an SVG picture.
    --table FILE: Only write the table itself, as CSV, to try other commands on.
    --later FILE: Only write a made-up table of the next year, with lower counts.
    --seed NUMBER: Make the run repeatable: a simulation.
    """
    for path in filter(None, (picture, table, later)):
        check_new(path, "another option")
    with demo_table() as source:
        if table is not None or later is not None:
            text = source.read_text(encoding="utf-8")
            _write(table, text, "public data: county, population and homicides")
            _write(later, _a_year_later(text), "made up: one homicide in four less")
        else:
            _compare(source, picture, seed)


def _write(path: Path | None, text: str, about: str) -> None:
    from holdfast.tables.formats import write_whole

    if path is not None:
        write_whole(path, text.encode())
        show(f"Table: {path}, {about}.")


def _compare(source: Path, picture: Path | None, seed: int | None) -> None:
    import holdfast
    from holdfast.cli.released import side_by_side
    from holdfast.plan.compare import find_methods
    from holdfast.plan.simulation import histogram_of, read_known

    options: dict[str, Any] = {"count": COUNT, "category": CATEGORY, "keep": ["population"]}
    with working("Releasing …"):
        release = holdfast.privatize(source, epsilon=EPSILON, seed=seed, **options)
        truth = read_known(source, count=COUNT)
        (rival,) = find_methods(["truncated-geometric"])
        geometric = rival.publish(truth, EPSILON, randbits(32) if seed is None else seed)
    columns = [
        ("true (NOT PRIVATE)", truth.whole),
        ("holdfast", release.distribution),
        ("truncated geometric", histogram_of(geometric)),
    ]
    show(
        f"Homicides in {len(truth.counts):,} US counties in 1996, released with epsilon = "
        f"{EPSILON}. Beside it the usual noise for the same epsilon: a geometric mechanism, with "
        "what is below 0 or above the highest count moved there.\n"
    )
    show(side_by_side(columns, "Share of counties with each count"))
    show()
    show(_errors(truth, {"holdfast": release.counts, "truncated geometric": geometric}, columns))
    show(
        "NOT PRIVATE: this page shows the true distribution, and errors against it. Of all this "
        "only the bars under 'holdfast' could be published.",
        style="bold",
    )
    if picture is not None:
        _draw(picture, columns)
        show(f"Picture: {picture}")


def _errors(truth: "KnownTable", released: dict[str, Any], columns: Columns) -> Any:
    import numpy as np

    from holdfast.plan.simulation import w1
    from holdfast.request.questions import find_question

    questions = {
        "counties without homicide": (find_question("share", {"equal": 0}), ".1%"),
        f"counties with {HIGH} or more": (find_question("share", {"at_least": HIGH}), ".1%"),
        "mean count": (find_question("mean", {}), ".2f"),
    }
    rows = [
        (words, *(f"{asked.of_histogram(each):{form}}" for _, each in columns))
        for words, (asked, form) in questions.items()
    ]
    off = (np.abs(counts - truth.counts).mean() for counts in released.values())
    away = (w1(counts, truth.counts) for counts in released.values())
    rows.append(("a county's count is off by", "", *(f"{o:.2f}" for o in off)))
    rows.append(("the distribution is off by (W1)", "", *(f"{a:.3f}" for a in away)))
    headings = ("", "true", *released)
    return tabled(headings, rows, title="How far off (NOT PRIVATE)", left=("",))


def _a_year_later(text: str) -> str:
    """The table with a quarter of every count taken off, rounded down."""
    head, *lines = text.splitlines()
    cells = (line.rsplit(",", 1) for line in lines)
    changed = (f"{rest},{int(count) - int(count) // 4}" for rest, count in cells)
    return "\n".join([head, *changed, ""])


WIDE, TALL, APART, LEFT, ABOVE = 240, 160, 290, 50, 80


def _draw(path: Path, columns: Columns) -> None:
    """The distributions side by side, their bars on one scale."""
    from holdfast.cli.released import shares_in
    from holdfast.release.picture import Bar, bins, caption, labels, moved, panel, picture
    from holdfast.tables.formats import write_whole

    starts = bins(columns[0][1])
    shares = [shares_in(histogram, starts).tolist() for _, histogram in columns]
    title = f"Homicides per US county in 1996, epsilon = {EPSILON}"
    width = LEFT + APART * len(columns)
    parts = [caption(title, width / 2, 30, font_size=16, font_weight="bold")]
    for k, (name, _) in enumerate(columns):
        heights = zip(labels(starts), shares[k], strict=True)
        bars = [Bar(label=label, share=share, low=share, high=share) for label, share in heights]
        drawn = panel(name, "homicides in a county", bars, WIDE, TALL, max(map(max, shares)))
        parts.append(moved(LEFT + APART * k, ABOVE, drawn))
    write_whole(path, picture(title, width, ABOVE + TALL + 50, parts).encode())
