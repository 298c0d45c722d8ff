"""Free checks of a saddle point: envelope identity, closed form, symmetries, independent equations."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.glm.independent import discrepancy
from tests.glm.settings import KINDS, draw, teacher_problem
from theory import ConvergenceError, glm
from theory.glm import problem_solver
from theory.glm.coordinates import Coordinates
from theory.glm.overlaps import Overlaps
from theory.models import AR1, GaussianMixture, RandomLabels, TeacherMixture
from theory.numerics import first_solved

alphas = st.floats(-1, 1.2).map(lambda x: 10.0**x)
lams = st.floats(-3, 0.5).map(lambda x: 10.0**x)
GROUPS = {"group_fraction": 0.3, "alpha": 2.0, "teacher_overlap": 0.5, "mean_overlaps": (0.3, 0.1)}
MODELS = {
    "teacher": teacher_problem(1.5, 0.1, "hinge"),
    "mixture": GaussianMixture.opposite(variances=0.5, probability=0.25, alpha=1.0, lam=0.1),
    "blocks": GaussianMixture.opposite(variances=[[0.3, 1], [0.8, 0.2]], probability=0.4, alpha=2, lam=0.1),
    "reweighed": TeacherMixture(**GROUPS, lam=0.1, loss_weights=((2, 3), (0.5, 1))),
    "coupled": TeacherMixture(**GROUPS, lam=0.1, coupling=0.5),
    "random": RandomLabels(covariance=AR1(20, 0.5), alpha=3.0, lam=0.1, loss="logistic"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_equations_written_a_second_time(kind, seed):
    _, problem = draw(np.random.default_rng([seed, len(kind)]), kinds=(kind,))
    point = glm.solve(problem)
    assert point.residual <= 1e-11
    assert discrepancy(point) < 1e-8


@pytest.mark.parametrize("name", sorted(MODELS))
def test_envelope_identity(name):
    """d/dlam of the energy per parameter is half the squared norm: everything else is stationary."""
    problem, h = glm.as_problem(MODELS[name]), 1e-4
    up, down = (glm.solve(replace(problem, lam=problem.lam * (1 + side * h))) for side in (1, -1))
    slope = (up.energy - down.energy) / (2 * h * problem.lam)
    assert slope == pytest.approx(0.5 * glm.solve(problem).squared_norm.sum(), rel=1e-6)


@given(alphas, lams, st.floats(0, 1))
@settings(max_examples=25)
def test_ridge_regression_is_its_closed_form(alpha, lam, noise):
    """The closed form starts the solve, and the equations keep it; a cold start of a custom loss finds it too."""
    problem = teacher_problem(alpha, lam, "square", noise, "linear")
    exact, point = glm.ridge_regression(problem), glm.solve(problem)
    assert point.iterations <= 3
    for name in ("V", "q", "r", "train_loss", "test_error"):
        assert float(np.ravel(getattr(point, name))[0]) == pytest.approx(getattr(exact, name), rel=1e-9)
    own = glm.ConvexMargin(lambda e: e**2 / 2, proximal=lambda e, V: e / (1 + V))
    assert glm.solve(replace(problem, loss=own)).test_error == pytest.approx(exact.test_error, rel=1e-8)


@given(alphas, lams)
@settings(max_examples=10)
def test_labels_mirrored(alpha, lam):
    """Exchanging the two labels of a mixture mirrors the bias and nothing else."""
    options = {"variances": 0.7, "alpha": alpha, "lam": lam, "loss": "logistic"}
    one = glm.solve(GaussianMixture.opposite(probability=0.3, **options))
    other = glm.solve(GaussianMixture.opposite(probability=0.7, **options))
    assert one.bias == pytest.approx(-other.bias, rel=1e-8)
    assert one.test_error == pytest.approx(other.test_error, rel=1e-9)


@given(st.floats(0.1, 10), lams)
@settings(max_examples=10)
def test_scale_of_the_inputs_is_the_ridge(scale, lam):
    """x -> c x, lam -> c^2 lam leaves the predictions as they are."""
    one = glm.solve(teacher_problem(1.3, lam, "hinge", eigenvalues=[1.0, 0.5]))
    other = glm.solve(teacher_problem(1.3, lam * scale, "hinge", eigenvalues=[scale, 0.5 * scale]))
    assert other.test_error == pytest.approx(one.test_error, rel=1e-8)
    assert other.train_loss == pytest.approx(one.train_loss, rel=1e-7, abs=1e-12)


@given(st.floats(-3, 3), st.floats(0.1, 4), st.floats(-0.999, 0.999))
def test_coordinates_round_trip(log_V, q, correlation):
    problem = glm.as_problem(TeacherMixture(**GROUPS, lam=0.1))
    coordinates = Coordinates(problem)
    r = np.array([0.3, *(correlation * np.sqrt(q * 0.5) * np.ones(2))])
    at = Overlaps(np.exp([log_V, -log_V]), np.array([q, 2 * q]), r)
    back = coordinates.unpack(coordinates.pack(at))
    for name in ("V", "q", "r"):
        np.testing.assert_allclose(getattr(back, name), getattr(at, name), rtol=1e-10)


def test_a_failure_carries_its_evidence(monkeypatch):
    """The search is left a little beside its end, which may be exact to the last bit: no `tol` refuses that."""
    monkeypatch.setattr(problem_solver, "first_solved", lambda *given: (first_solved(*given)[0] + 1e-6, 1.0))
    with pytest.raises(ConvergenceError, match="logistic loss, alpha=3, lam=1e-05") as failure:
        glm.solve(teacher_problem(3.0, 1e-5))
    assert failure.value.solution.residual > 1e-8
    assert not glm.solve(teacher_problem(3.0, 1e-5), check=False).converged


def test_start_from_a_neighbor():
    near = glm.solve(teacher_problem(3.0, 0.01))
    problem = teacher_problem(3.01, 0.01)
    cold, warm = glm.solve(problem), glm.solve(problem, start=near)
    assert warm.iterations < cold.iterations
    assert warm.test_error == pytest.approx(cold.test_error, rel=1e-10)


def test_tables():
    point = glm.solve(MODELS["reweighed"])
    frame = point.to_frame()
    assert list(frame.columns) == ["probability", "loss", "error", "V", "q", "bias"]
    assert frame.error.tolist() == point.cluster_errors.tolist()
    assert frame.loss.tolist() == point.cluster_losses.tolist()
    assert frame.probability @ frame.loss == pytest.approx(point.train_loss, rel=1e-12)
    curve = glm.learning_curve(MODELS["mixture"], alphas=[0.5, 1.0, 2.0], lams=[0.1, 1.0])
    assert curve.test_error.shape == (2, 3)
    assert curve.converged
    assert curve.residual <= 1e-11
    frame = curve.to_frame()
    assert len(frame) == 6
    assert frame.test_error[1] == pytest.approx(glm.solve(MODELS["mixture"]).test_error, rel=1e-9)
    assert curve.points[1][2].problem.alpha == 2.0
    assert glm.learning_curve(MODELS["random"], 3.0).to_frame().r.isna().all()


@pytest.mark.parametrize("labels", ["linear", "sign"])
def test_a_weight_on_every_loss_is_a_smaller_ridge(labels):
    """Three times the loss at three times the ridge is the same minimum; the mean weighted loss is three times."""
    problem = teacher_problem(1.5, 0.3, "square", 0.1, labels)
    weighted = replace(problem, clusters=[replace(problem.clusters[0], loss_weights=(3.0, 3.0))])
    point, plain = glm.solve(weighted), glm.solve(replace(problem, lam=0.1))
    assert point.test_error == pytest.approx(plain.test_error, rel=1e-9)
    assert point.train_loss == pytest.approx(3 * plain.train_loss, rel=1e-9)
    assert point.q == pytest.approx(plain.q, rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_two_starts_give_one_answer(kind):
    """From the points of ridges a hundred times as large and as small; losses are convex, so that there is one."""
    _, problem = draw(np.random.default_rng([7, len(kind)]), kinds=(kind,))
    point = glm.solve(problem)
    for factor in (100.0, 0.01):
        start = glm.solve(replace(problem, lam=problem.lam * factor))
        assert float(abs(np.log(start.V / point.V)).max()) > 1e-3
        other = glm.solve(problem, start=start)
        for name in ("V", "q", "r", "bias", "train_loss", "test_error"):
            np.testing.assert_allclose(getattr(other, name), getattr(point, name), rtol=1e-8, atol=1e-10)
