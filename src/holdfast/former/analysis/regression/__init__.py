"""Regressions with a private count as outcome or as regressor."""
