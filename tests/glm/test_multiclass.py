"""K classes: two of them are a binary problem, exchanges of classes, node counts, simulation."""

import dataclasses

import numpy as np
import pytest

from simulate.core import Estimate, stream
from simulate.glm import measure
from tests.glm.softmax_rows import softmax_prox
from theory import ConvergenceError, glm
from theory.glm.multiclass import channel, nodes
from theory.glm.multiclass.equations import Classes
from theory.models import GaussianMixture, Modes, MulticlassMixture

GRAM = np.array([[1, 0.3, 0], [0.3, 1, 0.2], [0, 0.2, 1]])
SHARES = (0.5, 0.3, 0.2)


def three(loss="softmax", gram=GRAM, shares=SHARES, alpha=1.0, **options):
    modes = Modes([1.0], [[0.4]], np.asarray(gram)[:, :, None])
    return MulticlassMixture(modes=modes, probabilities=shares, alpha=alpha, lam=0.1, loss=loss, **options)


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_softmax_of_two_classes_is_the_logistic_loss(share):
    """w_1 = -w_2 = w/2, so that lam |W|^2/2 is (lam/2) |w|^2/2."""
    modes = Modes([1.0], [[0.5]], np.array([[1, -1.0], [-1, 1]])[:, :, None])
    two = glm.solve(
        MulticlassMixture(modes=modes, probabilities=(share, 1 - share), alpha=1.0, lam=0.2, loss="softmax"), tol=1e-11
    )
    binary = glm.solve(GaussianMixture.opposite(variances=0.5, probability=share, alpha=1.0, lam=0.1))
    assert two.train_loss == pytest.approx(binary.train_loss, rel=1e-8)
    assert two.test_error == pytest.approx(binary.test_error, rel=1e-8)
    assert two.bias[0] - two.bias[1] == pytest.approx(binary.bias[0], rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("loss", ["square", pytest.param("softmax", marks=pytest.mark.slow)])
def test_classes_may_be_exchanged(loss):
    order = [2, 0, 1]
    one = glm.solve(three(loss))
    other = glm.solve(three(loss, GRAM[np.ix_(order, order)], tuple(SHARES[k] for k in order)))
    assert other.train_loss == pytest.approx(one.train_loss, rel=1e-8)
    np.testing.assert_allclose(other.bias, one.bias[order], rtol=1e-6)
    np.testing.assert_allclose(other.r, one.r[np.ix_(order, order)], rtol=1e-6, atol=1e-9)


def test_square_loss_solves_its_matrix_equations():
    """One covariance Delta: the closed matrix form with scalars V = Delta g, g = 1/(lam + Vhat Delta)."""
    point, Delta, lam, p = glm.solve(three("square")), 0.4, 0.1, np.array(SHARES)
    V, M, Q, b = point.V[0, 0, 0], point.r, point.q[0], point.bias
    Vhat = 1 / (1 + V)
    g = 1 / (lam + Vhat * Delta)
    R = np.eye(3) - M - b[:, None]
    Mhat, Qhat = R * p / (1 + V), ((R * p) @ R.T + Q) / (1 + V) ** 2
    assert Delta * g == pytest.approx(V, rel=1e-9)
    np.testing.assert_allclose(M, g * Mhat @ GRAM, atol=1e-9)
    np.testing.assert_allclose(Q, Delta * g**2 * (Delta * Qhat + Mhat @ GRAM @ Mhat.T), atol=1e-9)
    np.testing.assert_allclose(b, p - M @ p, atol=1e-9)
    assert point.train_loss == pytest.approx(np.trace((R * p) @ R.T + Q) / (2 * (1 + V) ** 2), rel=1e-9)


def test_equal_classes_have_equal_biases_and_errors():
    point = glm.solve(three(gram=np.eye(3), shares=(1 / 3,) * 3))
    assert np.ptp(np.diag(point.confusion)) < 1e-5
    assert point.bias == pytest.approx(np.zeros(3), abs=1e-9)
    assert point.confusion.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    assert point.converged


def test_softmax_prox_minimizes():
    rng, basis = np.random.default_rng(0), channel.contrasts(3)
    V = np.array([[2.0, 0.3], [0.3, 0.7]])
    h = 3 * rng.standard_normal((5, 2))
    prox = softmax_prox(h, V, 1, basis)
    logits = prox @ basis
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    np.testing.assert_allclose((h - prox) @ np.linalg.inv(V), p @ basis.T - basis[:, 1], atol=1e-9)
    assert basis @ basis.T == pytest.approx(np.eye(2))
    assert basis.sum(axis=1) == pytest.approx(np.zeros(2), abs=1e-14)


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
def test_nodes_of_the_normal_law(dimension):
    z, weights = nodes.gaussian_nodes(dimension)
    sharp = 1e-10 if dimension < 4 else 5e-3
    assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(weights @ z, 0, atol=sharp)
    np.testing.assert_allclose(np.einsum("n,ni,nj->ij", weights, z, z), np.eye(dimension), atol=sharp)


@pytest.mark.slow
def test_softmax_of_three_classes_against_fits(agrees):
    """p = 100, fits by L-BFGS; the finite-size allowance is 1/p."""
    from scipy.optimize import minimize
    from scipy.special import logsumexp, softmax

    theory, p, n, lam = glm.solve(three()), 100, 100, 0.1
    mu = np.zeros((3, p))
    mu[:, :3] = np.linalg.cholesky(GRAM)
    y = np.repeat(range(3), [50, 30, 20])
    losses, norms = [], []
    for k in range(60):
        X = (mu[y] + np.sqrt(0.4) * stream(0, "three classes", k).standard_normal((n, p))) / np.sqrt(p)

        def objective(v, X=X):
            W, b = v[: 3 * p].reshape(3, p), v[3 * p :]
            h = X @ W.T + b
            g = softmax(h, axis=1) - np.eye(3)[y]
            value = (logsumexp(h, axis=1) - h[np.arange(n), y]).sum() + lam / 2 * (W**2).sum()
            return value, np.concatenate(((g.T @ X + lam * W).ravel(), g.sum(axis=0)))

        v = minimize(objective, np.zeros(3 * p + 3), jac=True, method="L-BFGS-B", options={"gtol": 1e-7}).x
        h = X @ v[: 3 * p].reshape(3, p).T + v[3 * p :]
        losses.append((logsumexp(h, axis=1) - h[np.arange(n), y]).mean())
        norms.append(0.4 * (v[:p] ** 2).sum() / p)
    agrees(Estimate.of(losses), theory.train_loss, resolves=0.15, bias=1.0 * theory.train_loss / p)
    agrees(Estimate.of(norms), theory.q[0, 0, 0], resolves=0.15, bias=2.0 * theory.q[0, 0, 0] / p)


def test_a_search_that_takes_too_much_work_says_so(monkeypatch):
    monkeypatch.setattr("theory.glm.multiclass.coordinates.MOST_WORK", 20)
    with pytest.raises(ConvergenceError, match="the means are too far apart, or alpha or lam too extreme"):
        glm.solve(three())
    assert not glm.solve(three(), check=False).converged


def far_apart(shares):
    modes = Modes([1.0], [[1.0]], (100.0**2 / 2 * np.eye(3))[:, :, None])
    return MulticlassMixture(modes=modes, probabilities=shares, alpha=2.0, lam=1e-3, loss="softmax")


def test_equal_classes_a_hundred_standard_deviations_apart_are_solved(agrees):
    """On the way the search meets outputs that are exactly zero; it has to come back from them."""
    far = far_apart((1 / 3,) * 3)
    losses = [measure(far, 60, stream(0, "means far apart", k)).train_loss for k in range(16)]
    agrees(Estimate.of(losses), glm.solve(far).train_loss, resolves=0.03)


def test_unequal_classes_a_hundred_standard_deviations_apart_are_given_up_in_bounded_work():
    with pytest.raises(ConvergenceError, match="took too long"):
        glm.solve(far_apart((0.2, 0.3, 0.5)))


def test_the_quadrature_of_the_equations_is_judged_by_other_nodes():
    point = glm.solve(three())
    assert 0 < point.equation_uncertainty < 1e-6
    assert glm.solve(three("square")).equation_uncertainty == 0
    coarse = dataclasses.replace(point, q=1.01 * point.q)  # a point that solves no equations, whatever the nodes
    assert coarse.equation_uncertainty > 1e-3


def test_bad_input():
    with pytest.raises(ValueError, match="loss must be one of 'square', 'softmax'"):
        three("hinge")
    with pytest.raises(ValueError, match="sum to 1"):
        three(shares=(0.5, 0.3, 0.3))
    with pytest.raises(ValueError, match="must have 2 means"):
        three(shares=(0.5, 0.5))
    with pytest.raises(ConvergenceError, match="saddle point of 3 classes"):
        glm.solve(three("square"), tol=1e-30, max_iter=1)
    with pytest.raises(ValueError, match="got a MulticlassMixture"):
        glm.learning_curve(three(), [1.0])


def test_two_classes_satisfy_the_equations_of_many():
    """The point of the logistic loss, written as matrices over two outputs, is a fixed point for softmax."""
    modes = Modes([0.4, 0.6], [[0.5, 0.2], [0.3, 0.9]], np.array([[1, -0.4], [-0.4, 0.8]])[:, :, None] * [0.5, 0.5])
    model = MulticlassMixture(modes=modes, probabilities=(0.3, 0.7), alpha=1.2, lam=0.3, loss="softmax")
    point, basis = glm.solve(model, tol=1e-12), channel.contrasts(2)
    classes = Classes(model, basis, nodes.gaussian_nodes(1))
    x = np.concatenate(
        [(basis @ a @ basis.T).ravel() for a in (point.V, point.q)] + [(basis @ point.r).ravel(), basis @ point.bias]
    )
    np.testing.assert_allclose(classes.image(x), x, rtol=1e-6, atol=1e-7)  # Gauss-Hermite against panels
    assert point.test_loss > point.train_loss


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_square_loss_is_solved_to_rounding_at_extremes(own, bias):
    """Plain and accelerated iteration diverge here: the labels are those of the clusters."""
    covariances = np.array([[0.02, 3.0], [0.5, 0.1], [5.0, 1.0]])[: 3 if own else 1]
    gram = 30 * GRAM[:, :, None] * np.array([0.3, 0.7])
    modes = Modes([0.5, 0.5], covariances, gram)
    point = glm.solve(
        MulticlassMixture(modes=modes, probabilities=SHARES, alpha=4.0, lam=1e-5, loss="square", bias=bias)
    )
    assert point.residual <= 1e-10
    assert (bias, point.converged) == (point.bias.any(), True)


@pytest.mark.slow
def test_random_problems_end_in_an_answer_or_a_convergence_error():
    """No other error and no warning, over decades of means, variances, sample ratios and ridges."""
    failures = []
    for index in range(60):
        rng = stream(0, "classes", index)
        K, M = int(rng.integers(2, 5)), int(rng.integers(1, 3))
        loss = str(rng.choice(["square", "softmax"])) if K < 3 else "square"
        A = rng.standard_normal((K, K, M)) * 10.0 ** rng.uniform(-1.5, 1.5)
        shares = 0.98 * rng.dirichlet(np.ones(K)) + 0.02 / K
        covariances = 10.0 ** rng.uniform(-2, 1, (int(rng.choice([1, K])), M))
        model = MulticlassMixture(
            modes=Modes(np.full(M, 1 / M), covariances, np.einsum("akm,bkm->abm", A, A)),
            probabilities=shares / shares.sum(),
            alpha=float(10 ** rng.uniform(-1.5, 1.7)),
            lam=float(10 ** rng.uniform(-6, 1)),
            loss=loss,
            bias=bool(rng.random() < 0.7),
        )
        try:
            glm.solve(model)
        except ConvergenceError as failed:
            failures.append(str(failed))
    assert len(failures) <= 3, failures
