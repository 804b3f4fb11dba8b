"""Attacks on bundles: one number or word of one file is changed, and every sum is made anew.

    python benchmarks/attacks_bundles.py [--forgeries 1000] [--seed 1]

Bundles of many kinds are forged in turn. `verify` must find every change, or say that the end of an
interval is rounded otherwise; or what was changed is one of `CLAIMED`: what a maker says, from
which nothing is computed. `load` of the same folder may raise nothing but an error of ours. The run
stops with an error if anything else happens.
"""

import argparse
import csv
import hashlib
import io
import json
import random
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

import holdfast
from holdfast.errors import HoldfastError
from holdfast.tables.arrow_files import ParquetGroups, rows_in_group

CLAIMED = re.compile(
    r"release\.json: (made_with|receipt|period|notes|request|promise/randomness|table/newline"
    r"|counts/(whole|sums|totals)/values).*|table\.(csv|parquet): (people|state in no group).*"
)
"""What nothing else in a bundle contradicts: who made it when, cells that are published as they are
and make no groups, and a noisy sum that is off by less than the fit shows."""
AS_IT_MUST = ("found", "claimed", "passed, with the warning that ends of some")
ROWS = 90
TOKEN = re.compile(r"[0-9]+(?:\.[0-9]+)?|[^\W\d_]{3,}")


def table(seed: int = 0) -> pd.DataFrame:
    """Counties with two columns of counts, some of them known to be zero or missing."""
    rng = np.random.default_rng(seed)
    state = rng.integers(0, 3, ROWS)
    closed = rng.random(ROWS) < 0.08
    return pd.DataFrame(
        {
            "county": [f"c{k:03d}" for k in range(ROWS)],
            "state": np.array(["KS", "NE", "TX"])[state],
            "people": rng.integers(1000, 10**6, ROWS),
            "closed": closed,
            "deaths": np.where(closed, 0, rng.negative_binomial(0.7, 0.1 + 0.05 * state)),
            "births": np.where(closed, 0, rng.poisson(3.0, ROWS)),
        }
    )


def releases() -> Iterator[tuple[str, Callable[[], holdfast.Release]]]:
    """Releases of every kind."""
    plain = table()
    gaps = plain.astype({"deaths": "Int64"})
    gaps.loc[~gaps["closed"] & (gaps.index % 9 == 4), "deaths"] = pd.NA
    usual: dict[str, Any] = {"count": "deaths", "category": "county", "epsilon": 1}
    both = usual | {"count": ["deaths", "births"]}
    options: dict[str, dict[str, Any]] = {
        "plain": usual | {"keep": ["people"]},
        "a simulation": usual | {"keep_none": True, "seed": 3},
        "grouped, totals": usual | {"within": "state", "totals": True, "keep": ["people"]},
        "classes, top": usual | {"within": holdfast.classes("people", 4), "top": 9},
        "several": both | {"within": "state", "contributions": 3, "rows": 2},
        "weights": both | {"weights": {"deaths": 2, "births": 1}, "keep": ["people"]},
        "one column": both | {"person_in": "one column", "unit": "household"},
        "period, zeros": usual | {"structural_zero": "closed", "within": "state", "period": "2026"},
        "subset": usual | {"subset": {"state": "NE"}, "keep_none": True},
        "Parquet": usual | {"within": "state", "table_format": "parquet", "keep": ["people"]},
    }
    for name, asked in options.items():
        yield name, lambda asked=asked: holdfast.privatize(plain, **asked)
    missing = usual | {"missing": [""], "structural_zero": "closed", "within": "state"}
    yield "missing", lambda: holdfast.privatize(gaps, **missing)
    yield "regrouped", lambda: holdfast.privatize(plain, **usual, keep=["state"]).by("state")


def seal(folder: Path) -> None:
    """Make all sums anew."""
    record = json.loads((folder / "release.json").read_text("utf-8"))
    if isinstance(record.get("files"), dict):
        for name, said in record["files"].items():
            if isinstance(said, dict) and (folder / name).is_file():
                data = (folder / name).read_bytes()
                said.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    (folder / "release.json").write_text(json.dumps(record), "utf-8")
    paths = sorted(path for path in folder.iterdir() if path.name != "SHA256SUMS")
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in paths]
    (folder / "SHA256SUMS").write_text("".join(sums))


def other(text: str, chance: random.Random) -> str:
    """Another number for a number, another word for a word."""
    return next(new for new in iter(lambda: _any(text, chance), None) if new != text)


def _any(text: str, chance: random.Random) -> str:
    if re.fullmatch(r"-?[0-9]+", text):
        return str(int(text) + chance.choice([-1, 1, 7, 10**6, 10**30]))
    if re.fullmatch(r"-?[0-9]*\.[0-9]+", text):
        return f"{float(text) * chance.choice([0.5, 0.9, 1.2, -1]) + chance.choice([0, 1]):g}"
    return chance.choice([text[::-1] + "x", "NE", "true", "", "x" * 50])


def leaf(value: Any, chance: random.Random, path: str = "") -> tuple[Any, str]:
    """A value of release.json with one change somewhere in it, and where."""
    if isinstance(value, dict) and value:
        key = chance.choice([name for name in value if name != "files"] or list(value))
        if chance.random() < 0.03:
            return {name: each for name, each in value.items() if name != key}, f"{path}less {key}"
        changed, where = leaf(value[key], chance, f"{path}{key}/")
        return value | {key: changed}, where
    if isinstance(value, list) and value:
        at = chance.randrange(len(value))
        if chance.random() < 0.05:
            return value[:at] + value[at + 1 :], f"{path}less one"
        changed, where = leaf(value[at], chance, path)
        return [*value[:at], changed, *value[at + 1 :]], where
    odd = [None, True, -1, 10**30, 1.5, "x", [], {}, "\ud800", "1/0"]
    if isinstance(value, bool) or value is None or chance.random() < 0.2:
        return chance.choice([each for each in odd if each != value]), path
    changed = other(str(value), chance)
    return int(changed) if isinstance(value, int) and changed.lstrip(
        "-"
    ).isdigit() else changed, path


def forge(folder: Path, chance: random.Random) -> str:
    """Change one thing in one file; what was changed, in words."""
    name = chance.choice(
        sorted(path.name for path in folder.iterdir() if path.name != "SHA256SUMS")
    )
    path = folder / name
    if name == "release.json":
        changed, where = leaf(json.loads(path.read_text("utf-8")), chance)
        path.write_text(json.dumps(changed), "utf-8")
        return f"{name}: {where}"
    if name == "table.parquet":
        frame = pd.read_parquet(path)
        column = chance.choice(list(frame))
        row = chance.randrange(len(frame))
        old = frame.loc[row, column]
        frame.loc[row, column] = old + 1 if isinstance(old, np.integer) else old + "x"
        rows = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata()
        path.unlink()
        with ParquetGroups(path, rows.schema, rows_in_group(rows.num_columns)) as file:
            file.write(rows)
        return f"{name}: {column}"
    if name.endswith(".csv"):
        lines = list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))
        row = chance.randrange(len(lines))
        at = chance.randrange(len(lines[row]))
        lines[row][at] = other(lines[row][at], chance)
        sink = io.StringIO(newline="")
        csv.writer(sink, lineterminator="\n").writerows(lines)
        path.write_bytes(sink.getvalue().encode())
        return f"{name}: {lines[0][at] if row else 'the header'}{_whose(folder, row)}"
    text = path.read_text("utf-8")
    match = chance.choice(list(TOKEN.finditer(text)))
    path.write_text(text[: match.start()] + other(match[0], chance) + text[match.end() :], "utf-8")
    return f"{name}: {match[0]}"


def _whose(folder: Path, row: int) -> str:
    """Whether a row is in no group, as one that was not measured, or there are none."""
    with (folder / "rows.csv").open(encoding="utf-8-sig", newline="") as file:
        header, *lines = csv.reader(file)
    if not 0 < row <= len(lines):
        return ""
    grouped = "group" in header and lines[row - 1][header.index("group")]
    return "" if grouped else " in no group"


def outcome(folder: Path, change: str) -> str:
    """What verify and load make of a forged bundle."""
    report = holdfast.verify(folder)
    try:
        holdfast.load(folder)
    except HoldfastError:
        pass
    except Exception as error:  # what must not be
        return f"LOAD RAISES {type(error).__name__}"
    if not report.passed:
        odd = [check.detail for check in report.checks if "could not be made (" in check.detail]
        return f"found, by an exception: {odd[0]}" if odd else "found"
    if report.warnings:
        return f"passed, with the warning that {report.warnings[0]}"
    return "claimed" if CLAIMED.fullmatch(change) else "PASSED"


def attack(folder: Path, number: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """Kind of bundle, what was changed, and what came of it; changes that change nothing are left
    out."""
    chance = random.Random(seed)
    bundles = [(name, make().save(folder / str(at))) for at, (name, make) in enumerate(releases())]
    place = folder / "forged"
    for k in range(number):
        name, bundle = bundles[k % len(bundles)]
        shutil.copytree(bundle, place)
        change = forge(place, chance)
        try:
            seal(place)
            yield name, change, outcome(place, change)
        finally:
            shutil.rmtree(place)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--forgeries", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    ends, wrong = Counter[tuple[str, str]](), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        for kind, change, end in attack(Path(folder), given.forgeries, given.seed):
            ends[change.partition(":")[0], end] += 1
            if not end.startswith(
                ("found", "claimed", "passed, with the warning that ends of some")
            ):
                wrong.append(f"{kind}: {change}: {end}")
    for (name, end), times in sorted(ends.items()):
        print(f"{times:6} {name:18} {end}")
    for line in wrong:
        print(line)
    if wrong:
        raise SystemExit("a change was not found as it must be")


if __name__ == "__main__":
    main()
