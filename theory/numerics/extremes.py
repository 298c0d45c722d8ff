"""A decorator of solvers: where numbers leave the range of double precision it raises one named error."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy as np

from theory.core.errors import MaskedSSLError
from theory.numerics.solution import ConvergenceError

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")

ADVICE = "variances, ratios and ridges are too far apart for double precision: take less extreme ones"


def within_range(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Decorate a solver so that overflow, division by zero and lost definiteness raise ConvergenceError.

    Its arguments may be legal and yet so extreme that an intermediate number is not; then there is no verified answer.
    """

    @functools.wraps(function)
    def guarded(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> Returned:
        try:
            with np.errstate(over="raise", divide="raise", invalid="raise"):
                return function(*arguments, **keywords)
        except MaskedSSLError:
            raise
        except (ArithmeticError, ValueError) as failed:
            # Python's math functions and LAPACK's wrappers say with a ValueError that a number left their domain.
            domain = isinstance(failed, ArithmeticError | np.linalg.LinAlgError) or str(failed) == "math domain error"
            if not domain:
                raise
            raise ConvergenceError.of(f"{function.__name__}: {failed}", None, np.inf, 0.0, advice=ADVICE) from failed

    return guarded
