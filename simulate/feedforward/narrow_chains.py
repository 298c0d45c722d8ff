"""Hamiltonian Monte Carlo of the weights of narrow networks: several chains of one posterior at once."""

import math
from dataclasses import dataclass

import numpy as np

from simulate.feedforward.narrow_task import Task
from theory.core.arrays import Array

MEAN_TRAJECTORY_LENGTH = 3.0  # in units in which the mean curvature is one
MAX_LEAPFROG_STEPS = 80  # of a trajectory, each of which costs a gradient
TARGET_ACCEPTANCE = 0.8  # of trajectories, to which the step adapts
FIRST_STEP = 0.2  # in the same units, before it adapts


@dataclass
class Chains:
    """The present weights of C chains (N, C, K), and what their trajectories are made with."""

    task: Task
    weights: Array
    rng: np.random.Generator
    step: float = FIRST_STEP
    gradients: int = 0

    def __post_init__(self) -> None:
        self.energies, self.slopes, self.losses = self._energy(self.weights)
        self.remass()

    def remass(self) -> None:
        """Set the masses to the mean curvature at the present weights, symmetric under inputs."""
        self.mass = self.task.metric(self.weights)
        self.root, self.inverse = np.linalg.cholesky(self.mass), np.linalg.inv(self.mass)

    def burn_in(self, n: int) -> None:
        """Make n trajectories that adapt the step towards TARGET_ACCEPTANCE, and renew the masses three times."""
        # Step and masses follow the states in the burn-in alone, since chains that adapt to their own past do not keep
        # the posterior.
        for t in range(n):
            # The last renewal leaves the step half of the burn-in to adapt to it.
            if t in (3, n // 4, n // 2):
                self.remass()
            # Changes of the step fade as t^(-1/2), so that it settles and forgets where it began.
            gain = (self.trajectory().mean() - TARGET_ACCEPTANCE) * min(0.5, 2 / math.sqrt(1 + t))
            self.step = min(max(self.step * math.exp(gain), 1e-6), 2.0)

    def trajectory(self) -> Array:
        """Move all chains along one trajectory of leapfrog steps, of random length; return acceptances (C,)."""
        momenta = self.rng.standard_normal(self.weights.shape) @ self.root.T
        longest = min(max(round(2 * MEAN_TRAJECTORY_LENGTH / self.step), 1), MAX_LEAPFROG_STEPS)
        # Lengths and steps are random, since a trajectory of a fixed length can be a period of some direction, which
        # would then never mix. They are drawn beforehand, so that the move back is as likely.
        count, step = 1 + int(self.rng.integers(longest)), self.step * self.rng.uniform(0.8, 1.2)
        start = self.energies + self._kinetic(momenta)
        weights, slopes = self.weights, self.slopes
        with np.errstate(over="ignore", invalid="ignore"):  # a trajectory that flies off is refused below
            momenta = momenta - step / 2 * slopes
            for made in range(count):
                weights = weights + step * self._velocities(momenta)
                energies, slopes, losses = self._energy(weights)
                momenta = momenta - (step if made < count - 1 else step / 2) * slopes
            # Leapfrog steps keep volume but not energy; accepting by the change of the energy makes the posterior exact
            # at any step.
            gain = start - energies - self._kinetic(momenta)
            acceptances = np.exp(np.minimum(0.0, np.where(np.isfinite(gain), gain, -np.inf)))
        accepted = self.rng.random(len(acceptances)) < acceptances
        self.weights = np.where(accepted[:, None], weights, self.weights)
        self.slopes = np.where(accepted[:, None], slopes, self.slopes)
        self.energies = np.where(accepted, energies, self.energies)
        self.losses = np.where(accepted, losses, self.losses)
        return acceptances

    def _kinetic(self, momenta: Array) -> Array:
        return np.asarray(0.5 * np.einsum("nck,nck->c", self._velocities(momenta), momenta))

    def _velocities(self, momenta: Array) -> Array:
        """Divide momenta (N, C, K) by the masses; as one product with a matrix it is much faster."""
        return np.asarray((momenta.reshape(-1, momenta.shape[2]) @ self.inverse).reshape(momenta.shape))

    def _energy(self, weights: Array) -> tuple[Array, Array, Array]:
        self.gradients += 1
        return self.task.energy(weights)
