"""The best ridge of a record: slopes along the ridge, both limits, and every minimum by its name."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulate.core import Estimate, extrapolate, stream
from simulate.glm import measure
from tests.glm.own_losses import Sigmoid
from tests.glm.settings import draw, teacher_problem
from tests.glm.test_rare_biases import flipped_pair, mixture
from theory import glm
from theory.glm import ridge_path
from theory.glm.ridge_scan import Rung
from theory.glm.ridge_slope import tangent
from theory.glm.vanishing_ridge import vanishing_ridge
from theory.models import (
    AR1,
    Cluster,
    DenseModes,
    GaussianMixture,
    GeneralizedLinearModel,
    Isotropic,
    Logit,
    Modes,
    Poisson,
    RandomFeatures,
    RandomLabels,
)

ONE = Modes([1.0], [[1.0]], [[[1.0]]])
FEWEST = 15  # saddle points that a search may take


def logistic_teacher(temperature, alpha, lam=1.0):
    cluster = Cluster(labels=Logit(temperature), teacher_signal=0)
    return GeneralizedLinearModel(modes=ONE, clusters=[cluster], alpha=alpha, loss="logistic", lam=lam)


def linear_teacher(noise, alpha, power=1.0, lam=1.0):
    cluster = Cluster(labels="linear", teacher_signal=0, teacher_variance=power, noise=noise)
    modes = Modes([1.0], [[1.0]], [[[power]]])
    return GeneralizedLinearModel(modes=modes, clusters=[cluster], alpha=alpha, loss="square", lam=lam)


def counts():
    cluster = Cluster(labels=Poisson(), teacher_signal=0, teacher_variance=0.5)
    modes = Modes([1.0], [[1.0]], [[[0.5]]])
    return GeneralizedLinearModel(modes=modes, clusters=[cluster], alpha=1.0, loss="poisson", lam=0.5, bias=True)


def dense():
    modes = DenseModes([np.array([[1.0, 0.3], [0.3, 0.5]])], [[0.6, 0.4]])
    return GeneralizedLinearModel(
        modes=modes, clusters=[Cluster(teacher_signal=0, noise=0.1)], alpha=2.0, loss="hinge", lam=0.3
    )


def by_differences(problem, step=1e-4):
    """Derivatives by lam of error, loss, V, q, r and bias, from two more saddle points."""
    ends = [glm.solve(replace(problem, lam=problem.lam * (1 + sign * step))) for sign in (1, -1)]
    above, below = (np.array([p.test_error, p.test_loss, *p.V, *p.q, *p.r, *p.bias]) for p in ends)
    return (above - below) / (2 * step * problem.lam)


def test_slopes_are_the_stored_ones():
    slopes = glm.ridge_slopes(glm.solve(logistic_teacher(0.3, 3.0)))
    assert (slopes.test_error, slopes.test_loss) == pytest.approx((0.00730413, 0.06027322), abs=6e-9)
    assert slopes.iterations == 7  # two rounds of the equations for each of V, q and r, and one at the point itself


@pytest.mark.parametrize(
    "problem",
    [
        logistic_teacher(1.0, 2.0, 0.1),
        linear_teacher(0.2, 0.7, lam=0.01),
        flipped_pair(2.0),
        flipped_pair(0.3, "logistic"),
        flipped_pair(12.0),  # one sample in a million of millions decides on the bias
        teacher_problem(1.5, 0.02, "square", noise=0.1),
        pytest.param(counts(), marks=pytest.mark.slow),
        dense(),
        pytest.param(
            glm.as_problem(RandomLabels(covariance=Isotropic(math.inf), alpha=3.0, lam=0.2, loss=Sigmoid(slope=1.0))),
            marks=pytest.mark.slow,
        ),
        *(draw(np.random.default_rng(seed), ("groups", "coupled"))[1] for seed in (1, 4)),
    ],
)
def test_slopes_are_those_of_two_saddle_points(problem):
    slopes = glm.ridge_slopes(glm.solve(problem))
    found = np.array([slopes.test_error, slopes.test_loss, *slopes.V, *slopes.q, *slopes.r, *slopes.bias])
    wanted = by_differences(problem)
    assert found == pytest.approx(wanted, rel=3e-6, abs=1e-6 * abs(wanted).max() / (1 + problem.lam))


@pytest.mark.parametrize(
    ("temperature", "alpha", "by", "lam", "value"),
    [
        (0.3, 3.0, "loss", 0.1424285, 0.4749905756),
        (0.3, 3.0, "error", 0.1261088, 0.2328258557),
        (1.0, 2.0, "loss", 1.1628713, 0.6701319734),
        (1.0, 2.0, "error", 1.1377129, 0.4142134289),
    ],
)
def test_best_ridges_of_logistic_teachers_are_the_stored_ones(temperature, alpha, by, lam, value):
    """Loss and error want other ridges, and the tuned error is that of the posterior to 1e-5."""
    best = glm.optimal_ridge(logistic_teacher(temperature, alpha, 50.0), by)
    assert best.lam == pytest.approx(lam, rel=1e-6)
    assert best.value == pytest.approx(value, abs=1e-10)
    assert best.limit is None
    assert best.iterations < FEWEST
    assert best.value == (best.point.test_error if by == "error" else best.point.test_loss)
    if by == "error":
        floor = glm.bayes_optimal(logistic_teacher(temperature, alpha)).test_error
        assert 0 < best.value - floor < 2e-6


@settings(max_examples=15)
@given(noise=st.floats(0.01, 20), power=st.floats(0.1, 10), alpha=st.floats(0.2, 10))
def test_the_tuned_ridge_of_a_linear_teacher_is_noise_over_power(noise, power, alpha):
    """With isotropic inputs the ridge is then the posterior's precision over that of the noise."""
    best = glm.optimal_ridge(linear_teacher(noise, alpha, power))
    # Where noise hides nearly all the error is flat, and its least place is not resolved.
    assert best.lam == pytest.approx(noise / power, rel=2e-5 * (1 + noise / power) * (1 + alpha) ** 2)
    assert best.iterations < FEWEST
    assert best.value == pytest.approx(
        glm.ridge_regression(linear_teacher(noise, alpha, power), noise / power).test_error, rel=1e-10
    )


@pytest.mark.parametrize("problem", [logistic_teacher(0.3, 3.0), flipped_pair(0.3, "logistic"), dense()])
def test_a_neighbor_leads_to_a_point_by_few_evaluations(problem):
    """From one solved ridge to another a factor 3 away, and in between the two, where the search only verifies."""
    lams = (problem.lam, 3 * problem.lam, 1.7 * problem.lam)
    solved = [glm.solve(replace(problem, lam=lam)) for lam in lams]
    rungs = [Rung(math.log(p.problem.lam), 0.0, 0.0, p, *tangent(p)[1:]) for p in solved]
    for near, k in ((rungs[:1], 1), (rungs[:2], 2)):
        other, start = replace(problem, lam=lams[k]), solved[0]
        x = ridge_path.predicted(rungs[k].log_lam, near)
        assert abs(x - rungs[k].x).max() < (0.5 if k == 1 else 0.03)
        found = ridge_path.approached(other, x, start, near[0].matrix)
        assert (found.V, found.q) == (pytest.approx(solved[k].V, rel=1e-9), pytest.approx(solved[k].q, rel=1e-9))
        assert found.iterations <= 10
        assert glm.solve(other, start=found).iterations <= 3


def test_hinge_loss_has_two_minima_that_are_named():
    best = glm.optimal_ridge(flipped_pair(1.0))
    inner, far = best.minima
    assert (inner.lam, inner.value) == (pytest.approx(3.7806, abs=1e-4), pytest.approx(0.204224456, abs=1e-9))
    assert (far.lam, far.value) == (math.inf, pytest.approx(0.280592, abs=1e-6))
    assert (best.lam, best.limit) == (inner.lam, None)
    assert best.iterations < FEWEST


@pytest.mark.parametrize("loss", ["square", "logistic"])
@pytest.mark.parametrize("make", [flipped_pair, mixture])
def test_an_infinite_ridge_is_an_answer(loss, make):
    best = glm.optimal_ridge(make(1.0, loss))
    assert (best.lam, best.limit, best.point) == (math.inf, "infinity", None)
    assert best.value == pytest.approx(0.1966923381, abs=1e-10)
    assert best.iterations < FEWEST


def test_a_minimum_beside_a_plateau_is_found():
    """With hinge loss the error does not depend on a large ridge, to rounding, and hardly on a small one."""
    problem = teacher_problem(0.3, 1.0, "hinge", noise=0.1)
    best = glm.optimal_ridge(problem)
    assert best.limit is None
    assert best.value < min(best.zero, best.infinity) - 1e-4
    assert glm.optimal_ridge(problem, "loss").iterations <= FEWEST


def test_no_ridge_is_an_answer():
    best = glm.optimal_ridge(linear_teacher(0.0, 0.5))
    assert (best.lam, best.limit) == (0.0, "zero")
    assert best.value == best.zero == pytest.approx(0.5)  # a half of the power is unseen
    few = glm.gaussian_mixture(variances=0.8, probability=0.3, alpha=0.06, lam=1.0)
    best = glm.optimal_ridge(few)
    hard = glm.solve(replace(few, loss="hard_margin"))
    assert best.zero == pytest.approx(hard.test_error, abs=1e-12)
    assert best.limit in ("zero", None)


def test_the_limit_of_a_small_ridge_is_a_hard_margin_or_the_closed_form():
    few = glm.as_problem(glm.gaussian_mixture(variances=0.5, alpha=1.0, lam=1e-5, loss="hinge"))
    point = glm.solve(few)
    assert vanishing_ridge(few) == (pytest.approx(point.test_error, abs=1e-6), pytest.approx(point.test_loss, abs=1e-6))
    assert vanishing_ridge(replace(few, loss="logistic"))[1] == math.inf
    assert vanishing_ridge(replace(few, loss="square")) is None
    assert vanishing_ridge(replace(few, alpha=100.0)) is None  # above the threshold
    linear = linear_teacher(0.2, 0.7, lam=1e-9)
    point = glm.solve(linear)
    assert vanishing_ridge(linear) == pytest.approx((point.test_error, point.test_loss), abs=1e-7)


def test_at_the_interpolation_peak_only_a_learnable_teacher_has_a_finite_limit():
    assert vanishing_ridge(linear_teacher(0.0, 1.0))[0] < 1e-9
    assert vanishing_ridge(linear_teacher(0.1, 1.0))[0] > 1e7


def test_infinite_ridges_are_those_of_large_ones():
    """Over random problems of all kinds: the difference falls as 1/lam."""
    rng = np.random.default_rng(5)
    for _ in range(24):
        kind, problem = draw(rng)
        limit, lam = glm.infinite_ridge(problem), 1e4 * max(1.0, problem.alpha)
        point = glm.solve(replace(problem, lam=lam))
        assert limit.test_error == pytest.approx(point.test_error, abs=1e-4), kind
        assert limit.test_loss == pytest.approx(point.test_loss, abs=2e-3), kind
        assert limit.q == pytest.approx(lam**2 * point.q, rel=2e-2) or limit.constant_bias.any(), kind


def test_the_bias_of_an_infinite_ridge_is_next_order_where_labels_balance():
    limit = glm.infinite_ridge(flipped_pair(1.0, "square"))
    gaps = [abs(lam * glm.solve(flipped_pair(lam, "square")).bias[0] - limit.bias[0]) for lam in (1e3, 1e4)]
    assert gaps[0] == pytest.approx(10 * gaps[1], rel=0.05)
    # Loss weights and teachers of both clusters: labels balance, forces differ.
    pair = [
        Cluster(probability=0.5, teacher_signal=0, teacher_mean=0.5 * sign, mean_signal=1, mean_sign=sign, covariance=c)
        for c, sign in enumerate((1.0, -1.0))
    ]
    modes = Modes([0.5, 0.5], [[1.0, 0.4], [0.5, 1.2]], np.array([[[0.15, 0.1], [0, 0]], [[0, 0], [0.3, 0.5]]]))
    problem = GeneralizedLinearModel(modes=modes, clusters=pair, alpha=1.5, loss="logistic", lam=1.0, bias=True)
    limit = glm.infinite_ridge(problem)
    assert limit.constant_bias[0] == 0
    assert limit.bias[0] == pytest.approx(1e5 * glm.solve(replace(problem, lam=1e5)).bias[0], rel=1e-3)


def test_hinge_loss_with_one_label_in_each_of_two_widths_keeps_a_constant_bias():
    """Both tails are equally many widths away from the kink: all samples get the label of the wider one."""
    two = GaussianMixture.opposite(variances=np.array([[0.3, 0.3], [1.2, 1.2]]), alpha=1.0, lam=1.0, loss="hinge")
    limit = glm.infinite_ridge(two)
    above, below = np.sqrt(limit.q)
    assert limit.constant_bias[0] == pytest.approx((below - above) / (below + above))
    assert limit.test_error == 0.5
    gaps = [abs(glm.solve(replace(two, lam=lam)).bias[0] - limit.constant_bias[0]) for lam in (1e3, 1e4)]
    assert gaps[1] < 0.2 * gaps[0] < 0.02


@pytest.mark.parametrize("by", ["error", "loss"])
def test_no_ridge_of_a_grid_is_better(by):
    """Over random problems, beside 13 ridges over six decades; all minima that the grid shows are found."""
    rng = np.random.default_rng(11)
    tried = 0
    while tried < 5:
        kind, problem = draw(rng, ("teacher", "linear", "mixture", "blocks", "features"))
        problem = replace(problem, alpha=float(np.clip(problem.alpha, 0.3, 8.0)))
        best, tried = glm.optimal_ridge(problem, by), tried + 1
        lams = np.geomspace(1e-3, 1e3, 13)
        points = [glm.solve(replace(problem, lam=float(lam))) for lam in lams]
        values = np.array([point.test_error if by == "error" else point.test_loss for point in points])
        assert best.value <= values.min() + 1e-9, kind
        turns = [k for k in range(1, 12) if values[k] < min(values[k - 1], values[k + 1]) - 1e-9]
        for k in turns:
            assert any(lams[k - 1] < minimum.lam < lams[k + 1] for minimum in best.minima), kind
        assert best.iterations <= FEWEST


def test_other_records_have_best_ridges():
    features = RandomFeatures(samples_per_input=3.0, features_per_input=1.5, noise=0.2, lam=1.0, loss="square")
    masked = glm.masked_classification([[1.0, 0.2], [0.2, 1.0]], [0.4, 0.3], alpha=2.0, lam=0.1)
    for record, by in ((features, "error"), (masked, "loss")):
        best = glm.optimal_ridge(record, by)
        assert 0 < best.lam <= math.inf
        if best.limit is None:
            at = [glm.solve(replace(glm.as_problem(record), lam=best.lam * factor)) for factor in (0.9, 1.1)]
            values = [point.test_error if by == "error" else point.test_loss for point in at]
            assert best.value < min(values)
    with_rows = glm.optimal_ridge(RandomLabels(covariance=AR1(20, 0.5), alpha=1.0, lam=1.0, loss="logistic"), "loss")
    assert (with_rows.lam, with_rows.value) == (math.inf, pytest.approx(math.log(2)))


@pytest.mark.slow
def test_ridges_without_a_verified_point_are_left_out():
    """A sigmoid loss is unstable at small ridges, where noisy labels have many far minima: none of these is used."""
    noisy = Cluster(labels="sign", teacher_signal=0, noise=9.0)
    sigmoid = GeneralizedLinearModel(modes=ONE, clusters=[noisy], alpha=3.0, lam=1.0, loss=Sigmoid())
    best = glm.optimal_ridge(sigmoid)
    assert min(best.lams) > 0.01
    assert math.isnan(best.zero)
    assert best.value <= min(best.values)


def test_a_value_that_does_not_depend_on_the_ridge_is_refused():
    labels = RandomLabels(covariance=Isotropic(math.inf), alpha=1.0, lam=1.0)
    with pytest.raises(ValueError, match="random ones, whose error is 1/2"):
        glm.optimal_ridge(labels)
    with pytest.raises(ValueError, match="model must have a loss with a ridge, got 'hard_margin'"):
        glm.optimal_ridge(glm.gaussian_mixture(variances=0.5, alpha=1.0, lam=1.0, loss="hard_margin"))
    with pytest.raises(ValueError, match="model must have a loss that is finite, got 'hard_margin'"):
        glm.infinite_ridge(glm.gaussian_mixture(variances=0.5, alpha=1.0, lam=1.0, loss="hard_margin"))
    with pytest.raises(ValueError, match="by must be"):
        glm.optimal_ridge(labels, "norm")


@pytest.mark.parametrize(
    ("problem", "replicates", "factor"),
    [
        pytest.param(linear_teacher(0.5, 2.0), 200, 8.0, id="linear"),
        pytest.param(logistic_teacher(0.3, 3.0), 112, 20.0, id="logistic", marks=pytest.mark.slow),
    ],
)
def test_the_best_ridge_is_best_in_fits_of_two_sizes(problem, replicates, factor, agrees):
    """Errors of the same samples at a ridge far below the best one, at it, and far above it."""
    lam = glm.optimal_ridge(problem).lam
    lams = (lam / factor, lam, factor * lam)
    wanted = [glm.solve(replace(problem, lam=one)).test_error for one in lams]
    found = {}
    for p in (60, 120):
        runs = [
            [measure(replace(problem, lam=one), p, stream(0, "best ridge", p, r)).test_error for one in lams]
            for r in range(replicates)
        ]
        found[p] = [Estimate.of([run[side] - run[1] for run in runs]) for side in (0, 2)]
    for side, predicted in ((0, wanted[0] - wanted[1]), (1, wanted[2] - wanted[1])):
        assert all(found[p][side].mean > 4.5 * found[p][side].stderr for p in found)
        agrees(extrapolate(found[60][side], found[120][side]), predicted, resolves=1.0)
