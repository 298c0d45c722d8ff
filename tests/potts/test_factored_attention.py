"""The factored fit: its sums against loops, exact recovery from populations, symmetries, failures that are reported."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulate.core import stream
from simulate.potts import factored_attention, masked_loss, recovery_error
from simulate.potts.inference import FitError
from simulate.potts.inference.factored import _Problem
from simulate.potts.inference.factored_kernel import FactoredObjective
from simulate.potts.inference.factored_start import factored_start, kronecker_factors
from simulate.potts.inference.sequences import Sequences
from tests.potts.populations import population
from tests.potts.reference import pair_model
from theory import potts

PAIR = pair_model(6, 3, 0.3, beta=0.8)
STATES, P = population(PAIR)
FLOOR = potts.masked_loss_floor(PAIR)


def sampled(n_samples, seed=0):
    return STATES[stream(seed, "factored").choice(len(STATES), n_samples, p=P)]


def exact(**options):
    """Fitted to the population: what infinitely many samples would give."""
    return factored_attention(STATES, 3, **{"weights": P, "l2": 0, "field_l2": 0, "tol": 1e-7, **options})


def loss_by_loops(states, weights, A, V, h):
    """The negative log pseudo-likelihood from its definition; complex arguments allowed."""
    total = 0.0
    for s, w in zip(states, weights, strict=True):
        for i in range(len(s)):
            z = h[i] + sum(A[i, j] * V[:, s[j]] for j in range(len(s)) if j != i)
            total = total + w * (np.log(np.sum(np.exp(z - z.real.max()))) + z.real.max() - z[s[i]])
    return total


def test_compiled_sums_are_those_of_the_loops():
    rng = stream(0, "kernel")
    states, weights = rng.integers(4, size=(23, 3)), rng.random(23)  # more samples than blocks, not a multiple
    point = rng.standard_normal((3, 3)), rng.standard_normal((4, 4)), rng.standard_normal((3, 4))
    value, *gradient = FactoredObjective(states.astype(np.int32), weights)(*point)
    assert value == pytest.approx(loss_by_loops(states, weights, *point), rel=1e-13)
    for place, slopes in enumerate(gradient):
        for index in np.ndindex(slopes.shape):
            moved = [each.astype(complex) for each in point]
            moved[place][index] += 1e-30j
            assert slopes[index] == pytest.approx(loss_by_loops(states, weights, *moved).imag / 1e-30, abs=1e-12)


@pytest.mark.parametrize("penalties", [{}, {"l2": 0.02, "field_l2": 0.005}])
@pytest.mark.parametrize("fields", [False, True])
def test_the_objective_is_the_written_out_loss_plus_penalties(fields, penalties):
    """The default of both penalties is 0.01 in units of the weight of one sample, sum w^2."""
    states = sampled(300, seed=3)
    weights = stream(0, "objective").uniform(0.5, 2.0, 300)
    fit = factored_attention(states, 3, weights=weights, fields=fields, **penalties)
    shares = weights / weights.sum()
    A, V, h = fit.site_couplings, fit.color_couplings, fit.fields
    default = 0.01 * np.sum(shares**2)
    l2, field_l2 = (penalties.get(name, default) for name in ("l2", "field_l2"))
    expected = loss_by_loops(states, shares, A, V, h) + l2 * np.sum(A**2) * np.sum(V**2) + field_l2 * np.sum(h**2)
    assert fit.objective == pytest.approx(expected, rel=1e-12)
    assert fit.masked_loss(states, weights) == pytest.approx(loss_by_loops(states, shares, A, V, h) / 6, rel=1e-12)


def test_the_residual_is_the_norm_of_the_gradient_where_both_factors_have_the_same_size():
    states = sampled(60, seed=4)
    fit = factored_attention(states, 3, l2=0.01, field_l2=0.01, max_iter=5, check=False)
    balance = np.sqrt(np.linalg.norm(fit.color_couplings) / np.linalg.norm(fit.site_couplings))
    point = [fit.site_couplings * balance, fit.color_couplings / balance, fit.fields]
    shares, off = np.full(60, 1 / 60), ~np.eye(6, dtype=bool)

    def objective(A, V, g):
        """Of the fields g at the mean input, in units in which their curvature is about one."""
        h = np.sqrt(3) * g - A @ frequencies @ V.T
        h = h - h.mean(axis=1, keepdims=True)
        penalties = 0.01 * np.sum(A**2) * np.sum(V**2) + 0.01 * np.sum(h**2)
        return loss_by_loops(states, shares, A, V, h) + penalties

    frequencies = np.stack([np.bincount(column, minlength=3) / 60 for column in states.T])
    g = point[2] + point[0] @ frequencies @ point[1].T
    point[2] = (g - g.mean(axis=1, keepdims=True)) / np.sqrt(3)
    square = 0.0
    for place, slopes in enumerate([np.zeros((6, 6)), np.zeros((3, 3)), np.zeros((6, 3))]):
        for index in np.ndindex(slopes.shape):
            moved = [each.astype(complex) for each in point]
            moved[place][index] += 1e-30j
            slopes[index] = objective(*moved).imag / 1e-30
        if place == 0:
            slopes = slopes[off]
        else:  # along the gauges nothing moves
            slopes = slopes - slopes.mean(axis=1, keepdims=True)
            slopes = slopes - slopes.mean(axis=0) if place == 1 else slopes
        square += np.sum(slopes**2)
    assert not fit.converged
    assert fit.residual == fit.gradient_norm == pytest.approx(np.sqrt(square), rel=1e-9)


def test_extreme_logits_do_not_overflow():
    value, *gradient = FactoredObjective(STATES[:5].astype(np.int32), np.ones(5))(
        np.ones((6, 6)), 1e4 * np.eye(3), np.zeros((6, 3))
    )
    assert np.isfinite(value)
    assert all(np.isfinite(each).all() for each in gradient)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_change_no_bit(n_threads):
    states = sampled(300)
    one, more = (factored_attention(states, 3, n_threads=n) for n in (1, n_threads))
    assert one.objective == more.objective
    np.testing.assert_array_equal(one.site_couplings, more.site_couplings)
    np.testing.assert_array_equal(one.color_couplings, more.color_couplings)


@pytest.mark.parametrize("fields", [True, False])
def test_the_penalized_gradient_by_differences(fields):
    data, rng = Sequences.of(sampled(50), 3), stream(0, "gradient")
    problem = _Problem(data, fields, 0.02, 0.05, map)
    x = problem.packed(rng.standard_normal((6, 6)), rng.standard_normal((3, 3)), rng.standard_normal((6, 3)))
    value, gradient = problem.of_vector(x)
    for step in 1e-5 * np.eye(len(x)):
        slope = (problem.of_vector(x + step)[0] - problem.of_vector(x - step)[0]) / 2e-5
        assert gradient @ step == pytest.approx(1e-5 * slope, abs=1e-13)
    A, V, h = problem.unpacked(x)
    penalty = 0.02 * np.sum(A**2) * np.sum(V**2) + 0.05 * np.sum(h**2)
    assert value == pytest.approx(loss_by_loops(sampled(50), np.full(50, 0.02), A, V, h) + penalty, rel=1e-12)


@pytest.mark.parametrize("fields", [True, False])
def test_population_is_recovered(fields):
    fit = exact(fields=fields)
    A, V = fit.site_couplings, fit.color_couplings
    assert fit.converged
    assert fit.gradient_norm <= 1e-7
    assert fit.objective / 6 == pytest.approx(FLOOR, abs=1e-14)
    assert recovery_error(A, V, PAIR, fields=fields) < 3e-7
    np.testing.assert_allclose(A, A.T, atol=1e-6)
    np.testing.assert_allclose(fit.conditionals(STATES), PAIR.conditionals(STATES), atol=3e-7)
    np.testing.assert_allclose(fit.model.conditionals(STATES), PAIR.conditionals(STATES), atol=3e-7)
    assert fit.masked_loss(STATES, P) == pytest.approx(FLOOR, abs=1e-14)
    assert masked_loss(fit.model, STATES, P).loss == pytest.approx(FLOOR, abs=1e-12)


@pytest.mark.parametrize("fields", [True, False])
def test_gauge_of_the_result(fields):
    fit = factored_attention(sampled(200), 3, fields=fields)
    V = fit.color_couplings
    assert np.sqrt(np.mean(V**2)) == pytest.approx(1)
    assert fit.site_couplings.sum() >= 0
    assert not fit.site_couplings.diagonal().any()
    assert abs(V.sum(axis=0)).max() < 1e-13
    assert abs(V.sum(axis=1)).max() < 1e-13 or not fields
    assert abs(fit.fields.sum(axis=1)).max() < 1e-13
    assert fit.fields.any() == fields


@settings(max_examples=4)
@given(st.permutations(range(6)), st.permutations(range(3)))
def test_names_of_sites_and_colors_do_not_matter(sites, colors):
    states = sampled(100)
    fit, other = (factored_attention(s, 3, tol=1e-7) for s in (states, np.array(colors)[states[:, sites]]))
    back = np.argsort(colors)
    np.testing.assert_allclose(other.site_couplings, fit.site_couplings[np.ix_(sites, sites)], atol=1e-5)
    np.testing.assert_allclose(other.color_couplings, fit.color_couplings[np.ix_(back, back)], atol=1e-5)
    np.testing.assert_allclose(other.fields, fit.fields[sites][:, back], atol=1e-5)


def test_weights_count_repetitions():
    states, counts = sampled(60), stream(0, "counts").integers(1, 4, size=60)
    weighted = factored_attention(states, 3, weights=7.0 * counts, l2=1e-3, field_l2=1e-3, tol=1e-7)
    repeated = factored_attention(np.repeat(states, counts, axis=0), 3, l2=1e-3, field_l2=1e-3, tol=1e-7)
    np.testing.assert_allclose(weighted.site_couplings, repeated.site_couplings, atol=1e-5)
    assert weighted.masked_loss(states, counts) == pytest.approx(repeated.masked_loss(states, counts), rel=1e-7)


def test_every_start_is_reported_and_the_best_returned():
    fit = exact(restarts=3, seed=1)
    assert len(fit.restarts) == 4
    assert fit.objective == min(fit.restarts)
    np.testing.assert_allclose(fit.restarts, 6 * FLOOR, rtol=1e-12)  # with fields all starts reach the floor
    truth = PAIR.beta * PAIR.site_couplings, PAIR.color_couplings
    assert exact(start=truth).objective == pytest.approx(6 * FLOOR, rel=1e-14)
    assert exact(start=(*truth, np.zeros((6, 3))), tol=1e-10).iterations == 0


def test_running_away_without_fields_is_said():
    """Some random starts end in couplings that cancel but for a field, above the floor."""
    with pytest.raises(FitError, match="not converged: run-away: couplings that cancel but for a field") as failure:
        exact(fields=False, start="random", seed=2, tol=1e-5)
    fit = failure.value.fit
    assert not fit.converged
    assert fit.objective > 6 * FLOOR + 0.05
    rescued = exact(fields=False, start="random", seed=2, restarts=2, tol=1e-5)
    assert rescued.converged
    assert rescued.objective == pytest.approx(6 * FLOOR, abs=1e-9)
    assert rescued.restarts[0] == fit.objective


def test_colors_of_unlike_frequencies_take_few_iterations():
    """Shares of 0.5 to 80 % make curvatures differ a hundredfold: 27 iterations, and 90 without units for them."""
    rng = stream(0, "rare colors")
    states = rng.choice(4, size=(2000, 6), p=(0.005, 0.015, 0.18, 0.8))
    for i in range(1, 6):
        same = rng.random(2000) < 0.4
        states[same, i] = states[same, i - 1]
    assert factored_attention(states, 4).iterations < 50


def test_too_few_iterations_are_an_error_that_holds_the_fit():
    with pytest.raises(
        FitError, match=r"not converged: max_iter reached, gradient norm .* after 3 iterations"
    ) as failure:
        exact(max_iter=3)
    fit = exact(max_iter=3, check=False)
    assert not fit.converged
    assert fit.reason == "max_iter reached"
    assert fit.gradient_norm > 1e-7
    assert fit.objective == failure.value.fit.objective


def test_unreachable_tolerance_is_not_called_converged():
    fit = exact(tol=1e-13, check=False)
    assert not fit.converged
    assert fit.reason.startswith("no further progress")


def test_colors_that_never_occur_and_constant_sites_stay_finite():
    states = sampled(100)
    states[:, 2] = 1
    fit = factored_attention(states, 5)
    assert fit.converged
    assert np.isfinite(fit.fields).all()
    assert np.isfinite(fit.site_couplings).all()
    assert fit.conditionals(states)[:, :, 3:].max() < 0.02


def test_kronecker_factors_are_the_leading_singular_pair():
    blocks = stream(0, "blocks").standard_normal((4, 4, 3, 3)) + np.ones((4, 4, 1, 1)) * np.arange(9).reshape(3, 3)
    A, V = kronecker_factors(blocks)
    left, values, right = np.linalg.svd(blocks.reshape(16, 9))
    best = values[0] * np.outer(left[:, 0], right[0])
    np.testing.assert_allclose(np.outer(A, V), best, atol=1e-10)
    data, rng = Sequences.of(np.zeros((5, 3), dtype=int), 2), stream(0, "start")
    for start in ("kronecker", "random"):  # nothing to learn from: still no saddle at zero
        A, V, _ = factored_start(start, np.zeros((5, 3), dtype=int), data, rng)
        assert np.linalg.norm(A) == pytest.approx(np.linalg.norm(V))
        assert np.linalg.norm(A) > 0.1


def test_equal_sites_have_no_optimum_without_a_penalty():
    states = stream(0, "equal").integers(3, size=(200, 2))
    with pytest.raises(FitError, match="log odds of the data grow by"):
        factored_attention(states[:, [0, 0, 1]], 3, l2=0, tol=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"states": np.zeros((0, 4), dtype=int)}, "at least one sample"),
        ({"states": np.zeros((5, 1), dtype=int)}, "at least 2 sites"),
        ({"states": np.zeros((5, 4))}, "states must be integers"),
        ({"states": np.full((5, 4), 3)}, "states must be colors from 0 to 2, got 3"),
        ({"n_colors": 1}, "n_colors must be an integer of at least 2"),
        ({"weights": np.ones(4)}, "weights must have one number for each of 5 samples of states, got 4"),
        ({"weights": np.zeros(5)}, "weights must not all be zero"),
        ({"weights": [1, 1, -1, 1, 1]}, "weights must be >= 0"),
        ({"l2": -1.0}, "l2 must lie in"),
        ({"field_l2": np.nan}, "field_l2 must be finite"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
        ({"tol": 0.0}, "tol must lie in"),
        ({"restarts": -1}, "restarts must be an integer of at least 0"),
        ({"seed": 0.5}, "seed must be an integer"),
        ({"n_threads": 0}, "n_threads must be an integer"),
        ({"start": "svd"}, 'start must be "kronecker", "random" or a tuple'),
        ({"start": (np.ones((4, 4)),)}, "start must be"),
        ({"start": (np.ones((3, 3)), np.eye(3))}, r"start A must have shape \(4, 4\), got \(3, 3\)"),
        ({"start": (np.ones((4, 4)), np.full((3, 3), np.inf))}, "start V must be finite"),
    ],
)
def test_bad_input(change, message):
    arguments = {"states": stream(0, "bad").integers(3, size=(5, 4)), "n_colors": 3} | change
    with pytest.raises(ValueError, match=message):
        factored_attention(arguments.pop("states"), arguments.pop("n_colors"), **arguments)


def test_the_diagonal_of_a_given_attention_starts_nothing():
    """A site does not see itself; both factors of the start have one size."""
    rng = np.random.default_rng(8)
    states, A, V = rng.integers(0, 3, (50, 4)), rng.standard_normal((4, 4)), rng.standard_normal((3, 3))
    data = Sequences.of(states, 3, None)
    np.fill_diagonal(A, 0)
    plain = factored_start((A, V), states, data, rng)
    for own in (1.0, -7.0):
        for found, expected in zip(factored_start((A + own * np.eye(4), V), states, data, rng), plain, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert np.linalg.norm(plain[0]) == pytest.approx(np.linalg.norm(plain[1]), rel=1e-13)
    np.testing.assert_allclose(np.multiply.outer(plain[0], plain[1]), np.multiply.outer(A, V), rtol=1e-12)


def test_a_start_without_fields_gives_the_average_colors_the_frequencies_of_the_data_and_one_even_sample():
    states = np.array([[0, 1], [0, 2], [1, 2], [0, 2]])
    data, rng = Sequences.of(states, 3, None), np.random.default_rng(2)
    A, V, h = factored_start((rng.standard_normal((2, 2)), rng.standard_normal((3, 3))), states, data, rng)
    counts = np.array([[3, 1, 0], [0, 1, 3]])
    np.testing.assert_allclose(h + A @ (counts / 4) @ V.T, np.log((counts + 1 / 3) / 5), rtol=1e-12)
