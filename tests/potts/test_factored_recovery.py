"""The recovery error: against the written-out Kronecker products, in every gauge, and for tiny errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulate.core import stream
from simulate.potts import full_recovery_error, matched_scale, recovery_error
from tests.potts.populations import identifiable
from tests.potts.reference import pair_model
from theory.models.potts import zero_sum_blocks

MODEL = pair_model(5, 4, 0.3, beta=0.8)
A, V = MODEL.beta * MODEL.site_couplings, MODEL.color_couplings


def noisy(size=0.1):
    rng = stream(0, "recovery")
    return A + size * rng.standard_normal(A.shape), V + size * rng.standard_normal(V.shape)


@pytest.mark.parametrize("fields", [True, False])
def test_error_is_that_of_the_products(fields):
    kept = zero_sum_blocks if fields else lambda W: W - W.mean(axis=0)
    site, color = noisy()
    off = site - np.diag(np.diag(site))
    true = np.kron(A, kept(V))
    expected = np.linalg.norm(np.kron(off, kept(color)) - true) / np.linalg.norm(true)
    assert recovery_error(site, color, MODEL, fields=fields) == pytest.approx(expected, rel=1e-12)


def test_blocks_have_the_same_error():
    site, color = noisy()
    blocks = (site - np.diag(np.diag(site)))[:, :, None, None] * color
    assert full_recovery_error(blocks, MODEL) == pytest.approx(recovery_error(site, color, MODEL), rel=1e-12)
    assert full_recovery_error(identifiable(MODEL)[0], MODEL) < 1e-15


@settings(max_examples=20)
@given(
    st.floats(0.1, 10).flatmap(lambda c: st.sampled_from([c, -c])),
    st.lists(st.floats(-3, 3), min_size=4, max_size=4),
    st.lists(st.floats(-3, 3), min_size=4, max_size=4),
)
def test_no_gauge_changes_the_error(scale, by_neighbor, by_predicted):
    site, color = noisy()
    moved = (color + by_neighbor + np.array(by_predicted)[:, None]) / scale
    assert recovery_error(scale * site, moved, MODEL) == pytest.approx(recovery_error(site, color, MODEL), rel=1e-9)
    unseen = (color + by_neighbor) / scale
    expected = recovery_error(site, color, MODEL, fields=False)
    assert recovery_error(scale * site, unseen, MODEL, fields=False) == pytest.approx(expected, rel=1e-9)


def test_small_errors_are_not_lost_to_rounding():
    site, color = noisy(1e-11)
    large = [recovery_error(A + 1e9 * (site - A), V + 1e9 * (color - V), MODEL)]
    assert recovery_error(site, color, MODEL) == pytest.approx(large[0] / 1e9, rel=0.05)
    assert recovery_error(A, V, MODEL) < 1e-15


def test_scale_that_matches_the_true_colors():
    site, color = matched_scale(-3.0 * A, V / -3.0 + 1.0, MODEL)
    np.testing.assert_allclose(site, A, atol=1e-14)
    np.testing.assert_allclose(color, zero_sum_blocks(V), atol=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: recovery_error(A[:4], V, MODEL), r"A must have shape \(5, 5\) as in the model, got \(4, 5\)"),
        (lambda: recovery_error(A, V[:, :3], MODEL), r"V must have shape \(4, 4\)"),
        (lambda: recovery_error(A, np.full((4, 4), np.nan), MODEL), "V must be finite"),
        (lambda: recovery_error(A, V, "model"), "model must be a record"),
        (lambda: recovery_error(A, V, MODEL.at(0.0)), "must have couplings and beta > 0"),
        (lambda: full_recovery_error(np.zeros((5, 5, 3, 3)), MODEL), "couplings must have shape"),
        (lambda: matched_scale(A, np.ones((4, 4)), MODEL), "must not be orthogonal"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
