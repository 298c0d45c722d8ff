"""Second routes to the averages of binary networks, slow and plain, and the systems that several tests share."""

import numpy as np

from theory.models import NestedFeatures

# Four depths of a target that loses more and more of itself: the running example of transfer.
FEATURES = NestedFeatures(dimensions=(400, 100, 25, 5), kept_powers=(1, 0.9, 0.7, 0.4), noise=0.1)


def hermite_powers(function, variance, terms=60, nodes=240):
    """The squares a_k^2 of the coefficients of function(sqrt(q) z) in orthonormal Hermite polynomials of z.

    The average over two fields with correlation c is the sum of a_k^2 c^k (Mehler's formula).
    """
    z, w = np.polynomial.hermite_e.hermegauss(nodes)
    w = w / w.sum()
    previous, current = np.zeros_like(z), np.ones_like(z)
    values, powers = function(np.sqrt(variance) * z), []
    for k in range(terms):
        powers.append((w @ (values * current)) ** 2)
        previous, current = current, (z * current - np.sqrt(k) * previous) / np.sqrt(k + 1)
    return np.array(powers)
