"""Tables with holes: numbers of 30 digits, other routes to the same formulas, and closed forms."""

import math

import mpmath as mp
import numpy as np
import pytest

from tests.masked.holes_draws import ring
from theory import masked
from theory.masked.holes.columns import DensePencil
from theory.masked.holes.estimators import Estimator
from theory.models import (
    AR1,
    Dropout,
    Empirical,
    GaussianFreeField,
    Isotropic,
    MissingEntries,
    PointScales,
    RandomMasks,
    Scaled,
    TwoLevel,
)

INF = math.inf
TWO = PointScales([0.2, 3.4], [0.75, 0.25])

# AR(1), d = infinity: n/d, lam, p, correlation, effective ridge and error at holes; mpmath, 30 digits, as `twin` below.
OWN_ROWS = [
    (0.5, 0.05, 0.2, 0.7, 0.9198639616968, 0.8992658125301),
    (1, 0.01, 0.2, 0.7, 0.1563882866003, 1.52151129282),
    (2, 0.05, 0.05, 0.7, 0.08809263146017, 0.5738467221513),
    (2, 0.05, 0.5, 0.7, 0.1696418669436, 1.145585416541),
    (10, 0.001, 0.5, 0.7, 0.001249000635427, 0.6931225518029),
    (1, 0.1, 0.2, 0.9, 0.2890824343936, 0.3060805491341),
]
PAIRWISE = [  # error on complete rows
    (0.5, 0.6, 0.05, 0.7, 0.6701292209292),
    (1, 0.75, 0.2, 0.7, 0.6333575007464),
    (2, 0.7, 0.2, 0.7, 0.5268385959379),
    (10, 0.2, 0.2, 0.7, 0.4112097396241),
    (2, 1.9, 0.5, 0.7, 0.6661783472479),
    (10, 0.8, 0.5, 0.9, 0.2073800139729),
]


def own(covariance, alpha, lam, p, **more):
    return MissingEntries(covariance, alpha, lam, p, **more)


def pairwise(covariance, alpha, lam, p, **more):
    return MissingEntries(covariance, alpha, lam, p, "pairwise", "complete", **more)


@pytest.mark.parametrize(("alpha", "lam", "p", "r", "kappa", "error"), OWN_ROWS)
def test_own_rows_have_their_reference_values_and_are_one_random_mask(alpha, lam, p, r, kappa, error):
    found = masked.solve(own(AR1(INF, r), alpha, lam, p))
    assert found.effective_ridge == pytest.approx(kappa, rel=1e-12)
    assert found.mean_test_error == pytest.approx(error, rel=1e-12)
    one_mask = masked.solve(RandomMasks(AR1(INF, r), alpha * (1 - p) / p, lam, p, n_masks=1))
    assert found.mean_test_error == pytest.approx(one_mask.mean_test_error, rel=4e-15)
    assert found.converged
    assert found.residual < 1e-14
    assert found.least_ridge == 0


@pytest.mark.parametrize(("alpha", "lam", "p", "r", "error"), PAIRWISE)
def test_pairwise_covariances_have_their_reference_values(alpha, lam, p, r, error):
    found = masked.solve(pairwise(AR1(INF, r), alpha, lam, p))
    assert found.mean_test_error == pytest.approx(error, rel=1e-12)
    assert found.least_ridge < lam
    same = masked.solve(pairwise(ring(200, r), alpha, lam, p))
    assert same.mean_test_error == pytest.approx(error, rel=1e-9)
    other_units = masked.solve(pairwise(Empirical(9 * ring(20, r).matrix), alpha, 9 * lam, p))
    assert other_units.mean_test_error == pytest.approx(
        9 * masked.solve(pairwise(ring(20, r), alpha, lam, p)).mean_test_error
    )


@pytest.mark.parametrize(
    "covariance", [Scaled(AR1(9, 0.6), np.linspace(0.5, 2, 9)), AR1(9, 0.6), TwoLevel(10), TwoLevel(INF)]
)
def test_own_rows_of_unequal_columns_are_one_random_mask(covariance):
    one_mask = masked.solve(RandomMasks(covariance, 3.0 * 0.7 / 0.3, 0.1, 0.3, n_masks=1))
    found = masked.solve(own(covariance, 3.0, 0.1, 0.3))
    np.testing.assert_allclose(found.test_error, one_mask.test_error, rtol=1e-13)


def twin(M, B, L, N, laws):
    """The error of the last column: rows of covariance M beside the ridge L of its inputs, tested by the form B.

    In numbers of 25 digits, by the plain iteration from infinitely many rows.
    """
    inputs, tested, cross = (mp.matrix(A.tolist()) for A in (M[:-1, :-1], B[:-1, :-1], M[:-1, -1:]))
    M, B, L = mp.matrix(M.tolist()), mp.matrix(B.tolist()), mp.diag(L.tolist())

    def trace(A):
        return mp.fsum(A[i, i] for i in range(A.rows)) / N

    leverage, before = mp.mpf(0), mp.mpf(1)
    while abs(leverage - before) > mp.mpf(10) ** -23:
        g = mp.fsum(w * t / (1 + t * leverage) for t, w in laws)
        Q = (g * inputs + L) ** -1
        before, leverage = leverage, trace(inputs * Q)
    g2 = mp.fsum(w * (t / (1 + t * leverage)) ** 2 for t, w in laws)
    u = trace(inputs * Q * tested * Q) / (1 - g2 * trace(inputs * Q * inputs * Q))
    v = mp.matrix([*(-g * Q * cross), 1])
    return float((v.T * B * v)[0] + u * g2 * (v.T * M * v)[0])


@pytest.mark.parametrize("rows", [((1, 1),), ((0.2, 0.75), (3.4, 0.25))])
@pytest.mark.parametrize("kind", ["holes", "complete", "as fitted", "pairwise"])
def test_unequal_columns_and_rates_meet_the_formula_in_its_own_units(kind, rows):
    """At exact size; the library works in units in which no rate of a single column stands."""
    Sigma, p = Scaled(AR1(5, 0.6), [1.0, 2.0, 0.5, 1.5, 0.8]).matrix, np.array([0.1, 0.4, 0.0, 0.2, 0.3])
    q, n, law = 1 - p, 15, PointScales(*zip(*rows, strict=True))
    more = {"row_scales": law, "rows": "holes" if kind == "holes" else "complete", "rescaled": kind != "as fitted"}
    lam, method = (6.0, "pairwise") if kind == "pairwise" else (0.1, "own_rows")
    found = masked.solve(MissingEntries(Empirical(Sigma), n / 5, lam, p, method, **more), exact_size=True)
    T = np.outer(q, q) * Sigma
    np.fill_diagonal(T, q * np.diagonal(Sigma))
    for k in range(5):
        order = [*(j for j in range(5) if j != k), k]
        if kind == "pairwise":  # all rows, with the zeros of column k; weights q_j/q_k on complete ones
            M, B, N = T, np.outer(q / q[k], q / q[k]) * Sigma, n
            L = lam * q**2 - p * q * np.diagonal(Sigma)
        else:  # the rows that have x_k
            f = np.where(np.arange(5) == k, 1.0, q)
            M, N, L = np.outer(f, f) * Sigma, n * q[k], np.full(5, lam)
            M[np.diag_indices(5)] = f * np.diagonal(Sigma)
            shown = {"holes": f, "complete": f, "as fitted": np.ones(5)}[kind]
            B = M if kind == "holes" else np.outer(shown, shown) * Sigma
        with mp.workdps(25):
            expected = twin(M[np.ix_(order, order)], B[np.ix_(order, order)], L[order[:-1]], N, rows)
        assert found.test_error[k] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("law", [PointScales([1.0]), TWO])
@pytest.mark.parametrize("rows", ["holes", "complete", "as fitted", "table"])
def test_dropout_meets_its_equations_written_out(rows, law):
    """With a mask and a matrix for every kind of row, and the plain iteration."""
    Sigma, d, n, lam = Scaled(AR1(5, 0.7), [1.0, 2.0, 0.5, 1.5, 0.8]).matrix, 5, 20, 0.2
    kinds, k = Dropout([1.0, 0.9, 0.9, 0.6, 0.3]), 3
    more = {"rows": "complete", "rescaled": False} if rows == "as fitted" else {"rows": rows}
    found = masked.solve(MissingEntries(Empirical(Sigma), n / d, lam, kinds, row_scales=law, **more))
    q, others = 0.6, [0, 1, 2, 4]
    after = [(length, share / q) for length, share in zip(kinds.lengths, kinds.shares, strict=True) if length > k]
    before = [(length, share / 0.4) for length, share in zip(kinds.lengths, kinds.shares, strict=True) if length <= k]

    def mean(kinds_of_rows, weights, factors=1.0):
        """The weighted sum of the covariances of rows that show the first so many columns, and k."""
        total = np.zeros((d, d))
        for (length, _), weight in zip(kinds_of_rows, weights, strict=True):
            shown = np.where(np.arange(d) < length, factors, 0.0)
            shown[k] = 1.0
            total += weight * np.outer(shown, shown) * Sigma
        return total

    w, inputs = np.array([share for _, share in after]), np.ix_(others, others)
    M = [mean([kind], [1.0])[inputs] for kind in after]
    leverages = np.zeros(len(after))
    for _ in range(400):
        g = np.array([law.probabilities @ (law.nodes / (1 + law.nodes * one)) for one in leverages])
        Q = np.linalg.inv(mean(after, w * g)[inputs] + lam * np.eye(4))
        leverages = np.array([np.trace(one @ Q) for one in M]) / (n * q)
    g2 = np.array([law.probabilities @ (law.nodes / (1 + law.nodes * one)) ** 2 for one in leverages])
    shares = {"complete": np.array([1, 1, 1, 1, 0.5]), "as fitted": np.ones(5)}
    B = mean(after, w) if rows == "holes" else mean(before, [share for _, share in before])
    if rows in shares:
        B = mean([(d, 1.0)], [1.0], shares[rows])
    v = np.ones(d)
    v[others] = -Q @ mean(after, w * g)[others, k]
    once = np.array([np.trace(one @ Q @ B[inputs] @ Q) for one in M]) / (n * q)
    twice = np.array([[np.trace(one @ Q @ two @ Q) for two in M] for one in M]) / (n * q)
    u = np.linalg.solve(np.eye(len(w)) - twice * (w * g2), once)
    assert found.test_error[k] == pytest.approx(v @ B @ v + v @ mean(after, w * g2 * u) @ v, rel=1e-11)
    assert found.effective_ridge[k] == pytest.approx(lam / (w @ g), rel=1e-11)
    if rows == "table":
        assert np.isnan(found.test_error[0])


@pytest.mark.parametrize("law", [PointScales([1.0]), TWO])
def test_the_limit_is_that_of_long_rings(law):
    for model in (own(AR1(INF, 0.7), 2.0, 0.1, 0.3), pairwise(AR1(INF, 0.7), 2.0, 1.5, 0.3)):
        for rows in ("holes", "complete")[model.method == "pairwise" :]:
            limit, long = (
                masked.solve(MissingEntries(c, 2.0, model.lam, 0.3, model.method, rows, row_scales=law))
                for c in (AR1(INF, 0.7), ring(60, 0.7))
            )
            assert long.mean_test_error == pytest.approx(limit.mean_test_error, rel=1e-8)
            exact = [
                masked.solve(
                    MissingEntries(ring(d, 0.7), 2.0, model.lam, 0.3, model.method, rows, row_scales=law),
                    exact_size=True,
                )
                for d in (10, 20, 40)
            ]
            gaps = [abs(one.mean_test_error / limit.mean_test_error - 1) for one in exact]
            assert gaps[0] > 1.6 * gaps[1] > 2.5 * gaps[2]


@pytest.mark.parametrize("law", [PointScales([1.0]), TWO])
@pytest.mark.parametrize("method", ["own_rows", "pairwise"])
def test_matrices_and_modes_are_two_routes(method, law):
    """A torus, and the same matrix of which nothing is known."""
    covariance, unequal = GaussianFreeField(25, 0.7, dimension=2), np.append(np.full(24, 0.2), 0.2 + 1e-13)
    for rows in ("holes", "complete")[method == "pairwise" :]:
        for exact in (False, True):
            a, b = (
                masked.solve(MissingEntries(c, 1.5, 0.4, rates, method, rows, row_scales=law), exact_size=exact)
                for c, rates in (
                    (covariance, 0.2),
                    (Empirical(covariance.matrix), unequal),
                )
            )
            np.testing.assert_allclose(a.test_error, b.test_error, rtol=1e-9)
            assert a.least_ridge == pytest.approx(b.least_ridge, rel=1e-9)
            assert a.effective_ridge == pytest.approx(np.mean(b.effective_ridge), rel=1e-9)
    if method == "own_rows":
        more = {"rows": "complete", "rescaled": False, "row_scales": law}
        a, b = (masked.solve(MissingEntries(covariance, 1.5, 0.4, p, **more)) for p in (0.2, unequal))
        np.testing.assert_allclose(a.test_error, b.test_error, rtol=1e-9)


@pytest.mark.parametrize("p", [0.05, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("ratio", [0.1, 0.7, 1.0, 1.5, 20.0])
def test_the_least_ridge_of_independent_columns_is_a_shifted_law_of_marchenko_and_pastur(ratio, p):
    """The edge that Jurczak and Rohde prove for S and n > d (arXiv:1507.01615); for n <= d it is p/q, whatever n."""
    law = (p - max(0.0, 1 - math.sqrt(ratio)) ** 2) / (1 - p)
    found = masked.solve(pairwise(Isotropic(INF), 1 / ratio, law + 1.0 + p / (1 - p), p))
    assert found.least_ridge == pytest.approx(law, abs=1e-8)
    units = masked.solve(pairwise(Isotropic(INF, 4.0), 1 / ratio, 4 * (law + 1.0 + p / (1 - p)), p))
    assert units.least_ridge == pytest.approx(4 * law, abs=1e-8)


@pytest.mark.parametrize("alpha", [2.0, 3.0, 6.0])
@pytest.mark.parametrize("rates", [0.4, [0.05, 0.6, 0.3, 0.5, 0.2, 0.0, 0.7, 0.1]])
@pytest.mark.parametrize("law", [PointScales([1.0]), TWO])
def test_the_equations_end_at_the_least_ridge(alpha, rates, law):
    covariance = Scaled(AR1(16, 0.6), np.tile([1.0, 1.3], 8))
    rates = np.tile(rates, 2) if np.ndim(rates) else rates

    def at(lam):
        return masked.solve(MissingEntries(covariance, alpha, lam, rates, "pairwise", "complete", row_scales=law))

    least = at(30.0).least_ridge
    assert least > 0
    near = [at(least * (1 + gap)).mean_test_error for gap in (1e-7, 1e-5, 1e-3, 0.1)]
    assert near == sorted(near, reverse=True)
    with pytest.raises(
        ValueError, match=rf"lam must exceed the least ridge {least:.6g} of the pairwise estimator, got"
    ):
        at(least * (1 - 1e-7))


def test_the_pairwise_predictor_is_that_of_the_population_at_its_effective_ridge():
    model = pairwise(AR1(5, 0.6), 4.0, 1.5, [0.1, 0.4, 0.0, 0.2, 0.3])
    of = Estimator.of(model)
    at = DensePencil.of(of.signal, of.ridge).at(model.n, of.law)
    Q = np.linalg.inv(model.covariance.matrix + np.diag(masked.solve(model).effective_ridge))
    for k in range(5):
        np.testing.assert_allclose(at.form_of_input(k), Q[k] / Q[k, k], atol=1e-12)
