"""Reference values, made by an independent implementation with adaptive quadrature (rows 8, 11: closed forms)."""

import numpy as np
import pytest

from tests.glm.settings import teacher_problem
from theory import glm
from theory.models import (
    AR1,
    Cluster,
    Diagonal,
    GaussianCovariateModel,
    GaussianMixture,
    GeneralizedLinearModel,
    Modes,
    MulticlassMixture,
    RandomFeatures,
    RandomLabels,
    TeacherMixture,
)

HARMONIC = 1 / np.arange(1, 101.0)
GROUPS = {"group_fraction": 0.2, "alpha": 2.0, "lam": 0.1, "teacher_overlap": 0.8, "mean_overlaps": (0.3, 0.1)}


def near(*values):
    return pytest.approx(values, rel=1e-7)


def isotropic(loss, alpha=1.5, lam=0.1):
    return teacher_problem(alpha, lam, loss, eigenvalues=[1.0])


def test_rows_1_to_3_isotropic_logistic():
    point = glm.solve(isotropic("logistic"))
    assert (point.V[0], point.q[0], point.r[0]) == near(4.7636295303, 3.2729379593, 1.4247388151)
    assert (point.train_loss, point.test_error) == near(0.1840444277, 0.2113602370)


@pytest.mark.parametrize(
    ("loss", "values"), [("hinge", (0.0067461636, 0.2202902855)), ("square", (0.0671205578, 0.2305039031))]
)
def test_rows_4_5_isotropic(loss, values):
    point = glm.solve(isotropic(loss))
    assert (point.train_loss, point.test_error) == near(*values)


@pytest.mark.parametrize(
    ("projection", "values"),
    [("gaussian", (0.0030964759, 0.3158138745)), ("orthogonal", (0.0021744761, 0.2807501009))],
)
def test_rows_6_7_sign_features(projection, values):
    model = glm.random_features(
        "sign", samples_per_input=3.0, features_per_input=1.8, loss="logistic", lam=1e-4, projection=projection
    )
    point = glm.solve(model)
    assert (point.train_loss, point.test_error) == near(*values)


def test_row_8_erf_features_ridge():
    model = RandomFeatures(
        activation="erf",
        samples_per_input=1.3 / 0.7,
        features_per_input=1 / 0.7,
        lam=0.01,
        noise=0.2,
        labels="linear",
        loss="square",
    )
    for found in (glm.solve(model), glm.ridge_regression(glm.as_problem(model))):
        assert (found.train_loss, found.test_error) == near(0.0487780081, 0.8007503178)


@pytest.mark.parametrize(
    ("options", "values"),
    [
        ({"loss": "logistic"}, (0.2357700188, 0.1571104763)),
        ({"loss": "hinge"}, (0.0804294434, 0.1485956094)),
        ({"loss": "square", "labels": "linear", "noise": 0.1}, (0.0280940634, 0.1403850314)),
    ],
)
def test_rows_9_to_11_covariate_model(options, values):
    omega = np.diag(HARMONIC)
    point = glm.solve(
        GaussianCovariateModel.from_blocks(omega, omega, omega, np.ones(100), alpha=2.0, lam=0.01, **options)
    )
    assert (point.train_loss, point.test_error) == near(*values)
    assert isinstance(GaussianCovariateModel.from_blocks(omega, omega, omega, np.ones(100), alpha=2, lam=0.01).p, int)


@pytest.mark.parametrize(
    ("loss", "values"),
    [
        ("square", (1 / 3, 0.5, 0.5)),
        ("hinge", (0.5053248130, 1.9380840615, 5.0605554046)),
        ("logistic", (0.4858703592, 3.4163998455, 5.6029147900)),
    ],
)
def test_rows_12_to_14_random_labels_limit(loss, values):
    limit = glm.random_labels_limit(3.0, loss)
    assert (limit.train_loss, limit.V, limit.q) == near(*values)
    point = glm.solve(glm.random_labels(AR1(20, 0.5), alpha=3.0, lam=1e-9, loss=loss))  # whatever the covariance
    assert point.train_loss == pytest.approx(values[0], rel=1e-7)


def test_row_15_random_labels():
    point = glm.solve(RandomLabels(covariance=Diagonal(HARMONIC), alpha=1.5, lam=0.1, loss="hinge"))
    assert point.train_loss == pytest.approx(0.7087030208, rel=1e-7)


@pytest.mark.parametrize(
    ("loss", "values"),
    [
        ("logistic", (0.1633115906, 0.1415986838, -1.0898105799)),
        ("hinge", (0.0014388589, 0.1501328995, -0.4304511185)),
        ("square", (0.0343687238, 0.1614680136, -0.2547623171)),
    ],
)
def test_rows_16_to_18_mixture(loss, values):
    point = glm.solve(glm.gaussian_mixture(1.0, 0.5, probability=0.25, alpha=1.0, lam=0.1, loss=loss))
    assert (point.train_loss, point.test_error, point.bias[0]) == near(*values)


def test_row_19_blocks_of_unequal_variances():
    model = GaussianMixture.opposite(variances=[[0.3, 1], [0.8, 0.2]], probability=0.4, alpha=2, lam=0.1)
    point = glm.solve(model)
    assert (point.test_error, point.bias[0], *point.q) == near(0.1335843365, -0.4223438798, 2.5565283575, 1.8156996948)


def test_row_20_groups():
    point = glm.solve(TeacherMixture(**GROUPS))
    table = glm.fairness_table(point)
    assert tuple(point.cluster_errors) == near(0.2244056531, 0.1998518702)
    assert (table.disparate_impact, table.statistical_parity) == near(0.6683444340, 0.0151922564)


@pytest.mark.parametrize(
    ("options", "values"),
    [
        ({"loss_weights": ((2, 3), (0.5, 1))}, (0.2295727602, 0.2360842641, 0.5387536015)),
        ({"coupling": 0.5}, (0.2355482305, 0.2042119940, 0.4765656686)),
    ],
)
def test_rows_21_22_reweighed_and_coupled(options, values):
    point = glm.solve(TeacherMixture(**GROUPS, **options))
    assert (*point.cluster_errors, glm.fairness_table(point).disparate_impact) == near(*values)


def test_row_23_hard_margin():
    point = glm.solve(isotropic("hard_margin", alpha=1.0, lam=1.0))
    assert (point.test_error, point.squared_norm[0]) == near(0.2657114699, 1.6163950210)


def test_row_24_separability():
    assert glm.separability_threshold(0.5) == pytest.approx(2.2548679265, rel=1e-7)


@pytest.mark.parametrize(("projection", "value"), [("gaussian", 0.3677311431), ("orthogonal", 0.3261302680)])
def test_row_25_random_features_threshold(projection, value):
    model = RandomFeatures(samples_per_input=3.0, features_per_input=1.0, lam=1e-4, projection=projection)
    assert glm.random_features_threshold(model) / 3 == pytest.approx(value, rel=1e-7)


def test_row_26_three_classes():
    gram = np.array([[1, 0.3, 0], [0.3, 1, 0.2], [0, 0.2, 1]])[:, :, None]
    model = MulticlassMixture(modes=Modes([1.0], [[0.4]], gram), probabilities=(0.5, 0.3, 0.2), alpha=1.0, lam=0.1)
    point = glm.solve(model)
    values = (0.0480020542, 0.1207450680, -0.1020788205, 0.2509186341)
    assert (point.train_loss, point.q[0, 0, 0], point.r[0, 1], point.bias[2]) == near(*values)


def test_own_clusters_give_the_same_as_the_record():
    clusters = [
        Cluster(probability=0.25, labels="cluster", label=1, mean_signal=0),
        Cluster(probability=0.75, labels="cluster", label=-1, mean_signal=0, mean_sign=-1),
    ]
    problem = GeneralizedLinearModel(
        modes=Modes([1.0], [[0.5]], [[[1.0]]]), clusters=clusters, alpha=1.0, loss="logistic", lam=0.1, bias=True
    )
    assert glm.solve(problem).bias[0] == pytest.approx(-1.0898105799, rel=1e-7)
