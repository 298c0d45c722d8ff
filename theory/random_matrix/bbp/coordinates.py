"""What the eigenvector of one outlier has on each coordinate, for the read-outs that weight coordinates."""

import numpy as np

from theory.core import Array
from theory.random_matrix.bbp.emergence import Emerged
from theory.random_matrix.bbp.operators import Dense
from theory.random_matrix.bbp.spiked_bulk import SpikedBulk
from theory.random_matrix.read_outs import CoordinateParts


def coordinate_parts(bulk: SpikedBulk, strength: float, found: Emerged) -> CoordinateParts:
    """Split the right eigenvector of the outlier of one spike into its parts on the coordinates (derived here).

    With R = (x scale - shift - h Sigma_0)^-1 at the outlier its mean is proportional to scale R u, and its noise is
    scale times a vector of covariance R Sigma_0 R: the derivative of the outlier by a diagonal change of `shift` gives
    the sum of squares under any diagonal weights. For a delocalized spike u R u becomes the diagonal of R. The sums
    over coordinates of both parts are those of `overlaps_of`.
    """
    spiked, strengths = bulk.spiked, np.array([strength])
    spectrum, u = spiked.spectrum, spiked.directions
    cosine, square, noise = _forms(bulk, found, strengths)
    if u is None:
        variances, shares = spectrum.diagonal(spectrum.eigenvalues), spectrum.coordinate_weights
    else:
        variances, shares = spiked.noise.variances + strength * u[0] ** 2, np.full(len(u[0]), 1 / len(u[0]))
    kept = found.free * strength
    total = kept * square + found.spread / spiked.alpha * noise
    return CoordinateParts(np.sqrt(kept) * cosine, total, np.sqrt(variances), shares)


def _forms(bulk: SpikedBulk, found: Emerged, strengths: Array) -> tuple[Array, Array, Array]:
    """Compute d u_k (S R u)_k, d (S R u)_k^2 and (S R Sigma_0 R S)_kk, (c,) each, with S = diag(scale).

    For a delocalized spike they are means over its directions. The noise knows nothing of what a given one does to S.
    """
    operator, noise, u = bulk.operator, bulk.spiked.noise, bulk.spiked.directions
    h, x = found.h, found.x
    normalization, alone = bulk.normalizations.at(strengths), bulk.noise_normalization
    scale = normalization.scale
    if isinstance(operator, Dense):
        r, covered = operator.inverse(h, x, alone)
        covered = alone.scale**2 * covered
        if u is None:
            return scale * np.diagonal(r), scale**2 * np.einsum("ij,ij->i", r, r), covered
        solved = scale * operator.solved(h, x, normalization)[0]
        return len(solved) * u[0] * solved, len(solved) * solved**2, covered
    # The product of scale and R first: where the variances have no mean either alone leaves the range of numbers.
    carried = alone.scale / (alone.at(x) - h * operator.sigma)
    if u is None:
        diagonal = bulk.spiked.spectrum.diagonal
        return diagonal(carried), diagonal(carried**2), diagonal(operator.sigma * carried**2)
    solved, covered = scale * operator.solved(h, x, normalization)[0], operator.sigma * carried**2
    if not bulk.spiked.is_diagonal:
        solved, covered = noise.eigenvectors @ solved, noise.eigenvectors**2 @ covered
    return len(solved) * u[0] * solved, len(solved) * solved**2, covered
