"""Trained biases that only a tail of the samples decides: hinge loss with a large ridge."""

import dataclasses
import math
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from theory import glm
from theory.glm.classification import fresh_loss, optimal_ridge, optimum
from theory.models import Cluster, GaussianMixture, GeneralizedLinearModel, Modes, TeacherMixture
from theory.numerics import ConvergenceError

SHARES, VARIANCES, GRAM, ALPHA = np.array([0.6, 0.4]), np.array([[0.5, 1.5], [0.8, 0.2]]), np.array([0.6, 0.4]), 2.0
CORNERED = glm.ConvexMargin(
    lambda t: np.maximum(1 - t, 0), derivative=lambda t: np.where(t < 1, -1.0, 0.0), kinks=(1.0,), name="cornered"
)


def flipped_pair(lam, loss="hinge", alpha=ALPHA):
    """Two clusters +-mu, each with its own covariance; a twentieth of the labels are flipped."""
    clusters = [
        Cluster(
            probability=share / 2,
            labels="cluster",
            label=int(y * flip),
            covariance=int(y < 0),
            mean_signal=0,
            mean_sign=float(y),
        )
        for y in (1, -1)
        for flip, share in ((1, 0.95), (-1, 0.05))
    ]
    modes = Modes(SHARES, VARIANCES, GRAM[None, None])
    return GeneralizedLinearModel(modes=modes, clusters=clusters, alpha=alpha, loss=loss, lam=lam, bias=True)


def mixture(lam, loss="hinge"):
    """The same as a mixture of four clusters."""
    signs = np.array([1, 1, -1, -1.0])
    modes = Modes(SHARES, VARIANCES[[0, 0, 1, 1]], np.einsum("a,b,m->abm", signs, signs, GRAM))
    return GaussianMixture(
        modes=modes, probabilities=(0.475, 0.025, 0.475, 0.025), labels=(1, -1, -1, 1), alpha=ALPHA, lam=lam,
        loss=loss, bias=True,
    )  # fmt: skip


def balance_in_many_digits(lam):
    """Bias, error and log10 of the share, where all forces are 1: explicit overlaps, and the tails at 60 digits."""
    with mpmath.workdps(60):
        gap = mpmath.mpf("0.9")  # mean of y times the sign of the cluster
        V = [mpmath.mpf(float(SHARES @ om)) / lam for om in VARIANCES]
        # Vhat = 0, rhat = alpha E[y sign], qhat_c = alpha p_c, and G = 1/lam.
        modes = zip(SHARES, *VARIANCES, GRAM, strict=True)
        core = [ALPHA / 2 * s * (a + b) + (ALPHA * gap) ** 2 * g for s, a, b, g in modes]
        q = [mpmath.fsum(om * c for om, c in zip(row, core, strict=True)) / lam**2 for row in VARIANCES]
        r = ALPHA * gap * mpmath.mpf(float(GRAM.sum())) / lam

        def lost(mean, s, V):
            """E min((t - 1 + V)_+/V, 1) of t normal."""

            def over(a):  # E (z - a)_+
                return mpmath.npdf(a) - a * mpmath.ncdf(-a)

            return s / V * (over((1 - V - mean) / s) - over((1 - mean) / s))

        def sums(b):
            found = {1: mpmath.mpf(0), -1: mpmath.mpf(0)}
            for c, side in ((0, 1), (1, -1)):
                for y, share in ((side, "0.475"), (-side, "0.025")):
                    found[y] += mpmath.mpf(share) * lost(y * (b + side * r), mpmath.sqrt(q[c]), V[c])
            return found[1], found[-1]

        b = mpmath.findroot(lambda b: mpmath.log(sums(b)[0] / sums(b)[1]), (-0.9, 0.9), solver="anderson", tol=1e-40)
        wrong = sum(
            mpmath.mpf(share) * mpmath.ncdf(-y * (b + side * r) / mpmath.sqrt(q[c]))
            for c, side in ((0, 1), (1, -1))
            for y, share in ((side, "0.475"), (-side, "0.025"))
        )
        return float(b), float(wrong), float(mpmath.log10(sum(sums(b))))


# lam: error, by the balance of both tails at 60 digits (`balance_in_many_digits` for 20 to 50).
ERRORS = {20: 0.305855, 30: 0.297578, 50: 0.290674, 100: 0.285579, 1e3: 0.281085, 1e4: 0.280641}


@pytest.mark.parametrize("lam", ERRORS)
def test_the_balance_of_tails(lam):
    point = glm.solve(flipped_pair(lam))
    assert point.converged
    assert point.test_error == pytest.approx(ERRORS[lam], abs=6e-7)
    assert not point.bias_determined


@pytest.mark.parametrize("lam", [20, 30, 50])
def test_the_balance_at_sixty_digits(lam):
    point = glm.solve(flipped_pair(lam))
    bias, error, log_share = balance_in_many_digits(lam)
    assert point.bias[0] == pytest.approx(bias, rel=1e-9)
    assert point.test_error == pytest.approx(error, rel=1e-9)
    assert point.bias_share[0] == pytest.approx(log_share, abs=1e-6)


def test_the_answer_does_not_depend_on_the_start():
    """From ridges on both sides, and as a mixture of four clusters."""
    expected = glm.solve(flipped_pair(30.0))
    for other in (2.0, 20.0, 50.0, 1e4):
        point = glm.solve(flipped_pair(30.0), start=glm.solve(flipped_pair(other)))
        assert point.bias == pytest.approx(expected.bias, rel=1e-11)
    curve = glm.learning_curve(flipped_pair(1.0), [ALPHA], [10.0, 20.0, 30.0])
    assert curve.test_error[-1, 0] == pytest.approx(expected.test_error, rel=1e-11)
    assert glm.solve(mixture(30.0)).test_error == pytest.approx(expected.test_error, rel=1e-9)


def test_the_bias_is_continuous_where_the_balance_takes_over():
    """Near lam = 9 one in 1e4 of the forces responds."""
    lams = np.linspace(7.0, 12.0, 11)
    biases = np.array([glm.solve(flipped_pair(float(lam))).bias[0] for lam in lams])
    assert abs(np.diff(biases, 4)).max() < 2e-4
    shares = [glm.solve(flipped_pair(float(lam))).bias_share[0] for lam in (5.0, 8.0, 10.0)]
    # Half of it is 10^-1.52 and 10^-3.41 in the balance of both labels.
    assert shares[:2] == pytest.approx([-1.52 + math.log10(2), -3.41 + math.log10(2)], abs=0.3)
    assert glm.solve(flipped_pair(8.0)).bias_determined


@pytest.mark.parametrize("lam", [20.0, 1e3])
def test_an_own_loss_has_the_same_bias(lam):
    own, known = glm.solve(flipped_pair(lam, CORNERED)), glm.solve(flipped_pair(lam))
    assert own.bias == pytest.approx(known.bias, rel=1e-5)
    assert own.test_error == pytest.approx(known.test_error, rel=1e-6)


def test_a_loss_with_a_rounded_corner():
    """Huber's loss of 1 - t is straight below its corner at t = 0: its force differs from 1 for 0 < t < 1 only."""
    rounded = glm.ConvexMargin(
        lambda t: np.where(t < 0, 0.5 - t, np.maximum(1 - t, 0) ** 2 / 2),
        derivative=lambda t: -np.clip(1 - t, 0, 1),
        kinks=(0.0, 1.0),
    )
    point = glm.solve(flipped_pair(100.0, rounded))
    assert point.converged
    start = glm.solve(flipped_pair(20.0, rounded))
    assert glm.solve(flipped_pair(100.0, rounded), start=start).bias == pytest.approx(point.bias, abs=1e-8)


@pytest.mark.parametrize("loss", ["logistic", "square"])
def test_losses_that_are_nowhere_straight_decide_their_bias(loss):
    """The error tends to .1966923381 for both, where w = sum y x/sqrt(p) in units of the ridge."""
    point = glm.solve(flipped_pair(1e4, loss))
    assert point.bias_share[0] == 0
    assert point.bias_determined
    assert point.test_error == pytest.approx(0.1966923381, abs=3e-6)


@pytest.mark.parametrize("loss", ["hinge", "logistic", "square"])
def test_unequal_labels_decide_their_bias(loss):
    """With few of one label the rule of a large ridge gives all samples the other."""
    model = GaussianMixture.opposite(alpha=2.0, lam=1e4, loss=loss, probability=0.3, variances=0.5)
    point = glm.solve(model)
    assert point.test_error == pytest.approx(0.3, abs=1e-9)
    assert glm.solve(model, start=glm.solve(dataclasses.replace(model, lam=5.0))).bias == pytest.approx(point.bias)


def test_labels_of_a_teacher():
    """The teachers' means make both labels equally frequent; in the tails the label's law depends on the field."""
    share, first = 0.35, 0.3
    t = [first, float(ndtri(0.5 - share * (ndtr(first) - 0.5) / (1 - share)))]
    clusters = [
        Cluster(probability=p, covariance=c, teacher_signal=c, teacher_variance=1.0, teacher_mean=mean)
        for c, (p, mean) in enumerate(zip((share, 1 - share), t, strict=True))
    ]
    gram = np.array([[0.6, 0.2], [0.2, 0.9]])[:, :, None]
    modes = Modes([1.0], [[1.0], [1.3]], gram)

    def model(lam):
        return GeneralizedLinearModel(modes=modes, clusters=clusters, alpha=2.0, loss="hinge", lam=lam, bias=True)

    point = glm.solve(model(40.0))
    assert point.bias_share[0] < -20
    lost = {}
    for c, cluster in enumerate(clusters):
        V, q, r = (mpmath.mpf(float(part[c])) for part in (point.V, point.q, point.r))
        s, b = mpmath.sqrt(q), mpmath.mpf(float(point.bias[0]))
        tilt = r / s
        width = mpmath.sqrt(1 - tilt**2)
        for y in (1, -1):

            def integrand(u, y=y, c=c, s=s, V=V, tilt=tilt, width=width, b=b):
                z = y * u
                chance = mpmath.ncdf(y * (t[c] + tilt * z) / width)
                return mpmath.npdf(z) * chance * min((y * (b + s * z) - 1 + V) / V, 1)

            low, high = (1 - V - y * b) / s, (1 - y * b) / s
            with mpmath.workdps(40):
                ends = [low, low + 2 / low, low + 8 / low, low + 40 / low]
                ends = sorted({*ends, *([high] if high < ends[-1] else [])})
                lost[y] = lost.get(y, 0) + cluster.probability * mpmath.quad(integrand, ends)
    assert float(mpmath.log(lost[1] / lost[-1])) == pytest.approx(0, abs=1e-6)
    near = glm.solve(model(30.0))
    assert glm.solve(model(40.0), start=near).bias == pytest.approx(point.bias, rel=1e-10)


def test_a_bias_that_nothing_decides_is_refused():
    """A loss without a corner exerts the same force everywhere."""
    straight = glm.ConvexMargin(lambda t: -t, derivative=lambda t: np.full_like(t, -1.0), name="straight")
    with pytest.raises(ConvergenceError, match="all samples exert the same force"):
        glm.solve(flipped_pair(1.0, straight))
    point = glm.solve(flipped_pair(1.0, straight), check=False)
    assert not point.converged
    assert not point.bias_determined


def test_the_best_ridge_is_not_an_artifact_of_large_ones():
    """The error has its minimum .20422 at lam = 3.78, and rises to .28 at large ridges, not down to .19596."""
    errors = {lam: glm.solve(mixture(lam)).test_error for lam in (0.5, 2.0, 3.78, 7.0, 30.0, 50.0, 1e3)}
    assert min(errors, key=errors.get) == 3.78
    assert errors[3.78] == pytest.approx(0.204224, abs=1e-6)
    best = optimal_ridge(mixture(1.0), bounds=(0.05, 1e3))
    assert not best.at_bound
    assert best.loss == pytest.approx(fresh_loss(glm.solve(mixture(best.lam))), rel=1e-9)
    scan = [fresh_loss(glm.solve(mixture(float(lam)))) for lam in np.geomspace(0.05, 1e3, 25)]
    assert best.loss < min(scan) < best.loss + 1e-3


def test_the_best_ridge_is_the_better_of_two_minima(monkeypatch):
    """A loss with a wide minimum at log lam = 4, where a bounded search ends, and a deeper one at -3."""
    monkeypatch.setattr(optimum, "solve", lambda model, **_: SimpleNamespace(lam=model.lam, residual=0.0))

    def two_minima(point):
        x = math.log(point.lam)
        return -0.8 * math.exp(-((x - 4) ** 2) / 18) - math.exp(-((x + 3) ** 2) / 2)

    monkeypatch.setattr(optimum, "fresh_loss", two_minima)
    best = optimal_ridge(mixture(1.0))
    assert math.log(best.lam) == pytest.approx(-3.0, abs=0.05)
    assert best.loss < -1


def test_a_loss_whose_prox_overflows_far_out_keeps_its_bias():
    """Exponential loss: the images of the grid that a ConvexMargin declares reach 1e300."""
    exponential = glm.ConvexMargin(lambda t: np.exp(-t), derivative=lambda t: -np.exp(-t), name="exponential")
    point = glm.solve(TeacherMixture(group_fraction=0.4, alpha=1.13, lam=0.0245, loss=exponential))
    assert point.test_error == pytest.approx(0.24079, abs=5e-6)
    assert point.bias_determined
