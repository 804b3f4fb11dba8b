"""Answers about a part of the rows, through the mechanism that drew their counts."""
