"""Fits to sampled spins and colors against the mixture, with finite-size extrapolation."""

import numpy as np
import pytest

from figures.glm.masked_classification import predictions
from figures.glm.masked_classification_data import (
    COLORS,
    DEGREES,
    FAMILIES,
    SPARSE,
    first_conditionals,
    masked_gap,
    spin_glass_fits,
)
from simulate.core import Estimate, extrapolate, stream

PROBLEMS = ((1.0, 1.0), (2.0, 0.1))


def estimates(p, replicates):
    """(problems, 3) of Estimates."""
    runs = np.stack([spin_glass_fits(p, 0.6, PROBLEMS, 2, 20, r) for r in range(replicates)])
    return [[Estimate.of(runs[:, i, j]) for j in range(3)] for i in range(len(PROBLEMS))]


def test_spin_glass_fits_approach_the_mixture(agrees):
    small, large = estimates(25, 96), estimates(50, 96)
    for problem, a, b in zip(PROBLEMS, small, large, strict=True):
        loss, excess, train = predictions(0.6, [problem])[:, 0]
        agrees(extrapolate(a[0], b[0]), loss, resolves=0.1)
        agrees(extrapolate(a[1], b[1]), excess, resolves=0.4)
        agrees(extrapolate(a[2], b[2]), train, resolves=0.4)


@pytest.mark.parametrize(
    ("family", "x"), [*((family, 0.6) for family in FAMILIES if family != DEGREES), (DEGREES, 4.0)]
)
def test_conditionals_of_the_first_sites_are_those_of_the_model(family, x):
    rng = stream(0, "first conditionals", family)
    model = FAMILIES[family](9, x, rng)
    states = rng.integers(0, model.n_colors, (20, 9))
    assert first_conditionals(model, states, 4) == pytest.approx(model.conditionals(states)[:, :4], abs=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "n_sites"), [(COLORS, 41), (SPARSE, 81)])
def test_colors_and_sparse_graphs_at_high_temperature(family, n_sites):
    runs = np.stack([masked_gap(family, 0.3, n_sites, 2.0, 1.0, (1000, 15, 3), r) for r in range(6)])
    gap = runs[:, 0] / runs[:, 1] - 1
    assert abs(gap.mean()) < 0.01 + 3 * gap.std(ddof=1) / np.sqrt(6)
