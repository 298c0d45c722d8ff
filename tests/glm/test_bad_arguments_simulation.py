"""Wrong and extreme arguments of simulate.glm: refused by name, without raw errors, hangs and warnings."""

from dataclasses import replace

import numpy as np
import pytest

from simulate import glm
from simulate.core import stream
from tests.bad_arguments import Example, assert_all_refused
from theory.glm import ConvexMargin
from theory.models import (
    AR1,
    Cluster,
    GaussianMixture,
    GeneralizedLinearModel,
    HiddenManifold,
    Lasso,
    Modes,
    RandomFeatures,
    RandomLabels,
    TeacherMixture,
    TransferModel,
)

OWN = ConvexMargin(lambda t: t**2 / 2, derivative=lambda t: t)


def examples():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 3))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(12) >= 0, 1.0, -1.0)
    groups = TeacherMixture(group_fraction=0.4, alpha=2.0, lam=0.1)
    mixture = GaussianMixture.opposite(alpha=2.0, lam=0.1)
    task = HiddenManifold.random(4, 3, rng)
    network = glm.random_network(5, 4, rng)
    transfer = TransferModel(task=task, first_layer=network.first_layer, alpha=3.0, lam=0.1)
    labels = RandomLabels(covariance=AR1(6, 0.5), alpha=2.0, lam=0.1)
    features = RandomFeatures(activation="tanh", samples_per_input=3.0, features_per_input=1.5, lam=0.1)
    P = rng.dirichlet(np.ones(3), 7)
    fitted = glm.fit(X, y, "square", 0.1)
    classes = glm.fit_multiclass(X, np.arange(12) % 3, 3, "square", 0.1)
    one = {"model": groups, "d": 6, "rng": stream(0, "bad")}
    found = {
        "fit": Example(glm.fit, {"X": X, "y": y, "loss": "logistic", "lam": 0.1, "bias": True}),
        "fit square": Example(glm.fit, {"X": X, "y": y, "loss": "square", "lam": 0.1, "sample_weights": np.ones(12)}),
        "fit own": Example(glm.fit, {"X": X, "y": y, "loss": OWN, "lam": 0.1, "argument": "residual"}),
        "fit hinge": Example(glm.fit, {"X": X, "y": y, "loss": "hinge", "lam": 0.1}),
        "fit hard margin": Example(glm.fit, {"X": X[:3], "y": np.array([1, -1, 1]), "loss": "hard_margin", "lam": 1.0}),
        "fit_coupled": Example(
            glm.fit_coupled,
            {
                "X": X,
                "y": y,
                "learners": np.arange(12) % 2,
                "loss": "logistic",
                "lam": 0.1,
                "coupling": 1.0,
                "bias": False,
            },
        ),
        "fit_penalized": Example(
            glm.fit_penalized, {"X": X, "y": y, "loss": "logistic", "penalty": Lasso(0.3), "bias": True}
        ),
        "fit_multiclass": Example(
            glm.fit_multiclass, {"X": X, "classes": np.arange(12) % 3, "n_classes": 3, "loss": "softmax", "lam": 0.1}
        ),
        "fit_masked_site": Example(
            glm.fit_masked_site,
            {"inputs": X, "colors": np.arange(12) % 3, "lam": 0.1, "test_inputs": X[:7], "conditionals": P},
        ),
        "conditional_entropy": Example(glm.conditional_entropy, {"conditionals": P}),
        "fields": Example(fitted.fields, {"X": X, "learners": 0}),
        "fields of classes": Example(classes.fields, {"X": X}),
        "measure mixture": Example(glm.measure, {**one, "model": mixture}),
        "measure labels": Example(glm.measure, {**one, "model": labels, "inputs": "rademacher"}),
        "measure features": Example(glm.measure, {**one, "model": features}),
        "measure transfer": Example(glm.measure, {**one, "model": transfer, "d": 5}),
        "population": Example(glm.population, {"model": groups, "p": 6}),
        "population linear": Example(glm.population, {"model": LINEAR, "p": 6}),
        "draw": Example(glm.draw, {"source": glm.population(groups, 6), "n": 5, "rng": stream(0, "bad")}),
        "FeatureTask": Example(glm.FeatureTask, {"model": features, "d": 5, "rng": stream(0, "bad")}),
        "random_inputs": Example(
            glm.random_inputs, {"covariance": AR1(6, 0.5), "n": 5, "rng": stream(0, "bad"), "inputs": "features"}
        ),
        "message_passing": Example(
            glm.message_passing, {"problem": LINEAR, "size": 6, "rng": stream(0, "bad"), "steps": 3, "start": 1.0}
        ),
        "posterior_error": Example(
            glm.posterior_error,
            {"alpha": 2.0, "variance": 0.5, "shares": [0.4, 0.6], "d": 5, "rng": stream(0, "bad"), "mean_power": 1.0},
        ),
        "posterior_message_passing": Example(
            glm.posterior_message_passing,
            {"problem": replace(LINEAR, signals="signs"), "size": 6, "rng": stream(0, "bad"), "steps": 3},
        ),
        "resampled": Example(
            glm.resampled, {"features": X, "targets": X[:, 0], "n": 9, "lam": 0.1, "rng": stream(0, "bad")}
        ),
        "random_network": Example(glm.random_network, {"n_hidden": 5, "n_inputs": 4, "rng": stream(0, "bad")}),
        "Network": Example(glm.Network, {"first_layer": network.first_layer, "readout": network.readout}),
        "output": Example(network.output, {"X": np.ones((3, 4))}),
        "draw_task": Example(glm.draw_task, {"task": task, "n": 5, "rng": stream(0, "bad")}),
        "train": Example(glm.train, {"network": network, "X": rng.standard_normal((9, 4)), "y": np.sign(X[:9, 0])}),
        "scratch_error": Example(glm.scratch_error, {"model": transfer, "d": 5, "rng": stream(0, "bad"), "steps": 3}),
        "Group": Example(
            glm.Group,
            {"share": 1.0, "covariance": np.ones(3), "mean": np.zeros(3), "teacher": np.ones(3), "labels": "sign"},
        ),
    }
    for function in (glm.train_loss, glm.train_error, glm.test_error, glm.squared_norm, glm.bias):
        found[function.__name__] = Example(function, one)
    for function in (glm.accuracy_plus, glm.accuracy_minus, glm.disparate_impact):
        found[function.__name__] = Example(function, one)
    return found


GROUP = {"share": 1.0, "covariance": [1.0], "mean": [0.0], "teacher": [1.0]}
FITTED = {"alpha": 1.0, "loss": "square", "lam": 1.0}
# No sample has the label 1, whatever is drawn, so that the trained bias is -1 and decides alone.
NEVER_ONE = TeacherMixture(group_fraction=0.4, alpha=2.0, lam=1e299, loss="square", teacher_biases=(-99.0, -99.0))
LINEAR = GeneralizedLinearModel(
    modes=Modes([1.0], [[1.0]], [[[1.0]]]),
    clusters=[Cluster(labels="linear", teacher_signal=0)],
    alpha=2.0,
    loss="square",
    lam=0.1,
)


def message_passing(weight_step):
    return glm.message_passing(LINEAR, 6, stream(0, "bad"), weight_step=weight_step)


@pytest.mark.parametrize("n", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_wrong_arguments_are_refused_by_name(n):
    assert_all_refused(examples(), n, seed=n)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: glm.fit(X, y, "logistic", 0.1, bias="no"), "bias must be True or False, got 'no'"),
        (lambda X, y: glm.fit(np.ma.masked_array(X, X > 1), y, "logistic", 0.1), "X must have no masked entries"),
        (
            lambda X, y: glm.fit(X, y, "logistic", 0.1, sample_weights=np.ma.masked_equal([1, 1, 2], 2)),
            "masked entries",
        ),
        (lambda X, y: glm.fit(X, y, "Logistic", 0.1), "loss must be one of 'square', 'logistic'"),
        (lambda X, y: glm.fit(1e200 * X, y, "square", 0.1), "range of floating point numbers|did not converge"),
        (
            lambda X, y: glm.fit_coupled(X, y, [0, 1, 1], "hinge", 0.1, coupling=1.0),
            "y must have both labels for every",
        ),
        (lambda X, y: glm.fit_coupled(X, y, [0, 0, 0], "square", 0.1), "learners must give a sample to every learner"),
        (lambda X, y: glm.fit_multiclass(X, [0, 1, 2], 3, "softmax", 0.1, bias="yes"), "bias must be True or False"),
        (lambda X, y: glm.fit(X, y, "square", 0.1).fields(X, 1), "learners must be one index"),
        (
            lambda X, y: glm.measure(GaussianMixture.opposite(alpha=1.0, lam=1.0), 9, stream(0), inputs="features"),
            "inputs",
        ),
        (
            lambda X, y: glm.Group(share=1.0, covariance=[1.0], mean=[0.0], labels="Sign", teacher=[1.0]),
            "labels must be",
        ),
        (lambda X, y: glm.Group(share=1.0, covariance=[1.0], mean=[0.0]), "labels='sign' need a teacher"),
        (
            lambda X, y: glm.Group(
                share=1.0, covariance=[1.0], mean=[0.0], labels="linear", teacher=[1.0], loss_weights=(2, 1)
            ),
            "loss_weights must be equal for linear labels",
        ),
        (lambda X, y: glm.Group(**GROUP, loss_weights=[1.0]), "loss_weights must"),
        (lambda X, y: glm.fit(X, y, "square", 0.1).fields(np.where(X > 2, np.nan, X)), "X must be finite, got nan"),
        (lambda X, y: glm.fit_multiclass(X, [0, 1, 2], 3, "square", 0.1).fields(np.inf * np.ones((1, 3))), "finite"),
        (lambda X, y: glm.random_network(2, 3, stream(0)).output(np.full((1, 3), np.nan)), "X must be finite"),
        (lambda X, y: glm.Group(**GROUP, label=2), "label must be -1 or 1"),
        (lambda X, y: glm.Population(groups=(), **FITTED), "groups must be a non-empty tuple"),
        (lambda X, y: glm.Population(groups={"a": 1}, **FITTED), r"groups\[0\] must be a record of simulate.glm"),
        (lambda X, y: glm.Population(groups=(None,), **FITTED), r"groups\[0\] must be a record of simulate.glm"),
        (
            lambda X, y: glm.Population(groups=(glm.Group(**GROUP, learner=1),), **FITTED),
            "n_learners must exceed every learner",
        ),
        (
            lambda X, y: glm.disparate_impact(NEVER_ONE, 6, stream(0)),
            "model must label some samples of its first group 1",
        ),
        (lambda X, y: glm.train(glm.random_network(2, 3, stream(0)), X, 2 * y), "y must be 3 labels -1 or 1"),
        (lambda X, y: message_passing(lambda A, B: 1.0), "weight_step must return weights and their"),
        (lambda X, y: message_passing(lambda A, B: (B, A, B)), "weight_step must return weights and their derivatives"),
        (lambda X, y: message_passing(lambda A, B: (B, "text")), "weight_step must be an array of real numbers"),
        (lambda X, y: message_passing(lambda A, B: (B[:2], A)), r"weight_step must have shape \(6,\), got \(2,\)"),
        (lambda X, y: message_passing(lambda A, B: (B, 1.0)), r"weight_step must have shape \(6,\), got \(\)"),
    ],
)
def test_options_that_are_not_known_are_refused(call, message):
    X = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0], [3.0, 1.0, 0.0]])
    with pytest.raises((ValueError, glm.FitError), match=message):
        call(X, np.array([1.0, -1.0, 1.0]))
