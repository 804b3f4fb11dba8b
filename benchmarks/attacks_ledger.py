"""Attacks on the file of a ledger: cut at every length, every byte flipped, parts of older copies.

    python benchmarks/attacks_ledger.py [--every STEP]

Each damaged file is asked for its balance for all time and in a year, for more than is left and
for something that fits. It may refuse with an error of ours, or be right in all of them. The run
stops with an error if one of them forgot a spend, raised a limit, granted too much, put a spend
into another year or raised anything else.
"""

import argparse
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path

from holdfast.errors import BudgetError, HoldfastError
from holdfast.ledger.chain import head_file, releases_of
from holdfast.ledger.entries import Payment
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.recognition import Content
from holdfast.privacy.promise import Charge
from holdfast.tables.subset import read_period

DATASET = "attacked"
LIMIT, SPENT = Fraction(10), Fraction(33, 4)
YEAR, YEARS_LIMIT, YEARS_SPENT = "2026", Fraction(5), Fraction(17, 4)
FLIPS = (0x01, 0x80, 0xFF)
REFUSED, RIGHT = "refused", "right all the same: nothing stands in these bytes"
FORGOT, RAISED, GRANTED = "SPEND FORGOTTEN", "LIMIT RAISED", "TOO MUCH GRANTED"
MISSED, FOREIGN = "A NEW SPEND IS MISSING", "ANOTHER EXCEPTION"
Damage = tuple[int, bytes]


def small_ledger(folder: Path) -> tuple[Ledger, list[bytes]]:
    """A ledger of a few entries that has spent 33/4 of 10, and its copies on the way there."""
    ledger, copies = Ledger(folder / "small.ledger"), []
    for name, limit in ((DATASET, 4), ("other", 3), (DATASET, 10)):
        ledger.set_limit(name, epsilon=limit)
        copies.append(ledger.path.read_bytes())
    ledger.set_limit(DATASET, epsilon=YEARS_LIMIT, per_period=True)
    copies.append(ledger.path.read_bytes())
    for amount, end, period in (("4", "done", "2025"), ("17/4", "abandoned", YEAR)):
        charges, days = (Charge(epsilon=Fraction(amount)),), read_period(period)
        payment = Payment(charges=charges, period=days, request={"a": 1})
        prints = ledger.prints(Content(alone={"n": b""}))
        spend = ledger.record(DATASET, payment, prints)
        copies.append(ledger.path.read_bytes())
        ledger.finish(spend.id, end)
    ledger.spend("other", epsilon=1)
    return ledger, copies


def cuts(whole: bytes, step: int) -> Iterator[Damage]:
    """The file cut at every length, and with something after its end."""
    for length in range(0, len(whole), step):
        yield length, whole[:length]
    for more in (1, 512, 4096):
        yield len(whole), whole + bytes(more)


def flips(whole: bytes, step: int) -> Iterator[Damage]:
    """The file with one byte changed, in several ways."""
    for place in range(0, len(whole), step):
        for flip in FLIPS:
            damaged = bytearray(whole)
            damaged[place] ^= flip
            yield place, bytes(damaged)


def pages_of_older(whole: bytes, copies: Iterable[bytes], size: int = 4096) -> Iterator[Damage]:
    """The file with one or two of its pages as they were before: writes that never came to disk."""
    for older in copies:
        starts = range(0, min(len(whole), len(older)), size)
        for first in starts:
            for second in starts:
                mixed = bytearray(whole)
                for at in (first, second):
                    mixed[at : at + size] = older[at : at + size]
                if mixed not in (whole, older):
                    yield first, bytes(mixed)


def holes(whole: bytes, size: int = 512) -> Iterator[Damage]:
    """The file with a sector of zeros, or one that stands in the place of another."""
    for at in range(0, len(whole), size):
        for content in (bytes(size), b"\xff" * size, whole[:size]):
            yield at, whole[:at] + content + whole[at + size :]


def attack(ledger: Ledger) -> str:
    """What a damaged ledger says."""
    try:
        balance, year = ledger.balance(DATASET), ledger.balance(DATASET, period=YEAR)
        if balance.epsilon_spent < SPENT or year.epsilon_spent < YEARS_SPENT:
            return FORGOT
        if balance.epsilon_limit > LIMIT or year.epsilon_limit > YEARS_LIMIT:
            return RAISED
        return _spending(ledger)
    except HoldfastError:
        return REFUSED
    except Exception as error:
        return f"{FOREIGN}: {type(error).__name__}"


def _spending(ledger: Ledger) -> str:
    try:
        ledger.spend(DATASET, epsilon=2, period=YEAR)
    except BudgetError:
        ledger.finish(ledger.spend(DATASET, epsilon=1, period="2025"), "done")
        whole = ledger.balance(DATASET).epsilon_spent == SPENT + 1
        return RIGHT if whole else MISSED
    return GRANTED


def attacks(damages: Iterable[Damage], ledger: Ledger) -> Counter[str]:
    """How many files end in which way; what is remembered beside the ledger is taken away."""
    ends: Counter[str] = Counter()
    for _, damaged in damages:
        head_file(ledger.path).unlink(missing_ok=True)
        ledger.path.write_bytes(damaged)
        ends[attack(ledger)] += 1
        for left in ("-journal", "-wal", "-shm"):
            ledger.path.with_name(ledger.path.name + left).unlink(missing_ok=True)
    return ends


def head_attacks(ledger: Ledger, whole: bytes, step: int) -> Counter[str]:
    """The whole ledger beside a damaged copy of its head."""
    ends: Counter[str] = Counter()
    ledger.path.write_bytes(whole)
    head_file(ledger.path).unlink(missing_ok=True)
    ledger.finish(ledger.spends("other")[0].id, "done")  # writes the head
    whole, head = ledger.path.read_bytes(), head_file(ledger.path).read_bytes()
    for damages in (cuts(head, step), flips(head, step)):
        for _, damaged in damages:
            ledger.path.write_bytes(whole)
            head_file(ledger.path).write_bytes(damaged)
            ends[attack(ledger)] += 1
    return ends


def run(folder: Path, every: int = 1) -> dict[str, Counter[str]]:
    """All attacks, or every so many of them."""
    ledger, copies = small_ledger(folder)
    whole = ledger.path.read_bytes()
    return {
        f"cut at every length of {len(whole):,}": attacks(cuts(whole, every), ledger),
        f"{len(FLIPS)} flips of every byte": attacks(flips(whole, every), ledger),
        "pages of older copies": attacks(list(pages_of_older(whole, copies))[::every], ledger),
        "sectors of zeros, ones, or another": attacks(list(holes(whole))[::every], ledger),
        "the head beside the releases": head_attacks(ledger, whole, max(1, every // 50)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--every", type=int, default=1, help="only every so many bytes")
    given = parser.parse_args()
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        results = run(Path(folder), given.every)
        assert releases_of(Path(folder) / "small.ledger").is_dir()
    for what, ends in results.items():
        print(f"{what}: {ends.total():,} files")
        for end, times in ends.most_common():
            print(f"    {times:7,} {end}")
    if any(end not in (REFUSED, RIGHT) for ends in results.values() for end in ends):
        raise SystemExit("the ledger failed")


if __name__ == "__main__":
    main()
