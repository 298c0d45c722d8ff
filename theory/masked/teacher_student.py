"""The teacher-student problem that matches masked regression, to tell their peaks apart."""

from dataclasses import dataclass

import numpy as np

from theory.masked.errors import variance_factor
from theory.models import TeacherStudent, checks
from theory.random_matrix import ridge_moments, shrinkage, solve_effective_ridge


@dataclass(frozen=True)
class TeacherStudentSolution:
    """Errors of ridge regression on a teacher's labels; `test_error` includes the label noise, `risk` does not."""

    test_error: float
    risk: float
    train_error: float
    effective_ridge: float
    df1: float
    df2: float
    residual: float
    iterations: int
    converged: bool


def teacher_student(model: TeacherStudent) -> TeacherStudentSolution:
    """E = (noise + B)/(1 - df2/alpha), B = signal_power kappa^2 tr Sigma (Sigma + kappa)^-2 / d, train E (lam/kappa)^2.

    Averaged over the isotropic teacher; kappa is the effective ridge of the inputs, the same as in masked regression
    with this Sigma, alpha and lam. Without noise the error has no peak at alpha = 1. Raises ConvergenceError.
    """
    checks.record("model", model, TeacherStudent)
    spectrum, alpha = model.covariance.spectrum, np.array([model.alpha])
    ridge = solve_effective_ridge(spectrum, alpha, np.array([model.lam]))
    p, t = shrinkage(spectrum, ridge.value)
    at = ridge_moments(spectrum, ridge.value)
    kappa = float(ridge.value[0])
    bias = model.signal_power * kappa * float(spectrum.mean(p * t)[0])
    error = (model.noise + bias) * float(variance_factor(at, alpha)[0])
    return TeacherStudentSolution(
        test_error=error,
        risk=error - model.noise,
        train_error=error * (model.lam / kappa) ** 2,
        effective_ridge=kappa,
        df1=float(at.df1[0]),
        df2=float(at.df2[0]),
        residual=ridge.residual,
        iterations=ridge.iterations,
        converged=ridge.converged,
    )
