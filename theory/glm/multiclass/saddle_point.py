"""The overlaps and observables at the saddle point of K classes."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from theory.glm.multiclass.channel import contrasts, gaussian_nodes
from theory.glm.multiclass.decisions import decision_probabilities
from theory.glm.multiclass.equations import Classes
from theory.glm.multiclass.stability import replicon
from theory.models.arrays import Array
from theory.models.glm import MulticlassMixture
from theory.models.results import SolverResult
from theory.numerics import Solution, WithReplicon
from theory.numerics.steps import relative_gap


@dataclass(frozen=True, eq=False, repr=False)
class MulticlassSaddlePoint(WithReplicon, SolverResult):
    """Hold the overlaps and observables of K classes: `V`, `q` (C, K, K) for each covariance, `r` and `bias`.

    `r` (K, K) has the overlaps r[k, c] = w_k.mu_c/sqrt(p), `bias` is (K,); all are in the K outputs, for softmax with
    zero sum over them. `train_loss` is the mean loss of a training sample without the ridge, `test_loss` that of a
    fresh one. `confusion`, `test_error`, their `test_error_uncertainty` and `equation_uncertainty` are computed when
    first asked for. The averages of the equations of softmax are taken over Gauss-Hermite products for up to 4 classes,
    and over 2^14 Sobol points for more: `residual` is that of the equations with these points, and
    `equation_uncertainty` says how well they stand for the true averages.

    `replicon` is 1 minus the factor by which a small difference between the overlaps q of two replicas grows in one
    round of the equations, as in `SaddlePoint` but with matrices over the outputs: the difference delta_c of covariance
    c becomes sum_d tr Omega_c G alpha E[F delta_d F] Omega_d G, with F the slope of the force of a sample on its
    outputs, and the factor is the largest eigenvalue. Replica symmetry is stable above 0, as it is for both losses,
    which are convex.
    """

    model: MulticlassMixture = field(repr=False)
    V: Array
    q: Array
    r: Array
    bias: Array
    train_loss: float
    test_loss: float
    replicon: float

    @cached_property
    def _decisions(self) -> tuple[Array, float]:
        own = [k if len(self.q) > 1 else 0 for k in range(self.model.n_classes)]
        found = [decision_probabilities(self.r[:, k] + self.bias, self.q[c]) for k, c in enumerate(own)]
        return np.stack([chances for chances, _ in found]), max(error for _, error in found)

    @property
    def confusion(self) -> Array:
        """The confusion matrix P(prediction = k | class c) at [c, k], (K, K)."""
        return self._decisions[0]

    @property
    def test_error(self) -> float:
        """The probability P(prediction != class) of a fresh sample."""
        return 1 - float(np.array(self.model.probabilities) @ np.diag(self.confusion))

    @property
    def test_error_uncertainty(self) -> float:
        """An estimate of the numerical error of `test_error` at these overlaps, and of any entry of `confusion`.

        It is near rounding for up to four classes and wherever all outputs have independent or equally correlated
        fluctuations, and three standard errors of quasi-Monte Carlo otherwise.
        """
        return self._decisions[1]

    @cached_property
    def equation_uncertainty(self) -> float:
        """The residual of the equations at this point when their averages are taken over other nodes.

        It is max |update(x) - x|/(1 + |x|) over the entries x of V, q, r and the bias: an estimate of the error that
        the quadrature leaves in the equations, of Gauss-Hermite products for up to four classes and of quasi-Monte
        Carlo for more. The overlaps are off by about as much where the equations are not nearly neutral. Square loss
        needs no quadrature and two classes are solved by a finer one: both have 0.
        """
        K = self.model.n_classes
        if self.model.loss == "square" or K == 2:
            return 0.0
        basis = contrasts(K)
        classes = Classes(self.model, basis, gaussian_nodes(K - 1, other=True))
        outputs = (basis @ self.V @ basis.T, basis @ self.q @ basis.T, basis @ self.r, basis @ self.bias)
        x = np.concatenate([part.ravel() for part in outputs])
        return relative_gap(classes.image(x), x)


def observables(classes: Classes, solution: Solution[Array]) -> MulticlassSaddlePoint:
    """Return the solved point in all K outputs, with its losses."""
    model, basis = classes.model, classes.basis
    V, q, r, b = classes.split(solution.value)
    shares = np.array(model.probabilities)
    averages = classes.averages(solution.value)
    losses = [mean.loss for mean in averages]
    fresh = [_test_loss(classes, r[:, k] + b, q[c], k) for k, c in enumerate(classes.own)]
    return MulticlassSaddlePoint(
        model=model,
        V=basis.T @ V @ basis,
        q=basis.T @ q @ basis,
        r=basis.T @ r,
        bias=basis.T @ b,
        train_loss=float(shares @ losses),
        test_loss=float(shares @ fresh),
        replicon=replicon(classes, averages),
        residual=solution.residual,
        iterations=solution.iterations,
        converged=solution.converged,
    )


def _test_loss(classes: Classes, mean: Array, q: Array, label: int) -> float:
    if classes.nodes is None:
        gap = classes.basis[:, label] - mean
        return 0.5 * float(gap @ gap + np.trace(q))
    from scipy.special import log_softmax

    z, weights = classes.nodes
    values, vectors = np.linalg.eigh(q)
    h = mean + z @ (vectors * np.sqrt(np.maximum(values, 0))).T
    return -float(weights @ log_softmax(h @ classes.basis, axis=1)[:, label])
