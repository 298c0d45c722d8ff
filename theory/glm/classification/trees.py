"""The error of the Gaussian mixture on sparse graphs, where a spin with few neighbors does not see Gaussian inputs."""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.special import gammaln

from theory.core import AtLeast, NonNegative, Result, Within, checked
from theory.glm.quadrature import normal_nodes

MAX_NEIGHBORS = 10_000
MAX_BETA = 18.0  # beyond it 1 - tanh(beta)^2 is zero in double precision


@dataclass(frozen=True, eq=False, repr=False)
class TreeFloors(Result):
    """Hold H(spin | others) in nats: the `true` entropy, and that of the `mixture` of the same means and covariance."""

    true: float
    mixture: float


@checked
def star_floors(n_neighbors: Annotated[int, AtLeast(0, most=MAX_NEIGHBORS)], beta: NonNegative) -> TreeFloors:
    """Compute the floors of a spin with k = `n_neighbors` neighbors x on a tree without fields, with couplings J = +-1.

    Only its neighbors tell of a spin y. Given y they are independent, and J x = y with probability (1 + t)/2,
    t = tanh(beta): the true log-odds are 2 beta sum J x. The mixture has the means y t J and the variance 1 - t^2, so
    that mu.Omega^-1.mu = k t^2/(1 - t^2).
    """
    k, b = n_neighbors, beta
    if b > MAX_BETA:  # the neighbors tell the spin
        return TreeFloors(0.0 if k else math.log(2), 0.0 if k else math.log(2))
    t, up = math.tanh(b), np.arange(k + 1)
    log_count = gammaln(k + 1) - gammaln(up + 1) - gammaln(k - up + 1)
    with np.errstate(divide="ignore"):
        chance = np.exp(log_count + up * np.log((1 + t) / 2) + (k - up) * np.log((1 - t) / 2))
    true = float(chance @ np.logaddexp(0, -2 * b * (2 * up - k)))
    distance = math.sqrt(k * t * t / (1 - t * t))
    z, weights = normal_nodes([(-distance, 1 / distance)] if distance else [])
    return TreeFloors(true, float(weights @ np.logaddexp(0, -2 * (distance**2 + distance * z))))


@checked
def random_graph_floors(mean_degree: Annotated[float, Within(0.0, MAX_NEIGHBORS / 2)], beta: float) -> TreeFloors:
    """Average the floors over the Poisson degrees of a large random graph, a tree around almost every site.

    The paramagnet is mean_degree tanh(beta)^2 < 1 for couplings of random sign. The relative gap true/mixture - 1 falls
    as 1/mean_degree at a fixed share of the critical temperature: it is what dense graphs do not have.
    """
    c = mean_degree
    degrees = np.arange(math.ceil(c + 12 * math.sqrt(c) + 12))
    shares = np.exp(degrees * math.log(c) - c - gammaln(degrees + 1))
    floors = [star_floors(int(k), beta) for k in degrees]
    return TreeFloors(float(shares @ [f.true for f in floors]), float(shares @ [f.mixture for f in floors]))
