"""Before a release: what a budget buys, how methods compare, what an epsilon means."""
