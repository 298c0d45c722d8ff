"""The overlaps and observables at the saddle point of K classes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

import numpy as np

from theory.core import Array, SolverResult
from theory.glm.multiclass.channel import ClassAverages, contrasts, symmetric_root
from theory.glm.multiclass.decisions import decision_probabilities
from theory.glm.multiclass.equations import Classes
from theory.glm.multiclass.nodes import Rule, gaussian_nodes
from theory.glm.multiclass.rules import solved_near, with_other_nodes
from theory.glm.multiclass.stability import replicon
from theory.glm.multiclass.training import training_chances
from theory.models.glm import MulticlassMixture
from theory.numerics import Solution, WithReplicon
from theory.numerics.steps import relative_gap


@dataclass(frozen=True, eq=False, repr=False)
class MulticlassSaddlePoint(WithReplicon, SolverResult):
    """Hold the overlaps and observables of K classes: `V`, `q` (C, K, K) for each covariance, `r` and `bias`.

    `r` (K, K) has the overlaps r[k, c] = w_k.mu_c/sqrt(p), `bias` is (K,); all are in the K outputs, for softmax with
    zero sum over them. `train_loss` is the mean loss of a training sample without the ridge, `test_loss` that of a
    fresh one. `confusion`, `test_error`, their `test_error_uncertainty` and `equation_uncertainty` are computed when
    first asked for, and so are `quadrature_error`, `train_error` and its uncertainty. `quadrature` names the nodes over
    which the averages of the equations of softmax are taken: "product" for Gauss-Hermite products (up to 4 classes);
    for more "sparse grid", of Gauss-Hermite nodes too, or where that is less accurate "Sobol", for 2^14 of these
    points; "panels" for two classes and None for square loss, which needs none. `residual` is that of the equations
    with these nodes, `equation_uncertainty` says how well they stand for the true averages, and `quadrature_error` how
    far the overlaps and losses are off.

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
    quadrature: str | None = None

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
        fluctuations, and three standard errors of quasi-Monte Carlo otherwise: about 3e-5 of the test error.
        """
        return self._decisions[1]

    @cached_property
    def _training(self) -> tuple[Array, float]:
        own = [k if len(self.q) > 1 else 0 for k in range(self.model.n_classes)]
        means = self.r.T + self.bias
        return training_chances(means, self.V[own], self.q[own], self.model.loss)

    @property
    def train_error(self) -> float:
        """The share of the training samples whose class is not predicted."""
        right = np.diag(self._training[0])
        return max(0.0, 1 - float(np.array(self.model.probabilities) @ right))

    @property
    def train_error_uncertainty(self) -> float:
        """An estimate of the numerical error of `train_error` at these overlaps.

        For square loss and two classes it is that of `test_error_uncertainty`; for softmax of more, whose boundaries
        between classes are curved, it is three standard errors of quasi-Monte Carlo, from 1e-4 to 1e-3.
        """
        return self._training[1]

    @cached_property
    def equation_uncertainty(self) -> float:
        """The residual of the equations at this point when their averages are taken over other nodes.

        It is max |update(x) - x|/(1 + |x|) over the entries x of V, q, r and the bias: an estimate of the error that
        the quadrature leaves in the equations. The other nodes are products of four fewer an axis, a sparse grid of one
        level less, or another scramble of Sobol's points. Square loss needs no quadrature and two classes are solved by
        a finer one: both have 0.
        """
        if self._classes is None:
            return 0.0
        x = self._in_contrasts(self._classes)
        return relative_gap(with_other_nodes(self._classes).image(x), x)

    @cached_property
    def quadrature_error(self) -> float:
        """An estimate of the error that the quadrature leaves in the overlaps, biases and losses.

        The equations are solved once more with other nodes, those of `equation_uncertainty`; it is the largest
        |difference|/(1 + |x|) over all entries x of V, q, r and the bias, and over the training and test loss, and at
        least `equation_uncertainty`. Products and sparse grids are more accurate than this, since the other nodes are
        fewer; of Sobol's points it is the spread of two equally accurate sets. 0 where `equation_uncertainty` is, and
        infinite where the equations with the other nodes have no solution near this one.
        """
        classes = self._classes
        if classes is None:
            return 0.0
        others = with_other_nodes(classes)
        found = solved_near(others, self._in_contrasts(classes))
        if found is None:
            return float("inf")
        V, q, r, b = others.split(found)
        T = classes.basis.T
        losses = np.array(_losses(others, found))
        pairs = zip(
            (T @ V @ T.T, T @ q @ T.T, T @ r, T @ b, losses),
            (self.V, self.q, self.r, self.bias, np.array([self.train_loss, self.test_loss])),
            strict=True,
        )
        return max(self.equation_uncertainty, *(relative_gap(other, own) for other, own in pairs))

    @cached_property
    def _classes(self) -> Classes | None:
        """The equations with their nodes, None where there is no quadrature to judge."""
        K = self.model.n_classes
        if self.model.loss == "square" or K == 2:
            return None
        rule = cast(Rule | None, self.quadrature)
        return Classes(self.model, contrasts(K), gaussian_nodes(K - 1, rule), rule)

    def _in_contrasts(self, classes: Classes) -> Array:
        basis = classes.basis
        outputs = (basis @ self.V @ basis.T, basis @ self.q @ basis.T, basis @ self.r, basis @ self.bias)
        return np.concatenate([part.ravel() for part in outputs])


def observables(classes: Classes, solution: Solution[Array]) -> MulticlassSaddlePoint:
    """Return the solved point in all K outputs, with its losses."""
    model, basis = classes.model, classes.basis
    V, q, r, b = classes.split(solution.value)
    averages = classes.averages(solution.value)
    train_loss, test_loss = _losses(classes, solution.value, averages)
    return MulticlassSaddlePoint(
        model=model,
        V=basis.T @ V @ basis,
        q=basis.T @ q @ basis,
        r=basis.T @ r,
        bias=basis.T @ b,
        train_loss=train_loss,
        test_loss=test_loss,
        replicon=replicon(classes, averages),
        quadrature=classes.rule,
        residual=solution.residual,
        iterations=solution.iterations,
        converged=solution.converged,
    )


def _losses(classes: Classes, x: Array, averages: Sequence[ClassAverages] | None = None) -> tuple[float, float]:
    """Return the mean losses of training samples and of fresh ones."""
    _, q, r, b = classes.split(x)
    shares = np.array(classes.model.probabilities)
    losses = [mean.loss for mean in (classes.averages(x) if averages is None else averages)]
    fresh = [class_test_loss(classes, r[:, k] + b, q[c], k) for k, c in enumerate(classes.own)]
    return float(shares @ losses), float(shares @ fresh)


def class_test_loss(classes: Classes, mean: Array, q: Array, label: int) -> float:
    """Return the mean loss of a fresh sample of a class whose outputs have this mean and covariance."""
    if classes.nodes is None:
        gap = classes.basis[:, label] - mean
        return 0.5 * float(gap @ gap + np.trace(q))
    from scipy.special import log_softmax

    z, weights = classes.nodes
    h = mean + z @ symmetric_root(q)
    return -float(weights @ log_softmax(h @ classes.basis, axis=1)[:, label])
