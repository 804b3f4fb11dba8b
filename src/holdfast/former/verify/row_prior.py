"""What is taken as known of a row before its released count is looked at."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.former.verify.mechanism import Floats
from holdfast.former.verify.members import Listed
from holdfast.former.verify.record import read_budget
from holdfast.former.verify.report import Damage
from holdfast.former.verify.stage_one import share_spread

UNSURE, FEW, MOST_MIXED, LONG = 0.02, 0.05, 0.5, 1501
WHOLE_FROM = 101  # groups from which on the table is measured with a fifth of stage 1


def check_mixed(record: dict[str, Any]) -> None:
    """How much of every count is mixed into z, and whether intervals do without it: both follow
    from how unsure stage 1 is of a share of the rows."""
    stated, n = record["intervals"], record["max_count"] + 1
    spread = share_spread(record, read_budget(record))
    mixed = min(spread, MOST_MIXED) if spread >= UNSURE else 0.0
    if abs(stated["mixed"] - mixed) > 1e-9 or stated["every"] is not (n <= LONG and spread >= FEW):
        raise Damage("release.json: intervals does not follow from the noise of stage 1.")


def group_priors(targets: Floats, listed: Listed, z: Floats, record: dict[str, Any]) -> Floats:
    """z of each group, with as much of the table's as its own measurement is unsure."""
    stated = record["intervals"]
    if stated["mixed"] != 0 or stated["every"]:
        raise Damage("release.json: intervals of a release by group take z of the groups.")
    budget, number = read_budget(record), len(listed.sizes)
    share = Fraction(4, 5) if number >= WHOLE_FROM else Fraction(1)
    noise = math.sqrt(2) / float(share * budget.stage_1 / budget.steps)
    part = (MOST_MIXED * noise / (noise + listed.sizes))[:, None]
    return np.asarray((1 - part) * targets + part * z)
