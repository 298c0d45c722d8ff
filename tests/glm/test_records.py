"""Records say what their ridge means, and convert it in one call."""

import numpy as np
import pytest

from simulate.core import stream
from theory import glm
from theory.models import (
    AR1,
    Cluster,
    GaussianCovariateModel,
    GaussianMixture,
    GeneralizedLinearModel,
    HiddenManifold,
    MaskedRidge,
    Modes,
    MulticlassMixture,
    RandomFeatures,
    RandomLabels,
    TeacherMixture,
    TransferModel,
    ridge_per_sample,
    ridge_per_unknown,
)

COMMON = {"alpha": 1.0, "lam": 0.1}
PAIR = Modes([1.0], [[1.0]], np.array([[1.0, -0.5], [-0.5, 1.0]])[:, :, None])
EYE = np.eye(3)
RECORDS = [
    GaussianMixture.opposite(**COMMON),
    MulticlassMixture(modes=PAIR, probabilities=(0.5, 0.5), **COMMON),
    RandomFeatures(samples_per_input=1.0, features_per_input=1.0, lam=0.1),
    RandomLabels(covariance=AR1(5, 0.5), **COMMON),
    TeacherMixture(group_fraction=0.3, **COMMON),
    GeneralizedLinearModel(modes=PAIR, clusters=[Cluster(labels="random")], loss="hinge", **COMMON),
    TransferModel(task=HiddenManifold(EYE, np.ones(3)), first_layer=EYE, **COMMON),
    GaussianCovariateModel.from_blocks(EYE, EYE, EYE, np.ones(3), **COMMON),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_repr_and_docstring_say_what_the_ridge_is(record):
    text = repr(record)
    assert text.startswith(f"{type(record).__name__}(")
    assert "lam=0.1" in text
    assert text.endswith("minimizes sum loss + (lam/2) |w|^2)")
    assert len(text) < 1000
    assert "lam" in type(record).__doc__


def test_the_ridge_of_the_masked_problem_is_one_call_away():
    """Both describe the regression of one coordinate on d - 1 = 9 others."""
    masked = MaskedRidge(AR1(10, 0.6), alpha=2.0, lam=0.05)
    problem = glm.masked_regression_problem(masked, 3)
    assert problem.lam == pytest.approx(ridge_per_unknown(0.05, alpha=2.0, d=10))
    assert ridge_per_sample(problem.lam, alpha=2.0, d=10) == pytest.approx(0.05)


def test_results_print_and_become_tables():
    point = glm.solve(RECORDS[0])
    assert repr(point).startswith("SaddlePoint(V=[")
    assert "converged=True" in repr(point)
    limit = glm.random_labels_limit(3.0)
    assert limit.to_frame().train_loss.tolist() == [limit.train_loss]
    assert (limit.converged, limit.iterations) == (True, None)
    assert glm.bayes_optimal_sign(2.0).residual < 1e-10
    classes = glm.solve(MulticlassMixture(modes=PAIR, probabilities=(0.5, 0.5), **COMMON))
    assert "test_loss" in classes.to_frame().columns
    curve = glm.learning_curve(RECORDS[0], [1.0, 2.0])
    assert "<array (1, 2)" in repr(curve) or "alphas=" in repr(curve)


def test_blocks_of_a_covariate_model_of_unequal_sizes():
    """The covariance of the teacher's field theta.u/sqrt(k) with sqrt(p) v, and its variance, from a joint Gaussian."""
    rng = stream(0, "blocks")
    factor = rng.standard_normal((5, 9))
    joint, theta = factor @ factor.T / 9, rng.standard_normal(2)
    model = GaussianCovariateModel.from_blocks(joint[:2, :2], joint[:2, 2:], joint[2:, 2:], theta, alpha=2.0, lam=0.1)
    field = theta @ factor[:2] / np.sqrt(2)  # in the basis of the nine independent normals
    np.testing.assert_allclose(model.signal, np.sqrt(3) * (factor[2:] @ field) / 9, rtol=1e-12)
    assert model.power == pytest.approx(field @ field / 9, rel=1e-12)
    np.testing.assert_array_equal(model.covariance, joint[2:, 2:])
