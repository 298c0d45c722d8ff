"""The network of tests written out a second time: logits, loss and gradients from the definition, in plain loops."""

import numpy as np
from scipy.special import log_softmax

from tests.potts.reference import four_body_model
from theory import potts
from theory.models import FactoredStack

FOUR = potts.enumerate_states(four_body_model(5, 3, 0.5, beta=1.0))


def masked_inputs(states, n_colors, site):
    inputs = np.eye(n_colors)[np.asarray(states, dtype=int)]
    inputs[:, site] = 0.0
    return inputs


def loss(stack, states, probabilities):
    """The mean over sites of the masked cross entropy."""
    total = 0.0
    for i in range(stack.n_sites):
        z = stack.logits(masked_inputs(states, stack.n_colors, i))[:, i]
        total -= probabilities @ log_softmax(z, axis=1)[np.arange(len(z)), states[:, i].astype(int)]
    return total / stack.n_sites


def gradient(stack, states, probabilities, baseline=None):
    """(dA, dV) of the loss; with a `baseline` (L, C) those of -S, where predictions are the baseline."""
    N, L, C = stack.n_layers, stack.n_sites, stack.n_colors
    dA, dV = np.zeros_like(stack.attentions), np.zeros_like(stack.values)
    for i in range(L):
        X, Y = [masked_inputs(states, C, i)], []
        for A, V in zip(stack.attentions, stack.values, strict=True):
            Y.append(np.einsum("ij,njb,ab->nia", A, X[-1], V))
            X.append(Y[-1] ** 2)
        h = 0 if stack.fields is None else stack.fields[i]
        p = np.exp(log_softmax(Y[-1][:, i] + h, axis=1)) if baseline is None else baseline[i]
        slope = np.zeros_like(Y[-1])
        slope[:, i] = probabilities[:, None] * (p - np.eye(C)[states[:, i].astype(int)]) / L
        for layer in range(N - 1, -1, -1):
            A, V = stack.attentions[layer], stack.values[layer]
            dA[layer] += np.einsum("nia,njb,ab->ij", slope, X[layer], V)
            dV[layer] += np.einsum("nia,njb,ij->ab", slope, X[layer], A)
            if layer:
                slope = np.einsum("nia,ij,ab->njb", slope, A, V) * 2 * Y[layer - 1]
    return dA, dV


def moved(stack, dA, dV, rate):
    return FactoredStack(stack.attentions - rate * dA, stack.values - rate * dV, stack.fields)


def small_law(seed, n_sites=3, n_colors=2):
    """A random distribution over all states, which has no symmetry."""
    states = np.indices((n_colors,) * n_sites).reshape(n_sites, -1).T
    return states, np.random.default_rng(seed).dirichlet(np.ones(len(states)))
