"""The errors of masked regression on a table with holes, by the equations of one regression with a diagonal ridge."""

from collections.abc import Sequence

import numpy as np

from theory.core.arrays import Array
from theory.masked.errors import per_coordinate
from theory.masked.holes.columns import BelowLeastRidge
from theory.masked.holes.dropout import dropout_errors
from theory.masked.holes.equation import RowWeight
from theory.masked.holes.estimators import Estimator
from theory.masked.holes.least_ridge import least_ridge
from theory.masked.holes.modes import ModeEstimator, commuting
from theory.masked.holes.oracle import PATTERNS
from theory.masked.holes.pairwise_rows import pairwise_on_holes
from theory.masked.holes.solution import MissingEntriesSolution
from theory.models import MissingEntries
from theory.numerics import ConvergenceError, Solution

ALIKE = 1e-12  # relative difference of the ridges of columns for which there is one


def solve_missing_entries(
    model: MissingEntries, exact_size: bool, patterns: int | None, seed: int
) -> MissingEntriesSolution:
    """Compute the errors of `MissingEntries` by the equations of `theory.masked.solve`."""
    if exact_size and model.covariance.size < 2:
        raise ValueError("exact_size needs d of at least 2, got 1")
    count = PATTERNS if patterns is None else patterns
    try:
        return _solve(model, exact_size, count, seed)
    except BelowLeastRidge:
        least = least_ridge(model)
    if model.lam <= least:
        raise ValueError(
            f"lam must exceed the least ridge {least:.6g} of the pairwise estimator, got {model.lam:.6g}: its matrix "
            f"of covariances has an eigenvalue of {-least:.6g}; method 'own_rows' takes any positive lam"
        )
    what = f"pairwise regression at lam = {model.lam:.12g}, least ridge {least:.12g}"
    raise ConvergenceError.of(what, least, np.inf, 0.0, advice="take lam further above the least ridge")


def _solve(model: MissingEntries, exact_size: bool, patterns: int, seed: int) -> MissingEntriesSolution:
    if model.drops_out:
        errors, ridges, solutions = dropout_errors(model)
        return _solution(model, ridges, errors, solutions, patterns, seed)
    at_holes = model.method == "pairwise" and model.rows != "complete"
    if at_holes and not model.covariance.is_finite:
        raise ValueError(
            f"rows must be 'complete' for method 'pairwise' in the limit d -> infinity, got {model.rows!r}: the "
            "patterns of holes are averaged over at a finite d"
        )
    errors, weights = _errors(model, exact_size)
    ridge = _effective_ridge(model, weights)
    if not at_holes:
        return _solution(model, ridge, errors, weights, patterns, seed)
    mean, solved = pairwise_on_holes(model, patterns, seed)
    spread = mean.stderr, mean.mean_stderr
    return _solution(model, ridge, mean.errors, [*weights, *solved], patterns, seed, spread)


def _errors(model: MissingEntries, exact_size: bool) -> tuple[Array, list[RowWeight]]:
    """Compute errors (d,) and the weights of the rows of every column, or of one that stands for all."""
    modes = commuting(model)
    if exact_size:
        alike = modes is not None and modes.spectrum.homogeneous
        errors, weights = Estimator.of(model).exact_errors(range(1 if alike else model.covariance.size))
        return np.broadcast_to(errors, model.covariance.size), weights
    if modes is None:
        return Estimator.of(model).errors()
    errors, weight = ModeEstimator.of(model, modes).errors()
    return per_coordinate(model.covariance, errors), [weight]


def _effective_ridge(model: MissingEntries, weights: Sequence[RowWeight]) -> float | Array:
    """Compute the ridge that stands for lam beside the population, one number where it is one."""
    factors = np.array([1 / one.weight for one in weights])
    ridges = model.lam * factors
    if model.method == "pairwise":
        odds = (1 - np.asarray(model.seen_rates)) / model.seen_rates * model.covariance.variances
        ridges = ridges - (factors - 1) * odds
    # Columns that are alike are solved one by one, each with its own rounding.
    return float(ridges[0]) if np.ptp(ridges) <= ALIKE * abs(model.lam * factors).max() else ridges


def _solution(
    model: MissingEntries,
    ridge: float | Array,
    errors: Array,
    evidence: Sequence[RowWeight | Solution[Array]],
    patterns: int,
    seed: int,
    spread: tuple[Array, float] | None = None,
) -> MissingEntriesSolution:
    stderr, mean_stderr = spread or (np.zeros_like(errors), 0.0)
    return MissingEntriesSolution(
        model,
        ridge,
        errors,
        stderr,
        mean_stderr,
        patterns,
        seed,
        residual=max(one.residual for one in evidence),
        iterations=max(one.iterations for one in evidence),
        converged=True,
    )
