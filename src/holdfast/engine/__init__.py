"""The steps of a release over batches of rows: paid for, measured, fitted, matched, written."""
