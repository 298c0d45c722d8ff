"""Codes for the colors of several sites, and the compiled sums that read them, beside products with one-hot arrays."""

import numpy as np
import pytest

from simulate.potts.inference.codes import MAX_CODES, chunks
from simulate.potts.inference.kernels import add_tables, scatter

# Sites, colors, samples, and how many sites a code then names; some leave a rest of sites.
CASES = [(7, 21, 1200, 2), (7, 21, 300, 1), (8, 4, 700, 4), (11, 2, 1100, 9), (5, 5, 600, 3), (3, 600, 50, 1)]


def columns(n_sites, n_colors, n_samples):
    states = np.random.default_rng(0).integers(n_colors, size=(n_sites, n_samples))
    return states.astype(np.uint8 if n_colors <= 256 else np.uint32)


@pytest.mark.parametrize(("L", "C", "M", "n_each"), CASES)
def test_a_code_names_the_colors_of_its_sites(L, C, M, n_each):
    states = columns(L, C, M)
    (chunk,) = chunks(states, C)
    assert chunk.n_each == n_each
    assert C**n_each <= max(MAX_CODES, C)
    assert len(chunk.codes) % 4 == 0
    found = []
    for p, codes in enumerate(chunk.codes):
        count = min(n_each, max(L - p * n_each, 0))
        digits = [codes // C**k % C for k in range(count)][::-1]
        assert codes.max(initial=0) < C**count
        found += digits
    np.testing.assert_array_equal(found, states)


def test_chunks_have_about_equally_many_samples(monkeypatch):
    monkeypatch.setattr("simulate.potts.inference.codes.SINGLE_PRECISION_SAMPLES", 100)
    states = columns(3, 4, 250)
    found = list(chunks(states, 4))
    assert [each.codes.shape[1] for each in found] == [84, 84, 82]
    assert found[0].n_each == 2  # 64 codes of three sites are too many for 84 samples
    np.testing.assert_array_equal(np.concatenate([each.codes[1] for each in found], axis=0), states[2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("L", "C", "M", "n_each"), CASES)
def test_sums_over_codes_are_products_with_one_hot_arrays(L, C, M, n_each, dtype):
    rng, n_slabs = np.random.default_rng(1), 2
    states, x = columns(L, C, M), np.zeros((M, L, C))
    x[np.arange(M)[:, None], np.arange(L), states.T] = 1
    (chunk,) = chunks(states, C)
    table = rng.standard_normal((L, C, 24)).astype(dtype)  # a slab behind those that are summed
    z = rng.standard_normal((n_slabs, M, 8)).astype(dtype)
    atol = 1e-4 if dtype == np.float32 else 1e-12

    found, gradient = z.copy(), np.zeros_like(table)
    add_tables(chunk.codes, n_each, table, found)
    expected = z.transpose(1, 0, 2).reshape(M, 16) + np.tensordot(x, table[:, :, :16].astype(float), axes=2)
    np.testing.assert_allclose(found.transpose(1, 0, 2).reshape(M, 16), expected, atol=atol)

    scatter(chunk.codes, n_each, z, gradient)
    expected = np.tensordot(x, z.transpose(1, 0, 2).reshape(M, 16).astype(float), axes=(0, 0))
    np.testing.assert_allclose(gradient[:, :, :16], expected, atol=atol)
    assert not gradient[:, :, 16:].any()
