"""Two groups, each with a teacher of its own: fairness of what is learned from both."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from theory.core import Accepted, Array, Correlation, NonNegative, OpenShare, Positive, checked_fields, checks
from theory.models.glm.cluster import Pair
from theory.models.glm.objective import LossOrName, SumObjective

Weights = Annotated[tuple[Pair, Pair], Accepted(lambda _, value: _loss_weights(value))]


@dataclass(frozen=True, kw_only=True, repr=False)
class TeacherMixture(SumObjective):
    """A mixture of two groups of samples, each labeled by a teacher of its own (arXiv:2205.15935).

    Group c = +- has the inputs x = c v/sqrt(d) + sqrt(Delta_c) z with z standard normal, and the labels
    sign(W_c.x/sqrt(d) + b_c), where |v|^2 = |W_c|^2 = d. `group_fraction` is the share of group +. The pairs
    `variances` Delta_c, `mean_overlaps` W_c.v/d and `teacher_biases` b_c list group + before group -; `teacher_overlap`
    is W_+.W_-/d. One student with a bias learns both groups; or, with a `coupling`, two students are trained, each on
    its own group, with the penalty (coupling/2) |w_+ - w_-|^2. `loss_weights` hold for each group the weights of its
    samples with y = +1 and y = -1 (reweighing). There are n = alpha d samples; training minimizes sum loss + (lam/2)
    |w|^2 as in `GeneralizedLinearModel`.

    A student is less accurate on the smaller group, here a fifth of all samples:

    >>> from theory import glm
    >>> from theory.models import TeacherMixture
    >>> groups = TeacherMixture(group_fraction=0.2, alpha=2.0, lam=0.1, teacher_overlap=0.8)
    >>> glm.fairness_table(glm.solve(groups)).accuracy.round(4).tolist()
    [0.7511, 0.8007]
    """

    group_fraction: OpenShare
    alpha: Positive
    lam: Positive
    loss: LossOrName = "logistic"
    variances: Pair = (0.5, 0.5)
    teacher_overlap: Correlation = 1.0
    mean_overlaps: Pair = (0.0, 0.0)
    teacher_biases: Pair = (0.0, 0.0)
    loss_weights: Weights = ((1.0, 1.0), (1.0, 1.0))
    coupling: NonNegative | None = None

    def __post_init__(self) -> None:
        checked_fields(self)
        for variance in self.variances:
            checks.positive("variances", variance)
        least = float(np.linalg.eigvalsh(self.overlap_matrix)[0])
        if least < -1e-10:
            raise ValueError(
                "teacher_overlap and mean_overlaps must be those of three vectors: their Gram matrix of v, W_+, W_- "
                f"must be positive semi-definite, got an eigenvalue {least:g}"
            )

    @property
    def overlap_matrix(self) -> Array:
        """The Gram matrix, over d, of v, W_+ and W_-."""
        plus, minus = self.mean_overlaps
        return np.array([[1, plus, minus], [plus, 1, self.teacher_overlap], [minus, self.teacher_overlap, 1]], float)


def _loss_weights(value: Any) -> tuple[Pair, Pair]:
    array = checks.real_array("loss_weights", value)
    if array.shape != (2, 2) or not np.isfinite(array).all() or array.min() < 0 or array.max(axis=1).min() == 0:
        raise ValueError(
            "loss_weights must be two pairs of non-negative numbers, not both zero in a pair, "
            f"got {checks.shown(value)}"
        )
    (a, b), (c, d) = array.tolist()
    return (a, b), (c, d)
