"""A ledger: what each dataset may spend, and what every release of it has spent."""

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, chain, pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any

from holdfast.ledger.book import ALL_TIME, Balance, Book, by_column, charged
from holdfast.ledger.chain import Receipt, releases_of
from holdfast.ledger.entries import Begun, Limit, Spend
from holdfast.ledger.recognition import Content, Prints
from holdfast.ledger.recorder import Recorder, check_name
from holdfast.ledger.sqlite_file import read
from holdfast.privacy.composition import composed_epsilon
from holdfast.privacy.promise import Charge
from holdfast.request import Request
from holdfast.tables.subset import Period, read_period, read_subset


class Ledger(Recorder):
    r"""A file that keeps, for each dataset, a limit and one entry per spend, in exact fractions.

    A spend is on disk before `spend` returns, and counts from then on: nothing takes it back.
    Any number of processes may use one ledger; check and record are one transaction, so together
    they cannot exceed a limit. Entries are chained, and all of them are checked whenever the
    ledger is opened: a damaged one, or an older copy that is known to be one, grants nothing.
    What is where: docs/ledger.md.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger(folder.name + "/budget.ledger")
    >>> ledger.set_limit("homicides", epsilon=2)
    >>> ledger.finish(ledger.spend("homicides", epsilon="1.5"), "done")
    >>> ledger.balance("homicides").epsilon_left
    Fraction(1, 2)
    >>> ledger.spend("homicides", epsilon=1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    holdfast.errors.BudgetError: dataset 'homicides' cannot afford this: epsilon spent 1.5, ...
    >>> folder.cleanup()
    """

    def telling(
        self, *, purpose: str = "", file: Any = "", column: str = "", folder: Any = ""
    ) -> "Ledger":
        """The same ledger, which records with each spend what it was for.

        Parameters:
            purpose, file, column, folder: Why, of what, and to where something is released.
        """
        words = {"purpose": purpose, "file": file, "column": column, "folder": folder}
        texts = {name: os.fsdecode(value) for name, value in words.items() if value}
        return replace(self, purpose=replace(self.purpose, **texts))

    def balance(self, dataset: str, *, subset: Any = None, period: Any = None) -> Balance:
        """What a dataset, or a subset or a period of it, may spend, has spent and has left.

        Parameters:
            dataset, subset, period: As for `spend`; a period counts where each has a limit.
        """
        balances = self.must_fit(dataset, subset=subset, period=period)
        return balances[-1] if period is None else balances[0]

    def must_fit(self, dataset: str, *, subset: Any = None, period: Any = None) -> list[Balance]:
        """Every balance that a release must fit: of its period, for all time.

        Parameters:
            dataset, subset, period: As for `spend`.
        """
        rows, days = read_subset(subset), read_period(period)
        with read(self.path, self.timeout) as pages:
            return pages.book.balances(check_name(dataset), rows, days)

    def balances(self, dataset: str | None = None) -> list[Balance]:
        """The balances of every dataset, by name: for all time, and of each period that has spent
        anything where each has a limit.

        Parameters:
            dataset: Only this one; all by default.
        """
        with read(self.path, self.timeout) as pages:
            known = sorted({name for name, _ in pages.book.limits})
            names = known if dataset is None else [check_name(dataset)]
            return [balance for name in names for balance in _balances(pages.book, name)]

    def spends(self, dataset: str | None = None) -> list[Spend]:
        """Every spend, of one dataset or of all, in the order in which they were paid.

        Parameters:
            dataset: Only this one; all by default.
        """
        with read(self.path, self.timeout) as pages:
            return pages.book.spends(dataset)

    def history(self, dataset: str | None = None) -> list[Begun | Limit | Spend]:
        """The beginning, limits and spends, of one dataset or of all, in the order of writing,
        whatever the clocks said.

        Parameters:
            dataset: Only this one; all by default.
        """
        with read(self.path, self.timeout) as pages:
            entries = pages.book.history.values()
        return [
            entry
            for entry in entries
            if dataset is None or (not isinstance(entry, Begun) and entry.dataset == dataset)
        ]

    def composed_epsilon(self, dataset: str, *, delta: Any) -> Fraction:
        """An epsilon, at most what is spent, such that all releases of a dataset together are
        (epsilon, delta)-private for every row; see `holdfast.privacy.composition`.

        Parameters:
            dataset: Its name in the ledger.
            delta: With which probability the smaller epsilon may fail.
        """
        spends = [replace(spend, period=None) for spend in self.spends(check_name(dataset))]
        return composed_epsilon(worst_charges(spends), delta=delta, sums=charged(spends))

    def prints(self, content: Content) -> Prints:
        """Digests by which this ledger knows a release again."""
        with read(self.path, self.timeout) as pages:
            return Prints.of(content, pages.key)

    def paid_for(self, receipt: Receipt) -> Spend | None:
        """The spend that a release remembers; None where this ledger knows of none."""
        return next((spend for spend in self.spends() if spend.receipt == receipt), None)

    def folder(self, spend: Spend) -> Path:
        """Where the release of a spend is stored."""
        return releases_of(self.path) / spend.receipt.folder

    @property
    def name(self) -> str:
        """The random name by which releases remember this ledger."""
        with read(self.path, self.timeout) as pages:
            return pages.name


def open_ledger(ledger: Any) -> Ledger:
    """A ledger from a path or from itself; raises where there is none, or a damaged one."""
    opened = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    with read(opened.path, opened.timeout):
        return opened


def balances_of(request: Request) -> list[Balance]:
    """What a release must fit: what its period has left, and what is left for all time."""
    if request.ledger is None or request.simulated:
        return []
    return open_ledger(request.ledger).must_fit(
        request.dataset or "", subset=request.subset, period=request.period
    )


def _balances(book: Book, dataset: str) -> list[Balance]:
    """For all time, and of each period that has spent anything; of any one where none has."""
    balances = [each for each in book.balances(dataset) if each.when == ALL_TIME]
    if (dataset, True) in book.limits:
        spent_in = {spend.period for spend in book.spends(dataset) if spend.period}
        periods: list[Period | None] = [*sorted(spent_in)] or [None]
        balances += [book.balances(dataset, period=period)[0] for period in periods]
    return balances


def worst_charges(spends: Iterable[Spend]) -> Iterator[Charge]:
    """Charges that are together at least those of any row, whatever labels it has.

    Of each column the labels' charges are sorted, the largest first, and for every rank the largest
    of any label is taken: a charge may be replaced by a larger one. That takes time in proportion
    to the charges, where there are exponentially many combinations of labels.
    """
    epsilon_of = attrgetter("epsilon")
    whole, columns = by_column(spends)
    yield from chain.from_iterable(each.charges for each in whole)
    for labels in columns.values():
        ranked = [
            sorted(chain.from_iterable(each.charges for each in paid), key=epsilon_of, reverse=True)
            for paid in labels.values()
        ]
        ends = [list(accumulate(charge.times for charge in charges)) for charges in ranked]
        for start, end in pairwise(sorted({0, *chain.from_iterable(ends)})):
            at_rank = [
                charges[bisect_right(ranks, start)]
                for charges, ranks in zip(ranked, ends, strict=True)
                if start < ranks[-1]
            ]
            delta = max(charge.delta for charge in at_rank)
            yield Charge(epsilon=max(map(epsilon_of, at_rank)), delta=delta, times=end - start)
