"""Ridge regression of a linear teacher in closed form: one scalar equation instead of an iteration."""

from dataclasses import dataclass

import numpy as np

from theory.core import NonNegative, Result, checked
from theory.glm.systems import as_problem
from theory.models import GeneralizedLinearModel, Modes, Spectrum
from theory.models.glm.objective import Minimization
from theory.random_matrix import solve_effective_ridge


@dataclass(frozen=True, eq=False, repr=False)
class RidgeRegression(Result):
    """Hold the observables of ridge regression; `effective_ridge` kappa solves lam = kappa (alpha - df1(kappa)).

    V is the response, q the self-overlap and r the overlap with the teacher, as in `SaddlePoint`; `residual` is that of
    the equation for kappa. `replicon` is 1 - df2/alpha, which is what that of `SaddlePoint` comes to for square loss:
    the force has the slope -1/(1 + V), and tr(Omega G)^2/p = df2 (1 + V)^2/alpha^2. It is positive for every lam > 0,
    and zero where lam = 0 at the interpolation peak.
    """

    effective_ridge: float
    V: float
    q: float
    r: float
    train_loss: float
    test_error: float
    replicon: float


def has_closed_form(problem: GeneralizedLinearModel) -> bool:
    """Tell whether this is one Gaussian cluster without a mean, with a linear teacher, square loss and no bias."""
    (cluster, *others), modes = problem.clusters, problem.modes
    return (
        problem.loss == "square"
        and problem.penalty is None
        and not (others or problem.bias or problem.n_learners > 1)
        and isinstance(modes, Modes)
        and (modes.n_covariances, modes.n_signals) == (1, 1)
        and cluster.labels == "linear"
        and cluster.mean_signal is None
        and cluster.teacher_mean == 0
        and cluster.loss_weights[0] == 1
    )


@checked
def ridge_regression(model: Minimization, lam: NonNegative | None = None) -> RidgeRegression:
    """Solve ridge regression of a linear teacher at the model's lam, or at another `lam` >= 0.

    lam = 0 is the minimum-norm limit lam -> 0. ValueError for problems that have no such closed form.

    With modes (w, om, gram) and G = 1/(om + kappa): r = sum gram G, bias = rho - 2 r + sum gram om G^2, test error
    (bias + noise)/(1 - df2/alpha), train loss half of it times (1 - df1/alpha)^2 (Marchenko-Pastur form of the saddle
    point). V is infinite at lam = 0 where the data are interpolated. Derived here: for square loss the saddle point
    closes in kappa (a known result, also of arXiv:1903.08560).
    """
    problem = as_problem(model)
    if not has_closed_form(problem):
        raise ValueError(
            "model must have a closed form, which needs square loss, linear labels, one centered cluster and no bias"
        )
    modes, cluster, alpha = problem.modes, problem.clusters[0], problem.alpha
    assert isinstance(modes, Modes)
    om, gram = modes.covariances[0], modes.gram[0, 0]
    ridge = problem.lam if lam is None else lam
    found = solve_effective_ridge(Spectrum(om, modes.weights), np.asarray(alpha), np.asarray(ridge / alpha))
    kappa = float(found.value)
    p = np.divide(om, om + kappa, out=np.zeros_like(om), where=om > 0)
    carried = np.divide(gram, om, out=np.zeros_like(om), where=om > 0)  # of the teacher's variance, in each mode
    df1, df2 = float(modes.weights @ p), float(modes.weights @ p**2)
    r, square = float(carried @ p), float(carried @ p**2)
    rho, noise = cluster.teacher_variance, cluster.noise
    unresolved = 1 - df2 / alpha
    test = (rho - 2 * r + square + noise) / unresolved if unresolved > 0 else np.inf  # lam = 0 at the peak itself
    free = 1 - df1 / alpha
    V = kappa * df1 / ridge if ridge > 0 else (df1 / (alpha - df1) if kappa == 0 and alpha > df1 else np.inf)
    train = 0.5 * test * max(free, 0.0) ** 2 if np.isfinite(test) else 0.0
    return RidgeRegression(
        effective_ridge=kappa,
        V=V,
        q=test - rho - noise + 2 * r,
        r=r,
        train_loss=train,
        test_error=test,
        replicon=unresolved,
        residual=found.residual,
        iterations=found.iterations,
        converged=found.converged,
    )
