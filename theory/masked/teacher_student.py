"""The teacher-student problem that matches masked regression, to tell their peaks apart."""

from dataclasses import dataclass

import numpy as np

from theory.core import SolverResult, checked
from theory.masked.errors import variance_factor
from theory.masked.signs import require_non_negative
from theory.models import TeacherStudent
from theory.random_matrix import ridge_moments, shrinkage, solve_effective_ridge


@dataclass(frozen=True, eq=False, repr=False)
class TeacherStudentSolution(SolverResult):
    """The mean squared errors of ridge regression on a teacher's labels, without a factor 1/2.

    `test_error` is the error on noisy labels, and `risk` that on labels without noise; `df1` and `df2` are degrees of
    freedom per dimension.
    """

    test_error: float
    risk: float
    train_error: float
    effective_ridge: float
    df1: float
    df2: float

    def __post_init__(self) -> None:
        require_non_negative(self, "test_error", "risk", "train_error", "effective_ridge", "df1", "df2")


@checked
def teacher_student(model: TeacherStudent) -> TeacherStudentSolution:
    """Compute the errors of ridge regression of a linear teacher on the inputs of the masked problem.

    E = (noise + B)/(1 - df2/alpha) with B = signal_power kappa^2 tr Sigma (Sigma + kappa)^-2 / d, and a train error of
    (lam/kappa)^2 E (after arXiv:2601.23208). Both are averages over the isotropic teacher; kappa is the effective ridge
    of the inputs, the same as in masked regression with this Sigma, alpha and lam. Without noise the error has no peak
    at alpha = 1. Raises ConvergenceError where the equation for kappa is not solved.

    >>> from theory.models import AR1
    >>> f"{teacher_student(TeacherStudent(AR1(np.inf, 0.7), alpha=2.0, lam=0.01, noise=0.3)).test_error:.4f}"
    '0.5475'
    """
    spectrum, alpha = model.covariance.spectrum, np.array([model.alpha])
    ridge = solve_effective_ridge(spectrum, alpha, np.array([model.lam]))
    p, t = shrinkage(spectrum, ridge.value)
    at = ridge_moments(spectrum, ridge.value)
    kappa = float(ridge.value[0])
    bias = model.signal_power * kappa * float(spectrum.mean(p * t)[0])
    factor = float(variance_factor(at, alpha)[0])
    error = (model.noise + bias) * factor
    return TeacherStudentSolution(
        test_error=error,
        risk=(bias + model.noise * float(at.df2[0]) / model.alpha) * factor,  # error - noise, without cancellation
        train_error=error * (model.lam / kappa) ** 2,
        effective_ridge=kappa,
        df1=float(at.df1[0]),
        df2=float(at.df2[0]),
        residual=ridge.residual,
        iterations=ridge.iterations,
        converged=ridge.converged,
    )
