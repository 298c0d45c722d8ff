"""Holds the result of a fit of factored attention, with its predictions."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import log_softmax

from simulate.potts.inference.factored_kernel import FactoredObjective
from simulate.potts.inference.sequences import Sequences
from theory.core import Array, SolverResult, checks
from theory.models import PottsModel
from theory.models.potts.base import one_hot
from theory.models.potts.batches import blocks


@dataclass(frozen=True, eq=False, repr=False)
class FactoredFit(SolverResult):
    """A fitted layer of factored attention: it predicts site i with logits z_ia = sum_{j != i} A_ij V[a, s_j] + h_i[a].

    `site_couplings` A (L, L) has a zero diagonal and need not be symmetric; `color_couplings` V (C, C) has rows for
    predicted and columns for neighboring colors; `fields` h (L, C) are zero unless `with_fields` (arXiv:2304.07235).
    In the gauge of the fit the root mean square of V's entries is one and the sum of A not negative. With fields the
    rows and columns of V and the rows of h sum to zero; without fields the columns of V do.

    `objective` includes the penalties, and `restarts` holds the objective that each start reached. `residual`, also
    called `gradient_norm`, is the norm of the gradient in (A, V, h) in the scale |A| = |V|; `reason` says why the
    minimization ended.
    """

    site_couplings: Array = field(repr=False)
    color_couplings: Array = field(repr=False)
    fields: Array = field(repr=False)
    with_fields: bool
    objective: float
    reason: str
    restarts: tuple[float, ...]

    @property
    def gradient_norm(self) -> float:
        """The norm of the gradient at the minimum, which is the `residual`."""
        return self.residual

    @property
    def n_sites(self) -> int:
        """The number L of sites."""
        return len(self.site_couplings)

    @property
    def n_colors(self) -> int:
        """The number C of colors."""
        return len(self.color_couplings)

    def logits(self, states: Any) -> Array:
        """Compute the logits z (M, L, C) of states (M, L), each site as predicted from the other sites."""
        checked = checks.colors("states", states, self.n_colors, self.n_sites)
        flat = checked.reshape(-1, self.n_sites)
        z = np.empty((*flat.shape, self.n_colors))
        for rows in blocks(len(flat), self.n_sites * self.n_colors):
            z[rows] = self.site_couplings @ one_hot(flat[rows], self.n_colors) @ self.color_couplings.T + self.fields
        return z.reshape(*checked.shape, self.n_colors)

    def log_conditionals(self, states: Any) -> Array:
        """Compute log P(s_i = a | all other sites), (M, L, C), at states (M, L)."""
        return np.asarray(log_softmax(self.logits(states), axis=-1))

    def conditionals(self, states: Any) -> Array:
        """Compute P(s_i = a | all other sites), (M, L, C), at states (M, L)."""
        return np.asarray(np.exp(self.log_conditionals(states)))

    def masked_loss(self, states: Any, weights: Any = None) -> float:
        """Measure the mean of -log P(s_i | all other sites), in nats, over states (M, L) with weights (M,)."""
        checks.colors("states", states, self.n_colors, self.n_sites)
        data = Sequences.of(states, self.n_colors, weights)
        objective = FactoredObjective(np.ascontiguousarray(data.columns.T, dtype=np.int32), data.weights)
        return objective(self.site_couplings, self.color_couplings, self.fields)[0] / self.n_sites

    @cached_property
    def model(self) -> PottsModel:
        """The Potts model (beta = 1) of the symmetric parts of A and V, in the gauge where V is closest to symmetric.

        Its conditionals are those of the fit only where A and V are symmetric: an asymmetric layer is no Potts model.
        """
        V = self.color_couplings
        if not self.with_fields:  # V_ab + r_b predicts the same; this r_b makes a symmetric V symmetric again
            V = V + V.mean(axis=1)
        return PottsModel((self.site_couplings + self.site_couplings.T) / 2, (V + V.T) / 2, self.fields)
