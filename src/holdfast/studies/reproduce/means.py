"""Means by data set, method and budget, from the rows of a file."""

from collections.abc import Sequence

from holdfast.studies.reproduce.claims import Estimate, estimate
from holdfast.studies.runner import Row

Means = dict[tuple[str, str, float], Estimate]


def sources(rows: Sequence[Row]) -> dict[str, str]:
    """Where each data set comes from, in the order of the rows."""
    return {row["data"]: row["source"] for row in rows}


def means_of(rows: Sequence[Row], measure: str) -> Means:
    """The mean of a measure by (data, method, budget)."""
    grouped: dict[tuple[str, str, float], list[float]] = {}
    for row in rows:
        grouped.setdefault((row["data"], row["method"], row["epsilon"]), []).append(row[measure])
    return {key: estimate(values) for key, values in grouped.items()}


def nearest(rows: Sequence[Row], epsilon: float) -> float:
    """The budget of the grid nearest to one that the paper prints rounded."""
    budgets: set[float] = {row["epsilon"] for row in rows}
    return min(budgets, key=lambda e: abs(e - epsilon))


def listing(items: Sequence[str], most: int = 6) -> str:
    """Names in a sentence; "none" for none."""
    shown = ", ".join(items[:most])
    return (shown + (f" and {len(items) - most} more" if len(items) > most else "")) or "none"
