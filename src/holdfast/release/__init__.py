"""The release: what was promised and measured, its rows, its files, its words and pictures."""
