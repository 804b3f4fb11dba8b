"""The two-stage counting framework: the paper's five steps."""

import math
import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats, Integers
from holdfast.errors import CertificateError, HoldfastError
from holdfast.ledger.entries import Payment
from holdfast.ledger.pay import pay_and_measure
from holdfast.paper import bundle
from holdfast.paper.constructors.construction import Construction, Constructor, as_constructor
from holdfast.paper.distributions import check_counts, check_n, check_target, histogram_of_counts
from holdfast.paper.mechanism import Certificate, Mechanism
from holdfast.paper.naming import is_ours, made_anew, recorded_name
from holdfast.paper.privatizers import PrivateQuantile
from holdfast.paper.privatizers.privatizer import Noisy, Privatizer, as_privatizer
from holdfast.privacy.budget import exact_epsilon
from holdfast.privacy.promise import Charge
from holdfast.privacy.randomness import Randomness, randomness
from holdfast.privacy.rational import exact_fraction


@dataclass(frozen=True, kw_only=True, eq=False)
class Result:
    """A table of privatised counts, and everything that it was made with.

    >>> from holdfast import paper
    >>> steps = paper.privatizers.CyclicLaplace(), paper.constructors.Heuristic()
    >>> result = paper.privatize([0, 2, 1, 0, 5], 1, 8, *steps, seed=1)
    >>> result.n, result.certificate.epsilon <= result.epsilon_2, result.distribution.sum()
    (8, True, np.float64(1.0))
    """

    counts: Integers
    """Released, in row order."""
    z: Floats
    """The target distribution, step 2; uniform where there was none."""
    mechanism: Mechanism
    """T, step 3."""
    epsilon: Fraction
    """ε_t: the promise to one person, who adds 1 to one row."""
    epsilon_n: Fraction
    """Spent on finding n; 0 where it was given."""
    epsilon_1: Fraction
    """Spent on z."""
    epsilon_2: Fraction
    """Spent on the counts."""
    delta_1: Fraction
    """With which probability ε_1 may fail."""
    delta_2: Fraction
    """With which probability ε_2 may fail."""
    privatizer: str
    """Step 2; one's own is called so."""
    constructor: str
    """Step 3; one's own is called so."""
    certified_1: Fraction | None
    """What the noise library's privacy map states of step 2; None where nobody does but the author
    of a privatizer of one's own."""
    simulated: bool
    """Whether a seed makes it repeatable, so that it protects nobody."""

    @property
    def delta(self) -> Fraction:
        """With which probability the promise may fail."""
        return self.delta_1 + self.delta_2

    @property
    def n(self) -> int:
        """One more than the highest count that is published."""
        return len(self.mechanism)

    @property
    def distribution(self) -> Floats:
        """ẑ, step 5: the distribution of the released counts."""
        return np.bincount(self.counts, minlength=self.n) / len(self.counts)

    @property
    def certificate(self) -> Certificate:
        """What the integer weights of T prove."""
        return self.mechanism.certificate

    def save(
        self, folder: str | os.PathLike[str], table: dict[str, list[Any]] | None = None
    ) -> Path:
        """Write the table, z, the weights and their certificate; `holdfast.paper.load` reads them.

        `table` has further columns that are public, row by row.
        """
        return bundle.save(self, Path(folder), table or {})


def load(folder: str | os.PathLike[str]) -> Result:
    """The result that was saved in a folder; its mechanism is certified once more.

    Parameters:
        folder: Where `Result.save` has written it.

    Returns:
        A `Result`, with the same table and mechanism.

    Raises:
        HoldfastError: If the folder holds no such result.
        CertificateError: If the weights do not prove their claim.

    >>> import tempfile
    >>> from holdfast import paper
    >>> steps = paper.privatizers.CyclicLaplace(), paper.constructors.Heuristic()
    >>> result = paper.privatize([0, 2, 1, 0, 5], 1, 8, *steps, seed=1)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = result.save(f"{place}/paper")
    ...     bool((load(folder).counts == result.counts).all()), bool(paper.verify(folder))
    (True, True)
    """
    return Result(**bundle.read(Path(folder)))


def privatize(
    counts: ArrayLike,
    epsilon: Any,
    n: int | PrivateQuantile,
    privatizer: Any,
    constructor: Any,
    *,
    split: Any = None,
    seed: Any = None,
    ledger: Any = None,
    dataset: str | None = None,
) -> Result:
    """A table of counts by the paper's framework, private for a person who adds 1 to one row.

    Parameters:
        counts: d: whole numbers, one per row. The number of rows is public.
        epsilon: ε_t, the whole budget.
        n: Counts of n - 1 or more are published as n - 1. Public, or a `PrivateQuantile`, which
            takes a part of the budget.
        privatizer: Step 2: one of `paper.privatizers`, or of your own; None for a constructor that
            needs no target, which then has the whole budget.
        constructor: Step 3: one of `paper.constructors` or `paper.baselines`, or of your own.
        split: f = ε_1/ε_t; default the paper's rule of thumb.
        seed: Makes a simulation that protects nobody; leave it out for a real release.
        ledger, dataset: The ledger, or its path, that pays first, and its name for these data.

    Returns:
        A `Result`: the released counts, z, T, and the certificate of T.

    Raises:
        HoldfastError, BudgetError: If what is given cannot be used, or the ledger cannot pay.

    >>> from holdfast import paper
    >>> steps = paper.privatizers.CyclicLaplace(), paper.constructors.Heuristic()
    >>> len(paper.privatize([0, 2, 1, 0, 5], 1, 8, *steps, seed=1).counts)
    5
    """
    d, total, source = check_counts(counts), exact_epsilon(epsilon), randomness(seed)
    build = made_anew(as_constructor(constructor)).for_rows(len(d))
    if privatizer is None and not build.one_stage:
        raise HoldfastError(
            "`privatizer` is missing. Hint: holdfast.paper.privatizers.CyclicLaplace()."
        )
    privatise = None if privatizer is None else made_anew(as_privatizer(privatizer))
    quantile = made_anew(n) if type(n) is PrivateQuantile else None  # one derived from it could lie
    bound = check_n(n) if quantile is None else quantile
    epsilon_n = Fraction(0) if quantile is None else quantile.part(total, len(d))
    parts = epsilon_n, *_parts(total - epsilon_n, split, one_stage=privatise is None)
    steps = _Steps(d=d, bound=bound, privatise=privatise, build=build, parts=parts, source=source)
    return pay_and_measure(steps, steps.payment(), ledger, dataset)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Steps:
    """The five steps, as a ledger sees them. They cannot be known again: counts alone do not tell
    whose they are."""

    d: Integers
    bound: int | PrivateQuantile
    privatise: Privatizer | None
    build: Constructor
    parts: tuple[Fraction, Fraction, Fraction]
    source: Randomness

    @property
    def delta_1(self) -> Fraction:
        return exact_fraction(getattr(self.privatise, "delta", 0), "delta")

    def payment(self) -> Payment:
        names = {"privatizer": self.privatise, "constructor": self.build}
        request = {name: part and recorded_name(part)[:200] for name, part in names.items()}
        delta = self.delta_1 + self.build.promised_delta
        return Payment(
            rows=len(self.d),
            charges=(Charge(epsilon=sum(self.parts, Fraction(0)), delta=delta),),
            simulated=self.source.simulated,
            request={"paper": request | {"n": str(self.bound)}},
        )

    def measure(self, **_: Any) -> Result:
        d, source, privatise = self.d, self.source, self.privatise
        epsilon_n, epsilon_1, epsilon_2 = self.parts
        n = self.bound
        bins = n if isinstance(n, int) else 1 + n(d, epsilon=epsilon_n, rng=source)

        # 1. The table is summarised by its histogram of counts.
        eta = histogram_of_counts(d, bins)
        # 2. The distribution is privatised.
        z, certified_1 = np.full(bins, 1 / bins), Fraction(0) if privatise is None else None
        if privatise is not None:
            z = check_target(privatise(eta, epsilon=epsilon_1, rng=source), "z")
            if is_ours(privatise) and isinstance(privatise, Noisy):
                certified_1 = privatise.certified_epsilon(epsilon_1)
        # 3. A mechanism is built from it, and certified.
        construction = self.build(z, epsilon=epsilon_2)
        mechanism = _checked(construction, self.build, epsilon_2, bins)
        # 4. Every count passes through the mechanism.
        released = mechanism.sample(np.minimum(d, bins - 1), source)
        # 5. Whoever asks for the distribution of counts takes that of the released table.
        return Result(
            counts=released,
            z=z,
            mechanism=mechanism,
            epsilon=sum(self.parts, Fraction(0)),
            epsilon_n=epsilon_n,
            epsilon_1=epsilon_1,
            epsilon_2=epsilon_2,
            delta_1=self.delta_1,
            delta_2=mechanism.delta,
            privatizer="none" if privatise is None else recorded_name(privatise),
            constructor=recorded_name(self.build, construction.method),
            certified_1=certified_1,
            simulated=source.simulated,
        )

    def prepare(self) -> None:
        """Nothing is loaded."""

    def content(self, words: str) -> None:
        return None

    def labels(self) -> None:
        return None

    def show_again(self, *_: Any, **__: Any) -> Result:
        raise NotImplementedError("nothing is stored")


def paper_rule(epsilon: Fraction) -> Fraction:
    """The paper's rule of thumb for f = ε_1/ε_t, rounded to thousandths.

    f(ε) = 0.106 + 0.533 exp(-2.87 ε), fitted on six synthetic data sets (appendix on the
    rule of thumb). It depends on epsilon alone, so it costs no privacy.

    >>> float(paper_rule(Fraction(1)))
    0.136
    """
    return Fraction(round(1000 * (0.106 + 0.533 * math.exp(-2.87 * float(epsilon)))), 1000)


def _parts(epsilon: Fraction, split: Any, *, one_stage: bool) -> tuple[Fraction, Fraction]:
    """ε_1 and ε_2."""
    if one_stage:
        return Fraction(0), epsilon
    share = paper_rule(epsilon) if split is None else exact_fraction(split, "split")
    if not 0 < share < 1:
        raise HoldfastError(
            f"`split` must lie between 0 and 1, got {split!r:.40}. Hint: it is stage 1's share."
        )
    parts = epsilon * share, epsilon * (1 - share)
    for part in parts:
        exact_epsilon(part, name="epsilon of one stage")
    return parts


def _checked(
    construction: Construction, build: Constructor, epsilon: Fraction, n: int
) -> Mechanism:
    """The mechanism, if it is certified for this promise."""
    mechanism = construction.mechanism
    delta = build.promised_delta
    if (
        type(mechanism) is not Mechanism
        or len(mechanism) != n
        or mechanism.epsilon > epsilon
        or mechanism.delta > delta
    ):
        raise CertificateError(
            f"`constructor` must make a mechanism of {n} counts for epsilon {epsilon}"
            + (f" and delta {delta}" if delta else "")
            + " or less."
        )
    return mechanism
