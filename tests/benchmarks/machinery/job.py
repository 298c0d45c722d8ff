"""What a row of the page "What it costs" is, and the inputs that several of them share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from simulate.core import stream
from theory.models import AR1, Cluster, GeneralizedLinearModel, Modes, Scaled

# Subjects of the page.
M, G, P, N, T, R = (
    "masked regression", "generalized linear models", "Potts models", "attention networks", "topics", "random matrices"
)  # fmt: skip
S, F, C, K = "perceptrons", "feed-forward networks", "cumulants", "rooted trees"


@dataclass(frozen=True)
class Job:
    """One row of the table: `call` as a user writes it, what `size` counts, and `make`, which prepares one size."""

    subject: str
    call: str
    size: str
    sizes: Sequence[int]
    make: Callable[[int], Callable[[], Any]]


def doubled(first: int) -> tuple[int, ...]:
    """Return a size and three doublings of it."""
    return first, 2 * first, 4 * first, 8 * first


def rng() -> np.random.Generator:
    """Return the generator of all inputs, at its start."""
    return stream(0, "costs")


def scaled(d: int) -> Scaled:
    """Return a covariance without symmetry, so that it is decomposed."""
    return Scaled(AR1(d, 0.6), np.linspace(0.5, 2, d))


def chain(d: int) -> Any:
    """Return the sparse precision of a chain whose neighbors depend on each other."""
    return sparse.diags_array([-np.ones(d - 1), np.full(d, 2.5), -np.ones(d - 1)], offsets=[-1, 0, 1]).tocsr()


def table(n: int, d: int) -> np.ndarray:
    """Return Gaussian noise."""
    return rng().standard_normal((n, d))


def labeled(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Gaussian inputs with labels +-1 of a noisy rule, whose noise has a stream of its own."""
    X = table(n, p)
    return X, np.where(X[:, 0] + stream(0, "costs", "labels").standard_normal(n) > 0, 1.0, -1.0)


def harmonic(p: int) -> GeneralizedLinearModel:
    """Return a logistic learner of inputs with eigenvalues 1/i and a teacher of the sign."""
    om = 1 / np.arange(1, p + 1.0)
    teacher = Cluster(labels="sign", teacher_signal=0, teacher_variance=float(om.mean()))
    modes = Modes(np.full(p, 1 / p), om[None], (om**2 / p)[None, None])
    return GeneralizedLinearModel(modes=modes, clusters=[teacher], alpha=1.0, loss="logistic", lam=0.01)


def sequences(M: int, L: int, q: int) -> np.ndarray:
    """Return sequences that resemble their neighbors, as those of one family do."""
    draws = rng()
    states = draws.integers(q, size=(M, L))
    copied = draws.random((M, L)) < 0.5
    for i in range(1, L):
        states[:, i] = np.where(copied[:, i], states[:, i - 1], states[:, i])
    return states
