"""The replicon of K classes: how a small difference between the overlaps of two replicas grows."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigs

from theory.core.arrays import Array
from theory.glm.multiclass.channel import ClassAverages
from theory.glm.multiclass.equations import Classes


def replicon(classes: Classes, averages: Sequence[ClassAverages]) -> float:
    """Return 1 minus the largest eigenvalue of the growth of a difference delta (C, D, D) between two overlaps q.

    The samples of cluster k turn delta_c of their covariance into alpha p_k E[F delta_c F], with the slope F = df/dh of
    the force, a symmetric matrix over the D outputs; these sum to the difference of the conjugates qhat_c, of which
    the weights make sum_d tr over modes of w om_c om_d G (.)_d G. The map takes positive matrices to positive ones, so
    that its largest eigenvalue is real, and belongs to a positive difference. NaN where it is not found.
    """
    model, C, D = classes.model, classes.C, classes.D
    om, w = model.modes.covariances, model.modes.weights
    shares = model.alpha * np.array(model.probabilities)
    Vhat, pairs = np.zeros((C, D, D)), np.zeros((C, D * D, D * D))
    rows, columns = np.triu_indices(D)
    numbers = np.zeros((D, D), int)
    numbers[rows, columns] = numbers[columns, rows] = np.arange(len(rows))
    pair = numbers.ravel()
    weights = np.ones(1) if classes.nodes is None else classes.nodes[1]
    for c, share, mean in zip(classes.own, shares, averages, strict=True):
        Vhat[c] += share * mean.response
        F = mean.slopes[:, rows, columns]
        # E F_ij F_kl as a matrix over the pairs of a triangle, from which the entry (i, l), (j, k) of the map is taken.
        square = (((share * weights)[:, None] * F).T @ F)[np.ix_(pair, pair)]
        turned = square.reshape(D, D, D, D).transpose(0, 3, 1, 2).reshape(D * D, D * D)
        # Exchanges of clusters that are alike leave a multiple of the identity where the map is largest.
        unit = np.eye(D).ravel() / np.sqrt(D)
        pairs[c] += (unit @ turned @ unit) * np.outer(unit, unit) if classes.exchangeable else turned
    if not np.isfinite(Vhat).all():
        return float("nan")
    G = np.linalg.inv(model.lam * np.eye(D) + np.einsum("cij,cm->mij", Vhat, om))

    def grown(flat: Array) -> Array:
        delta = np.asarray(flat, float).reshape(C, D * D)
        hat = np.einsum("cij,cj->ci", pairs, delta).reshape(C, D, D)
        moved = G @ np.einsum("cm,cij->mij", w * om, hat) @ G
        return np.asarray(np.einsum("cm,mij->cij", om, moved).ravel())

    start = np.tile(np.eye(D), (C, 1, 1)).ravel()
    if len(start) < 4:  # too few entries for the Lanczos iteration
        matrix = np.stack([grown(unit) for unit in np.eye(len(start))], axis=1)
        return 1 - float(np.linalg.eigvals(matrix).real.max())
    size = (len(start), len(start))
    try:
        largest = eigs(LinearOperator(size, matvec=grown, dtype=float), k=1, v0=start, return_eigenvectors=False)
    except ArpackError:
        return float("nan")
    return 1 - float(largest[0].real)
