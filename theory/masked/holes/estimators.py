"""The two estimators as one regression: rows of which covariance, beside which diagonal ridge, tested by which form."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from theory.core.arrays import Array
from theory.masked.holes.columns import DensePencil, Regression, form
from theory.masked.holes.equation import RowWeight
from theory.models import MissingEntries, RowScales


@dataclass(frozen=True, eq=False)
class Estimator:
    """The columns of rows of covariance `signal` M (d, d), regressed on each other beside the diagonal `ridge` L (d,).

    Column k has `rows[k]` rows. Its residual form w is 1 at k and minus the coefficients on the inputs elsewhere. In
    rows that have x_k itself it is v: 1 at k and w/`seen[k]` elsewhere; and on the rows to be predicted, where input j
    counts `inputs[j]` times as much, y: 1 at k and inputs w/seen[k] elsewhere.
    """

    covariance: Array = field(repr=False)  # (d, d), Sigma
    signal: Array = field(repr=False)
    ridge: Array = field(repr=False)
    rows: Array = field(repr=False)
    seen: Array = field(repr=False)  # q of own rows, 1 where the fit is in units of the entries themselves
    inputs: Array | None = field(repr=False)  # None: the predicted rows have holes as those that are fitted
    law: RowScales

    @classmethod
    def of(cls, model: MissingEntries) -> "Estimator":
        """Write a finite problem with independent holes as one regression.

        Own rows: the zero-filled inputs z of a row that has x_k have the covariance T, T_jl = q_j q_l Sigma_jl off the
        diagonal and T_jj = q_j Sigma_jj, and the covariances q_j Sigma_jk = T_jk/q_k with x_k.

        Pairwise: with D = diag(q) and C = Z'Z/n, S + lam = D^-1 (C + lam q^2 - p diag C) D^-1 exactly, where diag C
        tends to q Sigma_jj. In the units of D^-1 z, rows of covariance Sigma + (p/q) diag Sigma stand beside the ridge
        lam - (p/q) diag Sigma, and the weights act on the entries of a row as they are.
        """
        Sigma, d = model.covariance.matrix, model.covariance.size
        q = np.broadcast_to(np.asarray(model.seen_rates, float), d)
        variances, ones = np.diagonal(Sigma), np.ones(d)
        if model.method == "pairwise":
            odds = (1 - q) / q * variances
            M, L = Sigma + np.diag(odds), model.lam - odds
            return cls(Sigma, M, L, model.n * ones, ones, ones, model.row_scales)
        T = np.outer(q, q) * Sigma
        np.fill_diagonal(T, q * variances)
        inputs = None if model.rows != "complete" else q if model.rescaled else ones
        return cls(Sigma, T, np.full(d, model.lam), model.n * q, q, inputs, model.row_scales)

    @property
    def tested(self) -> Array:
        """The covariance B (d, d) of the inputs of a predicted row, between different ones."""
        return self.signal if self.inputs is None else np.outer(self.inputs, self.inputs) * self.covariance

    def errors(self) -> tuple[Array, list[RowWeight]]:
        """Compute the error of every column, (d,), with all traces over all d inputs, as they are for large d."""
        pencil = DensePencil.of(self.signal, self.ridge)
        solved: dict[float, tuple[Regression, float]] = {}
        errors, diagonal = [], None
        for k, n in enumerate(map(float, self.rows)):
            if n not in solved:
                at = pencil.at(n, self.law)
                diagonal = at.in_modes(self.tested) if diagonal is None else diagonal
                solved[n] = at, at.noise(diagonal)
            at, noise = solved[n]
            errors.append(self._error(k, at.form_of_input(k), noise))
        return np.array(errors), [solved[n][0].weight for n in map(float, self.rows)]

    def exact_errors(self, columns: Iterable[int]) -> tuple[Array, list[RowWeight]]:
        """Compute the errors of some columns with the traces over the d - 1 inputs that each regression has."""
        errors, weights = [], []
        for k in columns:
            others = np.delete(np.arange(len(self.rows)), k)
            minor = np.ix_(others, others)
            pencil = DensePencil.of(self.signal[minor], self.ridge[others])
            at = pencil.at(float(self.rows[k]), self.law)
            w = np.ones(len(self.rows))
            w[others] = -at.coefficients(self.signal[others, [k]][:, None])[:, 0]
            errors.append(self._error(k, w, at.noise(at.in_modes(self.tested[minor]))))
            weights.append(at.weight)
        return np.array(errors), weights

    def _error(self, k: int, w: Array, noise: float) -> float:
        """Compute y'By + noise v'Mv from the residual form w (d,) of column k."""
        q, variance = self.seen[k], self.covariance[k, k]
        own = (form(w[:, None], self.signal)[0] - (1 - q) * q * variance) / q**2
        if self.inputs is None:
            return float(own * (1 + noise))
        y = self.inputs * w / q
        y[k] = 1.0
        return float(form(y[:, None], self.covariance)[0] + noise * own)
