"""Attacks on `holdfast verify`: mutations that pass, false alarms, and its worst cases.

    PYTHONPATH=tests/helpers python benchmarks/attacks_verify.py [text mutations a file]

Every leaf of release.json is edited in several ways, by a forger who repairs the sums and by one
who writes anew what people read; every text is edited line by line. What passes needs a reason.
"""

import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

import holdfast.former as holdfast
from attacks import WORST, plant_record, reason, record_mutations, text_mutations
from bundles import make, make_curves, read_record, repair

RUN = """
import sys, time
import pyarrow.parquet, numpy
from holdfast.former.verify import verify
began = time.process_time()
report = verify(sys.argv[1])
seconds = time.process_time() - began
status = open("/proc/self/status").read()
peak = int(status[status.index("VmHWM:") + 6 :].split()[0]) / 1024
print(f"{seconds:.1f} s | {peak:.0f} MB | {(report.damage or ('passes',))[0][:60]}")
"""


def mutate_records(whole: Path, folder: Path) -> int:
    record, unexplained = read_record(whole), 0
    for strong in (False, True):
        passed: Counter[str] = Counter()
        tried = 0
        for path, changed in record_mutations(record):
            bundle = shutil.copytree(whole, folder / "release")
            plant_record(bundle, changed, strong=strong)
            tried += 1
            if holdfast.verify(bundle):
                why = reason(path)
                unexplained += why is None
                passed[f"{'.'.join(map(str, path))}: {why or 'NO REASON'}"] += 1
            shutil.rmtree(bundle)
        forger = "a strong forger" if strong else "a weak forger"
        print(f"release.json, {forger}: {tried} tried, {passed.total()} passed")
        for what, times in sorted(passed.items()):
            print(f"    {times} x {what}")
    return unexplained


def mutate_texts(whole: Path, folder: Path, count: int) -> int:
    random, tried, passed = np.random.default_rng(1), 0, 0
    for name in ("README.md", "deployment.yaml", "distribution.svg"):
        text = (whole / name).read_text()
        for changed in text_mutations(text, random, count):
            bundle = shutil.copytree(whole, folder / "release")
            (bundle / name).write_text(changed)
            repair(bundle)
            found = bool(holdfast.verify(bundle))
            tried, passed = tried + 1, passed + found
            shutil.rmtree(bundle)
    print(f"texts: {tried} tried, {passed} passed")
    return passed


def false_alarms(folder: Path, count: int = 60) -> None:
    """Honest releases of many shapes that are called absurd."""
    random, alarms = np.random.default_rng(2), 0
    for seed in range(count):
        rows, top = int(10 ** random.uniform(1, 4.5)), int(10 ** random.uniform(0.3, 2))
        counts = random.negative_binomial(0.5, random.uniform(0.02, 0.9), rows)
        epsilon = round(10 ** random.uniform(-2, 1), 4)
        made = holdfast.privatize(counts, epsilon=epsilon, max_count=top, seed=seed)
        alarms += bool(holdfast.verify(made.save(folder / f"honest {seed}")).warnings)
    print(f"honest releases: {count} tried, {alarms} called absurd")


def worst_cases(whole: Path, folder: Path) -> None:
    for name, inflict in WORST.items():
        bundle = shutil.copytree(whole, folder / "worst")
        inflict(bundle)
        done = subprocess.run(
            [sys.executable, "-c", RUN, str(bundle)], capture_output=True, text=True
        )
        print(f"| {name} | {done.stdout.strip() or done.stderr.strip()[-80:]} |", flush=True)
        shutil.rmtree(bundle)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = make().save(folder / "whole")
        curves = make_curves().save(folder / "curves")
        worst_cases(whole, folder)
        false_alarms(folder)
        bad = sum(mutate_records(bundle, folder) for bundle in (whole, curves))
        bad += mutate_texts(curves, folder, count)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
