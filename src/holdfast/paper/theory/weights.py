"""Linear count errors ⟨W, T⟩, exact under an exact budget."""

from typing import Any

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.paper.theory.epsilon import Array, Number, is_exact, numbers, zeros
from holdfast.privacy.metrics import POWERS


def error_weights(error: Any, *, n: int, z: Any = None, epsilon: Any) -> Array:
    """W of a count error: z_i |i-j| ("absolute"), z_i (i-j)^2 ("squared"), or the one given.

    >>> from holdfast.paper.theory import log, show
    >>> print(show(error_weights("absolute", n=2, z=["1/3", "2/3"], epsilon=log(2))))
      0 1/3
    2/3   0
    """
    if error is None:
        return zeros((n, n), is_exact(epsilon))
    if isinstance(error, str) and error in POWERS:
        if z is None:
            raise HoldfastError(f"`error={error!r}` needs `z`. Hint: or give a weight matrix.")
        distance = np.abs(np.arange(n)[:, None] - np.arange(n)) ** POWERS[error]
        shares = numbers(z, epsilon, "z")
        return np.asarray(shares[:, None] * numbers(distance, epsilon, "error"))
    weights = zeros(0, False) if isinstance(error, str) else numbers(error, epsilon, "error")
    if weights.shape != (n, n):
        raise HoldfastError(f"`error` must be 'absolute', 'squared' or a {n} x {n} weight matrix.")
    return weights


def count_error(matrix: Any, error: Any = "absolute", *, z: Any = None, epsilon: Any) -> Number:
    """⟨W, T⟩ for a mechanism T.

    >>> from holdfast.paper.theory import log
    >>> count_error([["2/3", "1/3"], ["1/3", "2/3"]], z=["1/2", "1/2"], epsilon=log(2))
    Fraction(1, 3)
    """
    t = numbers(matrix, epsilon, "matrix")
    weights = error_weights(error, n=len(t), z=z, epsilon=epsilon)
    return (weights * t).sum()  # type: ignore[no-any-return]
