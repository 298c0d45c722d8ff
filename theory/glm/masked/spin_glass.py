"""A masked spin of the Sherrington-Kirkpatrick model in the limit of many spins."""

from typing import Any

import numpy as np

from theory.models import checks
from theory.models.glm import GaussianMixture, Modes

NODES = 200


def spin_glass_site(
    beta: float, *, alpha: float, lam: float, loss: Any = "logistic", nodes: int = NODES
) -> GaussianMixture:
    """Couplings J_ij ~ N(0, 1/N), P(s) = exp(beta sum_{i<j} J_ij s_i s_j)/Z, 0 <= beta < 1 (paramagnet); N to infinity.

    The spins have covariance (1 + beta^2 - beta J)^-1 to leading order (the reaction term keeps the variances at 1),
    J with Wigner's semicircle on [-2, 2]. Without the masked spin y the others have that same law, and y adds the field
    beta J_i y: hence Omega = (1 + beta^2 - beta J)^-1 and mu = beta Omega J_i, J_i of length 1 and any direction.
    mu.Omega^-1.mu = beta^2. The semicircle by its Gauss rule with `nodes` nodes.
    """
    b = checks.between("beta", beta, 0, 1, closed=(True, False))
    angle = np.arange(1, nodes + 1) * np.pi / (nodes + 1)
    weights = 2 / (nodes + 1) * np.sin(angle) ** 2
    om = 1 / (1 + b**2 - 2 * b * np.cos(angle))
    signs = np.array([[1.0, -1.0], [-1.0, 1.0]])
    modes = Modes(weights / weights.sum(), om[None], signs[:, :, None] * (weights * b**2 * om**2))
    return GaussianMixture(modes=modes, probabilities=(0.5, 0.5), alpha=alpha, lam=lam, loss=loss, bias=False)
