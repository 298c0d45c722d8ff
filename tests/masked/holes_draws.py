"""Tables with holes, drawn and fitted as plainly as they are described: the simulation beside theory.masked.holes."""

from dataclasses import dataclass

import numpy as np

from theory.models import Empirical


def ring(d, correlation):
    """A first-order chain of unit variance that is closed to a ring."""
    i = np.arange(d)
    steps = abs(i[:, None] - i)
    steps = np.minimum(steps, d - steps)
    return Empirical((correlation**steps + correlation ** (d - steps)) / (1 + correlation**d))


@dataclass
class Draw:
    """A table of n rows x, entries of which are seen with probability q (one number or one for each column)."""

    x: np.ndarray
    seen: np.ndarray
    q: np.ndarray

    @classmethod
    def of(cls, Sigma, n, q, rng, scales=None):
        root = np.linalg.cholesky(Sigma)
        x = rng.standard_normal((n, len(Sigma))) @ root.T
        if scales is not None:
            x *= np.sqrt(scales)[:, None]
        q = np.broadcast_to(q, len(Sigma))
        return cls(x, rng.random(x.shape) < q, q)

    @property
    def z(self):
        return np.where(self.seen, self.x, 0.0)

    def own_rows(self, lam):
        """Coefficients (d, d), row k those of column k, by normal equations over n q_k expected rows."""
        n, d = self.x.shape
        A, z = np.zeros((d, d)), self.z
        for k in range(d):
            rows, others = self.seen[:, k], np.arange(d) != k
            inputs, N = z[rows][:, others], n * self.q[k]
            gram = inputs.T @ inputs / N + lam * np.eye(d - 1)
            A[k, others] = np.linalg.solve(gram, inputs.T @ self.x[rows, k] / N)
        return A

    def covariances(self):
        n = len(self.x)
        S = self.z.T @ self.z / n / np.outer(self.q, self.q)
        np.fill_diagonal(S, np.diagonal(S) * self.q)
        return S

    def pairwise(self, lam):
        """Coefficients (d, d) for complete rows."""
        S = self.covariances()
        A = np.zeros_like(S)
        for k in range(len(S)):
            others = np.arange(len(S)) != k
            A[k, others] = np.linalg.solve(S[np.ix_(others, others)] + lam * np.eye(len(S) - 1), S[others, k])
        return A

    def pairwise_at_holes(self, lam, left_out=False):
        """Mean squared error over the table's own holes, as they are or with the row out of its input covariances."""
        S, n = self.covariances(), len(self.x)
        total = count = 0.0
        for x, seen in zip(self.x, self.seen, strict=True):
            if seen.all():
                continue
            u, y, cross = x[seen], x[seen] / self.q[seen], S[np.ix_(~seen, seen)]
            system = S[np.ix_(seen, seen)] + lam * np.eye(seen.sum())
            if left_out:  # its part of the diagonal too: exactly
                own = np.outer(y, y) / n
                np.fill_diagonal(own, y * y * self.q[seen] / n)
                system = system - own
            errors = x[~seen] - cross @ np.linalg.solve(system, u)
            total, count = total + errors @ errors, count + len(errors)
        return total / count


def complete_error(A, Sigma):
    """The errors (d,) of rows of coefficients A on complete rows."""
    R = np.eye(len(A)) - A
    return np.einsum("ij,jk,ik->i", R, Sigma, R)


def error_with_holes(A, Sigma, q):
    """The errors (d,) on rows whose inputs are seen with probabilities q, zeros in the place of the others."""
    shown = np.outer(q, q) * Sigma
    np.fill_diagonal(shown, q * np.diagonal(Sigma))
    return np.diagonal(Sigma) - 2 * np.einsum("ij,ij->i", A * q, Sigma) + np.einsum("ij,jk,ik->i", A, shown, A)


def pairwise_on_new_holes(S, Sigma, q, lam, patterns, rng):
    """The mean error at the holes of new rows, over patterns drawn with probabilities q."""
    total = count = 0.0
    for _ in range(patterns):
        seen = rng.random(len(S)) < q
        a = np.linalg.solve(S[np.ix_(seen, seen)] + lam * np.eye(seen.sum()), S[np.ix_(seen, ~seen)])
        cross = Sigma[np.ix_(seen, ~seen)]
        errors = np.diagonal(Sigma)[~seen] - 2 * np.einsum("ij,ij->j", a, cross)
        errors += np.einsum("ij,ij->j", a, Sigma[np.ix_(seen, seen)] @ a)
        total, count = total + errors.sum(), count + len(errors)
    return total / count
