"""The table and the pictures of docs/agencies.md, from the table inside the package.

`python benchmarks/agencies_page.py docs` draws the pictures into a folder; without a folder the
table is printed, in about ten seconds. Everything is seeded.
"""

import math
import sys
from importlib.resources import files
from pathlib import Path

import holdfast.former as holdfast
from holdfast.former.release.pictures import distribution_picture
from holdfast.former.studies.agencies import promise_of
from holdfast.former.studies.methods import AgencyMethod
from holdfast.former.tables.table import read_table

EPSILON, MAX_COUNT, REPETITIONS = "1", 30, 50
METHODS = ("default", "suppression", "rounding", "random-rounding", "cell-key")
TITLES = {
    "default": "holdfast, epsilon = 1",
    "suppression": "1 to 4 suppressed, taken as 2",
    "rounding": "rounded to 5",
    "random-rounding": "randomly rounded to 5",
    "cell-key": "cell key, D = 5, V = 3",
}
PICTURES = {
    "agencies-1.svg": ("default", "suppression", "rounding"),
    "agencies-2.svg": ("default", "random-rounding", "cell-key"),
}


def comparison(repetitions=REPETITIONS):
    counts = read_table(
        files("holdfast") / "data" / "county_homicides_1996.csv", count="homicides"
    ).counts
    return holdfast.compare(
        counts, max_count=MAX_COUNT, epsilons=[EPSILON], methods=METHODS, jobs=1,
        questions=("zeros", "mean"), repetitions=repetitions,
    )  # fmt: skip


def table(found):
    """Rows of Markdown."""
    rows = int(found.non_private_histogram.sum())
    yield "| method | W1 | TV | change of a count | counties without | total | promise |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for method, row in zip(found.methods, found.non_private_summary(), strict=True):
        zeros, mean = (row[f"error of {name}"] for name in ("zeros", "mean"))
        yield (
            f"| {TITLES[method.name]} | {row['w1']:.3f} | {row['tv']:.1%} | {row['absolute']:.2f} "
            f"| {100 * zeros:+.1f} points | {rows * mean:+,.0f} ± "
            f"{rows * (row['spread of error of mean'] or 0):,.0f} | {promise(method)} |"
        )


def promise(method):
    if not isinstance(method, AgencyMethod):
        return f"ε = {EPSILON}, certified"
    told = promise_of(method.published, EPSILON, max_count=MAX_COUNT)
    above = math.ceil(1000 * told.delta) / 1000  # never less than is true
    return "nothing" if told.delta == 1 else f"ε = {EPSILON} with δ = {above:.3f}"


def draw(folder):
    """Write the pictures."""
    found = comparison(1)
    truth = found.non_private_distribution
    for name, methods in PICTURES.items():
        panels = [(TITLES[m], found.non_private_example(m, EPSILON).distribution) for m in methods]
        title = "Homicides per US county, 1996. NOT PRIVATE: the line is the true distribution"
        svg = distribution_picture(panels, title=title, outline=truth)
        (Path(folder) / name).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        draw(sys.argv[1])
    else:
        print(*table(comparison()), sep="\n")
