"""The closed form of the integrated density, term by term: against the density's integral, counts and closed forms."""

import numpy as np
import pytest

from simulate.core import stream
from theory.models.row_scales import EqualScales, PointScales
from theory.random_matrix.spectral.build import law_of
from theory.random_matrix.spectral.ensemble import CommutingEnsemble, DenseEnsemble
from theory.random_matrix.spectral.equation import share_below, solve

SIGMA, OFFSET, WEIGHTS = np.array([0.2, 1.0, 30.0]), np.array([0.5, 0.02, 0.1]), np.array([0.2, 0.5, 0.3])
TWO = PointScales((0.5, 3.0), (0.8, 0.2))


def share(ensemble, nu):
    equation = ensemble.at(np.atleast_1d(np.asarray(nu, float)))
    found = solve(equation)
    assert found.certified.all()
    return share_below(equation, found), found


def atoms(alpha, rows=None):
    return CommutingEnsemble(alpha, SIGMA, OFFSET, WEIGHTS, rows or EqualScales())


def density(alpha, nu):
    """From the roots of the polynomial h - 1 + h <sigma/(h sigma + offset - nu)>/alpha times all denominators."""
    factors = [np.polynomial.Polynomial([o - nu, s]) for s, o in zip(SIGMA, OFFSET, strict=True)]
    h = np.polynomial.Polynomial([0, 1])
    total = (h - 1) * np.prod(factors)
    for k, (s, w) in enumerate(zip(SIGMA, WEIGHTS, strict=True)):
        total += w * s / alpha * h * np.prod([one for i, one in enumerate(factors) if i != k])
    roots = total.roots()
    root = roots[np.argmin(roots.imag)]
    return max(0.0, float(np.imag(np.sum(WEIGHTS / (root * SIGMA + OFFSET - nu)))) / np.pi)


@pytest.mark.parametrize("alpha", [0.15, 0.6, 4.0])
def test_inside_bulks_it_is_the_integral_of_the_density(alpha):
    nodes, weights = np.polynomial.legendre.leggauss(24)
    law = law_of(atoms(alpha))
    for low, high in law.edges:
        between = law.cumulative(low) + np.linspace(0.02, 0.98, 6) * (law.cumulative(high) - law.cumulative(low))
        ends = np.sort(np.concatenate([law.quantiles(between), low * (high / low) ** np.linspace(0.03, 0.97, 6)]))
        reached, found = share(atoms(alpha), ends)
        assert found.inside.all()
        half = np.diff(ends) / 2
        nu = (ends[1:] + ends[:-1])[:, None] / 2 + half[:, None] * nodes
        by_density = np.vectorize(density)(alpha, nu) @ weights * half
        assert np.diff(reached) == pytest.approx(by_density, rel=1e-6)


def test_between_bulks_it_counts_modes_and_samples():
    """Far apart, every variance makes a bulk of its own, and fewer samples than modes leave eigenvalues at the offset.

    At alpha = .15 the 30 % of largest variance take all samples: half of their eigenvalues, and all others, are those
    of the offsets, next to which the equation has h < 0.
    """
    many, few = CommutingEnsemble(40.0, SIGMA, 0 * OFFSET, WEIGHTS), CommutingEnsemble(0.15, SIGMA, 0 * OFFSET, WEIGHTS)
    found, at = share(many, [1e-3, 0.5, 6.0, 1e3])
    assert found == pytest.approx([0, 0.2, 0.7, 1], abs=1e-14)
    assert np.all(at.h.real > 0)
    assert at.outside.all()
    found, at = share(few, [1e-6, 0.1, 1e6])
    assert found == pytest.approx([0.85, 0.85, 1], abs=1e-14)
    assert np.all(at.h.real[:2] < 0)
    assert at.outside.all()


def test_marchenko_pastur_in_closed_form():
    """At alpha = 1 it is (sqrt(x (4 - x)) + 4 arcsin(sqrt(x)/2))/(2 pi) for variance 1."""
    x = np.array([1e-6, 0.01, 1.0, 2.5, 3.999])
    found, _ = share(CommutingEnsemble(1.0, np.ones(1), np.zeros(1), np.ones(1)), x)
    assert found == pytest.approx((np.sqrt(x * (4 - x)) + 4 * np.arcsin(np.sqrt(x) / 2)) / (2 * np.pi), abs=1e-13)


@pytest.mark.parametrize("rows", [EqualScales(), TWO])
@pytest.mark.parametrize("alpha", [0.15, 0.6, 4.0])
def test_against_counted_eigenvalues(alpha, rows):
    """Counts fluctuate by about one eigenvalue, and differ from their limit by as much."""
    d = 400
    rng, n = stream(0, "share below", alpha, rows is TWO), round(400 * alpha)
    sigma, offset = (np.repeat(part, np.round(WEIGHTS * d).astype(int)) for part in (SIGMA, OFFSET))
    tau = 1.0 if rows is not TWO else np.repeat(TWO.nodes, np.round(np.array(TWO.probabilities) * n).astype(int))
    X = rng.standard_normal((n, d)) * np.sqrt(sigma) * np.sqrt(np.broadcast_to(tau, n))[:, None]
    values = np.linalg.eigvalsh(X.T @ X / n + np.diag(offset))
    nu = np.quantile(values, [0.05, 0.3, 0.5, 0.68, 0.8, 0.95]) * 1.0001
    found, _ = share(atoms(alpha, rows), nu)
    assert found == pytest.approx(np.searchsorted(values, nu) / d, abs=4 / d)


def test_directions_without_variance():
    """They are counted at their levels, of which half lie below the bulk of the others and some inside it."""
    d, n, rank = 300, 600, 200
    rng = stream(0, "share below, singular")
    basis = np.linalg.qr(rng.standard_normal((d, d)))[0][:, :rank]
    offset = np.linspace(0.1, 2.0, d)
    X = rng.standard_normal((n, rank)) @ basis.T
    values = np.linalg.eigvalsh(X.T @ X / n + np.diag(offset))
    nu = np.quantile(values, [0.1, 0.3, 0.5, 0.7, 0.9])
    found, _ = share(DenseEnsemble(n / d, basis @ basis.T, offset), nu)
    assert found == pytest.approx(np.searchsorted(values, nu) / d, abs=4 / d)
