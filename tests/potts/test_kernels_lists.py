"""Lists of groups, and classes of sites that do not interact."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulate.potts.kernels.lists import coloring, groups_of
from tests.potts.models_to_sample import model
from theory.models import PottsModel
from theory.models.potts import random_graph, ring_graph, torus_graph


def others_of(groups, i):
    return groups.others[groups.others_first[groups.first[i]] : groups.others_first[groups.first[i + 1]]]


@given(n_sites=st.integers(2, 40), degree=st.floats(0, 1), seed=st.integers(0, 2**32 - 1))
def test_no_two_sites_of_a_class_interact(n_sites, degree, seed):
    graph = random_graph(n_sites, degree * min(8, n_sites - 1), np.random.default_rng(seed))
    groups = groups_of(PottsModel(graph, np.eye(2)))
    classes = coloring(groups)
    assert sorted(np.concatenate(classes)) == list(range(n_sites))
    for sites in classes:
        assert not set(sites) & {int(j) for i in sites for j in others_of(groups, i)}
    assert len(classes) <= graph.sum(axis=0).max() + 1


@pytest.mark.parametrize(("graph", "count"), [(ring_graph(10), 2), (ring_graph(9), 3), (torus_graph(4, 6), 2)])
def test_common_graphs_need_few_classes(graph, count):
    assert len(coloring(groups_of(PottsModel(graph, np.eye(2))))) == count


def test_sites_of_a_group_are_in_different_classes():
    system = model("many_body", 30, 3)
    number = np.empty(30, dtype=int)
    for k, sites in enumerate(coloring(groups_of(system))):
        number[sites] = k
    for each in system.interactions:
        for group in each.sites:
            assert len(set(number[group])) == each.order


def test_every_group_is_listed_once_at_each_of_its_sites():
    system = model("many_body", 6, 3)
    groups = groups_of(system)
    listed = sorted((i, *sorted(others_of_entry(groups, e))) for i in range(6) for e in entries(groups, i))
    expected = [(i, *sorted(set(g) - {i})) for each in system.interactions for g in each.sites.tolist() for i in g]
    assert listed == sorted(expected)


def entries(groups, i):
    return range(groups.first[i], groups.first[i + 1])


def others_of_entry(groups, e):
    return groups.others[groups.others_first[e] : groups.others_first[e + 1]].tolist()
