"""The overlaps and observables at the saddle point of K classes."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from theory.glm.multiclass.decisions import decision_probabilities
from theory.glm.multiclass.equations import Classes
from theory.models.arrays import Array
from theory.models.glm import MulticlassMixture
from theory.models.results import SolverResult
from theory.numerics import Solution


@dataclass(frozen=True, eq=False, repr=False)
class MulticlassSaddlePoint(SolverResult):
    """Hold the overlaps and observables of K classes: `V`, `q` (C, K, K) for each covariance, `r` and `bias`.

    `r` (K, K) has the overlaps r[k, c] = w_k.mu_c/sqrt(p), `bias` is (K,); all are in the K outputs, for softmax with
    zero sum over them. `train_loss` is the mean loss of a training sample without the ridge, `test_loss` that of a
    fresh one. `confusion`, `test_error` and `test_error_uncertainty` are computed when first asked for. For softmax of
    K > 4 classes the averages of the equations themselves are taken over 2^14 Sobol points, which are good to about
    1e-3; for up to 4 classes over Gauss-Hermite products.
    """

    model: MulticlassMixture = field(repr=False)
    V: Array
    q: Array
    r: Array
    bias: Array
    train_loss: float
    test_loss: float

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


def observables(classes: Classes, solution: Solution[Array]) -> MulticlassSaddlePoint:
    """Return the solved point in all K outputs, with its losses."""
    model, basis = classes.model, classes.basis
    V, q, r, b = classes.split(solution.value)
    shares = np.array(model.probabilities)
    losses = [mean.loss for mean in classes.averages(solution.value)]
    fresh = [_test_loss(classes, r[:, k] + b, q[c], k) for k, c in enumerate(classes.own)]
    return MulticlassSaddlePoint(
        model=model,
        V=basis.T @ V @ basis,
        q=basis.T @ q @ basis,
        r=basis.T @ r,
        bias=basis.T @ b,
        train_loss=float(shares @ losses),
        test_loss=float(shares @ fresh),
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
