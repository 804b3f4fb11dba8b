"""Off the path of the data: comparing, planning, auditing, the theory, the paper's experiments."""
