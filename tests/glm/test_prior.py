"""The prior: dense matrices against common modes, several learners against one, cost."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory import glm
from theory.glm.prior import prior
from theory.models import AR1, Cluster, DenseModes, GeneralizedLinearModel, Modes

P = 12
TEACHER = Cluster(teacher_signal=0, teacher_variance=2.0)


def problem(modes, **options):
    clusters = [
        Cluster(probability=0.4, labels="cluster", label=1, mean_signal=0),
        Cluster(probability=0.6, labels="cluster", label=-1, mean_signal=1, covariance=modes.n_covariances - 1),
    ]
    return GeneralizedLinearModel(
        modes=modes, clusters=clusters, **{"alpha": 1.5, "loss": "logistic", "lam": 0.1, "bias": True} | options
    )


def commuting():
    """Two covariances in a common basis, as matrices and as modes."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((P, P)))[0]
    eigenvalues = rng.uniform(0.2, 2, (2, P))
    signals = rng.standard_normal((2, P))
    dense = DenseModes(np.stack([(basis * om) @ basis.T for om in eigenvalues]), signals)
    rotated = signals @ basis
    return dense, Modes(np.full(P, 1 / P), eigenvalues, rotated[:, None] * rotated[None, :] / P)


@given(st.tuples(*[st.floats(0.01, 10)] * 4), st.tuples(*[st.floats(-2, 2)] * 2))
def test_dense_matrices_are_modes_where_they_commute(positive, rhat):
    dense, modes = commuting()
    arguments = np.array(positive[:2]), np.array(positive[2:]), np.array(rhat)
    (one, norm), (other, other_norm) = prior(problem(dense), *arguments), prior(problem(modes), *arguments)
    for name in ("V", "q", "r"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-10, atol=1e-12)
    assert norm == pytest.approx(other_norm, rel=1e-10)


def test_whole_solves_agree():
    dense, modes = commuting()
    one, other = glm.solve(problem(dense)), glm.solve(problem(modes))
    assert one.test_error == pytest.approx(other.test_error, rel=1e-10)
    assert one.bias == pytest.approx(other.bias, rel=1e-9)


def test_modes_of_a_matrix():
    omega, signal = AR1(P, 0.6).matrix, np.arange(P) / P
    clusters = [Cluster(teacher_signal=0, teacher_variance=50.0)]
    common = {"clusters": clusters, "alpha": 2.0, "loss": "hinge", "lam": 0.1}
    by_modes = glm.solve(GeneralizedLinearModel(modes=Modes.of_matrix(omega, signal), **common))
    dense = glm.solve(GeneralizedLinearModel(modes=DenseModes([omega], [signal]), **common))
    assert by_modes.test_error == pytest.approx(dense.test_error, rel=1e-10)


@given(st.floats(0.01, 10), st.floats(0.01, 10), st.floats(-2, 2))
def test_several_uncoupled_learners_are_one_each(Vhat, qhat, rhat):
    modes = Modes([0.5, 0.5], [[1.0, 0.3]], [[[0.5, 0.2]]])
    twice = Modes([0.5, 0.5], [[1.0, 0.3]] * 2, np.full((2, 2, 2), [0.5, 0.2]))
    one = GeneralizedLinearModel(modes=modes, clusters=[TEACHER], alpha=1.0, loss="hinge", lam=0.1)
    clusters = [
        replace(TEACHER, probability=0.5),
        replace(TEACHER, probability=0.5, teacher_signal=1, covariance=1, learner=1),
    ]
    two = GeneralizedLinearModel(
        modes=twice, clusters=clusters, alpha=1.0, loss="hinge", lam=0.1, n_learners=2, signal_learners=(0, 1)
    )
    single, norm = prior(one, np.array([Vhat]), np.array([qhat]), np.array([rhat]))
    pair, norms = prior(two, np.full(2, Vhat), np.full(2, qhat), np.full(2, rhat))
    for name in ("V", "q", "r"):
        np.testing.assert_allclose(getattr(pair, name), np.repeat(getattr(single, name), 2), rtol=1e-12)
    assert np.diag(norms) == pytest.approx(np.repeat(norm, 2), rel=1e-12)


def test_dense_modes_serve_one_learner():
    dense, _ = commuting()
    with pytest.raises(ValueError, match="one learner, got n_learners = 2"):
        glm.solve(problem(dense, n_learners=2, signal_learners=(0, 1)))


@pytest.mark.parametrize("loss", ["square", "logistic"])
def test_covariances_that_do_not_commute_against_fits(agrees, loss):
    """Own Newton fits of sampled mixtures with two covariances in general position."""
    from scipy.optimize import minimize

    from simulate.core import Estimate, stream

    p, alpha, lam = 100, 2.0, 0.3
    rng = np.random.default_rng(1)
    roots = [rng.standard_normal((p, p)) / np.sqrt(p), np.diag(np.linspace(0.3, 1.5, p))]
    mean = np.ones(p) / np.sqrt(p)
    dense = DenseModes([root @ root.T for root in roots], np.sqrt(p) * np.array([mean, -mean]))
    theory = glm.solve(problem(dense, alpha=alpha, lam=lam, loss=loss, bias=False))
    losses, n = [], round(alpha * p)
    for k in range(60):
        rng = stream(0, "dense mixture", loss, k)
        y = np.repeat([1.0, -1.0], [round(0.4 * n), n - round(0.4 * n)])
        z = rng.standard_normal((n, p))
        X = np.where(y[:, None] > 0, z @ roots[0].T, z @ roots[1].T) + y[:, None] * mean
        losses.append(_fitted_loss(X / np.sqrt(p), y, lam, loss, minimize))
    agrees(Estimate.of(losses), theory.train_loss, resolves=0.15, bias=1.0 * theory.train_loss / p)


def _fitted_loss(X, y, lam, loss, minimize):
    """Mean training loss at the minimum of sum loss(y, X w) + lam |w|^2/2."""
    if loss == "square":
        w = np.linalg.solve(X.T @ X + lam * np.eye(X.shape[1]), X.T @ y)
        return float(np.mean((y - X @ w) ** 2) / 2)

    def objective(w):
        margin = y * (X @ w)
        pull = -y / (1 + np.exp(margin))
        return np.logaddexp(0, -margin).sum() + lam / 2 * w @ w, X.T @ pull + lam * w

    w = minimize(objective, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B", options={"gtol": 1e-8}).x
    return float(np.logaddexp(0, -y * (X @ w)).mean())
