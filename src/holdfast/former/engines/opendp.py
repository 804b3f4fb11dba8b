r"""holdfast inside OpenDP: measurements that OpenDP chains, composes and accounts for.

Domain: vectors of i64, one count a row; every length is a space of its own, because the number of
rows is public. Metric: the L1 distance, for which OpenDP's `count_by_categories` is 1-stable, so
it chains with it. `d_in` is how much one person changes the counts in all, over all rows.
Measure: `max_divergence`, that is pure epsilon; for a mechanism with a delta its approximate kind.

Stability. Two vectors at L1 distance d are joined by d steps that change one count by one.
Clamping to [0, max_count] moves none of them further apart. Each step costs epsilon at the most
(docs/privacy-guarantee.md), so d cost d · epsilon, which the privacy map states rounded up; a delta
grows as group privacy has it.

OpenDP asks whoever brings a measurement of their own to say that they mean it:
`opendp.prelude.enable_features("contrib", "honest-but-curious")` comes first, and is yours to call.
"""

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.former.engines.stages import Stages, check_parameters
from holdfast.former.engines.steps import five_steps
from holdfast.former.privacy.budget import exact_epsilon
from holdfast.former.privacy.delta import group_delta
from holdfast.former.tables.histogram import check_max_count
from holdfast.former.tables.table import read_table

if TYPE_CHECKING:
    from holdfast.former.mechanism.mechanism import Mechanism

HOPELESS = 100  # an epsilon from which on no delta below 1 is worth stating
OUTPUTS = {"counts": "Vec<i64>", "release": "ExtrinsicObject"}


def mechanism_measurement(mechanism: "Mechanism") -> Any:
    """A count mechanism as an OpenDP measurement: counts in, one exact draw each out.

    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib", "honest-but-curious")
    >>> import holdfast
    >>> mechanism = holdfast.constructors.Optimal()([0.5, 0.3, 0.2], epsilon="0.5").mechanism
    >>> measurement = mechanism.as_opendp()
    >>> len(measurement([0, 2, 1, 1])), 0.99 < measurement.map(2) <= 1.0
    (4, True)
    """
    top = mechanism.max_count

    def draw(counts: list[int]) -> list[int]:
        clamped = np.clip(np.array(counts, dtype=np.int64), 0, top)
        return mechanism.sample(clamped).tolist()  # type: ignore[no-any-return]

    unit, delta = mechanism.certified_epsilon, mechanism.delta
    return _measurement(draw, unit, "counts", delta)


def opendp_measurement(
    *,
    epsilon: Any,
    max_count: int,
    privatizer: Any = None,
    constructor: Any = None,
    split: Any = None,
    output: str = "counts",
) -> Any:
    """The whole pipeline as an OpenDP measurement: both stages, epsilon for `d_in` = 1.

    Parameters:
        epsilon: The whole budget for a change of one in one row; `d_in` = k costs k times that.
        max_count, privatizer, constructor, split: As in `holdfast.privatize`.
        output: "counts", or "release" for the `Release` with its target and mechanism.

    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib", "honest-but-curious")
    >>> measurement = opendp_measurement(epsilon="0.5", max_count=3, output="release")
    >>> measurement([0, 2, 1, 7]).privacy.simulated, measurement.map(2)
    (False, 1.0)
    """
    if output not in OUTPUTS:
        raise HoldfastError(f"`output` must be counts or release, got {output!r:.40}.")
    top, unit = check_max_count(max_count), exact_epsilon(epsilon)
    parameters = check_parameters(
        epsilon=unit, max_count=top, privatizer=privatizer, constructor=constructor, split=split
    )
    _pure(parameters.for_rows(1))

    def draw(counts: list[int]) -> Any:
        table = read_table(np.clip(np.array(counts, dtype=np.int64), 0, top))
        release, _ = five_steps(table, _pure(parameters.for_rows(len(table.counts))))
        return release if output == "release" else release.counts.tolist()

    return _measurement(draw, unit, output)


def _pure(stages: Stages) -> Stages:
    if stages.delta:
        raise HoldfastError("`opendp_measurement` needs stages of pure epsilon, without delta.")
    return stages


def _measurement(draw: Any, unit: Fraction, output: str, delta: Fraction = Fraction(0)) -> Any:
    import opendp.prelude as dp

    def pure(d_in: int) -> float:
        if d_in < 0:
            raise HoldfastError("`d_in` must be 0 or more: it is a distance.")
        return _float_above(d_in * unit)

    def approximate(d_in: int) -> tuple[float, float]:
        loss, hopeless = pure(d_in), d_in * unit > HOPELESS
        stated = Fraction(1) if hopeless else min(group_delta(delta, unit, d_in), Fraction(1))
        return loss, _float_above(stated)

    measure = dp.max_divergence()
    return dp.m.make_user_measurement(
        dp.vector_domain(dp.atom_domain(T="i64")),
        dp.l1_distance(T="i64"),
        dp.approximate(measure) if delta else measure,
        function=draw,
        privacy_map=approximate if delta else pure,
        TO=OUTPUTS[output],
    )


def _float_above(number: Fraction) -> float:
    """The smallest double that is not below a fraction."""
    nearest = float(number)
    return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)
