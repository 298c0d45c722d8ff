"""Learning curves on a user's data: ridge regression on rows drawn from it, judged on all of it."""

from typing import Any

import numpy as np
from numpy.random import Generator

from simulate.glm.fit import fit
from simulate.glm.measured import Measured
from theory.models import checks


def resampled(features: Any, targets: Any, n: int, lam: float, rng: Generator) -> Measured:
    """Square loss on n rows drawn with replacement from features (rows, p) and real targets (rows,).

    The data are taken as the population, so that `test_error`, the mean squared residual of all rows, is what
    GaussianCovariateModel.from_data predicts; take n well below the number of rows.
    """
    v, y = checks.finite_array("features", features, 2), checks.finite_array("targets", targets, 1)
    if len(v) != len(y):
        raise ValueError(f"targets must have one entry for each of {len(v)} rows of features, got {len(y)}")
    chosen = rng.integers(0, len(v), int(checks.dimension(n, name="n")))
    fitted = fit(v[chosen], y[chosen], "square", lam)
    error = float(np.mean((y - fitted.fields(v)) ** 2))
    return Measured(train_loss=fitted.train_loss, test_error=error, squared_norm=fitted.squared_norm, bias=fitted.bias)
