"""The only room that sees true counts: noisy counts and noisy sums come out of it."""
