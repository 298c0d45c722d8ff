"""The last check of a result: errors, degrees of freedom and ridges are numbers that are not negative."""

import numpy as np

from theory.core.results import Result
from theory.numerics import ConvergenceError

ADVICE = "the covariance is too near to a singular one for double precision: take smaller correlations or a larger lam"


def require_non_negative(result: Result, *names: str, or_nan: tuple[str, ...] = ()) -> None:
    """Raise ConvergenceError where a field of the result is negative or no number; infinite ones are allowed.

    All of these are sums of terms that are not negative, so that such a value is rounding alone, of any size. The
    fields `or_nan` may hold nan, which then says that a number is not known.
    """
    for name in (*names, *or_nan):
        values = np.asarray(getattr(result, name), float)
        if name in or_nan:
            values = values[~np.isnan(values)]
        if not (values >= 0).all():
            wrong = float(values[~(values >= 0)].flat[0])
            what, made = f"{type(result).__name__}: {name} came out as {wrong:.3g}", result.iterations
            raise ConvergenceError.of(what, values, np.inf, 0.0, made, status="inadmissible", advice=ADVICE)
