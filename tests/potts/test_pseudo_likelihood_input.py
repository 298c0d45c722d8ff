"""Every bad input of the pseudo-likelihood has its message, and too large problems are refused before they start."""

import numpy as np
import pytest

from simulate.potts import pseudo_likelihood
from simulate.potts.inference.memory import peak_bytes
from simulate.potts.inference.sequences import Sequences
from theory.core.errors import FitError

STATES = np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 0, 0], [1, 1, 2], [2, 1, 0]])
NAN = float("nan")


@pytest.mark.parametrize(
    ("states", "n_colors", "options", "message"),
    [
        (STATES[:0], 3, {}, r"states must have shape \(samples, sites\) with at least one sample, got \(0, 3\)"),
        (STATES[0], 3, {}, r"at least one sample, got \(3,\)"),
        (STATES, 2, {}, r"states must be colors from 0 to 1, got 2 at index \(0, 2\)"),
        (-STATES, 3, {}, r"states must be colors from 0 to 2, got -1"),
        (STATES + 0.5, 3, {}, "states must be integers"),
        (STATES, 1, {}, "n_colors must be an integer of at least 2, got 1"),
        (STATES, 3, {"weights": [1, 1, 1, 1, 1, NAN]}, r"weights must be finite, got nan at index \(5,\)"),
        (STATES, 3, {"weights": [1, 1, 1, 1, 1, -1]}, "weights must be >= 0, got -1.0 at index 5"),
        (STATES, 3, {"weights": np.zeros(6)}, "weights must not all be zero"),
        (STATES, 3, {"weights": np.ones(5)}, "weights must have one number for each of 6 samples of states, got 5"),
        (STATES, 3, {"l2": -1}, r"l2 must lie in \[0, 1e\+30\), got -1"),
        (STATES, 3, {"field_l2": NAN}, "field_l2 must be finite, got nan"),
        (STATES, 3, {"tol": 0}, r"tol must lie in \(0, inf\), got 0"),
        (STATES, 3, {"max_iter": 0}, "max_iter must be an integer of at least 1, got 0"),
        (STATES, 3, {"n_threads": 1.5}, "n_threads must be an integer of at least 1, got 1.5"),
        (STATES, 3, {"gauge": "lattice"}, "gauge must be one of 'zero_sum', 'none', got 'lattice'"),
        (STATES, 3, {"gauge": "none", "symmetric": False}, 'gauge must be "zero_sum" with symmetric=False'),
        (STATES, 4, {"l2": 0}, "l2 = 0 leaves no finite optimum: color 3 never occurs at site 0"),
        (STATES, 4, {"field_l2": 0}, "field_l2 = 0 leaves no finite optimum: color 3 never occurs at site 0"),
        (STATES, 3, {"l2": 0}, "l2 = 0 leaves no finite optimum: colors 0, 2 never occur together at sites 0, 1"),
        (STATES, 3, {"symmetric": "no"}, "symmetric must be True or False, got 'no'"),
        (STATES, 3, {"field_l2": 1e300}, r"field_l2 must lie in \[0, 1e\+30\), got 1e\+300"),
        (STATES, 3, {"memory_limit": 0}, r"memory_limit must lie in \(0, inf\), got 0"),
    ],
)
def test_bad_input_is_named(states, n_colors, options, message):
    with pytest.raises(ValueError, match=message):
        pseudo_likelihood(states, n_colors, **options)


@pytest.mark.parametrize("symmetric", [True, False])
def test_sites_that_others_decide_have_no_optimum_without_a_penalty(symmetric):
    """A majority of three: all pairs of colors occur, and couplings still grow with the logarithm of the tolerance."""
    voters = np.random.default_rng(0).integers(2, size=(500, 3))
    states = np.column_stack([voters.sum(axis=1) >= 2, voters]).astype(int)
    with pytest.raises(FitError, match=r"log odds of the data grow by .* no finite optimum") as failure:
        pseudo_likelihood(states, 2, l2=0, field_l2=0, symmetric=symmetric)
    assert not failure.value.fit.converged
    assert pseudo_likelihood(voters, 2, l2=0, field_l2=0, symmetric=symmetric).converged
    assert pseudo_likelihood(states, 2, l2=0.01, symmetric=symmetric).converged


def test_samples_without_weight_do_not_count_as_seen():
    states = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    with pytest.raises(ValueError, match="colors 1, 1 never occur together at sites 0, 1"):
        pseudo_likelihood(states, 2, l2=0, weights=[1, 1, 1, 0])


def test_constant_columns_and_missing_colors_are_fitted_with_penalties():
    states = np.array([[0, 1], [0, 2], [0, 1], [0, 0]])
    fit = pseudo_likelihood(states, 4, l2=0.1)
    assert fit.converged
    assert fit.model.conditionals(states)[:, 0, 0].min() > 0.9


def test_724_sites_of_21_colors_fit_into_8_gigabytes_and_are_refused_where_they_do_not():
    states = np.zeros((100, 724), dtype=np.uint8)
    assert peak_bytes(724, 21, symmetric=True) < 8e9
    with pytest.raises(MemoryError, match=r"needs 4.72 GB, 4.5 GB are allowed; symmetric=False needs 4.16 GB"):
        pseudo_likelihood(states, 21, memory_limit=4.5e9)
    with pytest.raises(MemoryError, match=r"needs 7.49 GB, 5 GB are allowed; symmetric=False needs"):
        pseudo_likelihood(states, 21, memory_limit=5e9, tol=1e-5)  # double precision
    with pytest.raises(MemoryError, match=r"fewer sites or colors, or factored_attention, need less"):
        pseudo_likelihood(states, 21, symmetric=False, memory_limit=1e9)


def test_5600_sites_of_21_colors_are_refused_on_any_machine_like_this():
    with pytest.raises(MemoryError, match=r"5600 sites and 21 colors needs 277 GB"):
        pseudo_likelihood(np.zeros((10, 5600), dtype=np.uint8), 21)


@pytest.mark.parametrize("n_colors", [2, 256, 257, 300])
def test_every_color_is_kept_apart(n_colors):
    """Also those that one byte does not hold."""
    states = np.stack([np.arange(n_colors), np.arange(n_colors)[::-1]], axis=1)
    data = Sequences.of(states, n_colors, np.arange(n_colors))
    shares = np.arange(n_colors) / np.arange(n_colors).sum()
    np.testing.assert_array_equal(data.columns, states.T)
    np.testing.assert_allclose(data.frequencies(), [shares, shares[::-1]], rtol=1e-14)
    np.testing.assert_allclose(data.pair_frequencies(0, 1), np.diag(shares)[:, ::-1], rtol=1e-14)
