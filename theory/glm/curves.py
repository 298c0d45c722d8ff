"""Learning curves: the saddle points of one model on a grid of sample ratios and ridges."""

from dataclasses import dataclass, field, replace

import numpy as np

from theory.core import Array, DataFrame, PositiveGrid, SolverResult, checked, table
from theory.glm.problem_solver import solve_problem
from theory.glm.saddle_point import SaddlePoint
from theory.glm.systems import as_problem
from theory.models.glm import MulticlassMixture
from theory.models.glm.objective import Minimization


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(SolverResult):
    """Hold observables on the grid of `lams` (rows) by `alphas` (columns), each of shape (n_lams, n_alphas).

    `points` holds the saddle points themselves. `residual` is the largest of all points, `iterations` the sum of their
    evaluations.
    """

    model: Minimization
    alphas: Array
    lams: Array
    train_loss: Array = field(repr=False)
    test_error: Array = field(repr=False)
    points: tuple[tuple[SaddlePoint, ...], ...] = field(repr=False)

    def to_frame(self) -> DataFrame:
        """Tabulate each point in a row: lam, alpha, errors, the first of each of V, q, r and bias, and the replicon."""
        lam, alpha = (grid.ravel() for grid in np.meshgrid(self.lams, self.alphas, indexing="ij"))
        points = [point for row in self.points for point in row]
        return table(
            lam=lam,
            alpha=alpha,
            train_loss=self.train_loss.ravel(),
            test_error=self.test_error.ravel(),
            V=[point.V[0] for point in points],
            q=[point.q[0] for point in points],
            r=[point.r[0] if len(point.r) else np.nan for point in points],
            bias=[point.bias[0] for point in points],
            squared_norm=[point.squared_norm[0] for point in points],
            replicon=[point.replicon for point in points],
        )


@checked
def learning_curve(
    model: Minimization,
    alphas: PositiveGrid,
    lams: PositiveGrid | None = None,
    *,
    tol: float = 1e-11,
    max_iter: int = 2000,
    check: bool = True,
) -> LearningCurve:
    """Solve a model at all sample ratios alpha = n/p in `alphas` and ridges in `lams` (by default that of the model).

    Each point is started from its neighbor: in the order given, rows of `lams` from the row before. The modes stay
    those of `model`, so that for random features alpha varies by the number of samples. Source: the equations of
    `solve`, named there. `tol`, `max_iter` and `check` are those of `solve` at each point. Raises ConvergenceError.

    >>> from theory import glm
    >>> curve = glm.learning_curve(glm.gaussian_mixture(variances=0.5, alpha=1.0, lam=0.1), alphas=[0.5, 1.0, 2.0])
    >>> curve.test_error.round(4).tolist()
    [[0.1673, 0.1361, 0.1166]]
    """
    if isinstance(model, MulticlassMixture):
        raise ValueError(
            "learning_curve needs a model with labels +-1 or real ones, got a MulticlassMixture: use solve"
        )
    problem = as_problem(model)
    lams = np.array([problem.lam]) if lams is None else lams
    rows: list[list[SaddlePoint]] = []
    for lam in lams:
        row: list[SaddlePoint] = []
        for alpha in alphas:
            near = row[-1] if row else (rows[-1][0] if rows else None)
            point = replace(problem, alpha=float(alpha), lam=float(lam))
            row.append(solve_problem(point, start=near, tol=tol, max_iter=max_iter, check=check))
        rows.append(row)
    points = [point for row in rows for point in row]
    return LearningCurve(
        model,
        alphas,
        lams,
        train_loss=np.array([[point.train_loss for point in row] for row in rows]),
        test_error=np.array([[point.test_error for point in row] for row in rows]),
        points=tuple(tuple(row) for row in rows),
        residual=max(point.residual for point in points),
        iterations=sum(point.iterations or 0 for point in points),
        converged=all(point.converged for point in points),
    )
