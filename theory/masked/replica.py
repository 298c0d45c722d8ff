"""The replica-symmetric saddle point of one coordinate's masked regression."""

from dataclasses import dataclass

import numpy as np

from theory.core import Array, SolverResult, checked
from theory.masked.regression import Regression, limit, minor
from theory.masked.signs import require_non_negative
from theory.models import MaskedRidge, RowScales
from theory.numerics import Solution, WithReplicon, solve_fixed_point
from theory.numerics.extremes import within_range
from theory.random_matrix.effective_ridge import newton_step
from theory.random_matrix.row_response import row_response


@dataclass(frozen=True, eq=False, repr=False)
class ReplicaSolution(WithReplicon, SolverResult):
    """Order parameters of the regression of one coordinate, their conjugates, and the errors that follow from them.

    m = a^T Sigma_x w is the overlap of the learned row w with the population predictor a, q = w^T Sigma_x w is its
    overlap with itself, and V is the response; the conjugates multiply them in the free energy. Errors are mean squares
    without a factor 1/2.

    `replicon` is 1 - alpha E (df/dh)^2 tr(Sigma_x G)^2/d, per unknown, which is one minus the parameter of de Almeida
    and Thouless. The force f of a sample on its prediction h has the slope -1/(1 + V), so that the replicon is 1 -
    df2/alpha with df2 = tr (Sigma_x (Sigma_x + kappa)^-1)^2/d at the effective ridge kappa; with rows of different
    scale it is 1 - c2 df2/alpha (see `theory.masked.solve`). Replica symmetry is stable where the replicon is above 0,
    which it is for every ridge.
    """

    m: float
    q: float
    V: float
    mhat: float
    qhat: float
    Vhat: float
    test_error: float
    train_error: float
    objective: float  # minimal (1/n) |X_k - X_-k w|^2 + lam |w|^2
    squared_norm: float  # |w|^2
    effective_ridge: float
    replicon: float

    def __post_init__(self) -> None:
        require_non_negative(self, "q", "V", "test_error", "train_error", "squared_norm", "effective_ridge")


@checked
@within_range
def replica(
    model: MaskedRidge, coordinate: int = 0, *, tol: float = 1e-12, max_iter: int = 1000, check: bool = True
) -> ReplicaSolution:
    """Solve for the replica-symmetric saddle point of the regression of one coordinate (after arXiv:2304.07235).

    With x the other coordinates, y = a.x + noise of variance sigma^2, rho = a^T Sigma_x a and, per unknown, ridge L:
    Vhat = mhat = alpha/(1 + V), qhat = alpha (rho + sigma^2 - 2m + q)/(1 + V)^2, G = (L + Vhat Sigma_x)^-1,
    V = tr Sigma_x G/d, m = mhat a^T Sigma_x G Sigma_x a,
    q = qhat tr (Sigma_x G)^2/d + mhat^2 a^T Sigma_x G Sigma_x G Sigma_x a.
    A row of scale tau (`row_scales` of the model) has the response tau V and the squared error tau times that of scale
    1, label noise included, since the hidden coordinate belongs to the same row: alpha/(1 + V) becomes
    alpha E[tau/(1 + tau V)], and alpha/(1 + V)^2 in qhat becomes alpha E[tau^2/(1 + tau V)^2].
    Near a singular Sigma the errors have the digits of the family's own spectrum; a matrix given by its entries leaves
    small eigenvalues only to rounding of the largest one.
    `coordinate` is one of 0..d-1, or in the limit d -> infinity a class of coordinates, 0 where all are alike.
    `tol` bounds the residual of the equations in (m, q, V), relative to 1 + |x|; unless `check` is False, a point that
    does not reach it within `max_iter` steps raises ConvergenceError.

    >>> from theory.models import AR1
    >>> saddle = replica(MaskedRidge(AR1(np.inf, correlation=0.7), alpha=2.0, lam=0.01))
    >>> f"m={saddle.m:.6f} q={saddle.q:.6f} V={saddle.V:.6f}"
    'm=0.649570 q=0.922343 V=0.902074'
    """
    regression = minor(model, coordinate) if model.covariance.is_finite else limit(model, coordinate)
    solution = solve_fixed_point(
        lambda x: _update(regression, x),
        np.array([0.0, regression.explained, regression.variance / regression.lam]),
        step=lambda x: _step(regression, x),
        admissible=lambda x: _admissible(regression, x),
        advice="raise max_iter, or take a less extreme alpha or lam",
        problem=f"replica saddle point of coordinate {coordinate} of {model}",
        tol=tol,
        max_iter=max_iter,
        check=check,
    )
    return _observables(regression, solution)


def _update(regression: Regression, x: Array) -> Array:
    """Evaluate the saddle-point equations for (m, q, V), with the conjugates eliminated."""
    m, q, V = x
    rows = _Rows.at(regression.rows, V)
    kappa = regression.lam / regression.alpha * rows.stretch
    at, of = regression.moments(np.array([kappa])), regression.overlaps(kappa)
    df1, df2 = float(at.df1[0]), float(at.df2[0])  # mhat = Vhat, qhat = Vhat^2 spread error/alpha
    return np.array(
        [
            of.first,
            (regression.explained + regression.noise - 2 * m + q) * rows.spread * df2 / regression.alpha + of.second,
            df1 / regression.alpha * rows.stretch,
        ]
    )


@dataclass(frozen=True)
class _Rows:
    """Averages over the rows' scales tau at a response V."""

    stretch: float  # 1/E[tau/(1 + tau V)], 1 + V where all rows are alike
    spread: float  # E[tau^2/(1 + tau V)^2] stretch^2, which is then 1
    train: float  # E[tau/(1 + tau V)^2], which is then 1/(1 + V)^2

    @classmethod
    def at(cls, rows: RowScales, V: float) -> "_Rows":
        share = 1 / (1 + rows.nodes * V)
        kept = rows.nodes * share
        stretch = 1 / float(kept @ rows.probabilities)
        weighted = kept * rows.probabilities  # before it is squared, see `row_response`
        return cls(stretch, float((weighted * stretch) @ (kept * stretch)), float(weighted @ share))


def _step(regression: Regression, x: Array) -> Array:
    """Return a better point: V by a Newton step on the equation of kappa = L/Vhat; m and q exactly there."""
    alpha, lam, rows = regression.alpha, regression.lam, regression.rows
    kappa = np.array([lam * _Rows.at(rows, x[2]).stretch / alpha])
    at = regression.moments(kappa)
    kappa = newton_step(rows, at, np.array([alpha]), np.array([lam / alpha]), kappa)[1]
    at = regression.moments(kappa)
    of = regression.overlaps(float(kappa[0]))
    # q solves its linear equation, whose pole is out of reach in these positive terms, also before kappa is close.
    response = row_response(rows, lam / alpha / kappa, at.df1 / alpha)
    factor = response.variance_factor(at, np.array([alpha]))
    q = of.second + float((response.second * at.df2 * factor)[0]) * of.error / alpha
    return np.array([of.first, q, kappa[0] * at.df1[0] / lam])


def _admissible(regression: Regression, x: Array) -> bool:
    m, q, V = x
    return bool(V >= 0 and q >= 0 and m**2 <= regression.explained * q * (1 + 1e-9) + 1e-300)


def _observables(regression: Regression, solution: Solution[Array]) -> ReplicaSolution:
    m, q, V = (float(value) for value in solution.value)
    rows = _Rows.at(regression.rows, V)
    Vhat = regression.alpha / rows.stretch
    kappa = regression.lam / regression.alpha * rows.stretch
    # The error is rho + sigma^2 - 2 m + q, which loses its digits where the other coordinates explain nearly all.
    of, at, alpha = regression.overlaps(kappa), regression.moments(np.array([kappa])), regression.alpha
    response = row_response(regression.rows, np.array([1 / rows.stretch]), at.df1 / alpha)
    error = of.error * float(response.variance_factor(at, np.array([alpha]))[0])
    train = error * rows.train
    scattered = error * rows.spread / alpha * float(at.spread[0]) / kappa
    return ReplicaSolution(
        m=m,
        q=q,
        V=V,
        mhat=Vhat,
        qhat=Vhat * rows.spread * error / rows.stretch,
        Vhat=Vhat,
        test_error=error,
        train_error=train,
        objective=of.missed / rows.stretch,
        squared_norm=of.norm + scattered,
        effective_ridge=kappa,
        replicon=1 - rows.spread * float(at.df2[0]) / alpha,
        residual=solution.residual,
        iterations=solution.iterations,
        converged=solution.converged,
    )
