"""Tables of decisions: bivariate normal probabilities by three routes, and what follows from the table."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import multivariate_normal

from theory import glm
from theory.models import GaussianMixture, TeacherMixture

GROUPS = {"group_fraction": 0.3, "lam": 0.1, "alpha": 2.0, "teacher_overlap": 0.5, "mean_overlaps": (0.3, 0.1)}
places = st.floats(-5, 5)


@given(places, places, st.floats(-0.9999, 0.9999))
@settings(max_examples=30)
def test_bivariate_normal_by_quadrature(x, y, correlation):
    root = np.sqrt(1 - correlation**2)
    kink = [y / correlation] if abs(y) < 9 * abs(correlation) else []
    edges = sorted({-9.0, *(k for k in kink if k < x), x} | ({(-9.0 + x) / 2}))
    value = sum(
        quad(lambda u: np.exp(-u * u / 2) / np.sqrt(2 * np.pi) * ndtr((y - correlation * u) / root), a, b, limit=200)[0]
        for a, b in pairwise(edges)
    )
    assert glm.bivariate_normal(x, y, correlation) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("correlation", [-0.8, 0.0, 0.3, 0.95])
@pytest.mark.parametrize(("x", "y"), [(0.0, 0.0), (0.0, 1.2), (-0.7, 0.0), (0.5, -1.5), (1.0, 2.0), (-1.0, -0.2)])
def test_bivariate_normal_by_scipy(x, y, correlation):
    law = multivariate_normal([0, 0], [[1, correlation], [correlation, 1]])
    assert glm.bivariate_normal(x, y, correlation) == pytest.approx(law.cdf([x, y]), abs=1e-7)


@given(places, places)
def test_bivariate_normal_at_full_correlation(x, y):
    assert glm.bivariate_normal(x, y, 1.0) == pytest.approx(min(ndtr(x), ndtr(y)), abs=1e-15)
    assert glm.bivariate_normal(x, y, -1.0) == pytest.approx(max(ndtr(x) - ndtr(-y), 0), abs=1e-15)


def test_bivariate_normal_at_infinity_and_beyond_its_range():
    for x, y, value in ((np.inf, 0.3, ndtr(0.3)), (0.3, -np.inf, 0.0), (np.inf, np.inf, 1.0), (-np.inf, np.inf, 0.0)):
        assert glm.bivariate_normal(x, y, 0.5) == pytest.approx(value, abs=1e-15)
    with pytest.raises(ValueError, match=r"correlation must lie in \[-1, 1\], got 2.0"):
        glm.bivariate_normal(0.0, 0.5, 2.0)
    with pytest.raises(ValueError, match="x must"):
        glm.bivariate_normal(np.nan, 0.5, 0.0)


def test_the_table_by_sampling_its_definition():
    """Fields of teacher and student drawn from their joint law in each group."""
    point = glm.solve(TeacherMixture(**GROUPS, teacher_biases=(0.2, -0.3)))
    table, rng, n = glm.fairness_table(point), np.random.default_rng(0), 400_000
    for c, (share, sign) in enumerate(((0.3, 1), (0.7, -1))):
        cluster = point.problem.clusters[c]
        covariance = [[0.5, point.r[1 + c]], [point.r[1 + c], point.q[c]]]
        mean = [cluster.teacher_mean, sign * point.r[0] + point.bias[0]]
        nu, h = rng.multivariate_normal(mean, covariance, n).T
        for i, y in enumerate((1, -1)):
            for j, prediction in enumerate((1, -1)):
                found = np.mean((np.sign(nu) == y) & (np.sign(h) == prediction))
                assert share * found == pytest.approx(table.joint[c, i, j], abs=4 * share * 0.5 / np.sqrt(n))
    assert table.joint.sum() == pytest.approx(1)
    assert 1 - table.accuracy == pytest.approx(point.cluster_errors, abs=1e-12)


def test_label_rates_are_those_of_the_definition_of_the_groups():
    """W_c.x/sqrt(d) + b_c, x = c v/sqrt(d) + sqrt(Delta_c) z, is normal: mean c W_c.v/d + b_c, variance Delta_c."""
    overlaps, biases, variances = (0.3, -0.2), (0.4, -0.7), (0.5, 1.4)
    groups = {**GROUPS, "mean_overlaps": overlaps, "teacher_biases": biases, "variances": variances}
    for coupling in (None, 0.5):
        joint = glm.fairness_table(glm.solve(TeacherMixture(**groups, coupling=coupling))).joint
        for c, (share, sign) in enumerate(((0.3, 1), (0.7, -1))):
            positive = ndtr((sign * overlaps[c] + biases[c]) / np.sqrt(variances[c]))
            assert joint[c, 0].sum() == pytest.approx(share * positive, rel=1e-10)
            assert joint[c, 1].sum() == pytest.approx(share * (1 - positive), rel=1e-10)


def test_rates_of_a_table():
    joint = np.array([[[0.2, 0.1], [0.05, 0.15]], [[0.1, 0.1], [0.1, 0.2]]])
    table = glm.FairnessTable(joint)
    assert table.selection_rate == pytest.approx([0.5, 0.4])
    assert table.true_positive_rate == pytest.approx([2 / 3, 0.5])
    assert table.false_positive_rate == pytest.approx([0.25, 1 / 3])
    assert table.positive_predictive_value == pytest.approx([0.8, 0.5])
    assert table.accuracy == pytest.approx([0.7, 0.6])
    assert table.disparate_impact == pytest.approx(0.8)
    assert table.accuracy_ratio == pytest.approx(6 / 7)


def test_informations_vanish_for_equal_groups_and_are_positive_else():
    names = (
        "statistical_parity",
        "equal_opportunity",
        "equal_odds",
        "equal_accuracy",
        "predictive_parity",
        "sufficiency",
    )
    one = np.array([[0.2, 0.1], [0.05, 0.15]])
    for name in names:
        assert getattr(glm.FairnessTable(np.array([0.6 * one, 1.4 * one])), name) == pytest.approx(0, abs=1e-15)
        assert getattr(glm.FairnessTable(np.array([one, one.T[::-1] * 0.5 + 0.125])), name) > 0
    certain = glm.FairnessTable(np.array([[[0.5, 0], [0, 0]], [[0, 0], [0, 0.5]]]))
    assert certain.statistical_parity == pytest.approx(np.log(2))  # the prediction tells the group


def entropy(p):
    p = np.ravel(p)[np.ravel(p) > 0]
    return -np.sum(p * np.log(p))


def test_conditional_informations_are_differences_of_entropies():
    """I(a; c | b) = H(a, b) + H(c, b) - H(a, b, c) - H(b): in a table whose conditions are far from equally likely."""
    joint = np.array([[[0.02, 0.05], [0.4, 0.03]], [[0.01, 0.02], [0.07, 0.4]]])  # group, label, prediction
    table = glm.FairnessTable(joint)
    label, prediction = joint.sum(axis=(0, 2)), joint.sum(axis=(0, 1))
    pairs = {axis: entropy(joint.sum(axis=axis)) for axis in range(3)}  # the axis that is summed out
    assert table.equal_odds == pytest.approx(pairs[0] + pairs[2] - entropy(joint) - entropy(label), abs=1e-14)
    assert table.sufficiency == pytest.approx(pairs[0] + pairs[1] - entropy(joint) - entropy(prediction), abs=1e-14)
    for name, part in (
        ("statistical_parity", joint.sum(axis=1)),
        ("equal_opportunity", joint[:, 0]),
        ("predictive_parity", joint[:, :, 0]),
    ):
        p = part / part.sum()
        expected = entropy(p.sum(axis=0)) + entropy(p.sum(axis=1)) - entropy(p)
        assert getattr(table, name) == pytest.approx(expected, abs=1e-14)
    right = np.trace(joint, axis1=1, axis2=2)
    p = np.stack((right, joint.sum(axis=(1, 2)) - right))
    expected = entropy(p.sum(axis=0)) + entropy(p.sum(axis=1)) - entropy(p)
    assert table.equal_accuracy == pytest.approx(expected, abs=1e-14)


def test_a_table_of_probabilities_is_required():
    for wrong in (np.zeros((2, 2, 2)), -np.ones((2, 2, 2)), np.ones((2, 2)), np.full((2, 2, 2), np.nan)):
        with pytest.raises(ValueError, match="joint must be"):
            glm.FairnessTable(wrong)


def test_fairness_needs_groups_with_teachers():
    with pytest.raises(ValueError, match="point must be that of two groups with sign labels"):
        glm.fairness_table(glm.solve(GaussianMixture.opposite(alpha=1.0, lam=0.1)))
