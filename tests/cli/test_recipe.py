"""A request gives the same release as a command and as a call: same seed, same bytes."""

import os
import shlex
from pathlib import Path

import numpy as np
import pytest

from commands import table
from holdfast.request import Request
from holdfast.tables.groups import classes

ROWS = 60
PEOPLE = {"from_people": True, "by": "county", "categories": "counties.csv"}
REQUESTS = [
    {"count": "n", "keep": "place"},
    {"count": "n", "category": "place", "keep_none": True},
    {"count": "n", "category": "place", "keep": ["state", "size"], "epsilon": "1/3"},
    {"count": "n", "within": "state", "keep_none": True},
    {"count": "n", "within": [classes("size", 3)], "keep_none": True, "totals": True},
    {"count": "n", "within": ["state", classes("size")], "keep_none": True, "totals": "0.3"},
    {"count": ["n", "m"], "keep_none": True},
    {"count": ["n", "m"], "keep_none": True, "weights": {"n": 3, "m": 1}, "rows": 2},
    {"count": ["n", "m"], "keep_none": True, "contributions": {"n": 1, "m": 4}},
    {"count": ["m", "n"], "keep_none": True, "person_in": "one column", "unit": "household"},
    {"count": "gaps", "missing": ["-9", ""], "keep_none": True},
    {"count": "n", "contributions": 3, "rows": 2, "keep_none": True},
    {"count": "n", "split": "0.4", "keep_none": True, "epsilon": "0.25"},
    {"count": "n", "category": "place", "order_by": "place", "keep_none": True},
    {"count": "n", "category": "state", "repeated_categories": True, "keep_none": True},
    {"count": "n", "subset": {"state": "NE"}, "keep_none": True},
    {"count": "n", "keep_none": True, "top": 3},
    {"count": "zeros", "structural_zero": "lake", "keep_none": True},
    {"count": "n", "keep_none": True, "period": "2026-Q1"},
    {"count": "n", "keep_none": True, "leave_out": [3, 5], "last_row": 40},
    {"count": "n", "keep_none": True, "table_format": "parquet"},
    {"count": "n", "keep": "n twice", "publish_anyway": "n twice"},
    PEOPLE | {"contributions": 2},
    PEOPLE | {"per": "person"},
]


def write_tables():
    """A table with all that the requests name, and one of persons."""
    rng = np.random.default_rng(11)
    head = ["place", "n", "m", "state", "size", "lake", "zeros", "gaps", "n twice"]
    lines = []
    for row in range(ROWS):
        n, m, size = (int(x) for x in (rng.poisson(3), rng.poisson(6), rng.integers(999)))
        lake = row % 9 == 0
        gap = "-9" if row % 11 == 3 else "" if row % 13 == 2 else n
        cells = (f"p{row:02}", n, m, "NE" if row % 3 else "KS", size)
        lines.append([*cells, "yes" if lake else "no", 0 if lake else n, gap, 2 * n])
    table("\n".join(",".join(map(str, line)) for line in [head, *lines]) + "\n")
    table("county\nEly\nKent\nRye\n", "counties.csv")
    places = rng.choice(["Ely", "Kent"], 40)
    people = "".join(f"{row // 2},{place}\n" for row, place in enumerate(places))
    table(f"person,county\n{people}", "people.csv")


def contents(folder):
    return {name: Path(folder, name).read_bytes() for name in sorted(os.listdir(folder))}


@pytest.mark.parametrize("options", REQUESTS, ids=lambda options: " ".join(map(str, options)))
def test_the_command_makes_the_bytes_of_the_call(cli, options):
    write_tables()
    source = "people.csv" if "from_people" in options else "in.csv"
    given = {"epsilon": "1", "seed": 5} | options
    command = Request.read(**given, out="by-command").as_command(source)
    call = Request.read(**given, out="by-call").as_python(source)
    code, _, err = cli(*shlex.split(command)[1:])
    assert code == 0, err
    exec(call, {})
    assert contents("by-command") == contents("by-call")
