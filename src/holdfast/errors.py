"""What holdfast raises. Messages name the parameter, the column, the row; never a count."""

COUNTED = "The ledger has counted this run: something may have been drawn."  # a note on an error


class HoldfastError(ValueError):
    """Something given to holdfast cannot be used. The message says what, and what to do."""


class CertificateError(HoldfastError):
    """A mechanism failed the exact check of its privacy claim; it cannot be sampled."""


class BudgetError(HoldfastError):
    """A dataset's ledger cannot afford a release; nothing was drawn."""
