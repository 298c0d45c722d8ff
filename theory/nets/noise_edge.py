"""How large the top singular value of the rearranged covariance of samples is where nothing depends on anything."""

import math

import numpy as np

from theory.core.arrays import Array
from theory.models import Sequences
from theory.nets.law import Data

POWERS = 100  # steps to the largest eigenvalue of a positive operator
RARELY = math.sqrt(2 * math.log(20))  # deviations of a norm that one Gaussian matrix in twenty exceeds, at most


def noise_edge(variances: Array) -> float:
    """Return what the top singular value of the covariances of independent sites, times sqrt(M/2), stays below.

    Rows of the matrix belong to pairs of sites, and that of sites with covariances V_i, V_j (L, C - 1, C - 1) of their
    contrasts has the covariance of V_i^(1/2) G V_j^(1/2), G with independent entries, projected on symmetric matrices.
    The mean of the top value of a Gaussian matrix is at most the root of the largest eigenvalue of the sum of these
    covariances plus the root of the largest of their traces (equal where all are white, by Gordon's inequality), and
    the top value exceeds its mean by more than t times the largest deviation with probability exp(-t^2/2) at most.
    """
    total = variances.sum(axis=0)
    S, top = np.eye(total.shape[0]) / math.sqrt(total.shape[0]), 0.0
    for _ in range(POWERS):
        S = (total @ S @ total - np.einsum("iab,bc,icd->ad", variances, S, variances, optimize=True)) / 2
        top = float(np.linalg.norm(S))
        if top == 0:
            return 0.0
        S = S / top
    i, j = np.triu_indices(len(variances), 1)
    traces, products = np.trace(variances, axis1=1, axis2=2), np.einsum("iab,jab->ij", variances, variances)
    row = float(np.max(traces[i] * traces[j] + products[i, j])) / 2
    two = np.sort(np.linalg.norm(variances, ord=2, axis=(1, 2)))[-2:]
    return math.sqrt(top) + math.sqrt(row) + RARELY * math.sqrt(two[0] * two[1])


def are_samples(model: Data) -> bool:
    """Say whether every sequence counts alike, so that they were drawn and are not the states of a law."""
    return isinstance(model, Sequences) and bool(np.ptp(model.weights) <= 1e-9 * np.max(model.weights))
