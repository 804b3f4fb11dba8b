"""Columns, an order or rows that give the counts away: found before anything is paid.

What is found stays with the steward: it is computed from the true counts, and never written to a
bundle.
"""

from holdfast.tables.leaks.search import ROW_ORDER, SAME_COUNTS, TOTALS, Leak, find_leaks
from holdfast.tables.leaks.watch import Watch

__all__ = ["ROW_ORDER", "SAME_COUNTS", "TOTALS", "Leak", "Watch", "find_leaks"]
