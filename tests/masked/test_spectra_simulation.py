"""Predicted spectra against drawn ones: histograms, extreme eigenvalues, quantiles; and that errors would be seen."""

import math
from functools import cache

import numpy as np
import pytest

from simulate.core import Estimate, stream
from simulate.masked import fit, sample
from simulate.masked.spectra import (
    correlation_eigenvalues,
    covariance_eigenvalues,
    eigenvalues_of_predictor,
    predictor_eigenvalues,
)
from theory.models import AR1, Diagonal, MaskedRidge, Scaled, TwoLevel
from theory.random_matrix import correlation_law, covariance_law, predictor_law

D = 120
SCALED = Scaled(AR1(D, 0.6), np.where(np.arange(D) % 5, 0.55, 2.0))
# predictor laws at d = 120 itself where the record knows its size
MODELS = {
    "two level, n < d": MaskedRidge(TwoLevel(D), 0.5, 0.1),
    "two level": MaskedRidge(TwoLevel(D), 2.0, 0.1),
    "AR1, n < d": MaskedRidge(AR1(math.inf, 0.6), 0.5, 0.1),
    "AR1": MaskedRidge(AR1(math.inf, 0.6), 1.0, 0.3),
    "dense": MaskedRidge(SCALED, 2.0, 0.2),
    "dense, n < d": MaskedRidge(SCALED, 0.5, 0.2),
}


@cache
def law_of(name):
    return predictor_law(MODELS[name])


@cache
def drawn(name, replicates=30):
    model = MODELS[name]
    return np.array([predictor_eigenvalues(model, D, stream(0, "spectrum", name, r)) for r in range(replicates)])


def histogram_distance(law, values, width):
    """L1 distance of a histogram from the law, an atom being in the middle of its bin."""
    center = law.atoms[0, 0] if law.atoms.size else 0.0
    first, last = np.floor((law.edges[0, 0] - 1 - center) / width), np.ceil((1 - center) / width)
    edges = center + width * (np.arange(first, last + 1) + 0.5)
    measured = np.histogram(values, np.concatenate([[-math.inf], edges, [math.inf]]))[0] / values.size
    return np.abs(measured - np.diff(np.concatenate([[0], law.cumulative(edges), [1]]))).sum()


@pytest.mark.parametrize("name", MODELS)
def test_histogram(name):
    """30 matrices of d = 120: distances of .014 to .03, or of .02 to .08 where a finite matrix smears an atom.

    A shift of all eigenvalues by .1 is seen: .17 to .6.
    """
    law, values, few = law_of(name), drawn(name), name.endswith("n < d")
    width, allowed = (0.4, 0.12) if few else (0.2, 0.05)
    assert histogram_distance(law, values, width) < allowed
    assert histogram_distance(law, values + 0.1, width) > allowed


@pytest.mark.parametrize("name", MODELS)
def test_extreme_eigenvalues(agrees, name):
    """The largest eigenvalue; edges fluctuate and shift by d^(-2/3), about .04 of the distance to a = 1 at d = 120."""
    law, values = law_of(name), drawn(name)
    gap = 1 - law.edges[-1, 1]
    agrees(Estimate.of(np.log(1 - values[:, -1]) / np.log(gap)), 1.0, resolves=0.15, bias=0.05)


@pytest.mark.parametrize("name", MODELS)
def test_positions_of_all_eigenvalues(name):
    """Means over matrices of the i-th eigenvalue against the quantiles (i - 1/2)/d, relative to their spread.

    Measured .007 to .013, and .03 to .10 for n < d: finite matrices smear an atom by d^(-1/2).
    """
    law, values = law_of(name), drawn(name)
    gap = values.mean(axis=0) - law.positions(D)
    allowed = (0.15 if name.endswith("n < d") else 0.02) * np.std(values)
    assert np.sqrt(np.mean(gap**2)) < allowed
    assert np.sqrt(np.mean((gap + 0.2) ** 2)) > allowed


def test_trace_is_exactly_zero():
    assert abs(drawn("dense").sum(axis=1)).max() < 1e-10


def test_mean_square(agrees):
    for name in MODELS:
        estimate = Estimate.of((drawn(name) ** 2).mean(axis=1))
        agrees(estimate, law_of(name).mean(2), resolves=0.12, bias=3 / D * law_of(name).mean(2))


@pytest.mark.parametrize(
    ("law", "replicate"), [(covariance_law, covariance_eigenvalues), (correlation_law, correlation_eigenvalues)]
)
@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0])
def test_covariance_and_correlation(law, replicate, alpha):
    model = MaskedRidge(SCALED, alpha, 0.1)
    values = np.array([replicate(model, D, stream(0, "sample", alpha, r)) for r in range(20)])
    values[abs(values) < 1e-10] = 0
    predicted = law(SCALED, alpha)
    above = values[values > 0]
    p = np.linspace(0.02, 0.98, 25)
    floor = predicted.cumulative(0.0)
    assert np.mean(values <= 0) == pytest.approx(floor, abs=0.01)
    np.testing.assert_allclose(np.quantile(above, p), predicted.quantiles(floor + (1 - floor) * p), rtol=0.1, atol=0.02)
    assert values.mean() == pytest.approx(predicted.mean(), rel=0.03)


def test_eigenvalues_are_those_of_the_predictor():
    X = sample(Diagonal(np.linspace(0.5, 2, 20)), 30, stream(0, "direct"))
    found = fit(X, 0.2)
    direct = np.sort(np.linalg.eigvals(found.predictor).real)
    np.testing.assert_allclose(eigenvalues_of_predictor(found.predictor, found.shrinkage), direct, atol=1e-10)
    with pytest.raises(ValueError, match="same fit"):
        eigenvalues_of_predictor(found.predictor, found.shrinkage[::-1])
