"""What one replicate of any model yields."""

from dataclasses import dataclass, field

import numpy as np

from theory.models.arrays import Array

NONE = np.zeros(0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured:
    """Means of one replicate, named as the theory's. Per group: `group_errors` and `selection_rates` P(h > 0).

    `test_error` is E (y - h)^2 for linear labels, else the share of wrong signs (or classes).
    """

    train_loss: float
    test_error: float
    squared_norm: Array = field(default_factory=lambda: NONE)
    bias: Array = field(default_factory=lambda: NONE)
    group_errors: Array = field(default_factory=lambda: NONE)
    selection_rates: Array = field(default_factory=lambda: NONE)
