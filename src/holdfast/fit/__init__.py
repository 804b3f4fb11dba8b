"""Measurements to distributions: the whole table, its groups, and any part of it."""

from holdfast.fit.cells import choose_blocks, share_of_sums
from holdfast.fit.estimate import Estimate, fit
from holdfast.fit.histogram import Draws, Histogram

__all__ = ["Draws", "Estimate", "Histogram", "choose_blocks", "fit", "share_of_sums"]
