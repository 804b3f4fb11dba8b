"""Exact numbers: the budget, epsilon and delta, rationals, randomness."""
