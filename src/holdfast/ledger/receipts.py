"""What a published release says of its spend, beside what the ledger wrote down."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from holdfast.ledger.chain import Receipt
from holdfast.ledger.entries import Spend
from holdfast.tables.periods import Period
from holdfast.tables.subset import Subset


@dataclass(frozen=True, kw_only=True)
class ReleaseClaim:
    """What a release says of itself."""

    receipt: Receipt | None
    """What it remembers of its spend."""
    epsilon: Fraction
    period: Period | None
    subset: Subset | None
    measured: Any
    """Its noisy counts, in a form that is equal for equal ones."""


def disagreements(spend: Spend, claim: ReleaseClaim, stored: ReleaseClaim | None) -> list[str]:
    """What a release claims that is not so by the entry that paid for it and by the release that
    the ledger stored; nothing where all is as it was paid for."""
    rows = None if claim.subset is None else (claim.subset.column, claim.subset.key)
    paid_rows = None if spend.subset is None else (spend.subset.column, spend.subset.key)
    agrees = {
        "epsilon": claim.epsilon == spend.epsilon,
        "the period": claim.period == spend.period,
        "the rows that were chosen": rows == paid_rows,
        "the counts": stored is None or claim.measured == stored.measured,
    }
    return [name for name, agreed in agrees.items() if not agreed]
