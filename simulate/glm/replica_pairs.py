"""Two runs of message passing on one training set of random labels: how their difference grows, and what is left of it.

The runs are replicas. Each follows the undamped map of the equations, whether or not replica symmetry is stable, and
their overlap tells which it is: they meet, or they never do. No average, no saddle point and no derivative is used; the
response of the forces is measured by parts, which a jump of the proximal operator enters as well as its slope does.
"""

import math
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator

from simulate.glm.random_labels import random_inputs
from simulate.glm.sample_forces import sample_forces
from theory.core import Array, AtLeast, Count, checked, checks
from theory.models.glm import RandomLabels

START_RESPONSE = 1.0


@checked
def replica_growth(
    model: RandomLabels, differences: Array, d: Annotated[int, AtLeast(4)], rng: Generator, steps: Count = 12
) -> Array:
    """Measure the factors by which `differences` between two runs of message passing grow in one step.

    One run makes `steps` steps. Of its weights w the second replica is (1 - delta) w + sqrt(1 - (1 - delta)^2) |w| xi
    with a random direction xi of unit length, and its memory of the forces (1 - delta) f: so it is as if it were
    another run, with the same norm and the overlap 1 - delta. Both then make one step, and 1 minus their overlap there
    over delta is the factor. Isotropic inputs; ValueError for others, and for differences outside of (0, 1].
    """
    values = checks.real_array("differences", differences)
    if values.ndim != 1 or not values.size or not ((values > 0) & (values <= 1)).all():
        raise ValueError(f"differences must be a list of numbers in (0, 1], got {checks.shown(differences)}")
    run = _Run(model, d, rng)
    w, f, V = np.zeros((d, 1)), np.zeros((run.n, 1)), np.full(1, START_RESPONSE)
    for _ in range(steps):
        w, f, V = run.after(w, f, V)
    ahead, *_ = run.after(w, f, V)
    xi = rng.standard_normal((d, len(values)))
    xi -= w * (w[:, 0] @ xi) / (w[:, 0] @ w[:, 0])
    xi *= np.linalg.norm(w) / np.linalg.norm(xi, axis=0)
    near = 1 - values
    others, *_ = run.after(w * near + np.sqrt(1 - near**2) * xi, f * near, np.full(len(values), V[0]))
    return np.asarray(_differences(ahead, others) / values)


@checked
def replica_difference(
    model: RandomLabels, d: Annotated[int, AtLeast(4)], rng: Generator, steps: Annotated[int, AtLeast(2)] = 24
) -> float:
    """Measure the difference, 1 minus the overlap, that two runs of message passing keep on one training set.

    Both begin with random weights of their own; the mean over the second half of the steps is returned. Isotropic
    inputs; ValueError for others.
    """
    run = _Run(model, d, rng)
    w, f, V = rng.standard_normal((d, 2)), np.zeros((run.n, 2)), np.full(2, START_RESPONSE)
    found = []
    for _ in range(steps):
        w, f, V = run.after(w, f, V)
        found.append(float(_differences(w[:, :1], w[:, 1:])[0]))
    return float(np.mean(found[steps // 2 :]))


class _Run:
    """Holds a training set, and makes the step of any number of runs at once."""

    def __init__(self, model: RandomLabels, d: int, rng: Generator) -> None:
        covariance = model.covariance.resized(d)
        if not math.isclose(float(np.ptp(covariance.eigenvalues)), 0.0, abs_tol=1e-12):
            raise ValueError("model must have isotropic inputs, whose covariance has one eigenvalue")
        self.model, self.n, self.size = model, round(model.alpha * d), float(covariance.eigenvalues[0])
        self.X = random_inputs(covariance, self.n, rng) / np.sqrt(d)
        self.y = rng.choice([-1.0, 1.0], self.n)

    def after(self, w: Array, f: Array, V: Array) -> tuple[Array, Array, Array]:
        """Return the weights (d, runs), forces (n, runs) and responses (runs,) after one step."""
        omega = self.X @ w - V * f
        f = np.stack([self._forces(omega[:, k], V[k]) for k in range(len(V))], axis=1)
        # How the forces fall with their fields, all samples together; at fields of zero there is nothing to divide.
        fall = -np.sum(f * omega, axis=0) / np.maximum(np.mean(omega**2, axis=0), 1e-300)
        A = self.size * fall / len(w)
        w = (self.X.T @ f + A * w) / (A + self.model.lam)
        return w, f, self.size / (A + self.model.lam)

    def _forces(self, omega: Array, V: float) -> Array:
        loss: Any = self.model.loss
        if isinstance(loss, str):
            ones = np.ones(self.n)
            return sample_forces(loss, self.y, omega, V * ones, ones, "random")[0]
        t = self.y * omega
        return self.y * (np.asarray(loss.prox(t, V), float) - t) / V


def _differences(one: Array, others: Array) -> Array:
    """Return 1 minus the overlap of the direction of `one` (d, 1) with those of the others (d, runs)."""
    with np.errstate(invalid="ignore"):
        gaps = one / np.linalg.norm(one, axis=0) - others / np.linalg.norm(others, axis=0)
    return np.asarray(np.sum(gaps**2, axis=0) / 2)
