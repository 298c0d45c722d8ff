"""Excess loss and recovery error of a fit: reference values, derivatives by other means, and simulated fits."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from simulate.core import Estimate, stream
from simulate.potts import factored_attention, full_recovery_error, pseudo_likelihood, recovery_error
from tests.potts.populations import population
from tests.potts.reference import four_body_model, pair_model
from theory import potts
from theory.models import AR1, DensePottsModel, PottsModel, SquareLatticePotts
from theory.models.potts import color_gauge, rescaled, zero_sum
from theory.potts.excess_loss import information
from theory.potts.parameterizations import parameterization_of

PAIR = pair_model(6, 3, 0.3, beta=0.8)
SMALL = pair_model(4, 3, 0.7, beta=1.1)


@pytest.mark.parametrize(("fields", "coefficient", "rank"), [(False, 18.2215, 35), (True, 23.0380, 45)])
def test_reference_values_of_the_factored_form(fields, coefficient, rank):
    found = potts.excess_loss_coefficient(PAIR, fields=fields)
    assert found.coefficient == pytest.approx(coefficient, abs=5e-5)
    assert found.rank == rank == 6 * 5 + (2 * 2 - 1 + 6 * 2 if fields else 3 * 2 - 1)


@pytest.mark.parametrize("fields", [False, True])
def test_rank_counts_what_no_gauge_hides(fields):
    L, C = 5, 4
    expected = L * (L - 1) + ((C - 1) ** 2 - 1 + L * (C - 1) if fields else C * (C - 1) - 1)
    assert potts.excess_loss_coefficient(pair_model(L, C, 0.4, 0.6), fields=fields).rank == expected


def test_full_fit_costs_half_a_unit_for_every_parameter():
    full = potts.excess_loss_coefficient(PAIR, "full")
    assert potts.excess_loss_coefficient(PAIR, "asymmetric") == full
    assert full.rank == full.n_parameters == 6 * 2 * (1 + 5 * 2)
    assert full.coefficient == pytest.approx(full.rank / 2, rel=1e-10)
    assert potts.complexity_gain(PAIR) == pytest.approx(66 / 23.0380, rel=1e-5)


def test_symmetric_blocks_are_fewer_and_cost_nearly_as_much():
    symmetric = potts.excess_loss_coefficient(PAIR, "symmetric")
    assert symmetric.rank == symmetric.n_parameters == 15 * 4 + 6 * 2
    assert 60 < symmetric.coefficient < 66


def covariance_by_hand(model, symmetric):
    """What a fit of blocks learns from one sample: zero-sum blocks of ordered pairs, and M times their covariance.

    Parameters are all fields and all entries of the blocks, with their gauges. Logits are written out one by one.
    """
    states, p = population(model)
    (n, L), C = states.shape, model.n_colors
    pairs = [(i, j) for i in range(L) for j in range(L) if (i < j if symmetric else i != j)]
    size = L * C + len(pairs) * C * C
    slopes, entry = np.zeros((n, L, C, size)), np.arange(size - L * C).reshape(len(pairs), C, C) + L * C
    for i, a in product(range(L), range(C)):
        slopes[:, i, a, i * C + a] = 1
    for number, (i, j) in enumerate(pairs):
        for a in range(C):
            slopes[np.arange(n), i, a, entry[number, a, states[:, j]]] += 1
            if symmetric:
                slopes[np.arange(n), j, a, entry[number, states[:, i], a]] += 1
    conditionals = np.exp(model.log_conditionals(states))
    residual = np.eye(C)[states] - conditionals
    gradient = np.einsum("nia,niap->np", residual, slopes)
    mean = np.einsum("nia,niap->nip", conditionals, slopes)
    H = np.einsum("n,nia,niap,niaq->pq", p, conditionals, slopes, slopes, optimize=True)
    H -= np.einsum("n,nip,niq->pq", p, mean, mean, optimize=True)
    inverse = np.linalg.pinv(H, rcond=1e-9, hermitian=True)
    covariance = inverse @ (gradient.T @ (p[:, None] * gradient)) @ inverse
    flat = np.eye(C) - 1 / C
    identified = np.zeros((len(pairs), C, C, size))
    identified[np.arange(len(pairs))[:, None, None], np.arange(C)[:, None], np.arange(C), entry] = 1
    identified = np.einsum("ac,pcdx,db->pabx", flat, identified, flat).reshape(-1, size)
    U = flat @ model.color_couplings @ flat
    signal = sum((model.beta * model.dense_site_couplings[i, j]) ** 2 * np.sum(U**2) for i, j in pairs)
    return np.trace(identified @ covariance @ identified.T) / signal


@pytest.mark.parametrize(("name", "symmetric"), [("full", False), ("symmetric", True)])
def test_recovery_of_blocks_by_hand(name, symmetric):
    for model in (SMALL, pair_model(3, 4, 0.2, 0.6)):
        found = potts.excess_loss_coefficient(model, name).recovery_coefficient
        assert found == pytest.approx(covariance_by_hand(model, symmetric), rel=1e-6)


def test_laws_in_the_number_of_samples():
    found = potts.excess_loss_coefficient(PAIR)
    np.testing.assert_allclose(found.masked_loss([100, 200]), found.coefficient / 6 / np.array([100, 200]), rtol=1e-14)
    assert found.recovery_error(400) == pytest.approx(np.sqrt(found.recovery_coefficient / 400), rel=1e-14)
    assert potts.recovery_error_coefficient(PAIR) == found.recovery_coefficient


def losses(theta, model, states, fields):
    """Loss of every state, summed over sites, by loops over pairs; theta = (A row by row, V, h), complex allowed."""
    L, C = model.n_sites, model.n_colors
    A = np.zeros((L, L), dtype=theta.dtype)
    A[~np.eye(L, dtype=bool)] = theta[: L * (L - 1)]
    V = theta[L * (L - 1) :][: C * C].reshape(C, C)
    z = np.zeros((len(states), L, C), dtype=theta.dtype)
    for i, j in product(range(L), range(L)):
        z[:, i] += A[i, j] * V[:, states[:, j]].T
    if fields:
        z += theta[L * (L - 1) + C * C :].reshape(L, C)
    return (logsumexp(z, axis=2) - np.take_along_axis(z, states[:, :, None], axis=2)[:, :, 0]).sum(axis=1)


def gradients(theta, *arguments):
    """By complex steps, (states, parameters)."""
    steps = theta + 1e-30j * np.eye(len(theta))
    return np.stack([losses(step, *arguments).imag / 1e-30 for step in steps], axis=1)


@pytest.mark.parametrize("fields", [False, True])
def test_hessian_and_covariance_of_the_gradient_by_differences(fields):
    states, p = population(SMALL)
    J, off = SMALL.beta * SMALL.site_couplings, ~np.eye(4, dtype=bool)
    theta = np.concatenate([J[off], SMALL.color_couplings.ravel(), np.zeros(12 if fields else 0)])
    arguments = SMALL, states, fields
    g = gradients(theta, *arguments)
    shifts = 1e-5 * np.eye(len(theta))
    slopes = [p @ (gradients(theta + shift, *arguments) - gradients(theta - shift, *arguments)) for shift in shifts]
    H, K = information(potts.enumerate_states(SMALL), parameterization_of(SMALL, "factored", fields))
    np.testing.assert_allclose(K, g.T @ (p[:, None] * g), atol=1e-12)
    np.testing.assert_allclose(H, np.array(slopes) / 2e-5, atol=1e-8)


@pytest.mark.parametrize("fields", [False, True])
def test_metric_is_the_recovery_error_of_a_small_step(fields):
    fit = parameterization_of(SMALL, "factored", fields)
    A, V = SMALL.beta * SMALL.site_couplings, SMALL.color_couplings
    step = 1e-6 * stream(0, "metric").standard_normal(fit.n_parameters)
    moved = A.copy()
    moved[~np.eye(4, dtype=bool)] += step[:12]
    err = recovery_error(moved, V + step[12:21].reshape(3, 3), SMALL, fields=fields)
    assert err**2 == pytest.approx(step @ fit.metric @ step / fit.signal, rel=1e-5)


def identified(theta, fields):
    """The couplings A_ij V_ab of `SMALL` that a softmax, and fields where there are some, can tell, as a vector."""
    A = np.zeros((4, 4), dtype=theta.dtype)
    A[~np.eye(4, dtype=bool)] = theta[:12]
    V = theta[12:21].reshape(3, 3)
    V = V - V.mean(axis=0)
    return np.multiply.outer(A, V - V.mean(axis=1, keepdims=True) if fields else V).ravel()


@pytest.mark.parametrize("fields", [False, True])
def test_coefficients_from_derivatives_by_complex_steps(fields):
    """tr(H^+ K)/2 and tr(J H^+ K H^+ J^T)/|W'|^2, with all derivatives taken of the written-out loss and couplings."""
    states, p = population(SMALL)
    J, off = SMALL.beta * SMALL.site_couplings, ~np.eye(4, dtype=bool)
    theta = np.concatenate([J[off], SMALL.color_couplings.ravel(), np.zeros(12 if fields else 0)])
    g = gradients(theta, SMALL, states, fields)
    shifts = 1e-5 * np.eye(len(theta))
    slopes = [p @ (gradients(theta + shift, SMALL, states, fields) - g) for shift in shifts]
    back = [p @ (g - gradients(theta - shift, SMALL, states, fields)) for shift in shifts]
    H = (np.array(slopes) + np.array(back)) / 2e-5
    inverse = np.linalg.pinv((H + H.T) / 2, rcond=1e-7)
    covariance = inverse @ g.T @ (p[:, None] * g) @ inverse
    steps = theta + 1e-30j * np.eye(len(theta))
    jacobian = np.stack([identified(step, fields).imag / 1e-30 for step in steps], axis=1)
    found = potts.excess_loss_coefficient(SMALL, fields=fields)
    assert found.coefficient == pytest.approx(np.trace(H @ covariance) / 2, rel=1e-5)
    expected = np.trace(jacobian @ covariance @ jacobian.T) / np.sum(identified(theta, fields) ** 2)
    assert found.recovery_coefficient == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", ["full", "symmetric"])
def test_slopes_and_metric_of_blocks_by_differences(name):
    """Each parameter moves the local scores of a `DensePottsModel` or, where asymmetric, of one direction of it."""
    fit = parameterization_of(SMALL, name, True)
    states, basis = population(SMALL)[0], np.eye(fit.n_parameters)
    slopes = fit.slopes(states)
    z = np.einsum("niap,p->nia", slopes, stream(1, "slopes").standard_normal(fit.n_parameters))
    assert abs(z.sum(axis=2)).max() < 1e-12
    assert np.linalg.matrix_rank(slopes.reshape(-1, fit.n_parameters)) == fit.n_parameters
    for p in (0, 5, fit.n_parameters - 9):  # a block's squares: over colors a, b, (1/C^2) of the sum over all contexts
        step = slopes @ basis[p]
        norm = 9 * sum(np.mean(step[:, i] ** 2, axis=0).sum() for i in range(4)) / 3
        assert norm == pytest.approx(fit.metric[p, p], rel=1e-12)


@settings(max_examples=10)
@given(st.floats(0.2, 5.0), st.lists(st.floats(-1, 1), min_size=3, max_size=3))
def test_no_gauge_changes_the_coefficients(factor, shift):
    model = pair_model(3, 3, 0.2, 0.9)
    reference = potts.excess_loss_coefficient(model)
    for other in (rescaled(model, factor), rescaled(model, -factor), color_gauge(model, shift), zero_sum(model)):
        found = potts.excess_loss_coefficient(other)
        assert found.coefficient == pytest.approx(reference.coefficient, rel=1e-7)
        assert found.recovery_coefficient == pytest.approx(reference.recovery_coefficient, rel=1e-7)


def test_other_records_of_the_same_model():
    lattice = SquareLatticePotts(2, 2, 3, beta=0.7)
    assert potts.excess_loss_coefficient(lattice) == potts.excess_loss_coefficient(lattice.pair_model)
    dense = potts.excess_loss_coefficient(DensePottsModel.of(SMALL), "symmetric")
    assert dense.coefficient == pytest.approx(potts.excess_loss_coefficient(SMALL, "symmetric").coefficient, rel=1e-10)


def fitted(model, number, n_samples, fields=True):
    """M * excess loss and M * err^2 of a factored fit to M samples, drawn as counts of all states."""
    states, p = population(model)
    counts = stream(0, "excess loss", fields, number).multinomial(n_samples, p)
    seen = counts > 0
    options = {"weights": counts[seen], "fields": fields, "l2": 0, "field_l2": 0}
    fit = factored_attention(states[seen], model.n_colors, **options)
    excess = fit.masked_loss(states, p) - potts.masked_loss_floor(model)
    err = recovery_error(fit.site_couplings, fit.color_couplings, model, fields=fields)
    return n_samples * model.n_sites * excess, n_samples * err**2


@pytest.mark.slow
@pytest.mark.parametrize("fields", [True, False])
def test_simulated_factored_fits(agrees, fields):
    theory = potts.excess_loss_coefficient(PAIR, fields=fields)
    excess, error = np.transpose([fitted(PAIR, number, 1_000_000, fields) for number in range(200)])
    agrees(Estimate.of(excess), theory.coefficient, resolves=0.25)
    agrees(Estimate.of(error), theory.recovery_coefficient, resolves=0.3)


def test_simulated_factored_fits_of_a_small_model(agrees):
    excess, _ = np.transpose([fitted(SMALL, number, 100_000) for number in range(140)])
    agrees(Estimate.of(excess), potts.excess_loss_coefficient(SMALL).coefficient, resolves=0.4)


@pytest.mark.slow
def test_simulated_full_fits(agrees):
    states, p = population(PAIR)
    theory, found = potts.excess_loss_coefficient(PAIR, "symmetric"), []
    for number in range(120):
        counts = stream(0, "full excess", number).multinomial(1_000_000, p)
        kept = counts > 0
        fit = pseudo_likelihood(states[kept], 3, weights=counts[kept], l2=1e-9, field_l2=1e-9, tol=1e-6)
        log_p = fit.model.log_conditionals(states)
        loss = -p @ np.take_along_axis(log_p, states[:, :, None], axis=2)[:, :, 0].sum(axis=1)
        excess = 1_000_000 * (loss - 6 * potts.masked_loss_floor(PAIR))
        found.append((excess, 1_000_000 * full_recovery_error(fit.couplings, PAIR) ** 2))
    excess, error = np.transpose(found)
    agrees(Estimate.of(excess), theory.coefficient, resolves=0.25)
    agrees(Estimate.of(error), theory.recovery_coefficient, resolves=0.25)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((AR1(4, 0.5),), "model must be a record"),
        ((four_body_model(5, 2, 0.5, 1.0),), "model must be a pair model"),
        ((pair_model(30, 3, 0.3, 0.8),), "more than max_states"),
        ((PAIR, "dense"), "parameterization must be one of 'factored', 'symmetric', 'asymmetric', 'full', got 'dense'"),
        ((DensePottsModel.of(SMALL),), "must have factored couplings"),
        ((SMALL.at(0.0),), "must have couplings and beta > 0"),
        ((PottsModel([[0, 1], [1, 0]], np.ones((2, 2))),), "must have couplings and beta > 0"),
        ((SMALL, "full", False), "fields must be True where the fields in the zero-sum gauge differ"),
        ((zero_sum(SMALL), "factored", False), "fields must be True where the fields of the model differ"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        potts.excess_loss_coefficient(*arguments)
