"""The saddle-point equations of K classes in D coordinates of their outputs."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from theory.core.arrays import Array
from theory.glm.multiclass.channel import ClassAverages, Nodes, Progress, softmax_averages, square_averages
from theory.glm.multiclass.nodes import Rule
from theory.models.glm import MulticlassMixture


@dataclass(frozen=True, eq=False)
class Classes:
    """Hold a model in D coordinates of its K outputs; a point x lists V (C, D, D), q (C, D, D), r (D, K) and b (D,).

    `basis` (D, K) has the coordinates as rows: all outputs for square loss, zero-sum contrasts for softmax, which needs
    `nodes` for its averages over D dimensions; `rule` is the one that they belong to, None for that of the dimension.
    """

    model: MulticlassMixture
    basis: Array
    nodes: Nodes | None = None
    rule: Rule | None = None
    progress: Progress = field(default_factory=Progress)

    @property
    def D(self) -> int:
        """Number of coordinates of the outputs."""
        return len(self.basis)

    @property
    def C(self) -> int:
        """Number of covariances: one for all clusters, or one for each."""
        return self.model.modes.n_covariances

    @property
    def own(self) -> list[int]:
        """The covariance of each cluster."""
        return [k if self.C > 1 else 0 for k in range(self.model.n_classes)]

    @cached_property
    def exchangeable(self) -> bool:
        """Whether softmax has clusters that are all alike: equal shares, covariances and angles between means.

        Then so is the solution: V and q are multiples of the identity, the overlaps r one of the basis, and there are
        no biases. One cluster stands for all.
        """
        modes, K = self.model.modes, self.model.n_classes
        off = ~np.eye(K, dtype=bool)
        sets = (np.array(self.model.probabilities), *modes.covariances.T)
        means = [each for gram in np.moveaxis(modes.gram, 2, 0) for each in (np.diag(gram), gram[off])]
        return self.nodes is not None and all(np.ptp(each) <= 1e-14 * abs(each).max() for each in (*sets, *means))

    def start(self) -> Array:
        """Return a point to begin with: V = 1, q = 1/2, and outputs that lean slightly to their classes."""
        one = np.tile(np.eye(self.D), (self.C, 1, 1))
        return np.concatenate((one.ravel(), 0.5 * one.ravel(), 0.01 * self.basis.ravel(), np.zeros(self.D)))

    def split(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """Return V, q, r and b of a point."""
        block = self.C * self.D**2
        V, q = (x[k * block : (k + 1) * block].reshape(self.C, self.D, self.D) for k in (0, 1))
        return V, q, x[2 * block : 2 * block + self.D * self.model.n_classes].reshape(self.D, -1), x[len(x) - self.D :]

    def averages(self, x: Array) -> list[ClassAverages]:
        """Average the forces that the samples of each cluster exert on the weights; those of the last x are kept."""
        if not (self._last and np.array_equal(self._last[0][0], x)):
            self._last[:] = [(x.copy(), self._averaged(x))]
        return self._last[0][1]

    @cached_property
    def _last(self) -> list[tuple[Array, list[ClassAverages]]]:
        return []

    def _averaged(self, x: Array) -> list[ClassAverages]:
        V, q, r, b = self.split(x)
        if self.exchangeable and self.nodes is not None:
            basis = self.basis
            one = softmax_averages(r[:, 0] + b, V[0], q[0], 0, basis, self.nodes, self.progress)
            return [_exchanged(one, basis[:, 0], each) for each in basis.T]
        found = []
        for k, c in enumerate(self.own):
            if self.nodes is None:
                found.append(square_averages(r[:, k] + b, V[c], q[c], self.basis[:, k]))
            else:
                found.append(softmax_averages(r[:, k] + b, V[c], q[c], k, self.basis, self.nodes, self.progress))
        return found

    def image(self, x: Array) -> Array:
        """Return the image of a point: overlaps by way of conjugates, and biases one Newton step nearer to balance."""
        b, model, D = self.split(x)[3], self.model, self.D
        Vhat, qhat, rhat = np.zeros((self.C, D, D)), np.zeros((self.C, D, D)), np.zeros((D, model.n_classes))
        for k, (share, mean) in enumerate(zip(model.probabilities, self.averages(x), strict=True)):
            c = self.own[k]
            Vhat[c] += model.alpha * share * mean.response
            qhat[c] += model.alpha * share * mean.square
            rhat[:, k] = model.alpha * share * mean.force
        if model.bias:
            b = b + np.linalg.solve(Vhat.sum(axis=0), rhat.sum(axis=1))
        V, q, r = self.prior(Vhat, qhat, rhat)
        return np.concatenate((V.ravel(), q.ravel(), r.ravel(), b))

    def prior(self, Vhat: Array, qhat: Array, rhat: Array) -> tuple[Array, Array, Array]:
        """Return overlaps from conjugates: G = (lam + sum_c Vhat_c om_c)^-1 is a matrix over outputs in each mode."""
        modes = self.model.modes
        om, w = modes.covariances, modes.weights
        G = np.linalg.inv(self.model.lam * np.eye(self.D) + np.einsum("cij,cm->mij", Vhat, om))
        pull = np.einsum("ik,klm,jl->mij", rhat, modes.gram, rhat)
        core = G @ (w[:, None, None] * np.einsum("cij,cm->mij", qhat, om) + pull) @ G
        V = np.einsum("m,cm,mij->cij", w, om, G)
        return V, np.einsum("cm,mij->cij", om, core), np.einsum("mij,jl,klm->ik", G, rhat, modes.gram)

    def admissible(self, x: Array) -> bool:
        """Tell whether V is positive definite and q positive semi-definite, to rounding."""
        if not np.isfinite(x).all():
            return False
        V, q, _, _ = self.split(x)
        sizes = np.abs(q).max(axis=(1, 2), initial=1e-300)
        return bool(np.linalg.eigvalsh(V).min() > 0 and (np.linalg.eigvalsh(q).min(axis=1) > -1e-9 * sizes).all())


def _exchanged(one: ClassAverages, own: Array, other: Array) -> ClassAverages:
    """Return averages of the cluster of contrasts `other` from those of cluster `own`, which is like it.

    They are averaged over all exchanges of the remaining clusters and, as far as matrices are concerned, of all: the
    sums over clusters are then those of the clusters themselves.
    """
    identity = np.eye(len(own)) / len(own)
    return ClassAverages(
        (one.force @ own) / (own @ own) * other,
        np.trace(one.square) * identity,
        np.trace(one.response) * identity,
        one.loss,
        lambda: one.slopes,
    )
