"""Softmax of two classes: the logistic loss of the difference of the two outputs."""

import numpy as np

from theory.glm.fresh_loss import fresh_loss
from theory.glm.multiclass.saddle_point import MulticlassSaddlePoint
from theory.glm.problem_solver import solve_problem
from theory.glm.systems import as_problem
from theory.models.glm import GaussianMixture, MulticlassMixture


def solve_two(model: MulticlassMixture, tol: float, max_iter: int, check: bool) -> MulticlassSaddlePoint:
    """Solve softmax of two classes as the logistic loss of w = w_1 - w_2, at the ridge lam/2.

    At the minimum the rows of the weights are w_1 = -w_2 = w/2, so that |W|^2 = |w|^2/2, and the outputs are +-h/2. A
    matrix over the outputs is a quarter of the binary number times (1, -1; -1, 1). V is a response to the ridge lam
    instead of lam/2, which takes the factor into account: the prox of h has the response 4 V_11.
    """
    binary = GaussianMixture(
        modes=model.modes,
        probabilities=model.probabilities,
        alpha=model.alpha,
        lam=model.lam / 2,
        loss="logistic",
        bias=model.bias,
    )
    point = solve_problem(as_problem(binary), tol=tol, max_iter=max_iter, check=check)
    sign = np.array([1.0, -1.0])
    matrix = np.outer(sign, sign) / 4
    return MulticlassSaddlePoint(
        model=model,
        V=point.V[:, None, None] * matrix,
        q=point.q[:, None, None] * matrix,
        r=np.outer(sign, point.r) / 2,
        bias=sign * point.bias[0] / 2,
        train_loss=point.train_loss,
        test_loss=fresh_loss(point),
        replicon=point.replicon,
        quadrature="panels",
        residual=point.residual,
        iterations=point.iterations,
        converged=point.converged,
    )
