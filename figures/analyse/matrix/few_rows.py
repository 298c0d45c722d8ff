"""Where the theory is not asked: too few training rows."""

from collections.abc import Callable

import numpy as np

from theory.models.arrays import Array

Predict = Callable[[int, Array], Array]  # (training rows, lams) -> mean test errors
# It is a limit of many rows: what n rows leave out is of relative order 1/n, and the variance of a single column is
# known from them to sqrt(2/n). At ten that is 10% and 45%; below, a number would only look like a prediction.
FEWEST_ROWS = 10


def trusted(predict: Predict) -> Predict:
    """The same from FEWEST_ROWS training rows on, NaN below."""

    def predicted(n: int, lams: Array) -> Array:
        return predict(n, lams) if n >= FEWEST_ROWS else np.full(len(lams), np.nan)

    return predicted
