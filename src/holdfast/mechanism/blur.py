"""What a released count says about the true one: the mixture of true classes in a released one."""

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats, Integers
from holdfast.mechanism.mechanism import Mechanism


def class_blur(mechanism: Mechanism, law: ArrayLike, classes: Integers) -> Floats:
    """P(true count in class c | released count in class k), as row k and column c.

    `classes` has the class of every count and `law` the law of the true counts. A class that is
    never released is taken to be what it says. Cost: O(n log n) a class.

    >>> from holdfast.constructors import Optimal
    >>> law = [0.5, 0.3, 0.2]
    >>> class_blur(Optimal()(law, epsilon=1).mechanism, law, np.array([0, 1, 1])).round(3)
    array([[0.753, 0.247],
           [0.247, 0.753]])
    """
    z, number = np.asarray(law, dtype=np.float64), int(classes.max()) + 1
    joint = np.zeros((number, number))
    for c in range(number):
        part = np.where(classes == c, z, 0.0)
        if part.sum() > 0:
            released = mechanism.integers.image(part / part.sum()) * part.sum()
            joint[:, c] = np.bincount(classes, weights=released, minlength=number)
    joint[joint.sum(axis=1) <= 0] = 0.0
    np.fill_diagonal(joint, np.where(joint.any(axis=1), np.diag(joint), 1.0))
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))
