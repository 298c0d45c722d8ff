"""Saddle point of K classes with matrix overlaps."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from theory.glm.multiclass.channel import (
    ClassAverages,
    contrasts,
    predicted,
    softmax_averages,
    square_averages,
)
from theory.glm.multiclass.nodes import gaussian_nodes
from theory.models import checks
from theory.models.arrays import Array
from theory.models.glm import MulticlassMixture
from theory.numerics import Solution, solve_fixed_point


@dataclass(frozen=True, eq=False)
class MulticlassSaddlePoint:
    """`V`, `Q` (C, K, K) per covariance, `M` (K, K): M[k, c] = w_k.mu_c/sqrt(p), `bias` (K,), all in the K outputs.

    `train_loss`: mean loss of a training sample without the ridge; `test_error`: P(prediction != class);
    `confusion` (K, K): P(prediction = k | class c) at [c, k]; `test_loss` on fresh samples.
    """

    model: MulticlassMixture = field(repr=False)
    V: Array
    Q: Array
    M: Array
    bias: Array
    train_loss: float
    test_loss: float
    test_error: float
    confusion: Array
    residual: float
    iterations: int
    converged: bool


@dataclass(frozen=True, eq=False)
class _Classes:
    """The model in D coordinates of its outputs."""

    model: MulticlassMixture
    basis: Array  # (D, K)

    @property
    def D(self) -> int:
        return len(self.basis)

    @property
    def C(self) -> int:
        return self.model.modes.n_covariances

    def split(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """V (C, D, D), Q (C, D, D), M (D, K), b (D,)."""
        block = self.C * self.D**2
        V, Q = (x[k * block : (k + 1) * block].reshape(self.C, self.D, self.D) for k in (0, 1))
        M = x[2 * block : 2 * block + self.D * self.model.n_classes].reshape(self.D, -1)
        return V, Q, M, x[len(x) - self.D :]

    def averages(self, x: Array) -> list[ClassAverages]:
        V, Q, M, b = self.split(x)
        found = []
        for k in range(self.model.n_classes):
            c = k if self.C > 1 else 0
            if self.model.loss == "square":
                found.append(square_averages(M[:, k] + b, V[c], Q[c], self.basis[:, k]))
            else:
                nodes = gaussian_nodes(self.D)
                found.append(softmax_averages(M[:, k] + b, V[c], Q[c], k, self.basis, nodes))
        return found

    def update(self, x: Array) -> Array:
        """Channel, prior, and a Newton step of the biases, whose fixed point balances the forces."""
        b = self.split(x)[3]
        averages = self.averages(x)
        model, D = self.model, self.D
        Vhat, Qhat, Mhat = np.zeros((self.C, D, D)), np.zeros((self.C, D, D)), np.zeros((D, model.n_classes))
        for k, (share, mean) in enumerate(zip(model.probabilities, averages, strict=True)):
            c = k if self.C > 1 else 0
            Vhat[c] += model.alpha * share * mean.response
            Qhat[c] += model.alpha * share * mean.square
            Mhat[:, k] = model.alpha * share * mean.force
        if model.bias:
            b = b + np.linalg.solve(Vhat.sum(axis=0), Mhat.sum(axis=1))
        V, Q, M = self.prior(Vhat, Qhat, Mhat)
        return np.concatenate((V.ravel(), Q.ravel(), M.ravel(), b))

    def prior(self, Vhat: Array, Qhat: Array, Mhat: Array) -> tuple[Array, Array, Array]:
        """Overlaps from conjugates: in each mode a matrix over classes."""
        modes = self.model.modes
        om, w = modes.covariances, modes.weights
        G = np.linalg.inv(self.model.lam * np.eye(self.D) + np.einsum("cij,cm->mij", Vhat, om))
        pull = np.einsum("ik,klm,jl->mij", Mhat, modes.gram, Mhat)
        core = G @ (w[:, None, None] * np.einsum("cij,cm->mij", Qhat, om) + pull) @ G
        V = np.einsum("m,cm,mij->cij", w, om, G)
        return V, np.einsum("cm,mij->cij", om, core), np.einsum("mij,jl,klm->ik", G, Mhat, modes.gram)

    def admissible(self, x: Array) -> bool:
        """V positive definite and Q positive semi-definite."""
        if not np.isfinite(x).all():
            return False
        V, Q, _, _ = self.split(x)
        sizes = np.abs(Q).max(axis=(1, 2), initial=1e-300)
        return bool(np.linalg.eigvalsh(V).min() > 0 and (np.linalg.eigvalsh(Q).min(axis=1) > -1e-9 * sizes).all())


def solve_multiclass(model: MulticlassMixture, **options: Any) -> MulticlassSaddlePoint:
    """Saddle point (arXiv:2106.03791); `options` go to `solve_fixed_point`. Raises ConvergenceError."""
    checks.record("model", model, MulticlassMixture)
    options = {"tol": 1e-10, "max_iter": 500, **options}
    checks.positive("tol", options["tol"])
    checks.dimension(options["max_iter"], name="max_iter")
    K = model.n_classes
    classes = _Classes(model, contrasts(K) if model.loss == "softmax" else np.eye(K))
    D = classes.D
    start = np.concatenate(
        (
            np.tile(np.eye(D), (classes.C, 1, 1)).ravel(),
            np.tile(0.5 * np.eye(D), (classes.C, 1, 1)).ravel(),
            0.01 * classes.basis.ravel(),
            np.zeros(D),
        )
    )
    solution = solve_fixed_point(
        classes.update,
        start,
        admissible=classes.admissible,
        damping=0.3,
        problem=f"saddle point of {K} classes, {model.loss} loss, alpha={model.alpha:g}, lam={model.lam:g}",
        **options,
    )
    return _observables(classes, solution)


def _observables(classes: _Classes, solution: Solution[Array]) -> MulticlassSaddlePoint:
    model, basis = classes.model, classes.basis
    V, Q, M, b = classes.split(solution.value)
    own = [k if classes.C > 1 else 0 for k in range(model.n_classes)]
    confusion = np.stack([predicted(M[:, k] + b, Q[c], basis) for k, c in enumerate(own)])
    shares = np.array(model.probabilities)
    losses = [mean.loss for mean in classes.averages(solution.value)]
    return MulticlassSaddlePoint(
        model=model,
        V=basis.T @ V @ basis,
        Q=basis.T @ Q @ basis,
        M=basis.T @ M,
        bias=basis.T @ b,
        train_loss=float(shares @ losses),
        test_loss=float(shares @ [_test_loss(classes, M[:, k] + b, Q[c], k) for k, c in enumerate(own)]),
        test_error=1 - float(shares @ np.diag(confusion)),
        confusion=confusion,
        residual=solution.residual,
        iterations=solution.iterations,
        converged=solution.converged,
    )


def _test_loss(classes: _Classes, mean: Array, Q: Array, label: int) -> float:
    if classes.model.loss == "square":
        gap = classes.basis[:, label] - mean
        return 0.5 * float(gap @ gap + np.trace(Q))
    from scipy.special import log_softmax

    z, weights = gaussian_nodes(classes.D)
    values, vectors = np.linalg.eigh(Q)
    h = mean + z @ (vectors * np.sqrt(np.maximum(values, 0))).T
    return -float(weights @ log_softmax(h @ classes.basis, axis=1)[:, label])
