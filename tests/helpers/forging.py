"""Bundles changed by somebody who recomputes every sum."""

import csv
import hashlib
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

Record = dict[str, Any]


def forged(bundle: Path, place: Path, change: Callable[[Path], None]) -> Path:
    """A copy of a bundle after a change, with all sums made anew."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(bundle, place)
    change(place)
    seal(place)
    return place


def seal(folder: Path) -> None:
    record = read(folder)
    for name, said in record["files"].items():
        data = (folder / name).read_bytes()
        said.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    write(folder, record)
    names = sorted(path.name for path in folder.iterdir() if path.name != "SHA256SUMS")
    sums = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}" for name in names]
    (folder / "SHA256SUMS").write_text("".join(f"{line}\n" for line in sums))


def read(folder: Path) -> Record:
    return json.loads((folder / "release.json").read_text("utf-8"))


def write(folder: Path, record: Record) -> None:
    (folder / "release.json").write_text(json.dumps(record), "utf-8")


def of_record(change: Callable[[Record], Any]) -> Callable[[Path], None]:
    """A change of release.json."""

    def apply(folder: Path) -> None:
        record = read(folder)
        change(record)
        write(folder, record)

    return apply


def of_lines(name: str, change: Callable[[list[list[str]]], Any]) -> Callable[[Path], None]:
    """A change of the records of a CSV file."""

    def apply(folder: Path) -> None:
        table = read(folder)["table"]
        text = (folder / name).read_bytes().decode("utf-8-sig")
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=table["delimiter"]))
        change(lines)
        sink = io.StringIO(newline="")
        csv.writer(sink, delimiter=table["delimiter"], lineterminator=table["newline"]).writerows(
            lines
        )
        start = "\ufeff" if table["bom"] else ""
        (folder / name).write_bytes((start + sink.getvalue()).encode("utf-8"))

    return apply


def of_text(name: str, old: str, new: str) -> Callable[[Path], None]:
    """A change of words."""

    def apply(folder: Path) -> None:
        text = (folder / name).read_text("utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1), "utf-8")

    return apply
