"""The record of a perceptron whose binary weights are drawn at random with trained means."""

from dataclasses import dataclass

from theory.core import CheckedRecord, OpenShare, Positive


@dataclass(frozen=True, kw_only=True)
class StochasticPerceptron(CheckedRecord):
    """A perceptron of N stochastic binary weights, at inverse temperature beta (arXiv:1710.09825).

    Weight i is +1 with probability (1 + m_i)/2 and -1 otherwise; the means m_i in [-1, 1] are the parameters, and
    their squared norm sum_i m_i^2 = `squared_norm` N is fixed. There are P = `alpha` N patterns xi with independent
    standard Gaussian entries and random labels, which are gauged into the patterns: all labels are +1. By the central
    limit theorem pattern xi is classified correctly by a draw of the weights with probability
    Phi(h/sqrt(1 - squared_norm)), where h = xi.m/sqrt(N) and Phi is the standard normal distribution function.

    The loss is the negative log-likelihood L(m) = - sum over patterns of log Phi(h/sqrt(1 - squared_norm)); losses are
    stated per weight, L/N. The Gibbs measure of the means has the density exp(-`beta` L(m)) on the part of the sphere
    of that norm that lies within the cube. The deterministic network that is read off the means has the binary weights
    sign(m_i).

    ValueError unless `alpha` and `beta` are positive and `squared_norm` lies strictly between 0 and 1.

    >>> StochasticPerceptron(alpha=0.55, squared_norm=0.7, beta=20)
    StochasticPerceptron(alpha=0.55, squared_norm=0.7, beta=20.0)
    """

    alpha: Positive
    squared_norm: OpenShare
    beta: Positive
