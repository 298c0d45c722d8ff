"""Measures how well a Potts model predicts a masked site of held-out sequences from all other sites."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from simulate.potts.inference.sequences import Sequences
from theory.core import Array, DataFrame, NonNegative, Result, checked, table
from theory.models import Potts, PottsModel
from theory.models.potts import centered
from theory.models.potts.batches import blocks, checked_samples, normalized_weights


@dataclass(frozen=True, eq=False, repr=False)
class MaskedLoss(Result):
    """Says how well each site is predicted from all others, averaged over `n_samples` sequences.

    `by_site` (L,) is the mean of -log P(s_i | rest) in nats. `accuracy_by_site` (L,) is the share of sequences whose
    color is the one that the model holds most probable.
    """

    by_site: Array = field(repr=False)
    accuracy_by_site: Array = field(repr=False)
    n_samples: int

    @property
    def loss(self) -> float:
        """The mean over the sites, in nats: the negative log pseudo-likelihood divided by L."""
        return float(self.by_site.mean())

    @property
    def perplexity(self) -> float:
        """The number exp(loss) of equally probable colors that would be as hard to guess."""
        with np.errstate(over="ignore"):  # more than any float is infinity
            return float(np.exp(self.loss))

    @property
    def accuracy(self) -> float:
        """The accuracy, averaged over the sites."""
        return float(self.accuracy_by_site.mean())

    def __repr__(self) -> str:
        return (
            f"MaskedLoss(loss={self.loss:.6g}, perplexity={self.perplexity:.4g}, accuracy={self.accuracy:.4g}, "
            f"n_samples={self.n_samples})"
        )

    def to_frame(self) -> DataFrame:
        """Make a table with one row for each site; needs pandas."""
        return table(site=np.arange(len(self.by_site)), loss=self.by_site, accuracy=self.accuracy_by_site)


@checked
def masked_loss(model: Potts, states: Any, weights: Any = None) -> MaskedLoss:
    """Measure how well `model` predicts each site of `states` (M, L) from all other sites.

    Sequences count by `weights` (M,) divided by their sum, equally where None. The conditional probabilities are exact.
    If several colors are equally probable, the first of them is the guess. ValueError for states or weights that do not
    fit.

    >>> import numpy as np
    >>> from theory.models import PottsModel
    >>> pair = PottsModel(site_couplings=[[0, 1], [1, 0]], color_couplings=np.eye(2), beta=1.0)
    >>> measured = masked_loss(pair, [[0, 0], [1, 1], [1, 0]])
    >>> round(measured.accuracy, 6), round(measured.loss, 6)
    (0.666667, 0.646595)
    """
    checked = checked_samples("states", states, model.n_colors, model.n_sites)
    w = normalized_weights(weights, len(checked))
    loss, accuracy = np.zeros(model.n_sites), np.zeros(model.n_sites)
    for rows in blocks(len(checked), model.n_sites * model.n_colors):
        block, share = checked[rows], w[rows]
        logs = model.log_conditionals(block)
        loss -= share @ np.take_along_axis(logs, block[..., None], axis=2)[..., 0]
        accuracy += share @ (logs.argmax(axis=2) == block)
    return MaskedLoss(loss, accuracy, len(checked))


@checked
def site_independent(states: Any, n_colors: int, pseudocount: NonNegative = 0.5, weights: Any = None) -> PottsModel:
    """Fit a model of independent sites to sequences `states` (M, L): the baseline without couplings.

    The probabilities are P_i(a) = (M f_i(a) + pseudocount)/(M + C pseudocount), with frequencies f counted by `weights`
    (M,). ValueError for a pseudocount of zero if that would leave a color without probability.
    """
    data = Sequences.of(states, n_colors, weights)
    f = data.frequencies()
    if pseudocount == 0 and f.min() == 0:
        i, a = np.argwhere(f == 0)[0]
        raise ValueError(f"pseudocount = 0 leaves color {a} no probability at site {i}: it never occurs there")
    L, C = f.shape
    fields = np.log(data.n_samples * f + pseudocount)
    none = sparse.csr_array((L, L))
    return PottsModel(none, np.zeros((C, C)), centered(fields))
