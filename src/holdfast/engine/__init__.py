"""A run: checked, paid for through the ledger, measured batch by batch, written.

Fit and match happen when they are first needed, in `holdfast.release.release.Column`.
"""
