"""Choosing a budget before the private table is touched."""
