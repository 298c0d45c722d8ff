"""Floors at high temperature and the truncated truth: reference values, exact floors, direct sums over states."""

import numpy as np
import pytest
from scipy.special import log_softmax

from tests.nets.references import FOUR
from tests.potts.reference import four_body_model
from theory import nets, potts
from theory.models import PottsModel
from theory.models.potts import complete_graph

WARM = four_body_model(5, 3, 0.5, beta=0.1)


def test_reference_values():
    losses = nets.high_temperature_floors(WARM).losses
    assert losses[:4] == pytest.approx([1.0985951019, 1.0979570922, 1.0979030667, 1.0978187045], abs=1e-10)
    assert losses[4] == losses[3]  # a model of four bodies has no fifth
    truncated = [nets.truncated_conditional_loss(WARM, k) for k in (1, 2, 3)]
    assert truncated == pytest.approx([1.0985972366, 1.0979709718, 1.0979164369], abs=1e-10)


def test_exact_floors_approach_the_expansion():
    """The gains differ by a relative correction of the order of beta."""
    shares = []
    for beta in (0.02, 0.01):
        model = WARM.at(beta)
        exact = np.array([np.log(3) - potts.k_body_floor(model, k, tol=1e-18).loss for k in (1, 2, 3, 4)])
        shares.append(exact / nets.high_temperature_floors(model).gains[:4] - 1)
    assert shares[0] / shares[1] == pytest.approx(2, rel=0.1)
    assert abs(shares[1]).max() < 0.1


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_truncated_truth_lies_above_the_floor_of_each_site(order):
    floor = potts.k_body_floor(FOUR, order).loss
    assert floor < nets.truncated_conditional_loss(FOUR, order)


def test_the_truncated_truth_of_all_orders_is_the_bayes_floor():
    for order in (4, 5):
        assert nets.truncated_conditional_loss(FOUR, order) == pytest.approx(potts.masked_loss_floor(FOUR), abs=1e-12)


def test_truncation_to_fields_by_a_direct_mean():
    states = FOUR.states.astype(int)
    z = FOUR.model.local_scores(states)
    losses = []
    for i in range(5):
        log_p = log_softmax(z[:, i].mean(axis=0))  # each context occurs once for every color of site i
        losses.append(-FOUR.probabilities @ log_p[states[:, i]])
    assert nets.truncated_conditional_loss(FOUR, 1) == pytest.approx(np.mean(losses), abs=1e-12)


def test_bad_input():
    with pytest.raises(ValueError, match=r"order must lie in \[1, 5\]"):
        nets.truncated_conditional_loss(FOUR, 6)
    with pytest.raises(ValueError, match="network must be smaller"):
        nets.high_temperature_floors(PottsModel(complete_graph(40), np.eye(2)))
    with pytest.raises(ValueError, match="model must have a beta at which the expansion is finite"):
        nets.high_temperature_floors(PottsModel(complete_graph(3), np.eye(2), beta=1e200))
