"""Outliers, overlaps and thresholds of a delocalized spike in the joint predictor along its training."""

import math
from dataclasses import dataclass, field

import numpy as np

from theory.core import Array
from theory.models.spectrum import Spectrum
from theory.random_matrix.read_outs import CoordinateParts
from theory.random_matrix.training.edge import Place
from theory.random_matrix.training.equation import DysonEquation
from theory.random_matrix.training.noise import TrainedNoise


@dataclass(frozen=True, eq=False)
class EigenvectorParts:
    """An eigenvector v of an outlier: v_k = sqrt(d) `signal` u_k + noise of variance `variance`, up to one factor.

    Both have one entry for each mode, (m,).
    """

    signal: Array = field(repr=False)
    variance: Array = field(repr=False)

    def on(self, spectrum: Spectrum) -> CoordinateParts:
        """Return what it has on each coordinate of a noise, where modes share coordinates the means over them."""
        variances, shares = spectrum.diagonal(spectrum.eigenvalues), spectrum.coordinate_weights
        square = spectrum.diagonal(self.signal**2 + self.variance)
        return CoordinateParts(spectrum.diagonal(self.signal), square, np.sqrt(variances), shares)


def outlier_place(noise: TrainedNoise, strength: float) -> Place | None:
    """Find the place of the outlier of a spike; None at the threshold and below it."""
    equation, places = noise.equation, noise.branch.places

    def excess(place: Place) -> float:
        return equation.visible(place.matrix, place.tau) - 1 / strength

    if not excess(places[-1]) > 1e-10 / strength:
        return None
    last = next(i for i in reversed(range(len(places) - 1)) if places[i].tau <= 1 or excess(places[i]) < 0)
    return noise.branch.root(places[last], _distance(places[last], places[last + 1]), excess)


def _distance(place: Place, ahead: Place) -> float:
    """Compute the step of Newton's method that led from a place to the next: its projection on the tangent."""
    return float(((ahead.point - place.point) / place.scale) @ place.tangent)


def eigenvector_parts(
    equation: DysonEquation, place: Place, strength: float, *, left: bool = False
) -> EigenvectorParts:
    """Compute signal and noise of the right (or left) eigenvector of the outlier at a place (derived here).

    With y_c = G_c P r, (1 + theta g P) r = 0, the residue of the resolvent has the signal sqrt(theta) b_c'y_c on class
    c. Its squared length is the double pole of u'(1 - A - h)^-T W (1 - A - h)^-1 u, for which the Dyson equation is
    doubled to the pencil [[H', K], [0, H]], K_c = W_c b_c b_c'; its corner is linear in K. The adjoint of this linear
    equation is solved once, Xi - sum_c p_c s_c^2 (G_c P) Xi (G_c P)'/alpha = r r' + theta sum_c p_c s_c y_c y_c', and
    the variance of the noise on class c is s_c b_c' (G_c P) Xi (G_c P)' b_c/alpha. For the left one all matrices are
    transposed, and e takes the place of b.
    """
    P, (G, _) = place.matrix, equation.resolvents(place.matrix, place.tau)
    readout = equation.weights
    if left:
        P, G = P.T, G.transpose(0, 2, 1)
        readout = np.broadcast_to(equation.ones, readout.shape)
    n, s, p = len(P), equation.variances, equation.shares
    values, vectors = np.linalg.eig(np.tensordot(p, G, 1) @ P)
    r = vectors[:, int(np.argmin(abs(1 + strength * values)))].real
    carried = G @ P
    y = carried @ r
    source = np.outer(r, r) + strength * np.einsum("m,mi,mj->ij", p * s, y, y)
    flat = carried.reshape(len(s), -1)
    pairs = ((p * s * s / equation.alpha)[:, None] * flat).T @ flat
    operator = pairs.reshape(n, n, n, n).transpose(0, 2, 1, 3).reshape(n * n, n * n)
    xi = np.linalg.solve(np.eye(n * n) - operator, source.ravel()).reshape(n, n)
    row = np.einsum("mi,mij->mj", readout, carried)
    noise = s / equation.alpha * np.einsum("mi,ij,mj->m", row, xi, row)
    return EigenvectorParts(math.sqrt(strength) * np.einsum("mi,mi->m", readout, y), noise)


def threshold_strength(noise: TrainedNoise) -> float:
    """Compute the strength whose outlier lies at the edge."""
    edge = noise.edge
    return 1 / noise.equation.visible(edge.matrix, edge.tau)
