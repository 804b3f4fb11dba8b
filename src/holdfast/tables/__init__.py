"""Tables from anywhere as batches of rows, checked; what may be published beside the counts.

`open_table` is the one way in: holdfast/tables/table.py says what it gives.
"""

UNNAMED = "count"
"""The name of the counts in an array, which has none, and of persons that holdfast counts."""
