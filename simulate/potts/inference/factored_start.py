"""Starts of a fit of factored attention: the best A x V of mean-field couplings, given matrices, or random ones."""

from typing import Any

import numpy as np

from simulate.potts.inference.gaussian import mean_field
from simulate.potts.inference.sequences import Sequences
from theory.core import Array, checks

Start = tuple[Array, Array, Array]

PROJECTION_SWEEPS = 100  # alternating projections; a start needs no more than two digits


def factored_start(start: Any, states: Any, data: Sequences, rng: np.random.Generator) -> Start:
    """Return A (L, L), V (C, C), h (L, C); `start` is "kronecker", "random" or a tuple (A, V) or (A, V, h)."""
    L, C = data.n_sites, data.n_colors
    if isinstance(start, str) and start == "kronecker":
        return with_fields(*kronecker_factors(mean_field(states, C, weights=data.weights).couplings), data)
    if isinstance(start, str) and start == "random":
        A = rng.standard_normal((L, L)) / np.sqrt(L)
        return with_fields(A, rng.standard_normal((C, C)) / np.sqrt(C), data)
    if not isinstance(start, tuple) or len(start) not in (2, 3):
        raise ValueError(
            f'start must be "kronecker", "random" or a tuple (A, V) or (A, V, h), got {checks.shown(start)}'
        )
    shapes = {"A": (L, L), "V": (C, C), "h": (L, C)}
    given = [checks.finite_array(f"start {name}", each, 2) for name, each in zip(shapes, start, strict=False)]
    for (name, shape), each in zip(shapes.items(), given, strict=False):
        checks.shaped(f"start {name}", each, shape)
    A, V = balanced(given[0], given[1])
    return (A, V, given[2]) if len(given) == 3 else with_fields(A, V, data)


def kronecker_factors(couplings: Array) -> tuple[Array, Array]:
    """Return A and V that minimize |couplings_ij(a, b) - A_ij V_ab|^2.

    They are the leading singular pair of the couplings written as a matrix (L^2, C^2), found by alternating projections
    from the strongest block.
    """
    blocks = couplings.reshape(-1, couplings.shape[2] * couplings.shape[3])
    strength = np.einsum("ij,ij->i", blocks, blocks)
    V, A = blocks[int(strength.argmax())], np.zeros_like(strength)
    for _ in range(PROJECTION_SWEEPS if strength.max() > 0 else 0):
        A = blocks @ (V / (V @ V))
        V = (A / (A @ A)) @ blocks
    return A.reshape(couplings.shape[:2]), V.reshape(couplings.shape[2:])


def balanced(A: Array, V: Array) -> tuple[Array, Array]:
    """Return the same A x V with |A| = |V| and A without diagonal; zero, a saddle point, becomes a small A x V."""
    A = A - np.diag(np.diag(A))
    size_A, size_V = np.linalg.norm(A), np.linalg.norm(V)
    if min(size_A, size_V) == 0:
        A, V = 0.1 * (np.ones_like(A) - np.eye(len(A))), 0.1 * np.eye(len(V))
        size_A, size_V = np.linalg.norm(A), np.linalg.norm(V)
    c = np.sqrt(size_V / size_A)
    return A * c, V / c


def with_fields(A: Array, V: Array, data: Sequences) -> Start:
    """Return A, V and fields that give average colors the logits log f_i(a), with one even sample added."""
    A, V = balanced(A, V)
    share, f = 1 / (1 + data.n_samples), data.frequencies()
    return A, V, np.log((1 - share) * f + share / data.n_colors) - A @ f @ V.T
