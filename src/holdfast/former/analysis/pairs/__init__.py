"""What a release of several counts says of two of them together."""
