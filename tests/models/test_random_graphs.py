"""Random graphs in time and memory of their contacts: the law of G(n, p), the numbering of pairs, and the memory."""

import tracemalloc
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from theory.models.potts import complete_graph, random_graph
from theory.models.potts.graphs import _distinct, _pairs


def test_pair_numbers_count_all_pairs():
    i, j = _pairs(np.arange(45))
    assert set(zip(i.tolist(), j.tolist(), strict=True)) == set(combinations(range(10), 2))


@pytest.mark.parametrize("last", [3, 10**5, 10**8, 2 * 10**9])
def test_numbers_of_pairs_near_a_square_root_that_is_rounded(last):
    first = last * (last - 1) // 2
    i, j = _pairs(np.array([first - 1, first, first + last - 1, first + last]))
    assert i.tolist() == [last - 2, 0, last - 1, 0]
    assert j.tolist() == [last - 1, last, last, last + 1]


@pytest.mark.parametrize(("total", "count"), [(1, 0), (1, 1), (10, 3), (10, 7), (10, 10), (1000, 500)])
def test_distinct_numbers(total, count):
    found = _distinct(total, count, np.random.default_rng(0))
    assert len(found) == count == len(set(found.tolist()))
    assert found.min(initial=0) >= 0
    assert found.max(initial=0) < total


@pytest.mark.parametrize("mean_degree", [1.2, 1.8])
def test_every_graph_of_four_sites_has_its_probability(mean_degree):
    """chi^2 of all 64 graphs: 63 degrees of freedom exceed 140 with a probability of 1e-7."""
    rng, draws, p = np.random.default_rng(0), 6000, mean_degree / 3
    pairs = np.triu_indices(4, 1)
    seen = Counter(tuple(random_graph(4, mean_degree, rng).toarray()[pairs]) for _ in range(draws))
    chi2 = 0.0
    for code in range(64):
        graph = tuple(float(code >> bit & 1) for bit in range(6))
        expected = draws * p ** sum(graph) * (1 - p) ** (6 - sum(graph))
        chi2 += (seen[graph] - expected) ** 2 / expected
    assert chi2 < 140


def test_extreme_degrees():
    assert np.array_equal(random_graph(5, 4, np.random.default_rng(0)).toarray(), complete_graph(5))
    assert random_graph(5, 0, np.random.default_rng(0)).nnz == 0


def test_memory_grows_with_the_contacts():
    """All pairs of these sites would take 40 GB. The degree's mean lies within six standard deviations, 2e-9."""
    tracemalloc.start()
    try:
        graph = random_graph(100_000, 4.0, np.random.default_rng(0))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50e6
    assert graph.nnz / 100_000 == pytest.approx(4, abs=6 * np.sqrt(8 / 100_000))
    assert (graph != graph.T).nnz == 0
    assert not graph.diagonal().any()
    assert np.all(graph.data == 1)


def test_a_graph_with_too_many_contacts_is_refused_before_it_is_drawn():
    with pytest.raises(MemoryError, match="a graph of 100000000 sites of mean degree 10000 needs"):
        random_graph(10**8, 1e4, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"n_sites must have at most 2\^63 - 1 pairs, got 5000000000"):
        random_graph(5 * 10**9, 1.0, np.random.default_rng(0))
