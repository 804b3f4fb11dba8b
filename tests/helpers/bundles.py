"""Bundles for tests, and what a forger does to them: edits, and sums that fit the edits."""

import hashlib
import json
from fractions import Fraction

import numpy as np
import pandas as pd

import holdfast.former as holdfast
from holdfast.former.release.mechanism_file import decode_weights, encode_weights
from holdfast.former.release.text import written

COUNTS = np.random.default_rng(1).poisson(2, 400)


def make(**options):
    """A release of 400 rows that is the same every time: a simulation."""
    stage_1 = holdfast.privatizers.CumulativeIsotonic()  # gives zeros, which make dead columns
    stage_2 = holdfast.constructors.Heuristic(selector="sandwich")  # a table of weights
    fixed = {"epsilon": "0.7", "split": "paper", "max_count": 8, "seed": 1}
    fixed |= {"privatizer": stage_1, "constructor": stage_2}
    options = fixed | options
    table = pd.DataFrame({"place": [f"p{i}" for i in range(400)], "n": COUNTS})
    return holdfast.privatize(table, count="n", category="place", **options)


def read_record(bundle):
    return json.loads((bundle / "release.json").read_text(encoding="utf-8"))


def write_record(bundle, record):
    (bundle / "release.json").write_text(json.dumps(record, indent=1), encoding="utf-8")


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def repair_sums(bundle):
    """SHA256SUMS as it would be, had the files always been as they are."""
    names = sorted(path.name for path in bundle.iterdir() if path.name != "SHA256SUMS")
    lines = [f"{sha256(bundle / name)}  {name}\n" for name in names]
    (bundle / "SHA256SUMS").write_bytes("".join(lines).encode())


def repair(bundle):
    """All sums of a bundle as they would be, had its files always been as they are."""
    record = read_record(bundle)
    for name in record["files"]:
        path = bundle / name
        if path.is_file():
            record["files"][name] = {"bytes": path.stat().st_size, "sha256": sha256(path)}
    write_record(bundle, record)
    repair_sums(bundle)


def forge(bundle, **changes):
    """Edit release.json (`privacy` and `certificate` key by key), then repair the sums."""
    record = read_record(bundle)
    for key, change in changes.items():
        if isinstance(change, dict) and key in ("privacy", "certificate"):
            record[key] |= change
        else:
            record[key] = change
    write_record(bundle, record)
    if isinstance(record["files"], dict) and "files" not in changes:
        repair(bundle)
    else:
        repair_sums(bundle)


def certify(bundle, **certified):
    """Parts of the budget certified for something else, and the decimal of their sum."""
    privacy = read_record(bundle)["privacy"] | certified
    parts = [Fraction(number) for name, number in privacy.items() if name.endswith("_certified")]
    forge(bundle, privacy=certified | {"certified_epsilon_decimal": f"{float(sum(parts)):.12g}"})


def without_plain_files(bundle):
    """As releases were before they had files for people without holdfast."""
    record = read_record(bundle)
    record.pop("intervals", None)
    record.pop("category", None)
    for name in ("intervals.csv", "mechanism.csv", "codebook.md"):
        record["files"].pop(name, None)
        (bundle / name).unlink(missing_ok=True)
    write_record(bundle, record)
    rewrite_texts(bundle)


def rewrite_texts(bundle):
    """What people read as it would be, had the record and the table always been as they are."""
    record = read_record(bundle)
    counts = pd.read_csv(bundle / "table.csv")[record["count_column"] or "count"]
    drawn = np.bincount(counts, minlength=record["max_count"] + 1)
    drawn[0] -= record["structural_zeros"]
    kinds = ("mechanism.curves", "mechanism.weights", "mechanism.groups")
    mechanism = next(name for name in kinds if name in record["files"])
    for name, text in written(record, drawn.tolist(), "table.csv", mechanism).items():
        (bundle / name).write_bytes(text.encode())
    repair(bundle)


def replace_text(bundle, name, old, new):
    """Edit a file of a bundle, then repair the sums."""
    text = (bundle / name).read_text(encoding="utf-8")
    assert old in text
    (bundle / name).write_bytes(text.replace(old, new, 1).encode())
    repair(bundle)


def make_curves():
    """The same release with the optimum, whose mechanism is made of curves."""
    return make(constructor=holdfast.constructors.Optimal())


def reweigh(bundle, change):
    """Edit the weights, then repair their digest and all sums; returns the new weights."""
    path = bundle / "mechanism.weights"
    weights = decode_weights(path.read_bytes())
    weights = change(weights.copy())
    path.write_bytes(encode_weights(weights))
    epsilon = read_record(bundle)["certificate"]["epsilon"]
    digest = hashlib.sha256(f"holdfast mechanism n={len(weights)} epsilon={epsilon}\n".encode())
    digest.update(np.ascontiguousarray(weights).astype("<i8").tobytes())
    forge(bundle, mechanism_digest=digest.hexdigest())
    return weights
