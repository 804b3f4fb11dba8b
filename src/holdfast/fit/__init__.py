"""Measurements to distributions: the whole table, its groups, and any part of it."""
