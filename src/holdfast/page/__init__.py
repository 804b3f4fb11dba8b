"""The page: a thin skin over the same calls as the command line, for people in a browser."""
