"""Studies by simulation: the paper's experiments and our own."""
