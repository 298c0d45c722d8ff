"""The entropy of a spin on a tree, true and of the mixture with its moments."""

import itertools

import numpy as np
import pytest

from theory.glm.classification import masked_classification, mixture_floor, random_graph_floors, star_floors


@pytest.mark.parametrize(("k", "beta"), [(1, 0.4), (3, 0.6), (5, 1.1)])
def test_a_star_by_enumeration_and_by_its_moments(k, beta):
    found, t = star_floors(k, beta), np.tanh(beta)
    x = np.array(list(itertools.product([1, -1], repeat=k)))
    joint = np.stack([np.prod((1 + y * t * x) / 2, axis=1) / 2 for y in (1, -1)])
    assert found.true == pytest.approx(-np.sum(joint * np.log(joint / joint.sum(axis=0))), rel=1e-12)
    inputs = (1 - t**2) * np.eye(k) + t**2  # neighbors of one spin
    assert found.mixture == pytest.approx(
        mixture_floor(masked_classification(inputs, np.full(k, t), alpha=1, lam=1)), rel=1e-9
    )


@pytest.mark.parametrize("reduced", [0.3, 0.9])
def test_the_gap_falls_with_the_degree(reduced):
    gaps = []
    for degree in (4.0, 16.0, 64.0):
        floors = random_graph_floors(degree, reduced * np.arctanh(1 / np.sqrt(degree)))
        gaps.append(degree * (floors.true / floors.mixture - 1))
    assert gaps[1] == pytest.approx(gaps[2], rel=0.08)
    assert gaps[0] > 0


def test_without_coupling_nothing_is_known():
    floors = random_graph_floors(3.0, 0.0)
    assert (floors.true, floors.mixture) == pytest.approx((np.log(2), np.log(2)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: star_floors(-1, 0.5), "n_neighbors"),
        (lambda: star_floors(2, -0.5), "beta"),
        (lambda: random_graph_floors(0.0, 0.5), "mean_degree"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
