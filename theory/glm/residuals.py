"""The law of the residual y - h of real labels: normal for a linear teacher, or smoothed noise of any density."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from theory.core.arrays import Array
from theory.glm.field import Field
from theory.glm.label_tables import Orders, smoothed_by
from theory.glm.losses import Loss, residual_form
from theory.glm.own_losses import halvings_of, shape_between
from theory.glm.quadrature import GROWTH, MAX_PANEL_WIDTH, ORDER, RANGE, normal_nodes
from theory.models.glm import Additive, Cluster
from theory.numerics.quadrature import divided, panelled_legendre

MAX_NOISE_NODES = 4e6


class Residuals(NamedTuple):
    """Nodes e of the residual, weights that hold its density p(e), and weights that hold its fall -p'(e) there."""

    e: Array
    weights: Array
    falls: Array


def residual_law(cluster: Cluster, field: Field) -> tuple[float, float]:
    """Return the mean and the variance of the residual y - h of real labels."""
    center, spread = gaussian_part(cluster, field)
    if isinstance(cluster.labels, Additive):
        return center + cluster.labels.mean, spread + cluster.labels.variance
    return center, spread


def gaussian_part(cluster: Cluster, field: Field) -> tuple[float, float]:
    """Return the mean and the variance of nu - h, with the Gaussian noise of linear labels."""
    total = cluster.teacher_variance + cluster.noise + field.q
    return cluster.teacher_mean - field.mean, max(total - 2 * field.teacher, 1e-16 * total)


def residuals(cluster: Cluster, loss: Loss, field: Field, halvings: int = 0) -> Residuals:
    """Return nodes for averages over the residual, on panels that begin where the loss bends.

    The panels are halved as often as the loss and `halvings` say.
    """
    halvings += halvings_of(loss)
    center, spread = gaussian_part(cluster, field)
    size = float(np.sqrt(spread))
    residual_loss, response = residual_form(loss), cluster.loss_weights[0] * field.V
    shape = shape_between(residual_loss, response, *reach(cluster, field))
    bends = [*residual_loss.breakpoints(response), *((jump.t, 0.0) for jump in shape.jumps), *shape.bends]
    if isinstance(cluster.labels, Additive):
        e, weights = _noise_nodes(cluster.labels, center, size, bends, halvings)
        density, rise = _smoothed_density(cluster.labels, e - center, size)
        return Residuals(e, weights * density, -weights * rise)
    z, weights = normal_nodes([((t - center) / size, w / size) for t, w in bends], halvings=halvings)
    return Residuals(center + size * z, weights, weights * z / size)


def reach(cluster: Cluster, field: Field) -> tuple[float, float]:
    """Return the least and the largest residual that occur."""
    center, spread = gaussian_part(cluster, field)
    low, high = (cluster.labels.panels.edges[[0, -1]] if isinstance(cluster.labels, Additive) else np.zeros(2)).tolist()
    return center + low - RANGE * float(np.sqrt(spread)), center + high + RANGE * float(np.sqrt(spread))


def smoothed_noise(channel: Additive, size: float) -> tuple[Array, Array, Array, Array]:
    """Return weights of nodes of noise plus a centered Gaussian of this size, its density and two derivatives there."""
    e, weights = _noise_nodes(channel, 0.0, size, [], 0)
    density, rise, bend = _smoothed_density(channel, e, size, (0, 1, 2))
    return weights, density, rise, bend


def _noise_nodes(
    channel: Additive, center: float, size: float, bends: list[tuple[float, float]], halvings: int
) -> tuple[Array, Array]:
    """Return nodes on panels that resolve the noise smoothed by a Gaussian of this size, and the bends of a loss."""
    own, sharp = channel.panels
    kept = [float(own[0])]
    for edge in own[1:].tolist():
        if edge - kept[-1] >= size:
            kept.append(edge)
    steps = size * GROWTH ** np.arange(6)
    # Kinks of the density, and the ends of its support, are smoothed on the scale of the Gaussian.
    edges = [np.array([kept[0] - RANGE * size, kept[-1] + RANGE * size + size]), np.array(kept)]
    edges += [np.concatenate((edge - steps, [edge], edge + steps)) for edge in (*sharp, own[0], own[-1])]
    joined = np.unique(np.concatenate(edges)) + center
    low, high = joined[0], joined[-1]
    for place, width in bends:
        places, reached = [place], width
        while 0 < reached < high - low:
            places += (place - reached, place + reached)
            reached *= GROWTH
        joined = np.append(joined, places)
    joined = np.unique(joined[(joined >= low) & (joined <= high)])
    joined = joined[np.append(True, np.diff(joined) > 1e-13 * (1 + abs(joined[1:])))]
    return panelled_legendre(divided(joined, 2**halvings), ORDER)


def _smoothed_density(channel: Additive, places: Array, size: float, orders: Orders = (0, 1)) -> list[Array]:
    """Return the density of noise plus a centered Gaussian of this standard deviation, and its derivative."""
    nodes, weights, density = _density_nodes(channel, int(np.floor(np.log2(size))))
    return smoothed_by(nodes, weights, density, places, size, orders)


@lru_cache(maxsize=64)
def _density_nodes(channel: Additive, level: int) -> tuple[Array, Array, Array]:
    """Return nodes of the noise, their weights and its density, for Gaussian laws no narrower than 2^level."""
    edges = channel.panels.edges
    pieces = np.ceil(np.diff(edges) / (MAX_PANEL_WIDTH * 2.0**level))
    if pieces.sum() * ORDER > MAX_NOISE_NODES:
        raise ValueError(
            f"noise must not be wider by more than 1e5 than what the fit leaves of the teacher, got {2.0**level:.3g}"
        )
    parts = [np.linspace(a, b, int(k) + 1)[:-1] for a, b, k in zip(edges[:-1], edges[1:], pieces, strict=True)]
    e, weights = panelled_legendre(np.concatenate((*parts, edges[-1:])), ORDER)
    return e, weights, channel.of_noise(e)
