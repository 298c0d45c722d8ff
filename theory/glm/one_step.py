"""The least energy of a training whose loss is not convex, by one step of replica symmetry breaking."""

import math
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from scipy.optimize import minimize_scalar

from theory.core import Array, SolverResult, Within, checked
from theory.glm.losses import Loss, loss_of
from theory.glm.own_losses import examined, shape_of
from theory.glm.quadrature import normal_nodes
from theory.glm.saddle_point import SaddlePoint
from theory.glm.solver import solve
from theory.models.glm import RandomLabels
from theory.numerics import ConvergenceError, Counted, panelled_legendre, search

WIDTHS = 8.5  # of a normal law, beyond which nothing is integrated
ORDER = 16  # nodes on a panel of fields, which is half a width of the inner law
TOLERANCE, EVALUATIONS = 1e-9, 600
LOG_PARISI = (-1.0, 4.0)  # natural logarithms between which the best Parisi parameter is sought
PRECISION = 0.03  # of that logarithm: the energy is stationary there, and moves by its square


@dataclass(frozen=True, eq=False, repr=False)
class OneStepEnergy(SolverResult):
    """Hold the `energy` per weight of one step of replica symmetry breaking, beside the bound of replica symmetry.

    `bound` is `SaddlePoint.energy_bound`, `parisi` the parameter y of the step. Weights of one valley have the overlap
    `q1` per weight, those of different ones `q0`; `V` is the response within a valley. Where replica symmetry is stable
    both energies are one, q1 = q0 and y is NaN.
    """

    energy: float
    bound: float
    parisi: float
    q0: float
    q1: float
    V: float
    symmetric: SaddlePoint = field(repr=False)


@checked
def one_step_energy(model: RandomLabels, parisi: Annotated[float, Within(1e-3, 100.0)] | None = None) -> OneStepEnergy:
    """Compute the energy alpha train_loss + lam |w|^2/(2p) of random labels on isotropic inputs in one step.

    With D = q1 - q0, the Moreau envelope M_V(h) = min_x l(x) + (x - h)^2/(2V) and its force f, the energy is stationary
    in q0, D and V of (derived here from n replicas in groups of m = y T of them, T -> 0)

        lam (q0 + D)/2 - [log(1 + y D/V)/y + q0/(V + y D)]/2 - (alpha/y) E_0 log E_1 exp(-y M_V(sqrt(q0) z0 + sqrt(D)
        z1)),

    that is q0 = alpha chi^2 E <f>^2, D = alpha V chi E(<f^2> - <f>^2) and 1/chi = lam - alpha E[z0 <f>]/sqrt(q0), where
    chi = V + y D and <> is the mean over z1 with weight exp(-y M). It is largest at the best y, the `parisi` that is
    given or by default that one. A stable symmetric point has no other solution. ValueError for other covariances,
    ConvergenceError where no solution is found. That one step is enough is not tested here.
    """
    if not math.isclose(float(np.ptp(model.covariance.spectrum.eigenvalues)), 0.0, abs_tol=1e-12):
        raise ValueError("model must have isotropic inputs, whose covariance has one eigenvalue")
    size = float(model.covariance.spectrum.eigenvalues[0])
    point = solve(model, check=False)
    if point.replicon > 0:
        q = float(point.q[0])
        return OneStepEnergy(
            point.energy, point.energy, math.nan, q, q, float(point.V[0]), point,
            residual=point.residual, iterations=point.iterations, converged=point.converged,
        )  # fmt: skip
    equations = _Step(examined(loss_of(model.loss)), model.alpha, model.lam / size)
    start = np.array([0.7 * point.q[0], 0.3 * point.q[0], point.V[0] / 2])

    def at(log_y: float) -> float:
        equations.solve(math.exp(log_y), start)
        return -equations.energy()

    if parisi is None:
        best = minimize_scalar(at, bounds=LOG_PARISI, method="bounded", options={"xatol": PRECISION})
        log_y = float(best.x)
    else:
        log_y = math.log(parisi)
    energy = -at(log_y)
    q0, D, V = equations.x
    return OneStepEnergy(
        energy, point.energy_bound, math.exp(log_y), float(q0), float(q0 + D), float(V), point,
        residual=equations.residual, iterations=equations.rounds, converged=True,
    )  # fmt: skip


class _Step:
    """The equations for q0, D and V at one y. It remembers the last solution, where the next search begins."""

    def __init__(self, loss: Loss, alpha: float, lam: float) -> None:
        self.loss, self.alpha, self.lam = loss, alpha, lam
        self.z0, self.w0 = normal_nodes([])
        self.x, self.residual, self.rounds = np.zeros(0), math.inf, 0

    def solve(self, y: float, start: Array) -> None:
        """Find the solution at y from the last one, or from `start`; ConvergenceError where there is none."""
        update = Counted(lambda at: self._image(at, y), lambda at: bool(np.isfinite(at).all() and abs(at).max() < 50))
        self.y = y
        for begin in ([self.x] if self.x.size else []) + [start]:
            found, self.residual = search(update, np.log(begin), TOLERANCE, update.evaluations + EVALUATIONS)
            if self.residual <= TOLERANCE:
                break
        self.rounds += update.evaluations
        if not self.residual <= TOLERANCE:
            raise ConvergenceError.of(f"one step at y={y:g}", found, self.residual, TOLERANCE, self.rounds)
        self.x = np.exp(found)

    def energy(self) -> float:
        """Return the energy per weight at the last solution."""
        q0, D, V = self.x
        log_sum, *_ = self._means(q0, D, V, self.y)
        entropy = math.log1p(self.y * D / V) / self.y + q0 / (V + self.y * D)
        return float(self.lam * (q0 + D) / 2 - entropy / 2 - self.alpha / self.y * log_sum)

    def _image(self, log_x: Array, y: float) -> Array:
        q0, D, V = np.exp(log_x)
        with np.errstate(all="ignore"):
            _, by_parts, square, mean_square = self._means(q0, D, V, y)
            chi = 1 / (self.lam - self.alpha * by_parts / math.sqrt(q0))
            spread = self.alpha * V * chi * (square - mean_square)
            return np.log([self.alpha * mean_square * chi**2, spread, V * chi / (V + y * D)])

    def _means(self, q0: float, D: float, V: float, y: float) -> tuple[float, float, float, float]:
        """Return E_0 log E_1 exp(-y M), E[z0 <f>], E <f^2> and E <f>^2."""
        far, width = WIDTHS * (math.sqrt(q0) + math.sqrt(D)), math.sqrt(D)
        shape = shape_of(self.loss, V, -far, far)
        breaks = [jump.t for jump in shape.jumps] + [t for t, _ in shape.bends]
        edges = np.linspace(-far, far, 2 + int(4 * far / width))
        h, weights = panelled_legendre(np.unique(np.concatenate([edges, breaks])), ORDER)
        prox = self.loss.prox(h, V)
        f = self.loss.force(h, prox, V)
        envelope = self.loss.value(prox) + V * f**2 / 2
        center = math.sqrt(q0) * self.z0
        exponent = -((h - center[:, None]) ** 2) / (2 * D) - y * envelope
        top = exponent.max(axis=1)
        density = np.exp(exponent - top[:, None]) * weights
        total = density.sum(axis=1)
        log_sum = top + np.log(total / math.sqrt(2 * math.pi * D))
        mean, square = density @ f / total, density @ f**2 / total
        w0 = self.w0
        return float(w0 @ log_sum), float(w0 @ (self.z0 * mean)), float(w0 @ square), float(w0 @ mean**2)
