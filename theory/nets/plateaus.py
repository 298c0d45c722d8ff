"""Heights of the masked loss to compare a training curve with: floors at high temperature, and the truncated truth."""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax

from theory.core import Array, Count, Result, checked, checks
from theory.models import Potts
from theory.nets.orders import order_fractions, true_logits, truncated
from theory.potts import Enumeration, enumerate_states


@dataclass(frozen=True, eq=False, repr=False)
class HighTemperatureFloors(Result):
    """The least masked losses of predictions with interactions of up to k = 1, ..., L bodies, at a high temperature.

    `losses` (L,) are in nats, the mean over sites, and correct up to terms of the third order in beta.
    """

    losses: Array
    n_colors: int

    @property
    def gains(self) -> Array:
        """By how much each loss is below that of uniform predictions, log C, (L,)."""
        return np.asarray(np.log(self.n_colors) - self.losses)


@checked
def high_temperature_floors(model: Potts) -> HighTemperatureFloors:
    """Compute the k-body floors of the masked loss for k = 1, ..., L to second order in beta, in closed form.

    floor_k = log C - (beta^2/2C) (1/L) sum_i sum_(r<k) sigma_ir^2, where sigma_ir^2 is the energy of the interactions
    of site i with r others in the local scores (see `order_fractions`): near the uniform distribution the cross entropy
    is quadratic, and the parts of different order are orthogonal, so that each adds its own gain. The exact floors are
    those of `theory.potts.k_body_floor`. Derived here: to second order small logits z gain E (x - 1/C).z - (1/2C) E
    |z|^2, which is largest where z is the projection of the true logits on the orders allowed. ValueError for a model
    that is too large to enumerate.

    >>> from theory.models import PottsModel
    >>> pair = PottsModel(site_couplings=[[0, 1], [1, 0]], color_couplings=[[1, 0], [0, 1]], beta=0.1)
    >>> high_temperature_floors(pair).gains.round(6)  # beta^2/8; the exact gain of two bodies is 0.001248
    array([0.     , 0.00125])
    """
    energies = order_fractions(true_logits(model)).energies
    with np.errstate(over="ignore", invalid="ignore"):
        gains = np.float64(model.beta) ** 2 / (2 * model.n_colors) * np.cumsum(energies.mean(axis=0))
    if not np.isfinite(gains).all():
        raise ValueError(f"model must have a beta at which the expansion is finite, got {model}")
    return HighTemperatureFloors(np.log(model.n_colors) - gains, model.n_colors)


@checked
def truncated_conditional_loss(model: Potts | Enumeration, order: Count) -> float:
    """Compute the masked loss of the true logits without their interactions of more than `order` bodies, in nats.

    At every site the part of beta z with up to order - 1 other sites is kept (see `order_fractions`). These predictions
    belong to those that `theory.potts.k_body_floor` minimizes over, so the loss lies above that floor; with all orders
    it is the floor of the true conditionals. Derived here: the orthogonal decomposition of `order_fractions` is cut
    off, and the cross entropy of what is left is summed over all states. ValueError for an `order` outside 1 to L, and
    for too large a model.

    >>> from theory.models import PottsModel
    >>> pair = PottsModel(site_couplings=[[0, 1], [1, 0]], color_couplings=[[1, 0], [0, 1]], beta=1.0)
    >>> round(truncated_conditional_loss(pair, 1), 6), round(truncated_conditional_loss(pair, 2), 6)
    (0.693147, 0.582203)
    """
    states = model if isinstance(model, Enumeration) else enumerate_states(model)
    L, C = states.model.n_sites, states.model.n_colors
    k = int(checks.between("order", order, 1, L, closed=(True, True)))
    logits = true_logits(states.model)
    losses = []
    for i in range(L):
        log_predicted = log_softmax(states.model.beta * truncated(logits[i], k - 1), axis=1)
        joint = np.moveaxis(states.joint, i, -1).reshape(-1, C)
        losses.append(-np.sum(joint * log_predicted))
    return float(np.mean(losses))
