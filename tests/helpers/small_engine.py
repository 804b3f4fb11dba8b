"""The smallest engine: it adds noise to lists of counts, so that a ledger can be tried."""

import hashlib
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.ledger.entries import Correction, Payment
from holdfast.ledger.pay import pay_and_measure
from holdfast.ledger.recognition import TableDigest
from holdfast.privacy.promise import Charge
from holdfast.tables.subset import read_period, read_subset

COUNTS = np.random.default_rng(3).poisson(1.5, 60)
RANDOM = np.random.default_rng()


@dataclass(frozen=True, kw_only=True)
class Released:
    """Noisy counts by column, and what stands beside them."""

    noisy: dict[str, list[int]]
    beside: dict[str, list[str]]
    category: str | None
    notes: tuple[str, ...]
    receipt: str | None
    repeated: bool = False

    @property
    def labels(self) -> list[str] | None:
        return None if self.category is None else self.beside[self.category]


def nothing(*_given: Any) -> None:
    """Where nothing is watched."""


@dataclass(frozen=True, kw_only=True)
class SmallRun:
    """A table of counts that is about to be measured."""

    counts: dict[str, np.ndarray]
    beside: dict[str, list[str]] = field(default_factory=dict)
    category: str | None = None
    group: np.ndarray | None = None
    zeros: np.ndarray | None = None
    watch: Callable[[], None] = nothing
    """Called when it begins to measure."""
    watch_stored: Callable[[Path], None] = nothing
    """Called with the unfinished folder of the stored copy."""
    prepares: Callable[[], None] = nothing
    known: bool = True
    """Whether the table can be known again."""

    def prepare(self):
        self.prepares()

    def content(self, words):
        if not self.known:
            return None
        digest = TableDigest(list(self.counts))
        digest.add(self.counts, self.zeros, self.group)
        columns = {name: condensed(name, cells) for name, cells in self.beside.items()}
        return digest.content(
            words,
            rows=condensed("", list(self.beside.items())),
            category=None if self.category is None else columns[self.category],
            columns=list(columns.values()),
        )

    def labels(self):
        return None if self.category is None else self.beside[self.category]

    def measure(self, *, store=None, notes=(), receipt=None):
        self.watch()
        noisy = {
            name: (counts + RANDOM.integers(-99, 99, len(counts))).tolist()
            for name, counts in self.counts.items()
        }
        if store is not None:
            partial = store.with_name(f".{store.name}.partial-{secrets.token_hex(4)}")
            partial.mkdir()
            record = {"noisy": noisy, "receipt": receipt, "notes": list(notes)}
            (partial / "release.json").write_text(json.dumps(record))
            self.watch_stored(partial)
            partial.rename(store)
        return self._released(noisy, notes, receipt)

    def show_again(self, folder, *, check, notes=()):
        try:
            record = json.loads((folder / "release.json").read_text())
        except (OSError, ValueError):
            raise HoldfastError(f"{folder} was changed after the release was made") from None
        check(record["receipt"])
        again = self._released(record["noisy"], (*record["notes"], *notes), record["receipt"])
        return replace(again, repeated=True)

    def _released(self, noisy, notes, receipt):
        return Released(
            noisy=noisy, beside=self.beside, category=self.category, notes=notes, receipt=receipt
        )


def condensed(name: str, cells: Any) -> bytes:
    return hashlib.sha256(repr((name, cells)).encode()).digest()


def release(
    ledger: Any,
    counts: Any = COUNTS,
    *,
    dataset: str | None = "crime",
    epsilon: Any = "0.5",
    seed: int | None = None,
    subset: Any = None,
    period: Any = None,
    corrects: Released | None = None,
    same_counts: bool = False,
    zeros: Any = None,
    stored_bytes: int = 0,
    request: dict[str, Any] | None = None,
    **run: Any,
) -> Released:
    """What `holdfast.privatize` does, of lists of counts by name or of a single one."""
    named = counts if isinstance(counts, dict) else {"n": counts}
    columns = {name: np.asarray(each, dtype=np.int64) for name, each in named.items()}
    marks = None if zeros is None else np.asarray(zeros, dtype=np.bool_)
    charges = tuple(Charge(epsilon=Fraction(epsilon) / len(columns)) for _ in columns)
    payment = Payment(
        rows=len(next(iter(columns.values()))),
        charges=charges,
        simulated=seed is not None,
        request={"epsilon": str(epsilon), "subset": subset, **(request or {})},
        subset=read_subset(subset),
        period=read_period(period),
        corrects=corrected(corrects),
        same_counts=same_counts,
        stored_bytes=stored_bytes,
    )
    made = SmallRun(counts=columns, zeros=marks, **run)
    return pay_and_measure(made, payment, ledger, dataset)


def corrected(release: Released | None) -> Correction | None:
    """What a ledger is told of the release that another one corrects."""
    if release is None:
        return None
    return Correction(receipt=release.receipt, labels=release.labels)


def fail(error: BaseException) -> None:
    raise error
