"""The result of a factored fit: a layer of factored attention with the evidence for it."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import log_softmax

from simulate.potts.inference.factored_kernel import FactoredObjective
from simulate.potts.inference.sequences import Sequences
from theory.models import PottsModel, checks
from theory.models.arrays import Array
from theory.models.potts.base import one_hot
from theory.models.potts.batches import blocks


@dataclass(frozen=True, eq=False)
class FactoredFit:
    """Logits z_ia = sum_{j != i} A_ij V[a, s_j] + h_i[a]; V[predicted color, neighbor's color] (arXiv:2304.07235).

    Gauge: the root mean square of V's entries is one and A's sum not negative; with fields the rows and columns of V
    and the rows of h sum to zero, without fields the columns of V. A need not be symmetric.
    """

    site_couplings: Array = field(repr=False)  # A (L, L), zero diagonal
    color_couplings: Array = field(repr=False)  # V (C, C)
    fields: Array = field(repr=False)  # h (L, C)
    with_fields: bool
    objective: float  # at the minimum, penalties included
    gradient_norm: float  # of the objective in (A, V, h) in the scale |A| = |V|
    iterations: int
    converged: bool
    reason: str
    restarts: tuple[float, ...]  # the objective that each start reached

    @property
    def n_sites(self) -> int:
        """L."""
        return len(self.site_couplings)

    @property
    def n_colors(self) -> int:
        """C."""
        return len(self.color_couplings)

    def logits(self, states: Any) -> Array:
        """z (M, L, C) of states (M, L): site i as predicted from the other sites."""
        checked = checks.colors("states", states, self.n_colors, self.n_sites)
        flat = checked.reshape(-1, self.n_sites)
        z = np.empty((*flat.shape, self.n_colors))
        for rows in blocks(len(flat), self.n_sites * self.n_colors):
            z[rows] = self.site_couplings @ one_hot(flat[rows], self.n_colors) @ self.color_couplings.T + self.fields
        return z.reshape(*checked.shape, self.n_colors)

    def log_conditionals(self, states: Any) -> Array:
        """log P(s_i = a | all other sites), (M, L, C)."""
        return np.asarray(log_softmax(self.logits(states), axis=-1))

    def conditionals(self, states: Any) -> Array:
        """P(s_i = a | all other sites), (M, L, C)."""
        return np.asarray(np.exp(self.log_conditionals(states)))

    def masked_loss(self, states: Any, weights: Any = None) -> float:
        """Mean of -log P(s_i | all other sites) over sites and (weighted) samples, in nats."""
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
        if not self.with_fields:  # V_ab + r_b predicts the same: r_b restores the symmetry of a V with centered columns
            V = V + V.mean(axis=1)
        return PottsModel((self.site_couplings + self.site_couplings.T) / 2, (V + V.T) / 2, self.fields)
