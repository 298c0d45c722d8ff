"""Slow and simple twins of the discrete perceptron: all weight vectors by numpy, averages by mpmath and scipy."""

from itertools import product

import numpy as np
from scipy.special import log_ndtr, logsumexp

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


def plain_entropy(levels, alpha, margin, norm, overlap, rounds=4000):
    """The entropy, Q and q after damped iterations from (Q, q), with sums over 2001 points: nothing of the solver.

    E exp(log phi(u) - log H(u)) is the hazard of a pattern, and qhat, Qhat follow by Gaussian integration by parts.
    """
    w, z = np.array(levels), np.linspace(-11, 11, 2001)
    measure = np.exp(-z * z / 2) / np.exp(-z * z / 2).sum()
    for _ in range(rounds):
        u = (margin - np.sqrt(overlap) * z) / np.sqrt(norm - overlap)
        log_tail = log_ndtr(-u)
        hazard = np.exp(-u * u / 2 - log_tail) / np.sqrt(2 * np.pi)
        qhat = alpha * measure @ hazard**2 / (norm - overlap)
        Qhat = alpha * measure @ (hazard * u) / (norm - overlap)
        exponent = (Qhat - qhat) / 2 * w[:, None] ** 2 + np.sqrt(qhat) * w[:, None] * z
        log_sum = logsumexp(exponent, axis=0)
        law = np.exp(exponent - log_sum)
        entropy = -Qhat * norm / 2 + qhat * overlap / 2 + measure @ log_sum + alpha * measure @ log_tail
        new = measure @ (w**2 @ law), measure @ (w @ law) ** 2
        if abs(new[0] - norm) + abs(new[1] - overlap) < 1e-13 * norm:
            break
        norm, overlap = 0.8 * norm + 0.2 * new[0], 0.8 * overlap + 0.2 * new[1]
    return float(entropy), float(norm), float(overlap)
