"""What one person changes, on all small tables: each number that noise is added to, by as much as
is declared and no more; and nothing but those numbers."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from holdfast.fit.cells import choose_blocks
from holdfast.measure import room as room_module
from holdfast.measure.room import Room
from holdfast.privacy.noise import Noise
from holdfast.privacy.randomness import Simulation
from plain_measurements import plain

MOST_ROWS, MOST_COUNT, MOST_ADDED = 4, 5, 2
NOISE = Noise(epsilon=Fraction(1))
EDGES = {
    "single counts": np.arange(9),
    "wide": np.array([0, 2, 5, 20]),
    "one": np.array([0, 8]),
    "later": np.array([1, 3, 4]),
}
COUNTS, SUMS, WHOLE, TOTALS, TOTAL = "counts", "sums", "whole", "totals", "total"


def kind(stream: str) -> str:
    """Which part of the measurement noise is drawn for."""
    name = stream.removeprefix("None ")
    if name in ("total of the whole", "sums of the whole"):
        return TOTAL if name.startswith("total") else WHOLE
    return {"counts": COUNTS, "totals": TOTALS}.get(name, SUMS)


@pytest.fixture
def true_values(monkeypatch):
    """A function from a table to the numbers that noise is added to, by part of the measurement."""
    seen: dict[str, list] = {}

    def add_noise(values, noise, source, *, stream, at=0):
        seen.setdefault(kind(stream), []).extend(np.asarray(values).tolist())
        return np.asarray(values)

    monkeypatch.setattr(room_module, "add_noise", add_noise)
    monkeypatch.setattr(room_module, "FEW_GROUPS", 1)  # so that two have a total of the whole

    def of(counts, group, edges):
        seen.clear()
        groups = max(group) + 1
        room = Room(NOISE, source=Simulation(1), groups=groups)
        room.noisy(np.array(counts), np.array(group))
        sums = NOISE if groups > 1 else None
        room.finish(lambda *_: edges, whole=NOISE, sums=sums, totals=NOISE)
        return {part: np.array(values) for part, values in seen.items()}

    return of


def groupings(rows):
    """All ways to put rows into one or two groups, but for their order."""
    yield (0,) * rows
    for first in range(1, rows):
        yield (0,) * first + (1,) * (rows - first)


def additions(rows):
    """What one person may add to a table, 1 or 2 in one row or in two: an amount for each row."""
    for touched in (1, 2):
        for places in combinations(range(rows), touched):
            for amounts in product((1, MOST_ADDED), repeat=touched):
                added = dict(zip(places, amounts, strict=True))
                yield tuple(added.get(row, 0) for row in range(rows))


def all_tables(true_values, group, edges):
    """The numbers of all tables, by part; the count of each row is an axis."""
    values = range(MOST_COUNT + MOST_ADDED + 1)
    tables = [true_values(c, group, edges) for c in product(values, repeat=len(group))]
    axes = (len(values),) * len(group)
    return {part: np.array([t[part] for t in tables]).reshape(*axes, -1) for part in tables[0]}


def compare(numbers, added):
    """The change of each number from every table of counts up to 5 to that with what is added."""
    size = MOST_COUNT + 1
    before = tuple(slice(0, size) for _ in added)
    after = tuple(slice(amount, amount + size) for amount in added)
    return np.abs(numbers[after] - numbers[before]).reshape(size ** len(added), -1)


@pytest.mark.parametrize(
    ("name", "most_rows"), [("single counts", 4), ("wide", 3), ("one", 3), ("later", 3)]
)
def test_one_person_changes_each_number_by_what_is_declared(true_values, name, most_rows):
    # A sum over a block changes by those of its single counts, and no more: these have four rows.
    most, compared = dict.fromkeys((SUMS, WHOLE, TOTALS, TOTAL), 0), 0
    for rows in range(1, most_rows + 1):
        for group in groupings(rows):
            by_part = all_tables(true_values, group, EDGES[name])
            for added in additions(rows):
                assert (compare(by_part[COUNTS], added) == added).all()
                compared += (MOST_COUNT + 1) ** rows
                for part in by_part.keys() - {COUNTS}:
                    change = compare(by_part[part], added).sum(axis=1).max()
                    assert change <= sum(added)
                    most[part] = max(most[part], change)
    assert compared > 10_000
    assert most == dict.fromkeys(most, 2 * MOST_ADDED)  # it is attained: no less would do


def edges_of_everything(value, rows, noise, sums_noise):
    """Edges that depend on all that they may depend on."""
    return np.unique(np.clip(np.append(value, value * rows), 0, None))


def once(choose):
    """The same function of its arguments and nothing else, called once for equal ones."""
    chosen = {}

    def chooses(value, rows, noise, sums_noise):
        key = value.tobytes(), rows.tobytes(), noise, sums_noise
        if key not in chosen:
            chosen[key] = choose(value, rows, noise, sums_noise)
        return chosen[key]

    return chooses


@pytest.mark.parametrize(
    ("blocks", "seed"),
    [(edges_of_everything, 0), (edges_of_everything, 1), (once(choose_blocks), 2)],
    ids=["everything-0", "everything-1", "choose_blocks-2"],
)
def test_with_equal_noisy_numbers_equal_things_leave_the_room(monkeypatch, blocks, seed):
    """The noise of each table is such that the noisy numbers are the same: then so are edges,
    lengths, and all else of the measurement, for every table of as many rows and groups."""
    rng = np.random.default_rng(seed)
    noisy_counts = rng.integers(-3, 9, MOST_ROWS)

    def add_noise(values, noise, source, *, stream, at=0):
        if kind(stream) == COUNTS:
            return noisy_counts[: len(values)]
        return np.arange(len(values)) + len(stream)

    monkeypatch.setattr(room_module, "add_noise", add_noise)
    for rows in range(1, MOST_ROWS + 1):
        for group in groupings(rows):
            records = set()
            for counts in product((0, 1, 5, 10**6), repeat=rows):
                groups = max(group) + 1
                room = Room(NOISE, source=Simulation(1), groups=groups)
                room.noisy(np.array(counts), np.array(group))
                sums = NOISE if groups > 1 else None
                measurement = room.finish(blocks, whole=NOISE, sums=sums, totals=NOISE)
                records.add(repr(plain(measurement)))
            assert len(records) == 1
