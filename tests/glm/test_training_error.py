"""The share of wrong labels on the training set: closed forms, other quadratures, and simulation."""

import math

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.stats import norm

from simulate.core import Estimate, stream
from simulate.glm import train_error as measured
from tests.glm.settings import teacher_problem
from theory import glm
from theory.glm.multiclass.training import training_chances
from theory.models import AR1, GaussianMixture, Modes, MulticlassMixture, RandomLabels, TeacherMixture

TURNS = {"square": 1.0, "hinge": 1.0, "logistic": 0.5}  # -l'(0): the prox of a margin -V times this is zero


def mixture(loss, alpha=5.0):
    variances = [[0.6, 3.0], [1.6, 0.8]]
    return GaussianMixture.opposite(variances=variances, probability=0.4, alpha=alpha, lam=0.1, loss=loss)


def classes(loss, alpha=2.0, **options):
    gram = np.array([[1, 0.3, 0], [0.3, 1, 0.2], [0, 0.2, 1]])[:, :, None]
    return MulticlassMixture(
        modes=Modes([1.0], [[0.6]], gram), probabilities=(0.5, 0.3, 0.2), alpha=alpha, lam=0.05, loss=loss, **options
    )


@pytest.mark.parametrize("loss", TURNS)
def test_two_clusters_have_a_closed_form(loss):
    point = glm.solve(mixture(loss))
    bounds = -point.V * TURNS[loss]
    margins = np.array([point.r[0] + point.bias[0], -(point.r[1] + point.bias[0])])
    exact = np.array([0.4, 0.6]) @ norm.cdf((bounds - margins) / np.sqrt(point.q))
    assert point.train_error == pytest.approx(float(exact), rel=1e-10)
    assert 0.01 < point.train_error < 0.9 * point.test_error


@pytest.mark.parametrize("loss", TURNS)
def test_two_clusters_against_fits(loss, agrees):
    model = mixture(loss)
    found = [measured(model, 100, stream(0, "training", loss, k)) for k in range(60)]
    agrees(Estimate.of(found), glm.solve(model).train_error, resolves=0.2, bias=0.003)


@pytest.mark.parametrize(
    "model",
    [
        teacher_problem(6.0, 0.05, "logistic", noise=0.8, eigenvalues=[1.0]),
        RandomLabels(covariance=AR1(120, 0.5), alpha=4.0, lam=0.5, loss="hinge"),
        TeacherMixture(group_fraction=0.3, alpha=6.0, lam=0.1, teacher_overlap=0.2, loss_weights=((2, 0.5), (1, 1))),
    ],
    ids=["teacher", "random labels", "weighted groups"],
)
def test_labels_of_teachers_and_coins_against_fits(model, agrees):
    found = [measured(model, 120, stream(0, "training", type(model).__name__, k)) for k in range(60)]
    agrees(Estimate.of(found), glm.solve(model).train_error, resolves=0.2, bias=0.003)


def test_a_loss_of_ones_own_has_the_error_of_the_built_in_one():
    own = glm.ConvexMargin(lambda t: np.logaddexp(0, -t), lambda t: -1 / (1 + np.exp(t)))
    assert glm.solve(mixture(own)).train_error == pytest.approx(glm.solve(mixture("logistic")).train_error, rel=1e-8)


def test_what_separates_errs_nowhere_and_real_labels_have_no_error():
    assert glm.solve(mixture("hard_margin", alpha=0.3)).train_error == 0
    linear = teacher_problem(3.0, 0.1, "square", labels="linear")
    assert math.isnan(glm.solve(linear).train_error)
    assert math.isnan(measured(linear, 40, stream(0, "linear")))


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_softmax_of_two_classes_errs_as_the_logistic_loss(share):
    modes = Modes([1.0], [[0.5]], np.array([[1.0, -1.0], [-1.0, 1.0]])[:, :, None])
    two = MulticlassMixture(modes=modes, probabilities=(share, 1 - share), alpha=2.0, lam=0.2, loss="softmax")
    binary = GaussianMixture.opposite(variances=0.5, probability=share, alpha=2.0, lam=0.1)
    assert glm.solve(two).train_error == pytest.approx(glm.solve(binary).train_error, rel=1e-8)


def test_square_loss_of_three_classes_against_drawn_outputs():
    """The outputs of training samples are drawn, and each is moved by the minimum over it of its loss and response."""
    point, rng = glm.solve(classes("square")), stream(0, "outputs of three classes")
    V, wrong = point.V[0], 0.0
    for c, share in enumerate(point.model.probabilities):
        h = rng.multivariate_normal(point.r[:, c] + point.bias, point.q[0], 400_000)
        prox = np.linalg.solve(np.eye(3) + V, (h + V[:, c]).T).T  # V^-1 (x - h) + x - e_c = 0
        wrong += share * np.mean(prox.argmax(axis=1) != c)
    assert point.train_error == pytest.approx(wrong, abs=5 * math.sqrt(wrong / 1.2e6))
    assert 0.02 < point.train_error < 0.8 * point.test_error


@pytest.mark.slow
def test_softmax_of_three_classes_against_the_density_of_the_prox():
    """P(x_c > x_j) = int over x of the density of h = x + V (p - e_c), times the determinant of dh/dx."""
    point = glm.solve(classes("softmax"))
    chances, error = training_chances(point.r.T + point.bias, point.V[[0] * 3], point.q[[0] * 3], "softmax")
    B = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])
    V, Q = B @ point.V[0] @ B.T, B @ point.q[0] @ B.T
    for c in range(3):
        others = [k for k in range(3) if k != c]
        steps = np.linalg.inv((np.eye(3)[c] - np.eye(3)[others]) @ B.T)  # of x with the leads x_c - x_j
        mean, inverse = B @ (point.r[:, c] + point.bias), np.linalg.inv(Q)
        scale = abs(np.linalg.det(steps)) / (2 * np.pi * math.sqrt(np.linalg.det(Q)))

        def density(u, v, c=c, steps=steps, mean=mean, inverse=inverse, scale=scale):
            x = steps @ (u, v)
            p = np.exp(x @ B - (x @ B).max())
            p /= p.sum()
            gap = x + V @ B @ (p - np.eye(3)[c]) - mean
            turned = np.linalg.det(np.eye(2) + V @ B @ (np.diag(p) - np.outer(p, p)) @ B.T)
            return scale * turned * math.exp(-gap @ inverse @ gap / 2)

        exact = dblquad(density, 0, 25, 0, 25, epsabs=1e-6)[0]
        assert chances[c, c] == pytest.approx(exact, abs=error + 2e-6)
    assert error < 1e-3


def test_softmax_of_three_classes_against_fits(agrees):
    model = classes("softmax", alpha=8.0)
    point = glm.solve(model)
    found = [measured(model, 100, stream(0, "training softmax", k)) for k in range(24)]
    agrees(Estimate.of(found), point.train_error, resolves=0.2, bias=0.003)
    assert 0 < point.train_error_uncertainty < 1e-3
