"""What the audit says about the shelf: sound mechanisms, whole releases, broken mechanisms.

    PYTHONPATH=tests/helpers python benchmarks/audit_shelf.py [draws] [release draws]

Sound ones with 10^6 draws per table, ours and OpenDP's with the operating system's entropy; the
releases with 10^5; broken ones with 20,000.
"""

import sys
import time

import numpy as np

import holdfast.former as holdfast
from audit_cases import BROKEN, SOUND, Item, OverlappingGroups, opendp_geometric, ours
from holdfast.former.privatizers import CumulativeIsotonic
from holdfast.former.studies.audit import RepeatedGroups, RepeatedRelease

CONFIDENCE = 0.99


def show(kind: str, item: Item, draws: int, **options: object) -> None:
    start = time.perf_counter()
    found = holdfast.audit(
        item.mechanism,
        item.table,
        item.neighbour,
        epsilon=1,
        delta=item.delta,
        draws=draws,
        confidence=CONFIDENCE,
        batched=True,
        **options,
    )
    verdict = "VIOLATION" if found.violation else "not refuted"
    seconds = time.perf_counter() - start
    print(
        f"| {kind} | {item.name} | {draws:,} | {found.lower_bound:.4f} | {found.estimate:.4f} | "
        f"{verdict} | {found.event} | {seconds:.1f} |",
        flush=True,
    )


def main(draws: int = 1_000_000, release_draws: int = 100_000) -> None:
    print("| | mechanism | draws | epsilon at least | estimate | verdict | event | s |")
    print("|---|---|---|---|---|---|---|---|")
    target = np.array([0.4, 0.3, 0.2, 0.1])
    sound = [
        Item(name="holdfast, optimal", mechanism=ours(target), table=0, neighbour=1),
        Item(name="OpenDP, geometric", mechanism=opendp_geometric(), table=5, neighbour=6),
        *SOUND,
    ]
    for item in sound:
        show("sound", item, draws)
    repeated = RepeatedRelease(
        epsilon=1, max_count=4, rows=3, split="7/10", privatizer=CumulativeIsotonic()
    )
    item = Item(name="whole release", mechanism=repeated, table=[0, 1, 2], neighbour=[1, 1, 2])
    loss = repeated.stage_2_loss(item.table, item.neighbour)
    show("sound", item, release_draws, features=loss)
    small = RepeatedRelease(
        epsilon=1, max_count=1, rows=200, split="0.053", privatizer=CumulativeIsotonic()
    )
    halves = [0, 1] * 100  # z is near 1/2, where either answer for a row uses stage 2 up
    item = Item(name="small share", mechanism=small, table=halves, neighbour=[1, *halves[1:]])
    loss = small.stage_2_loss(item.table, item.neighbour)
    show("sound", item, min(release_draws, 20_000), features=loss)
    for kind, groups in (("sound", RepeatedGroups), ("broken", OverlappingGroups)):
        made = groups(epsilon=1, max_count=2, labels=["a", "a", "b"], split="7/10")
        item = Item(name=groups.__name__, mechanism=made, table=[0, 1, 0], neighbour=[1, 1, 0])
        loss = made.stage_2_loss(item.table, item.neighbour)
        show(kind, item, min(release_draws, 20_000), features=loss)
    for item in BROKEN:
        show("broken", item, 20_000)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
