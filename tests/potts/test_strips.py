"""Cylinders and tori: reference values, enumeration, self-duality, derivatives, Onsager, and the constants."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory import ConvergenceError, potts
from theory.models import SquareLatticePotts
from theory.potts.strips import RowTransfer


@pytest.mark.parametrize(
    ("rows", "columns", "n_colors", "energy"),
    [(4, 4, 3, -1.71006228), (8, 8, 2, -1.74579455), (6, 6, 3, -1.67373587)],
)
def test_reference_energies_of_tori(rows, columns, n_colors, energy):
    at_critical = potts.torus(rows, columns, n_colors, potts.square_lattice_critical_beta(n_colors))
    assert at_critical.energy_per_site == pytest.approx(energy, abs=1e-8)


@settings(max_examples=25)
@given(st.sampled_from([(2, 2, 3), (2, 4, 2), (3, 2, 3), (3, 3, 2), (4, 3, 2)]), st.floats(0, 8))
def test_tori_against_enumeration(shape, beta):
    states, torus = potts.enumerate_states(SquareLatticePotts(*shape, beta=beta)), potts.torus(*shape, beta)
    assert torus.log_partition_function == pytest.approx(states.log_partition_function, rel=1e-13)
    assert torus.energy_per_site == pytest.approx(-states.mean_score / states.model.n_sites, abs=1e-12)
    assert (torus.rows, torus.columns) == shape[:2]


@pytest.mark.parametrize(("width", "n_colors", "beta"), [(2, 2, 0.0), (2, 3, 1.1), (3, 3, 3.0), (5, 2, 0.7)])
def test_row_transfer_is_the_matrix_it_claims_to_be(width, n_colors, beta):
    row = RowTransfer(width, n_colors, beta)
    s = row.states
    within = (s == np.roll(s, 1, axis=1)).sum(axis=1)
    across = (s[:, None] == s[None]).sum(axis=2)
    A = np.exp(beta * (across + (within[:, None] + within) / 2) - width * row.log_unit)
    assert row.apply(np.eye(row.n_states)) == pytest.approx(A, rel=1e-12)
    assert row.apply_score(np.eye(row.n_states)) == pytest.approx(A * across, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize(("width", "n_colors"), [(2, 2), (3, 3), (4, 3), (5, 2), (3, 5)])
def test_orbits_count_every_state_once(width, n_colors):
    row = RowTransfer(width, n_colors, 0.9)
    representatives, sizes = row.orbits()
    assert sizes.sum() == row.n_states
    closed = np.linalg.matrix_power(row.apply(np.eye(row.n_states)), 4).diagonal()
    assert sizes @ closed[representatives] == pytest.approx(closed.sum(), rel=1e-13)


@pytest.mark.parametrize(
    ("width", "n_colors"), [(2, 2), (4, 2), (9, 2), (2, 3), (3, 3), (6, 3), (3, 4), (5, 4), (3, 7)]
)
def test_self_duality_fixes_the_critical_energy_of_every_cylinder(width, n_colors):
    at_critical = potts.cylinder(width, n_colors, potts.square_lattice_critical_beta(n_colors))
    assert at_critical.energy_per_site == pytest.approx(potts.square_lattice_critical_energy(n_colors), abs=1e-12)
    assert at_critical.residual < 1e-12


@pytest.mark.parametrize(("width", "n_colors", "beta"), [(4, 2, 0.5), (3, 3, 1.4), (2, 4, 0.9)])
def test_energies_are_derivatives_of_log_z(width, n_colors, beta):
    h = 1e-5
    up, down = (potts.cylinder(width, n_colors, beta + sign * h) for sign in (1, -1))
    slope = (up.log_partition_function_per_site - down.log_partition_function_per_site) / (2 * h)
    assert potts.cylinder(width, n_colors, beta).energy_per_site == pytest.approx(-slope, abs=1e-9)
    high, low = (potts.torus(width, 5, n_colors, beta + sign * h).log_partition_function for sign in (1, -1))
    torus = potts.torus(width, 5, n_colors, beta)
    assert torus.energy_per_site == pytest.approx(-(high - low) / (2 * h) / (5 * width), abs=1e-9)


@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0, 2.5])
def test_long_tori_are_cylinders(beta):
    cylinder, torus = potts.cylinder(4, 3, beta), potts.torus(4, 2000, 3, beta)
    assert torus.energy_per_site == pytest.approx(cylinder.energy_per_site, abs=1e-4 if beta > 2 else 1e-10)
    free = torus.log_partition_function / 8000
    assert free == pytest.approx(cylinder.log_partition_function_per_site, abs=2e-4 if beta > 2 else 1e-10)


def test_rows_and_columns_are_alike():
    assert potts.torus(3, 5, 3, 0.8).log_partition_function == potts.torus(5, 3, 3, 0.8).log_partition_function


@pytest.mark.parametrize(("beta", "error"), [(0.1, 1e-13), (0.4, 1e-6), (1.3, 5e-5)])
def test_wide_cylinders_approach_onsagers_energy(beta, error):
    assert potts.cylinder(12, 2, beta).energy_per_site == pytest.approx(potts.onsager_energy(beta), abs=error)


def test_onsagers_energy():
    assert potts.onsager_energy(potts.square_lattice_critical_beta(2)) == pytest.approx(
        potts.square_lattice_critical_energy(2), abs=1e-14
    )
    assert potts.onsager_energy(0.0) == -1
    assert potts.onsager_energy(1e3) == -2


@pytest.mark.parametrize("beta", [1e-6, 9.9e-4, 1.01e-3, 0.05, 0.88, 0.9, 2.0, 20.0])
def test_onsagers_energy_is_the_derivative_of_his_free_energy(beta):
    """log Z per site = beta + log(2 cosh beta) + (1/pi) int_0^(pi/2) log((1 + sqrt(1 - k^2 sin^2 w))/2) dw."""
    with mpmath.workdps(30):

        def log_z(beta: mpmath.mpf) -> mpmath.mpf:
            k = 2 * mpmath.sinh(beta) / mpmath.cosh(beta) ** 2

            def integrand(w: mpmath.mpf) -> mpmath.mpf:
                return mpmath.log((1 + mpmath.sqrt(1 - (k * mpmath.sin(w)) ** 2)) / 2)

            inner = mpmath.quad(integrand, [0, mpmath.pi / 2])
            return beta + mpmath.log(2 * mpmath.cosh(beta)) + inner / mpmath.pi

        slope = mpmath.diff(log_z, mpmath.mpf(beta), h=mpmath.mpf(10) ** -9)
        assert potts.onsager_energy(beta) == pytest.approx(-float(slope), abs=1e-12)


@settings(max_examples=40)
@given(st.floats(0, 4), st.floats(0, 4))
def test_energies_fall_with_beta(a, b):
    low, high = sorted((a, b))
    assert potts.onsager_energy(high) <= potts.onsager_energy(low) + 1e-14
    assert potts.cylinder(3, 3, high).energy_per_site <= potts.cylinder(3, 3, low).energy_per_site + 1e-13


@pytest.mark.parametrize("beta", [0.0, 50.0, 1e3])
def test_extreme_temperatures(beta):
    energy, log_z = (-2 / 3, 16 * math.log(3)) if beta == 0 else (-2.0, 32 * beta + math.log(3))
    torus = potts.torus(4, 4, 3, beta)
    assert potts.cylinder(4, 3, beta).energy_per_site == pytest.approx(energy, abs=1e-12)
    assert torus.energy_per_site == pytest.approx(energy, abs=1e-12)
    assert torus.log_partition_function == pytest.approx(log_z, rel=1e-13)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: potts.cylinder(1, 2, 1.0), "circumference must be an integer of at least 2"),
        (lambda: potts.cylinder(40, 3, 1.0), r"a row of 40 sites with 3 colors has 3\^40 states, more than 262144"),
        (lambda: potts.torus(10, 11, 3, 1.0), r"a row of 10 sites with 3 colors has 3\^10 states, more than 16384"),
        (lambda: potts.torus(3, 1, 3, 1.0), "columns must be an integer of at least 2"),
        (lambda: potts.torus(3, 3, 1, 1.0), "n_colors must be an integer of at least 2"),
        (lambda: potts.torus(3, 3, 2, -1.0), "beta must lie in"),
        (lambda: potts.onsager_energy(math.nan), "beta must be finite, got nan"),
        (lambda: potts.square_lattice_critical_beta(1), "n_colors must be an integer of at least 2"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_unverified_eigenvectors_are_errors():
    with pytest.raises(ConvergenceError, match=r"cylinder of 6 sites, 2 colors, beta = 1\.0") as failure:
        potts.cylinder(6, 2, 1.0, tol=1e-30)
    assert failure.value.solution.residual > 0
