"""Slow and simple twins of the discrete perceptron: all weight vectors by numpy, averages by mpmath and scipy."""

from itertools import product

import numpy as np

BINARY, TERNARY, ZERO_ONE = (-1.0, 1.0), (-1.0, 0.0, 1.0), (0.0, 1.0)


def all_solutions(levels, patterns, margin=0.0):
    """Every weight vector that stores the patterns, in the order of the numbers of `SolutionSet.codes`."""
    n_weights = patterns.shape[1]
    weights = np.array(list(product(levels, repeat=n_weights)))[:, ::-1]
    return weights[(weights @ patterns.T / np.sqrt(n_weights) > margin).all(axis=1)]


def mp_entropy(mp, levels, alpha, margin, Q, q, Qhat, qhat):
    """The replica-symmetric entropy at given orders, integrated by mpmath at its working precision."""
    w = [mp.mpf(one) for one in levels]

    def density(z):
        return mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)

    def site(z):
        return density(z) * mp.log(sum(mp.exp((Qhat - qhat) * a * a / 2 + mp.sqrt(qhat) * z * a) for a in w))

    def output(z):
        u = (margin - mp.sqrt(q) * z) / mp.sqrt(Q - q)
        return density(z) * mp.log(mp.erfc(u / mp.sqrt(2)) / 2)

    ends = [-12, -6, -3, 0, 3, 6, 12]
    return -Qhat * Q / 2 + qhat * q / 2 + mp.quad(site, ends) + alpha * mp.quad(output, ends)
