"""What one replicate of any model yields."""

from dataclasses import dataclass, field

import numpy as np

from theory.models.arrays import Array
from theory.models.results import SolverResult

NONE = np.zeros(0)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Measured(SolverResult):
    """Holds the means of one replicate, named as the theory's.

    `test_error` is E (y - h)^2 for linear labels, else the share of wrong signs (or classes); `train_loss` the mean
    loss of the training sample without the ridge; `squared_norm` |w|^2/p and `bias` of each learner or output. For
    each cluster (group or class) of the model: `cluster_errors`, and `selection_rate` P(h > 0). What a model does not
    have is empty. The evidence is that of the fit.
    """

    train_loss: float
    test_error: float
    squared_norm: Array = field(default_factory=lambda: NONE)
    bias: Array = field(default_factory=lambda: NONE)
    cluster_errors: Array = field(default_factory=lambda: NONE)
    selection_rate: Array = field(default_factory=lambda: NONE)
