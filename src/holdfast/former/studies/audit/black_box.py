"""A black-box test of a privacy claim: draw on two neighbouring tables and tell them apart."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.errors import HoldfastError, whole_number
from holdfast.former.constructors import Construction
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.studies.audit.bounds import loss_bound
from holdfast.former.studies.audit.draws import Draws, Progress, collect
from holdfast.former.studies.audit.events import Event, find_events
from holdfast.former.studies.audit.exact import audit_matrix
from holdfast.former.studies.audit.features import MOST_PAIRS, Outputs
from holdfast.former.studies.audit.result import Audit
from holdfast.former.privacy.approximate import exact_delta
from holdfast.former.privacy.budget import exact_epsilon

FEWEST = 400
NONE = Event(words="none", forward=True, promise=0.0, hits=(0, 0))
MANY = f"only {MOST_PAIRS:,} pairs of coordinates were compared: there are too many for all."
Features = Callable[[tuple[Any, ...]], Any]


def audit(
    mechanism: Any,
    table: Any = None,
    neighbour: Any = None,
    *,
    epsilon: Any = None,
    delta: Any = 0,
    draws: int = 100_000,
    confidence: float = 0.99,
    batched: bool = False,
    features: Features | None = None,
    progress: Progress | None = None,
) -> Audit:
    r"""How much privacy a mechanism loses at least, on two neighbouring tables.

    Events are chosen on one half of the draws and measured on the other, in both directions;
    ε is at least $\ln((P(E) - \delta) / Q(E))$, with Clopper-Pearson bounds shared among all
    events that are measured. So a mechanism that keeps its claim is called a violation with
    probability at most 1 - `confidence`. A pass is not a proof: see docs/audit.md.

    Parameters:
        mechanism: A function of a table that returns one output: a number, text, an array, a
            tuple, a dict, a `Release`. Or a `Mechanism`, a `Construction` or a matrix, whose
            loss is computed exactly; then no tables are needed.
        table: What the mechanism takes.
        neighbour: The same with one person more or less.
        epsilon: The claim; without one the audit only estimates.
        delta: The claim; 0 for pure differential privacy.
        draws: How often to draw from each table.
        confidence: Probability that the lower bound holds.
        batched: The mechanism takes (table, size) and returns `size` independent outputs along
            the first axis of an array, or of each array in a tuple.
        features: Further numbers by which outputs are compared: takes the outputs of both
            tables as a tuple of float arrays, one row per draw, one array per part of the output,
            and returns an array of as many rows. It must not depend on which table a row
            came from.
        progress: Called with the number of draws done, of 2 x `draws`.

    >>> rng = np.random.default_rng(1)
    >>> def noisy(count, size):
    ...     return count + rng.geometric(0.8, size) - rng.geometric(0.8, size)
    >>> audit(noisy, 5, 6, epsilon=2, batched=True).violation  # its epsilon is ln 5 = 1.609
    False
    >>> audit(noisy, 5, 6, epsilon=1, batched=True).violation
    True
    >>> audit([[0.75, 0.25], [0.25, 0.75]], epsilon=1).violation
    True
    """
    if isinstance(mechanism, Construction):
        mechanism = mechanism.mechanism
    if isinstance(mechanism, Mechanism) or not callable(mechanism):
        return audit_matrix(mechanism, epsilon=epsilon, delta=delta)
    claimed = None if epsilon is None else exact_epsilon(epsilon)
    small = _check(draws, confidence, delta)
    drawn = collect(mechanism, (table, neighbour), draws=draws, batched=batched, progress=progress)
    extra = None if features is None else _extra(features, drawn, draws)
    differing = _differing_places(table, neighbour)
    outputs = Outputs(parts=drawn.parts, extra=extra, differing=differing)
    events = find_events(outputs.columns(), draws, delta=float(small))
    found = _measure(events, drawn, draws, confidence, claimed, small)
    return found if not outputs.left_out else replace(found, findings=(*found.findings, MANY))


def _differing_places(table: Any, neighbour: Any) -> list[int]:
    """Where two tables of numbers differ; none where they are of another kind."""
    try:
        ours, theirs = (np.asarray(each, dtype=np.float64) for each in (table, neighbour))
    except (TypeError, ValueError):
        return []
    if ours.ndim != 1 or ours.shape != theirs.shape:
        return []
    return [int(place) for place in np.flatnonzero(ours != theirs)]


def _measure(
    events: list[Event],
    drawn: Draws,
    draws: int,
    confidence: float,
    claimed: Fraction | None,
    delta: Fraction,
) -> Audit:
    """Bounds for the chosen events on the half that had no part in choosing them."""
    size = draws - 2 * (draws // 4)
    miss = (1 - confidence) / (2 * max(len(events), 1))
    measured = [
        (loss_bound(*event.hits, size, delta=float(delta), miss=miss), event) for event in events
    ]
    bound, best = max(measured, key=lambda pair: (pair[0], pair[1].promise), default=(0.0, NONE))
    sides = ("table", "neighbour") if best.forward else ("neighbour", "table")
    return Audit(
        lower_bound=bound,
        estimate=_estimate(best.hits, size, float(delta)),
        epsilon=claimed,
        delta=delta,
        event=best.words,
        direction=f"{sides[0]} over {sides[1]}",
        frequencies=(best.hits[0] / size, best.hits[1] / size),
        draws=draws,
        confidence=confidence,
        reused=drawn.reused,
        findings=_findings(drawn, draws, best.hits, sides, bound),
    )


def _findings(
    drawn: Draws, draws: int, hits: tuple[int, int], sides: tuple[str, str], bound: float
) -> tuple[str, ...]:
    found = []
    if drawn.reused:
        found.append("two calls on the same table gave the very same draws: a reused seed.")
    first, second = (
        all(bool((part[rows] == part[rows][:1]).all()) for part in drawn.parts)
        for rows in (slice(0, draws), slice(draws, None))
    )
    if first and second:
        found.append("all draws of a table are the same: a reused seed, or no randomness.")
    elif first or second:
        found.append("all draws of one table are the same, and those of the other are not.")
    if hits[1] == 0 and bound > 0:
        found.append(
            f"the event happened {hits[0]:,} times for the {sides[0]} and never for the "
            f"{sides[1]}: it may be impossible there."
        )
    return tuple(found)


def _estimate(hits: tuple[int, int], size: int, delta: float) -> float:
    mass = hits[0] / size - delta
    if mass <= 0:
        return 0.0
    return math.log(mass * size / hits[1]) if hits[1] else math.inf


def _extra(features: Features, drawn: Draws, draws: int) -> Any:
    extra = np.asarray(features(tuple(drawn.parts)), dtype=np.float64)
    if extra.ndim == 0 or len(extra) != 2 * draws:
        raise HoldfastError("`features` must return one row per draw of both tables.")
    return extra.reshape(2 * draws, -1)


def _check(draws: Any, confidence: Any, delta: Any) -> Fraction:
    hint = "100000 shows a doubled epsilon, a few millions show a few percent."
    whole_number(draws, "draws", least=FEWEST, hint=hint)
    if not 0.5 <= confidence < 1:
        raise HoldfastError(f"`confidence` must be at least 0.5 and below 1, got {confidence}.")
    return exact_delta(delta, least=0)
