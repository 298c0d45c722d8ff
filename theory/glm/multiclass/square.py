"""Square loss of K classes: one scalar equation for each covariance, and linear equations for all the rest."""

import numpy as np

from theory.core.arrays import Array
from theory.glm.multiclass.equations import Classes
from theory.numerics import solve_fixed_point


def solve_square(classes: Classes, tol: float, max_iter: int) -> tuple[Array, int]:
    """Return the solved point of `Classes` with square loss, and the evaluations of its scalar equations.

    Outputs do not interact: V_c and Vhat_c = alpha p_c/(1 + V_c) are multiples of the identity, p_c the share of the
    clusters of covariance c, and V alone solves V_c = sum_m w om_c G with G = 1/(lam + sum_c Vhat_c om_c) in mode m.
    Given V, with D = diag(alpha p_k/(1 + V_k)) over clusters and T = sum_m G gram (K, K), the forces are
    rhat = (1 - b 1^T) S with S = (D^-1 + T)^-1, the bias b = S 1/(1^T S 1) balances them, and r = rhat T. The rest q
    solves linear equations over the covariances.
    """
    model, own = classes.model, classes.own
    modes, K, C = model.modes, model.n_classes, classes.C
    om, w = modes.covariances, modes.weights
    shares = model.alpha * np.array(model.probabilities)
    totals = np.bincount(own, weights=shares, minlength=C)

    def resolvent(log_V: Array) -> Array:
        return np.asarray(1 / (model.lam + (totals / (1 + np.exp(log_V))) @ om))

    def update(log_V: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(np.log(om @ (w * resolvent(log_V))))

    # The map of log V rises, with a slope below 1 everywhere: its fixed point is the only one.
    solution = solve_fixed_point(
        update, np.log(om @ w / model.lam), method="newton", tol=1e-3 * tol, max_iter=max_iter, check=False
    )
    V, G = np.exp(solution.value), resolvent(solution.value)
    T = modes.gram @ G
    S = np.linalg.inv(np.diag((1 + V[own]) / shares) + T)
    b = S.sum(axis=1) / S.sum() if model.bias else np.zeros(K)
    rhat = S - np.outer(b, S.sum(axis=0))
    r = rhat @ T
    pull = np.einsum("cm,ik,klm,jl->cij", om * G**2, rhat, modes.gram, rhat)
    transfer = (om * (w * G**2)) @ om.T  # of qhat to q
    rates = np.array([np.outer(rhat[:, k], rhat[:, k]) / shares[k] for k in range(K)])
    source = np.stack([rates[[k for k in range(K) if own[k] == c]].sum(axis=0) for c in range(C)])
    known = pull + np.einsum("cd,dij->cij", transfer, source)
    q = np.linalg.solve(np.eye(C) - transfer * (totals / (1 + V) ** 2), known.reshape(C, -1)).reshape(C, K, K)
    wide = V[:, None, None] * np.eye(K)
    return np.concatenate((wide.ravel(), q.ravel(), r.ravel(), b)), solution.iterations
