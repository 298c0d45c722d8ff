"""How the test error and the test loss of a trained classifier move with its ridge, at a solved saddle point."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from theory.core import Array, Result, checked
from theory.glm.equations import Equations
from theory.glm.field import Field
from theory.glm.fresh_samples import fresh_error, mean_fresh_loss
from theory.glm.losses import Loss
from theory.glm.observables import with_rare_forces
from theory.glm.overlaps import Overlaps
from theory.glm.prior import prior
from theory.glm.saddle_point import SaddlePoint
from theory.models.glm import GeneralizedLinearModel
from theory.numerics import ConvergenceError

# The step of central differences, relative to 1 + |x|: the error of one has the size of its square, 1e-9, and rounding
# of the averages over it, 1e-13/3e-5.
STEP = 3e-5
LEAST_MOVE = 1e-3  # relative change of coordinates by log lam below which the step is not lengthened further
MAX_CONDITION = 1e13  # of 1 - dF/dx: beyond it the saddle point is not isolated in double precision


@dataclass(frozen=True, eq=False, repr=False)
class RidgeSlopes(Result):
    """Hold the derivatives by the ridge lam of test error and test loss, and of the coordinates of the saddle point.

    `test_error` and `test_loss` are d test_error/d lam and d test_loss/d lam; `V`, `q` and `r` those of the overlaps,
    and `bias` those of the trained biases. `residual` is that of the saddle point, `iterations` counts evaluations of
    its equations.
    """

    test_error: float
    test_loss: float
    V: Array
    q: Array
    r: Array
    bias: Array


class Tangent(NamedTuple):
    """The slopes of a saddle point, its coordinates x, their derivative by log lam, and the matrix 1 - dF/dx there."""

    slopes: RidgeSlopes
    x: Array
    moved: Array
    matrix: Array


@checked
def ridge_slopes(point: SaddlePoint) -> RidgeSlopes:
    """Compute how test error, test loss and overlaps at a saddle point move with its ridge lam.

    No second saddle point is solved: with F one round of the equations in the coordinates x = (log V, log q, r), the
    solution x = F(x, lam) moves by dx/dlam = (1 - dF/dx)^-1 dF/dlam (the implicit function theorem; derived here).
    dF/dx takes two rounds for each coordinate, by central differences, and dF/dlam none, since for given conjugates lam
    enters the weights alone. ConvergenceError where 1 - dF/dx is singular, as it is where two saddle points meet.

    >>> from theory import glm
    >>> slopes = glm.ridge_slopes(glm.solve(glm.gaussian_mixture(variances=0.5, alpha=1.0, lam=0.1, loss="hinge")))
    >>> round(slopes.test_error, 6), round(slopes.test_loss, 6)
    (-0.108587, -0.099948)
    """
    return tangent(point).slopes


def tangent(point: SaddlePoint) -> Tangent:
    """Return the slopes of `ridge_slopes`, with the derivatives from which they follow."""
    update = Equations(point.problem)
    if not np.array_equal(update.bias, point.bias):
        update.bias = np.where(np.isfinite(point.bias), point.bias, 0.0)
    start, x = update.bias, update.coordinates.pack(point.overlaps)

    def image(at: Array) -> Array:
        update.bias = start
        return update(at)

    columns = []
    for k, h in enumerate(STEP * (1 + abs(x))):
        e = np.zeros(len(x))
        e[k] = h
        columns.append((image(x + e) - image(x - e)) / (2 * h))
    matrix = np.eye(len(x)) - np.stack(columns, axis=1)
    if not np.isfinite(matrix).all() or np.linalg.cond(matrix) > MAX_CONDITION:
        what = f"derivative by lam at lam={point.problem.lam:g}"
        raise ConvergenceError.of(what, point, point.residual, 1 / MAX_CONDITION, advice="the point is not isolated")
    moved = np.linalg.solve(matrix, _forced(update, point.overlaps, start))
    # Error, loss and biases change along this direction alone.
    step = STEP / max(float(np.max(abs(moved) / (1 + abs(x)))), LEAST_MOVE)
    before, after = (update.coordinates.unpack(x + sign * step * moved) for sign in (-1, 1))
    width = 2 * step * point.problem.lam
    V, q, r = ((getattr(after, name) - getattr(before, name)) / width for name in ("V", "q", "r"))
    seen = (_seen(update, after, start) - _seen(update, before, start)) / width
    slopes = RidgeSlopes(
        test_error=float(seen[0]),
        test_loss=float(seen[1]),
        V=V,
        q=q,
        r=r,
        bias=seen[2:],
        residual=point.residual,
        iterations=update.evaluations,
        converged=point.converged,
    )
    return Tangent(slopes, x, moved, matrix)


def fresh_means(problem: GeneralizedLinearModel, loss: Loss, at: Overlaps, bias: Array) -> tuple[float, float]:
    """Return the mean test error and the mean test loss over all clusters at given overlaps and biases."""
    error, total = 0.0, 0.0
    for cluster in problem.clusters:
        field = Field.of(cluster, at, float(bias[cluster.learner]))
        error += cluster.probability * fresh_error(cluster, loss, field)
        total += cluster.probability * mean_fresh_loss(cluster, loss, field)
    return error, total


def _seen(update: Equations, at: Overlaps, start: Array) -> Array:
    """Return the test error, the test loss and the biases at these overlaps, (2 + learners,)."""
    bias = start
    if update.problem.bias:
        update.bias = start
        update.evaluations += 1
        bias = with_rare_forces(update, at, update.conjugates(at))[0].bias
    return np.array([*fresh_means(update.problem, update.loss, at, bias), *bias])


def _forced(update: Equations, at: Overlaps, bias: Array) -> Array:
    """Return the derivative of the image of a point by log lam where the conjugates, and so the bias, are held."""
    update.bias = bias
    update.evaluations += 1
    found, problem = update.conjugates(at), update.problem

    def image(factor: float) -> Array:
        scaled: GeneralizedLinearModel = replace(problem, lam=problem.lam * factor)
        return update.coordinates.pack(prior(scaled, found.Vhat, found.qhat, found.rhat)[0])

    return (image(np.exp(STEP)) - image(np.exp(-STEP))) / (2 * STEP)
