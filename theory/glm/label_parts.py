"""How labels enter a loss: as margins y h of signs, as residuals y - h of other numbers, or as counts beside h."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from theory.core.arrays import Array
from theory.glm.field import Field
from theory.glm.labels import LabelLaw, values_of
from theory.glm.losses import Loss, residual_form
from theory.glm.own_losses import Shape, halvings_of, shape_between
from theory.glm.poisson_loss import PoissonLoss
from theory.glm.quadrature import RANGE, normal_nodes
from theory.models.glm import Cluster
from theory.models.glm.cluster import kind_of

NEGLIGIBLE = 1e-26  # probability of one label at one node, below which it is left out
NO_ORIGIN = np.zeros(1)


class Samples(NamedTuple):
    """Samples of one part as nodes (points,): arguments t of the loss, fields in units z, probabilities, and tilts.

    The tilt is the derivative of the probability by the teacher's mean, None for labels that have no teacher.
    """

    loss: Loss
    t: Array
    z: Array
    mass: Array
    tilt: Array | None


@dataclass(frozen=True, eq=False)
class Part:
    """Samples of a cluster whose label is one sign, or any of a list of values (`label` None): t = origin + sign h.

    The origin is zero, or the values (values, 1). `weight` is that of the loss of these samples.
    """

    label: int | None
    loss: Loss
    sign: float
    origin: Array
    weight: float

    def places(self, breakpoints: Iterable[tuple[float, float]], field: Field) -> Iterator[tuple[float, float]]:
        """Yield the places z, and widths there, at which the argument is at a breakpoint for any label."""
        size = float(np.sqrt(field.q))
        for t, width in breakpoints:
            for origin in self.origin.ravel().tolist():
                yield (self.sign * (t - origin) - field.mean) / size, width / size

    def shape(self, field: Field) -> Shape:
        """Return the shape of the prox over all arguments of these samples."""
        ends, size = self.origin + self.sign * field.mean, RANGE * float(np.sqrt(field.q))
        return shape_between(self.loss, self.weight * field.V, float(ends.min()) - size, float(ends.max()) + size)

    def counts(self, law: LabelLaw) -> bool:
        """Tell whether these samples occur and have a loss."""
        return self.weight > 0 and (self.label is None or law.occurs(self.label))

    def samples(self, law: LabelLaw, field: Field) -> Samples:
        """Return the samples at nodes on panels that begin where the prox bends."""
        shape = self.shape(field)
        bends = [*self.loss.breakpoints(self.weight * field.V), *((jump.t, 0.0) for jump in shape.jumps), *shape.bends]
        return self.samples_between(law, field, bends)

    def samples_between(
        self, law: LabelLaw, field: Field, bends: Iterable[tuple[float, float]], halvings: int = 0
    ) -> Samples:
        """Return the samples at nodes on panels that begin at these arguments, halved as often as said."""
        places = [*law.bends(), *self.places(bends, field)]
        z, weights = normal_nodes(places, halvings=halvings + halvings_of(self.loss))
        chance, shift = law(self.label, z)
        h = field.mean + float(np.sqrt(field.q)) * z
        if self.label is not None:
            return Samples(self.loss, self.sign * h, z, weights * chance, None if shift is None else weights * shift)
        assert shift is not None
        mass, tilt = weights * chance, weights * shift
        kept = mass > NEGLIGIBLE
        t, z = (np.broadcast_to(values, mass.shape)[kept] for values in (self.origin + self.sign * h, z))
        loss = self.loss
        if isinstance(loss, PoissonLoss):
            loss = PoissonLoss(np.broadcast_to(loss.counts, mass.shape)[kept])
        return Samples(loss, t, z, mass[kept], tilt[kept])


def parts(cluster: Cluster, loss: Loss) -> list[Part]:
    """Return the parts of a cluster with labels that are not real numbers; ValueError for a loss that needs others."""
    if kind_of(cluster.labels) == "signs":
        pairs = zip((1, -1), cluster.loss_weights, strict=True)
        return [Part(y, loss, y, NO_ORIGIN, weight) for y, weight in pairs]
    values, weight = values_of(cluster), cluster.loss_weights[0]
    if isinstance(loss, PoissonLoss):
        return [Part(None, PoissonLoss(values), 1.0, NO_ORIGIN, weight)]
    return [Part(None, residual_form(loss), -1.0, values, weight)]
