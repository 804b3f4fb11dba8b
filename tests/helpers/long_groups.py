"""A table of groups, one of a row and one of many, whose counts run far."""

import numpy as np
import pyarrow as pa

TOP = 12_000
SIZES = {"one": 1, "three": 3, "some": 40, "many": 500}
OPTIONS = {"count": "visits", "keep": ["state", "size"], "max_count": TOP}


def table():
    random = np.random.default_rng(4)
    size = random.lognormal(0, 1, sum(SIZES.values()))
    mean = np.minimum(300 * size**2, 6_000.0)
    counts = random.poisson(mean * random.gamma(20, 1 / 20, len(mean))).clip(max=11_000)
    states = np.repeat(list(SIZES), list(SIZES.values()))
    order = random.permutation(len(counts))
    return pa.table({"state": states[order], "size": size[order].round(4), "visits": counts[order]})


TABLE = table()
COUNTS, STATES = (TABLE[name].to_numpy(zero_copy_only=False) for name in ("visits", "state"))
