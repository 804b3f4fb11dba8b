"""The picture of docs/groups.md: counts against population, true, ungrouped and grouped.

`python benchmarks/groups_picture.py docs` draws it.
"""

import csv
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.former.engines.memory import privatize
from holdfast.former.release.svg import BLUE, ORANGE, element, group, label, picture
from holdfast.former.tables.groups import classes
from holdfast.former.tables.table import CsvTable

NAME = "groups.svg"
EPSILON, TOP, CLASSES, SHOWN, SEED = "0.2", 30, 16, 400, 1996
WIDTH, HEIGHT, MARGIN = 270, 230, 48


def demo_table() -> tuple[CsvTable, Floats, Integers]:
    """Homicides in counties: the table, the population of each, and the counts capped at 30."""
    text = (files("holdfast") / "data" / "county_homicides_1996.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    table = CsvTable(tuple(header), rows)
    population = np.array([float(cell) for cell in table.column("population", "column")])
    counts = np.array([int(cell) for cell in table.column("homicides", "column")])
    return table, population, np.minimum(counts, TOP)


def drawing(*, seed: int = SEED) -> str:
    """Three panels of the same counties, and the mean count in 16 classes of population."""
    table, population, true = demo_table()
    options: dict[str, Any] = {
        "count": "homicides",
        "keep": ["county", "population"],
        "max_count": TOP,
    }
    plain = privatize(table, epsilon=EPSILON, seed=seed, **options)
    grouped = privatize(
        table, epsilon=EPSILON, seed=seed, within=classes("population", 8), **options
    )
    x = np.log10(population)
    panels = [
        ("true counts", true),
        (f"released, epsilon = {EPSILON}", plain.counts),
        ("released within 8 classes of population", grouped.counts),
    ]
    shown = np.random.default_rng(seed).choice(len(x), SHOWN, replace=False)
    means = _means(x, true)
    parts = [
        group(
            MARGIN + index * (WIDTH + MARGIN),
            56,
            _panel(name, x, counts, shown, means, mean=_means(x, counts)),
        )
        for index, (name, counts) in enumerate(panels)
    ]
    title = "Homicides against population: dots are counties, lines means in 16 classes"
    width = 3 * (WIDTH + MARGIN) + MARGIN // 2
    return picture(width, HEIGHT + 110, [label(title, width / 2, 22, font_size=14), *parts]) + "\n"


def _means(x: Floats, counts: Integers) -> list[tuple[float, float]]:
    """Where each class lies, and its mean count."""
    rank = np.argsort(np.argsort(x, kind="stable"), kind="stable") * CLASSES // len(x)
    return [(float(x[rank == k].mean()), float(counts[rank == k].mean())) for k in range(CLASSES)]


def _panel(
    name: str,
    x: Floats,
    counts: Integers,
    shown: Integers,
    truth: list[tuple[float, float]],
    mean: list[tuple[float, float]],
) -> list[str]:
    parts = [label(name, WIDTH / 2, -12, font_weight="bold")]
    for row in shown.tolist():
        across, up = _place(float(x[row]), float(counts[row]))
        parts.append(
            element("rect", x=f"{across - 1:.1f}", y=f"{up - 1:.1f}", width=2, height=2, fill=BLUE)
        )
    parts.append(_line(truth, "black"))
    if mean != truth:
        parts.append(_line(mean, ORANGE))
    parts.append(element("path", d=f"M0 0V{HEIGHT}H{WIDTH}", fill="none", stroke="black"))
    for power, words in ((3, "1,000"), (4, "10,000"), (5, "100,000"), (6, "1 million")):
        parts.append(label(words, f"{_place(power, 0)[0]:.1f}", HEIGHT + 16, font_size=10))
    parts += [label(str(c), -5, f"{_place(3, c)[1] + 4:.1f}", "end") for c in range(0, TOP + 1, 10)]
    parts.append(label("population", WIDTH / 2, HEIGHT + 34))
    return parts


def _place(x: float, count: float) -> tuple[float, float]:
    return (x - 2) / 5 * WIDTH, HEIGHT * (1 - count / TOP)


def _line(points: list[tuple[float, float]], colour: str) -> str:
    places = "L".join(f"{a:.1f} {b:.1f}" for a, b in (_place(*point) for point in points))
    return element("path", d=f"M{places}", fill="none", stroke=colour, stroke_width=2)


def main(folder: str) -> None:
    """Write the picture into a folder."""
    (Path(folder) / NAME).write_text(drawing(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
