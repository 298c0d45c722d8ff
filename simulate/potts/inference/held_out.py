"""How well a model predicts a masked site from all others: exact, for any Potts record."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from simulate.potts.inference.sequences import Sequences
from theory.models import Potts, PottsModel, checks
from theory.models.arrays import Array
from theory.models.frames import table
from theory.models.potts import centered
from theory.models.potts.batches import blocks, checked_samples, normalized_weights

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class MaskedLoss:
    """Prediction of every site from all others, averaged over samples: loss -log P(s_i | rest) in nats."""

    by_site: Array = field(repr=False)  # (L,)
    accuracy_by_site: Array = field(repr=False)  # (L,), share of samples whose color is the most probable one
    n_samples: int

    @property
    def loss(self) -> float:
        """Mean over the sites: the negative log pseudo-likelihood divided by L."""
        return float(self.by_site.mean())

    @property
    def perplexity(self) -> float:
        """exp(loss): as many equally probable colors would be as hard to guess."""
        return float(np.exp(self.loss))

    @property
    def accuracy(self) -> float:
        """Mean over the sites."""
        return float(self.accuracy_by_site.mean())

    def __repr__(self) -> str:
        return (
            f"MaskedLoss(loss={self.loss:.6g}, perplexity={self.perplexity:.4g}, accuracy={self.accuracy:.4g}, "
            f"n_samples={self.n_samples})"
        )

    def to_frame(self) -> "pd.DataFrame":
        """One row a site."""
        return table(site=np.arange(len(self.by_site)), loss=self.by_site, accuracy=self.accuracy_by_site)


def masked_loss(model: Potts, states: Any, weights: Any = None) -> MaskedLoss:
    """Loss and accuracy of `model` on states (M, L) with weights (M,), divided by their sum; equal where None.

    Of equally probable colors the first counts as the guess. ValueError for M = 0 and states or weights that are none.
    """
    checks.record("model", model, Potts)
    checked = checked_samples("states", states, model.n_colors, model.n_sites)
    w = normalized_weights(weights, len(checked))
    loss, accuracy = np.zeros(model.n_sites), np.zeros(model.n_sites)
    for rows in blocks(len(checked), model.n_sites * model.n_colors):
        block, share = checked[rows], w[rows]
        logs = model.log_conditionals(block)
        loss -= share @ np.take_along_axis(logs, block[..., None], axis=2)[..., 0]
        accuracy += share @ (logs.argmax(axis=2) == block)
    return MaskedLoss(loss, accuracy, len(checked))


def site_independent(states: Any, n_colors: int, pseudocount: float = 0.5, weights: Any = None) -> PottsModel:
    """Independent sites with P_i(a) = (M f_i(a) + pseudocount)/(M + C pseudocount): the baseline without couplings."""
    data = Sequences.of(states, n_colors, weights)
    extra = checks.non_negative("pseudocount", pseudocount)
    f = data.frequencies()
    if extra == 0 and f.min() == 0:
        i, a = np.argwhere(f == 0)[0]
        raise ValueError(f"pseudocount = 0 leaves color {a} no probability at site {i}: it never occurs there")
    L, C = f.shape
    fields = np.log(data.n_samples * f + extra)
    none = sparse.csr_array((L, L))
    return PottsModel(none, np.zeros((C, C)), centered(fields))
