"""Released counts: noisy counts ranked, and given the values of a distribution."""
