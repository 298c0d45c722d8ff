"""Masked regression along training against numbers of high precision, reached by routes that share no formula."""

import math
from functools import cache

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import quad

from theory import masked
from theory.masked.training import one_pass
from theory.models import (
    AR1,
    Descent,
    Flow,
    GivenSpectrum,
    HeavyBall,
    Isotropic,
    MaskedTraining,
    Nesterov,
    OnePass,
)
from theory.numerics.filters import exponential_poles, flow_filter
from theory.random_matrix.complex_ridge import inverse_diagonal, solve_complex_ridge

INF = math.inf
LEVELS = GivenSpectrum([10.0, 1.0], [0.2, 0.8])
COVARIANCES = {"isotropic": Isotropic(INF), "AR1": AR1(INF, 0.7), "levels": LEVELS}
ALPHAS = (0.5, 1.0, 2.0)
# Test and train errors at alpha = .5, 1, 2, of a contour of 44 nodes in 40 digits with its own effective ridges.
FLOW = {
    ("isotropic", 0.5): (1.1613649938606, 0.26759074751785, 1.1112902685983, 0.52377761180261,
                         1.0655795623968, 0.72625508305943),
    ("isotropic", 5): (1.8170391215116, 0.0065779593237583, 2.0191328708164, 0.17728653406811,
                       1.6062240902456, 0.51645202549214),
    ("isotropic", 50): (1.9999909071436, 6.3775294263012e-11, 5.186804595381, 0.056383663343945,
                        1.9984882448969, 0.5000004472792),
    ("AR1", 0.5): (0.64076793056898, 0.19568800407136, 0.55376417400087, 0.30180228773297,
                   0.50408945181894, 0.37041865233405),
    ("AR1", 5): (0.77059813856751, 0.016302864437749, 0.602489377256, 0.10239310372858,
                 0.47513634517949, 0.20260075952772),
    ("AR1", 50): (0.94794893513666, 2.0918700862632e-6, 1.1998093479912, 0.032942185982231,
                  0.65692957985347, 0.1714452683083),
    ("levels", 0.5): (1.9409469097785, 0.2389451908137, 1.6115070841383, 0.57215868831107,
                      1.420496808709, 0.84800060706959),
    ("levels", 5): (2.7613710061181, 0.0033025101874083, 2.7850158081376, 0.19568232944908,
                    2.0372101816768, 0.62485027289931),
    ("levels", 50): (2.9162486126524, 2.1051073624549e-13, 7.042369231966, 0.062262489768171,
                     2.4382446875267, 0.60975621853096),
}  # fmt: skip
# Of AR(1) .7 at alpha = .5 and 2, by two contours.
OPTIMIZERS = {
    Descent(0.03, 300): (0.842432132119, 0.005059762647, 0.515146605320, 0.186498726097),
    Nesterov(0.03, 40): (0.865213531564, 0.006260964500, 0.518950594301, 0.189353370835),
    HeavyBall(0.03, 40, 0.8): (0.802988783398, 0.011459799386, 0.488240244768, 0.197195124973),
}
# AR(1) .6 at d = 50: alpha, time, lam; errors of coordinates 0 and 25, their mean, mean train; means of exact_size.
FINITE = {
    (0.5, 2, 0.0): (1.163106230636, 0.899331096694, 0.910175597917, 0.055730716318, 0.906445922920, 0.058300710754),
    (1.0, 2, 0.0): (0.979907874116, 0.736466347037, 0.746051484419, 0.189650034265, 0.742773569642, 0.193221593546),
    (2.0, 20, 0.0): (1.150766600695, 0.846266222782, 0.858437100219, 0.241223056019, 0.848927328257, 0.245719534004),
    (1.0, 20, 0.1): (1.206035693122, 0.895375633340, 0.907686089783, 0.110086275170, 0.902847010004, 0.114197176706),
}
# One pass over AR(1) .7: alpha, step.
ONE_PASS = {
    (1, 0.2): 0.6391568676, (1, 0.5): 0.5754580432, (1, 1.0): 0.7133507883,
    (4, 0.2): 0.4474402748, (4, 0.5): 0.4735603313, (4, 1.0): 0.68027553318,
}  # fmt: skip


@pytest.mark.parametrize(("name", "time"), FLOW)
def test_gradient_flow(name, time):
    for i, alpha in enumerate(ALPHAS):
        found = masked.solve(MaskedTraining(COVARIANCES[name], alpha, Flow(time)))
        test, train = FLOW[name, time][2 * i : 2 * i + 2]
        assert found.mean_test_error == pytest.approx(test, rel=1e-11)
        assert found.mean_train_error == pytest.approx(train, rel=1e-11, abs=3e-12)
        assert found.filter_error < 1e-12
        assert found.converged


def test_gradient_flow_with_a_ridge():
    found = masked.solve(MaskedTraining(AR1(INF, 0.7), 1.0, Flow(5), lam=0.05))
    assert found.mean_test_error == pytest.approx(0.57974358542884, rel=1e-11)
    assert found.mean_train_error == pytest.approx(0.1112565662936, rel=1e-11)


@pytest.mark.parametrize("training", OPTIMIZERS)
def test_descent_and_momentum(training):
    values = OPTIMIZERS[training]
    for alpha, test, train in ((0.5, *values[:2]), (2.0, *values[2:])):
        found = masked.solve(MaskedTraining(AR1(INF, 0.7), alpha, training))
        assert found.mean_test_error == pytest.approx(test, abs=1e-11)
        assert found.mean_train_error == pytest.approx(train, abs=1e-11)


@pytest.mark.parametrize(("alpha", "time", "lam"), FINITE)
def test_every_coordinate_of_a_finite_chain(alpha, time, lam):
    model = MaskedTraining(AR1(50, 0.6), alpha, Flow(time), lam)
    found, exact = masked.solve(model), masked.solve(model, exact_size=True)
    values = (found.test_error[0], found.test_error[25], found.mean_test_error, found.mean_train_error)
    values += (exact.mean_test_error, exact.mean_train_error)
    np.testing.assert_allclose(values, FINITE[alpha, time, lam], rtol=2e-11)


@pytest.mark.parametrize(("alpha", "step"), ONE_PASS)
def test_one_pass(alpha, step):
    found = masked.solve(MaskedTraining(AR1(INF, 0.7), alpha, OnePass(step)))
    assert found.mean_test_error == pytest.approx(ONE_PASS[alpha, step], abs=1e-10)
    assert abs(found.mean_test_error - ONE_PASS[alpha, step]) <= found.residual * found.mean_test_error + 1e-10


def test_one_pass_with_a_finer_quadrature(monkeypatch):
    model = MaskedTraining(AR1(INF, 0.7), 4.0, OnePass(1.0))
    monkeypatch.setattr(one_pass, "POINTS", (4000,))
    assert masked.solve(model).mean_test_error == pytest.approx(0.68027553318, abs=2e-11)


def test_one_pass_in_the_end():
    """The error settles at sigma_k^2/(1 - step tr Sigma/2d), where the residual steps keep it."""
    step = 0.5
    found = masked.solve(MaskedTraining(AR1(INF, 0.7), 60.0, OnePass(step)))
    assert found.mean_test_error == pytest.approx((1 - 0.49) / (1 + 0.49) / (1 - step / 2), rel=1e-4)


def marchenko_pastur(alpha, function):
    """The mean of a function over the nonzero part of the law of X'X/n, for independent entries of unit variance."""
    gamma = 1 / alpha
    low, high = (1 - math.sqrt(gamma)) ** 2, (1 + math.sqrt(gamma)) ** 2

    def integrand(angle):
        s = (low + high) / 2 - (high - low) / 2 * math.cos(angle)
        return function(s) * ((high - low) / 2 * math.sin(angle)) ** 2 / (2 * math.pi * gamma * s)

    return quad(integrand, 0, math.pi, epsabs=1e-13, epsrel=1e-13, limit=200)[0]


@pytest.mark.parametrize("alpha", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("time", [0.2, 3.0, 20.0])
def test_independent_coordinates_by_the_density_of_the_spectrum(alpha, time):
    """Nothing can be learned: the error is 1 + |a|^2, with E|a|^2 = (d/n) int (1 - e^-ts)^2/s."""
    found = masked.solve(MaskedTraining(Isotropic(INF), alpha, Flow(time)))
    norm = marchenko_pastur(alpha, lambda s: math.expm1(-time * s) ** 2 / s) / alpha
    left = max(0.0, 1 - 1 / alpha) + marchenko_pastur(alpha, lambda s: math.exp(-2 * time * s)) / alpha
    assert found.mean_test_error == pytest.approx(1 + norm, rel=1e-11)
    assert found.mean_train_error == pytest.approx(left, abs=1e-11)


@cache
def talbot(n):
    """Nodes z and weights c with e^x = 2 Re sum c/(z - x) for x <= 0: a contour of n pairs in the working precision."""
    step = mp.pi / n
    nodes, weights = [], []
    for j in range(n):
        theta = (j + mp.mpf(1) / 2) * step
        scaled = mp.mpf("0.6407") * theta
        z = 2 * n * (mp.mpf("0.5017") * theta * mp.cot(scaled) - mp.mpf("0.6122") + 1j * mp.mpf("0.2645") * theta)
        slope = mp.mpf("0.5017") * (mp.cot(scaled) - scaled * mp.csc(scaled) ** 2) + 1j * mp.mpf("0.2645")
        nodes.append(z)
        weights.append(mp.exp(z) * 2 * n * slope * step / (2 * mp.pi * 1j))
    return nodes, weights


def in_forty_digits(levels, shares, alpha, time):
    """Test and train error of a homogeneous Sigma with two levels, by Talbot's contour and the cubic's own root."""
    with mp.workdps(50):
        a, b = map(mp.mpf, levels)
        f, g = map(mp.mpf, shares)
        alpha, time = mp.mpf(alpha), mp.mpf(time)
        nodes, weights = talbot(36)
        found = []
        for z, c in zip(nodes, weights, strict=True):
            L = z / time
            # L (a + k)(b + k) = k ((a + k)(b + k) - (f a (b + k) + g b (a + k))/alpha)
            cubic = [1, a + b - (f * a + g * b) / alpha - L, a * b * (1 - 1 / alpha) - L * (a + b), -L * a * b]
            roots = mp.polyroots(cubic, maxsteps=200, extraprec=200)
            (kappa,) = [root for root in roots if root.imag * L.imag > 0]
            inverse = 1 / (f / (a + kappa) + g / (b + kappa))
            covered = (f * a / (a + kappa) ** 2 + g * b / (b + kappa) ** 2) * inverse**2
            slope = 1 - (f * a**2 / (a + kappa) ** 2 + g * b**2 / (b + kappa) ** 2) / alpha
            found.append((L, c / z, kappa, inverse, covered / slope))
        found += [tuple(map(mp.conj, one)) for one in found]
        test = train = mp.mpf(0)
        for i, (L, w, kappa, inverse, own) in enumerate(found):
            for j, (L2, w2, kappa2, inverse2, _) in enumerate(found):
                error = own if i == j else (kappa * inverse2 - kappa2 * inverse) / (L - L2)
                test += (w * w2 * error).real
                train += (w * w2 * error * L * L2 / (kappa * kappa2)).real
        return test, train


@pytest.mark.parametrize(("alpha", "time"), [(0.5, 5), (1.0, 50)])
def test_two_levels_in_forty_digits(alpha, time):
    test, train = in_forty_digits((10, 1), ("0.2", "0.8"), alpha, time)
    found = masked.solve(MaskedTraining(LEVELS, alpha, Flow(time)))
    # What the result says of its own rounding, about 1e-11, must cover it: 1.1e-12 with one LAPACK, less with another.
    assert found.mean_test_error == pytest.approx(float(test), rel=found.rounding)
    assert found.rounding < 2e-11
    assert found.mean_train_error == pytest.approx(float(train), abs=1e-12)
    i = 2 * ALPHAS.index(alpha)
    assert float(test) == pytest.approx(FLOW["levels", time][i], rel=3e-14)


@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_the_train_error_is_one_sum_at_twice_the_time(alpha):
    """Since d train/dt = -2 |gradient|^2, the train error at t is sum_j w_j (L/(kappa r) - L) at 2t."""
    covariance, time = AR1(30, 0.6), 1.5
    spectrum = covariance.spectrum
    doubled = flow_filter(2 * time)
    kappa = solve_complex_ridge(spectrum, alpha, doubled.ridges).value
    h = doubled.ridges[:, None] * inverse_diagonal(spectrum, kappa) / kappa[:, None]
    single = 2 * (doubled.weights @ (h - doubled.ridges[:, None])).real
    found = masked.solve(MaskedTraining(covariance, alpha, Flow(time)))
    np.testing.assert_allclose(found.train_error, single, atol=3e-12)


def test_growth_without_end_at_as_many_rows_as_coordinates():
    """E grows as c sigma_k^2 sqrt(t/tau), tau = tr Sigma^-1/d, c = 2(2 - sqrt 2)/sqrt pi: 1.32 times the ridge 1/t."""
    constant = 2 * (2 - math.sqrt(2)) / math.sqrt(math.pi)
    assert constant == pytest.approx(0.660989212585, abs=1e-12)
    for time, ratio, chain in ((1e2, 1.0770, 1.195), (1e4, 1.0076, 1.0187)):
        found = masked.solve(MaskedTraining(Isotropic(INF), 1.0, Flow(time)))
        assert found.mean_test_error / (constant * math.sqrt(time)) == pytest.approx(ratio, abs=1e-4)
        found = masked.solve(MaskedTraining(AR1(INF, 0.7), 1.0, Flow(time)))
        # The conditional variance of the chain is .51/1.49, which is also 1/tau.
        late = constant * (0.51 / 1.49) ** 1.5 * math.sqrt(time)
        assert found.mean_test_error / late == pytest.approx(chain, abs=6e-4)


def test_the_best_time_alone_and_with_a_ridge():
    chain = AR1(INF, 0.6)
    alone, both = masked.best_time(chain, 2.0), masked.best_time(chain, 2.0, with_ridge=True)
    assert alone.mean_test_error == pytest.approx(0.60754, abs=6e-6)
    assert both.mean_test_error == pytest.approx(0.60604, abs=6e-6)
    assert both.time == pytest.approx(1.8, abs=0.06)
    assert both.lam == pytest.approx(0.26, abs=0.006)
    ridge = masked.optimal_ridge(chain, 2.0).mean_test_error
    assert alone.mean_test_error / ridge == pytest.approx(0.9980, abs=6e-5)
    assert both.mean_test_error < ridge


# Best time over best ridge at alpha = .2, .5, 1, 2, 5.
STOP_OR_RIDGE = {
    AR1(INF, 0.3): (1.0000, 1.0001, 1.0003, 1.0006, 1.0004),
    AR1(INF, 0.95): (1.0029, 1.0002, 0.9961, 0.9935, 0.9941),
    GivenSpectrum([10.0, 1.0], [0.05, 0.95]): (0.9934, 0.9851, 0.9809, 0.9803, 0.9835),
    GivenSpectrum([10.0, 1.0], [0.5, 0.5]): (1.0040, 1.0295, 1.0281, 0.9875, 0.9776),
}


@pytest.mark.parametrize("covariance", STOP_OR_RIDGE, ids=repr)
def test_stopping_beside_the_best_ridge(covariance):
    for alpha, ratio in zip((0.2, 0.5, 1.0, 2.0, 5.0), STOP_OR_RIDGE[covariance], strict=True):
        best, ridge = masked.best_time(covariance, alpha), masked.optimal_ridge(covariance, alpha)
        assert best.mean_test_error / ridge.mean_test_error == pytest.approx(ratio, abs=6e-5)


def test_fewer_poles_lose_digits():
    zeta, _ = exponential_poles(8)
    assert len(zeta) == 4
    assert flow_filter(5.0, 8).error == pytest.approx(2e-8, rel=0.5)
