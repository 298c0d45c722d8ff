"""The least error for sparse and binary teachers: reference values, integrals, message passing, the hard phase.

The reference values for linear labels come from a solver of its own with the same two equations.
"""

import math

import numpy as np
import pytest
from scipy.special import entr, ndtr

from simulate.core import Estimate, stream
from tests.glm.test_separable import linear
from theory import glm
from theory.glm.bayes_optimal_signal import _Equation
from theory.glm.scalar_posterior import Entry, knowledge
from theory.models import BernoulliGauss, Cluster, DenseModes, GeneralizedLinearModel, Lasso, Modes
from theory.numerics import panelled_legendre

ERRORS = {
    (0.5, 0.1): 0.1514629310,
    (0.5, 0.25): 0.2385680073,
    (1.0, 0.1): 0.1256068460,
    (1.0, 0.25): 0.1655719495,
    (2.0, 0.1): 0.1114577416,
    (2.0, 0.25): 0.1265811511,
}
SIGNS = {0.5: 0.6127799232, 1.0: 0.1027938961, 2.0: 0.1000120518}


def teacher(alpha, share, noise=0.1, **options):
    """A model of which only teacher, law and samples matter here."""
    return linear(alpha, share, None, noise, lam=1.0, **options)


def sign(alpha, noise, law="signs", power=1.0):
    cluster = Cluster(labels="sign", teacher_signal=0, teacher_variance=power, noise=noise)
    modes = Modes([1.0], [[1.0]], [[[power]]])
    return GeneralizedLinearModel(modes=modes, clusters=[cluster], alpha=alpha, loss="logistic", lam=1.0, signals=law)


@pytest.mark.parametrize("setting", ERRORS)
def test_sparse_reference_values(setting):
    found = glm.bayes_optimal_signal(teacher(*setting))
    assert found.test_error == pytest.approx(ERRORS[setting], abs=6e-11)
    assert len(found.points) == 1
    assert not found.hard
    assert found.optimal.replicon > 0.5
    lasso = glm.optimal_strength(linear(*setting, Lasso(0.3)))
    assert found.test_error < lasso.test_error


@pytest.mark.parametrize("alpha", SIGNS)
def test_binary_reference_values(alpha):
    found = glm.bayes_optimal_signal(teacher(alpha, 1.0, signals="signs"))
    assert found.test_error == pytest.approx(SIGNS[alpha], abs=6e-11)
    assert found.optimal.replicon > 0
    assert not found.hard


@pytest.mark.parametrize("labels", ["linear", "sign"])
def test_a_gaussian_law_has_the_known_closed_form(labels):
    for alpha, noise in ((0.4, 0.3), (2.0, 0.05)):
        if labels == "linear":
            found = glm.bayes_optimal_signal(teacher(alpha, 1.0, noise, signals="gaussian"))
            expected = glm.bayes_optimal_linear(alpha, noise)
        else:
            found, expected = (
                glm.bayes_optimal_signal(sign(alpha, noise, "gaussian")),
                glm.bayes_optimal_sign(alpha, noise),
            )
        assert found.test_error == pytest.approx(expected.test_error, rel=1e-11)
        assert found.optimal.q == pytest.approx(expected.q, rel=1e-10)
        assert found.optimal.replicon == pytest.approx(expected.replicon, rel=1e-9)


@pytest.mark.parametrize("A", [0.05, 2.0, 60.0, 5000.0])
@pytest.mark.parametrize("share", [0.001, 0.02, 0.25, 0.9])
def test_a_sparse_entry_by_a_fine_sum(A, share):
    """The posterior mean from Bayes' rule, its error as share - E mean^2; the information from the entropy of y."""
    found = knowledge(Entry(np.array([1 - share, share]), np.zeros(2), np.array([0.0, 1.0])), A)
    reach = 12 * math.sqrt(A + A * A)
    y, weights = panelled_legendre(np.linspace(-reach, reach, 1001), 12)
    normal = [np.exp(-(y**2) / (2 * v)) / math.sqrt(2 * math.pi * v) for v in (A, A + A * A)]
    density = (1 - share) * normal[0] + share * normal[1]
    mean = share * normal[1] / density * y / (1 + A)
    assert found.variance == pytest.approx(share - weights @ (density * mean**2), rel=1e-9)
    entropy = weights @ entr(density)
    assert found.information == pytest.approx(entropy - 0.5 * math.log(2 * math.pi * math.e * A), abs=1e-11)


@pytest.mark.parametrize(
    "entry",
    [
        Entry(np.array([0.5, 0.5]), np.array([1.0, -1.0]), np.zeros(2)),
        Entry(np.array([0.9, 0.1]), np.zeros(2), np.array([0.0, 4.0])),
        Entry(np.array([1.0]), np.zeros(1), np.array([2.0])),
    ],
)
def test_information_grows_by_half_the_error(entry):
    """The mutual information is half the integral of the posterior variance over the precision."""
    A, weights = panelled_legendre(np.concatenate([[0.0], np.geomspace(1e-3, 5.0, 12)]), 12)
    area = 0.5 * weights @ [knowledge(entry, float(a)).variance for a in A]
    assert knowledge(entry, 5.0).information == pytest.approx(area, rel=1e-9)
    assert knowledge(entry, 0.0).variance == entry.power


def test_two_variances_and_another_size():
    """With inputs of two variances by plain iteration of both equations; and a larger teacher is one of less noise."""
    model = teacher(1.0, 0.25, weights=(0.8, 0.2), variances=(0.3, 4.0))
    entry, V = Entry(np.array([0.75, 0.25]), np.zeros(2), np.array([0.0, 1.0])), 0.26
    for _ in range(200):
        V = sum(w * om * knowledge(entry, om / (0.1 + V)).variance for w, om in ((0.8, 0.3), (0.2, 4.0)))
    found = glm.bayes_optimal_signal(model)
    assert abs(found.optimal.V - V) < 1e-10 * V
    large = glm.bayes_optimal_signal(teacher(1.0, 0.25, 0.4, power=4.0))
    assert large.test_error == pytest.approx(4 * ERRORS[1.0, 0.25], abs=3e-10)


def test_unseen_variance_is_noise():
    seen = teacher(1.0, 0.25, 0.2)
    cluster = Cluster(labels="linear", teacher_signal=0, teacher_variance=0.35, noise=0.1)
    hidden = GeneralizedLinearModel(
        modes=seen.modes, clusters=[cluster], alpha=1.0, loss="square", lam=1.0, signals=BernoulliGauss(0.25)
    )
    found, expected = (glm.bayes_optimal_signal(model).test_error for model in (hidden, seen))
    assert found == pytest.approx(expected, rel=1e-12)


def test_hard_phase_of_a_sparse_teacher():
    """At little noise there are two solutions; below and above the coexistence only one of them."""
    hard = glm.bayes_optimal_signal(teacher(0.4, 0.25, 1e-6))
    assert hard.hard
    assert len(hard.points) == 2
    assert hard.uninformed.V > 0.05
    assert hard.optimal is hard.informed
    assert hard.informed.V < 1e-5
    assert all(point.replicon > 0 for point in hard.points)
    easy = glm.bayes_optimal_signal(teacher(0.3, 0.25, 1e-6))
    assert len(easy.points) == 2
    assert not easy.hard  # the other solution has less information
    assert len(glm.bayes_optimal_signal(teacher(0.5, 0.25, 1e-6)).points) == 1


def test_without_noise_recovery_needs_a_sample_for_each_nonzero_entry():
    found = glm.bayes_optimal_signal(teacher(0.3, 0.25, 0.0))
    assert found.hard
    assert (found.optimal.V, found.test_error, found.optimal.information) == (0, 0, -math.inf)
    unknown = glm.bayes_optimal_signal(teacher(0.2, 0.25, 0.0))
    assert len(unknown.points) == 1
    assert unknown.optimal.V > 0.1


def test_hard_phase_of_the_binary_perceptron():
    """Noiseless signs of a binary teacher: perfect knowledge is the posterior where it has less information, log 2.

    The literature knows a transition near 1.245 samples a weight and the end of the other solution near 1.49.
    """
    gap = [glm.bayes_optimal_signal(sign(alpha, 0.0)).uninformed.information - math.log(2) for alpha in (1.24, 1.25)]
    crossing = 1.24 - 0.01 * gap[0] / (gap[1] - gap[0])
    assert crossing == pytest.approx(1.2447, abs=2e-4)
    known = glm.bayes_optimal_signal(sign(1.3, 0.0))
    assert known.hard
    assert known.test_error == 0
    assert known.uninformed.test_error > 0.17
    ends = [glm.bayes_optimal_signal(sign(alpha, 0.0)).uninformed.V for alpha in (1.48, 1.5)]
    assert ends[0] > 0.1
    assert ends[1] == 0


@pytest.mark.parametrize("make", [lambda a: sign(a, 0.2), lambda a: teacher(a, 0.25, 0.2), lambda a: sign(a, 0.0)])
def test_information_grows_with_samples_as_their_entropy(make):
    """By the number of samples it changes by what one label tells of its own field, since V is stationary."""
    step = 1e-4
    above, at, below = (glm.bayes_optimal_signal(make(0.8 + s * step)).uninformed for s in (1, 0, -1))
    equation = _Equation.of(make(0.8))
    V, noise = at.V, equation.cluster.noise
    if equation.cluster.labels == "linear":
        entropy = 0.5 * math.log((V + noise) / noise)
    else:
        arguments, weights = np.polynomial.hermite_e.hermegauss(200)
        ratios = (at.q / (V + noise), equation.seen / noise if noise else math.inf)  # known to the rule, and at best
        entropy = 0.0
        for sign, ratio in zip((1, -1), ratios, strict=True):
            u = math.sqrt(ratio) * arguments
            entropy += sign * weights @ (entr(ndtr(u)) + entr(ndtr(-u))) / math.sqrt(2 * math.pi)
    assert (above.information - below.information) / (2 * step) == pytest.approx(entropy, rel=1e-5)
    assert V > 0


def message_passing(rng, alpha, share, noise, p=2000, steps=40):
    """The error noise + |theta - w|^2/p of approximate message passing for a sparse teacher and linear labels."""
    n = round(alpha * p)
    theta = rng.standard_normal(p) * (rng.random(p) < share)
    X = rng.standard_normal((n, p)) / math.sqrt(p)
    y = X @ theta + math.sqrt(noise) * rng.standard_normal(n)
    w, V, g = np.zeros(p), share, np.zeros(n)
    for _ in range(steps):
        omega = X @ w - V * g
        g = (y - omega) / (noise + V)
        A = alpha / (noise + V)
        B = A * w + X.T @ g
        odds = share / (1 - share) / math.sqrt(1 + A) * np.exp(np.minimum(B**2 / (2 * (1 + A)), 600))
        chance, center = odds / (1 + odds), B / (1 + A)
        w, left = chance * center, chance / (1 + A) + chance * (1 - chance) * center**2
        V = float(np.mean(left))
    return noise + float(np.mean((theta - w) ** 2))


@pytest.mark.parametrize(("alpha", "share"), [(0.5, 0.25), (1.0, 0.1)])
def test_message_passing_reaches_the_least_error(agrees, alpha, share):
    runs = [message_passing(stream(0, "sparse", alpha, r), alpha, share, 0.1, 1000) for r in range(16)]
    predicted = glm.bayes_optimal_signal(teacher(alpha, share)).test_error
    agrees(Estimate.of([run - 0.1 for run in runs]), predicted - 0.1, resolves=0.3)


def test_in_the_hard_phase_message_passing_stays_uninformed(agrees):
    found = glm.bayes_optimal_signal(teacher(0.35, 0.25, 1e-6))
    runs = [message_passing(stream(1, "hard", r), 0.35, 0.25, 1e-6, 1000) for r in range(24)]
    assert found.hard
    agrees(Estimate.of(runs), found.uninformed.test_error, resolves=0.4)
    assert min(runs) > 1000 * found.optimal.test_error


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: teacher(1.0, 0.25, signals=[math.sqrt(0.25)]), "a law of which the teacher is drawn"),
        (
            lambda: GeneralizedLinearModel(
                modes=Modes([1.0], [[1.0]], [[[1.0]]]),
                clusters=[Cluster(labels="linear", teacher_signal=0)],
                alpha=1.0,
                loss="square",
                lam=1.0,
            ),
            "got None",
        ),
        (
            lambda: GeneralizedLinearModel(
                modes=Modes([1.0], [[1.0]]), clusters=[Cluster(labels="random")], alpha=1.0, loss="square", lam=1.0
            ),
            "one signal, that of a teacher of the labels",
        ),
        (
            lambda: GeneralizedLinearModel(
                modes=DenseModes([np.eye(2)], [np.ones(2)]),
                clusters=[Cluster(labels="linear", teacher_signal=0)],
                alpha=1.0,
                loss="square",
                lam=1.0,
                signals="signs",
            ),
            "one cluster and one learner with Modes",
        ),
        (
            lambda: GeneralizedLinearModel(
                modes=Modes([1.0], [[1.0]], [[[0.0]]]),
                clusters=[Cluster(labels="linear", teacher_signal=0)],
                alpha=1.0,
                loss="square",
                lam=1.0,
                signals="signs",
            ),
            "got a signal of zeros",
        ),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        glm.bayes_optimal_signal(make())
