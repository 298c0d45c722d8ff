"""Own rows where rows end: the rows that have a column are of several kinds, by how far they are seen."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from theory.core.arrays import Array
from theory.masked.masks.population import inverse
from theory.models import Dropout, MissingEntries, RowScales
from theory.numerics import Solution, solve_fixed_point
from theory.random_matrix.row_response import inverse_weights


def dropout_errors(model: MissingEntries) -> tuple[Array, Array, list[Solution[Array]]]:
    """Compute the errors of own rows under dropout, (d,), effective ridges (d,) and the solved leverages.

    The rows that have x_k end after it. Those that show m of the other columns, a share w_m of them, have the leverage
    l_m = tr M_m Q/N and the weight g_m = E t/(1 + t l_m), where M_m is the covariance of these m inputs, zero beyond,
    and Q = (sum w_m g_m M_m + lam)^-1. The error in rows whose inputs and x_k have the covariance B is v'Bv +
    sum w_m g2_m u_m v'M_m v with v = (1, -Q sum w_m g_m M_m,k) and u = (1 - tr[M_m Q M_l Q] w_l g2_l/N)^-1
    tr[M_m Q B Q]/N, g2 = E (t/(1 + t l))^2 (derived here: `RandomMasks` with the kinds of rows as classes). Traces run
    over the d - 1 inputs. An error is NaN at a column without holes where the table's own are asked for.
    """
    rates = model.missing_rates
    assert isinstance(rates, Dropout)
    d = model.covariance.size
    errors, ridges, solutions = np.full(d, np.nan), np.empty(d), []
    for k in range(d):
        column = _Column.of(model, rates, k)
        solution = column.solve()
        solutions.append(solution)
        ridges[k] = model.lam / float(column.classes.shares @ inverse_weights(model.row_scales, solution.value)[0])
        visible = column.tested(model, rates)
        if visible is not None:
            scaled = model.rows == "complete" and model.rescaled
            factors = column.classes.visible(column.classes.shares, d - 1) if scaled else np.ones(d - 1)
            errors[k] = column.error(solution.value, visible, factors)
    return errors, ridges, solutions


@dataclass(frozen=True, eq=False)
class Classes:
    """Kinds of rows: `lengths` (classes,) counts the other columns that they show, `shares` (classes,) the rows."""

    lengths: NDArray[np.intp]
    shares: Array

    def visible(self, values: Array, d: int) -> Array:
        """Sum values of the classes (classes,) over those that show input j, for every j < d."""
        return np.array([float(values[self.lengths > j].sum()) for j in range(d)])


@dataclass(frozen=True, eq=False)
class _Column:
    """The regression of column k on the others, `Sigma` (d - 1, d - 1) and `cross` (d - 1,), in order."""

    k: int
    Sigma: Array = field(repr=False)
    cross: Array = field(repr=False)
    variance: float
    n: float  # rows that have x_k
    lam: float
    law: RowScales
    classes: Classes

    @classmethod
    def of(cls, model: MissingEntries, rates: Dropout, k: int) -> "_Column":
        Sigma, q = model.covariance.matrix, float(rates.fractions_seen[k])
        others = np.delete(np.arange(len(Sigma)), k)
        after = rates.lengths > k
        classes = Classes(rates.lengths[after] - 1, rates.shares[after] / q)
        block, cross, variance = Sigma[np.ix_(others, others)], Sigma[others, k], float(Sigma[k, k])
        return cls(k, block, cross, variance, model.n * q, model.lam, model.row_scales, classes)

    def tested(self, model: MissingEntries, rates: Dropout) -> Classes | None:
        """Return the kinds of the rows that are predicted; None where there are none."""
        if model.rows == "complete":
            return Classes(np.array([len(self.cross)]), np.ones(1))
        if model.rows == "holes":
            return self.classes
        before = rates.lengths <= self.k
        shares = rates.shares[before]
        return Classes(rates.lengths[before], shares / shares.sum()) if before.any() else None

    def weights(self, leverages: Array) -> tuple[Array, Array]:
        first, second, _ = inverse_weights(self.law, leverages)
        return first, second

    def spread(self, visible: Array) -> Array:
        """Return the matrix with entries visible[max(i, j)]: the sum over kinds of rows that show both inputs."""
        j = np.arange(len(visible))
        return np.asarray(visible[np.maximum(j[:, None], j)])

    def resolvent(self, leverages: Array) -> Array:
        weights = self.classes.visible(self.classes.shares * self.weights(leverages)[0], len(self.cross))
        return inverse(self.spread(weights) * self.Sigma, 1.0, 0.0, self.lam)

    def traces(self, R: Array) -> Array:
        """Compute tr M_m R/N for all kinds of rows, (classes,): sums over leading blocks of Sigma * R."""
        sums = np.zeros((len(R) + 1, len(R) + 1))
        sums[1:, 1:] = np.cumsum(np.cumsum(self.Sigma * R, axis=0), axis=1)
        return np.asarray(sums[self.classes.lengths, self.classes.lengths]) / self.n

    def products(self, Q: Array) -> Array:
        """Compute tr[M_m Q M_l Q]/N, (classes, classes)."""
        columns = [self.traces(Q[:, :m] @ self.Sigma[:m, :m] @ Q[:m]) for m in self.classes.lengths]
        return np.array(columns).T

    def solve(self) -> Solution[Array]:
        """Solve for the leverages by Newton's method, from above: the map is increasing and concave."""

        def jacobian(leverages: Array) -> Array:
            return self.products(self.resolvent(leverages)) * self.classes.shares * self.weights(leverages)[1]

        return solve_fixed_point(
            lambda leverages: self.traces(self.resolvent(leverages)),
            self.traces(np.eye(len(self.cross)) / self.lam),
            admissible=lambda leverages: bool(np.all(leverages >= 0)),
            method="newton",
            jacobian=jacobian,
            max_iter=100,
            problem=f"leverages of the rows that have column {self.k} at lam = {self.lam:.6g}",
        )

    def error(self, leverages: Array, tested: Classes, factors: Array) -> float:
        """Compute the error in rows of the kinds `tested`, whose inputs count `factors` times as much."""
        Q, d = self.resolvent(leverages), len(self.cross)
        first, second = (self.classes.shares * one for one in self.weights(leverages))
        v = -Q @ (self.classes.visible(first, d) * self.cross)
        shown = tested.visible(tested.shares, d)
        B = self.spread(shown) * np.outer(factors, factors) * self.Sigma
        raised = np.linalg.solve(np.eye(len(second)) - self.products(Q) * second, self.traces(Q @ B @ Q))
        noise = self.classes.visible(second * raised, d)
        bias = self.variance + 2 * v @ (factors * shown * self.cross) + v @ B @ v
        own = (
            self.variance * (second @ raised) + 2 * v @ (noise * self.cross) + v @ (self.spread(noise) * self.Sigma) @ v
        )
        return float(bias + own)
