"""Columns, an order or rows that give the counts away: found before anything is paid.

What is found stays with the steward: it is computed from the true counts, and never written to a
bundle.
"""
