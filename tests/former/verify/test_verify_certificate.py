"""The second computation of the certificate: exact, and quick whatever a forger hands it."""

import numpy as np

from holdfast.former.verify import certificate
from holdfast.former.verify.certificate import worst_ratio
from holdfast.former.verify.mechanism import WeightTable


def hostile(n):
    """Columns whose ratios rise one by one for whoever always takes the middle one that is left."""
    places = list(range((n - 1) * (n - 1)))
    ranks = np.zeros(len(places), dtype=np.int64)
    for rank in range(len(ranks)):
        ranks[places.pop(len(places) // 2)] = rank + 1
    columns = np.zeros((n, n), dtype=np.uint64)
    for j, row in enumerate(ranks.reshape(n - 1, n - 1).tolist()):
        weight, weights = 1 << 40, [1 << 40]
        for i, rank in enumerate(row):
            grown = weight + ((weight * rank) >> 28)
            weight = (weight << 28) // ((1 << 28) + rank) if i % 2 else grown
            weights.append(weight)
        columns[j] = weights
    columns[n - 1] = np.uint64(1 << 62) - columns[: n - 1].sum(axis=0)
    return columns


def test_no_order_of_the_weights_makes_the_search_slow(monkeypatch):
    columns, passes, compared = hostile(129), [], certificate.exceeds
    monkeypatch.setattr(
        certificate, "exceeds", lambda top, *rest: passes.append(len(top)) or compared(top, *rest)
    )
    worst_ratio(WeightTable(columns))
    assert len(passes) < 100  # about 2 ln 16384 = 19; the middle one every time takes 16384
    assert sum(passes) < 20 * columns.size  # about 3 times
