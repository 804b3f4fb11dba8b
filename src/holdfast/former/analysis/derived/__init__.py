"""Columns that follow from those of a release: sums of counts, and rates with a public number."""
