"""What `publish_anyway` calls what is no column."""

ROW_ORDER = "row order"
"""The order of the rows."""
TOTALS = "totals"
"""Rows that add up others."""
SAME_COUNTS = "same counts"
"""Counts that were released as those of another period."""
