"""A table from anywhere, checked: frames, CSV, Parquet, streams, and counting people."""
