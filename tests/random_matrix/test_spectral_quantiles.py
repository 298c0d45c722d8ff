"""The distribution function at atoms and between them, and the quantiles that invert it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.models import AR1, Isotropic, MaskedRidge, PowerLaw, TwoLevel
from theory.random_matrix import correlation_law, covariance_law, predictor_law

INF = math.inf


@pytest.mark.parametrize(
    "law",
    [
        covariance_law(Isotropic(INF), 0.5),
        covariance_law(TwoLevel(INF), 0.4),
        covariance_law(PowerLaw(8, 1.0), 3.0),
        correlation_law(AR1(INF, 0.6), 0.7),
        predictor_law(MaskedRidge(Isotropic(INF), 0.4, 0.1)),
        predictor_law(MaskedRidge(Isotropic(INF, 3.7), 0.9, 1e-3)),
        predictor_law(MaskedRidge(AR1(INF, 0.5), 0.3, 0.07)),
        predictor_law(MaskedRidge(TwoLevel(INF), 2.0, 0.1)),
    ],
    ids=lambda law: type(law.variable).__name__,
)
@settings(max_examples=15)
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_cumulative_is_right_continuous_and_quantiles_invert_it(law, p):
    positions, masses = law.atoms.T
    at = law.cumulative(positions)
    before = law.cumulative(positions - 1e-9 * (1 + abs(positions)))
    assert at - before == pytest.approx(masses, abs=1e-4)
    p = np.array([*p, *at, *before])
    x = law.quantiles(p)
    assert np.all(law.cumulative(x) >= p - 1e-9)
    # and no x that is smaller by more than rounding reaches p
    assert np.all(law.cumulative(x - 1e-7 * (1 + abs(x))) <= p + 1e-9)


def test_positions_are_quantiles_in_the_middle_of_equal_shares():
    law = covariance_law(TwoLevel(INF), 2.0)
    np.testing.assert_array_equal(law.positions(4), law.quantiles([0.125, 0.375, 0.625, 0.875]))


def test_the_table_of_a_law_is_ascending():
    law = covariance_law(Isotropic(INF), 0.5)
    frame = law.to_frame()
    assert list(frame["left"]) == [0, law.edges[0, 0]]
    assert list(frame["right"]) == [0, law.edges[0, 1]]
    assert list(frame["mass"]) == [law.atoms[0, 1], law.masses[0]]
    assert list(frame["atom"]) == [True, False]
