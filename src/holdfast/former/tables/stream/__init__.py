"""Tables that are read and written a batch at a time."""
