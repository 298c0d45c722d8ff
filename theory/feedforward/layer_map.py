"""What one layer of a wide binary network does to the variance of its fields and to the correlation of two inputs."""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from theory.core import Array, AtLeast, Correlation, Result, Within, checked
from theory.feedforward.tanh_averages import OneField, TwoFields
from theory.models import BinaryNetwork

MAX_LAYERS = 100_000  # each of which is listed
Variance = Annotated[float, Within(0.0, 1e15, closed=(True, True))]


@dataclass(frozen=True, eq=False, repr=False)
class SignalPropagation(Result):
    """The variance of the fields and the correlation of those of two inputs, layer by layer, (n_layers + 1,) each.

    The first entries are those of the start.
    """

    variances: Array
    correlations: Array


@checked
def propagate(
    network: BinaryNetwork,
    n_layers: Annotated[int, AtLeast(1, most=MAX_LAYERS)],
    variance: Variance,
    correlation: Correlation = 1.0,
) -> SignalPropagation:
    """Compute how the fields of two inputs change from layer to layer in the limit of wide layers.

    In the first layer the fields of both inputs are Gaussian with `variance` q >= 0 and correlation c. With s the mean
    variance of the network and B its bias variance:

    - neurons "sign": A(c) is the average of phi(h_a) phi(h_b), (2/pi) asin(q c/(1 + q)) where phi is "erf", and
      q' = (s A(1) + B)/(1 - s A(1)), c' = (s A(c) + B)/(s A(1) + B);
    - neurons "tanh": q' = E tanh^2 h + B, whatever s, and c' = (s E tanh h_a tanh h_b + B)/q'.

    Where all fields vanish, c' is the limit of small ones: c for signs and s c for tanh. The maps follow from the
    central limit theorem for independent means and biases (after arXiv:1902.00177, with the definitions of
    `BinaryNetwork`). ValueError for a variance outside [0, 1e15], a correlation outside [-1, 1], and less than one or
    more than 100,000 layers.

    >>> from theory.models import BinaryNetwork
    >>> found = propagate(BinaryNetwork(mean_variance=0.9, bias_variance=0.1), 2, variance=1.0, correlation=0.5)
    >>> found.variances.round(6), found.correlations.round(6)
    (array([1.      , 0.571429, 0.398134]), array([0.5     , 0.611938, 0.729712]))
    """
    q, c = variance, correlation
    step = _tanh_layer if network.neurons == "tanh" else _erf_layer if network.phi == "erf" else _smooth_sign_layer
    variances, correlations = np.empty(n_layers + 1), np.empty(n_layers + 1)
    variances[0], correlations[0] = q, c
    for layer in range(1, n_layers + 1):
        q, c = step(network, q, c)
        variances[layer], correlations[layer] = q, c
    return SignalPropagation(variances, correlations)


def _erf_layer(network: BinaryNetwork, q: float, c: float) -> tuple[float, float]:
    s, B = network.mean_variance, network.bias_variance
    signal = s * sign_overlap(q, 1.0) + B
    if signal == 0:
        return 0.0, c
    return signal / sign_freedom(network, q), (s * sign_overlap(q, c) + B) / signal


def _smooth_sign_layer(network: BinaryNetwork, q: float, c: float) -> tuple[float, float]:
    """Return the next variance and correlation of sign neurons with phi = tanh."""
    s, B = network.mean_variance, network.bias_variance
    field = OneField(q)
    signal = s * field.square + B
    if signal == 0:
        return 0.0, c
    following = (s * _tanh_product(q, c) + B) / signal
    return signal / ((1 - s) + s * field.missing), min(1.0, following)


def _tanh_layer(network: BinaryNetwork, q: float, c: float) -> tuple[float, float]:
    s, B = network.mean_variance, network.bias_variance
    following = OneField(q).square + B
    if following == 0:
        return 0.0, s * c
    return following, (s * _tanh_product(q, c) + B) / following


def _tanh_product(q: float, c: float) -> float:
    """Return E tanh h_a tanh h_b; tanh is odd, so that inputs of opposite correlation have the opposite average."""
    return math.copysign(TwoFields(q, 1 - abs(c)).product, c)


def sign_overlap(q: float, c: float) -> float:
    """Return E erf(h_a/sqrt 2) erf(h_b/sqrt 2) of fields of variance q and correlation c."""
    return 2 / math.pi * math.asin(q / (1 + q) * c)


def sign_freedom(network: BinaryNetwork, q: float) -> float:
    """Return 1 - s A(1), the variance that the weights and the neurons below leave to the field of a sign neuron."""
    s = network.mean_variance
    # acos(q/(1 + q)) in a form that keeps its digits where q is large.
    return (1 - s) + s * 4 / math.pi * math.atan(1 / math.sqrt(1 + 2 * q))
