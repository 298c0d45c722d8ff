"""How many samples one layer of factored attention needs before its spectral start shows the true couplings."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from theory.core import checks
from theory.core.arguments import checked
from theory.core.arrays import Array
from theory.core.results import Result
from theory.models import PottsModel
from theory.models.potts import zero_sum
from theory.models.potts.one_hot_contrasts import helmert
from theory.nets.law import Data, law_of
from theory.nets.moments import second_moments_of


@dataclass(frozen=True, eq=False, repr=False)
class SpectralThreshold(Result):
    """The number of samples from which on the top singular pair of the sample covariance knows the true couplings.

    `n_samples` is M_c = 2 sqrt(n1 n2)/(C^2 theta^2), with n1 = L (L-1)/2 pairs of sites and n2 = C (C-1)/2 symmetric
    pairs of contrasts. It is infinite where the signal theta vanishes.
    """

    n_samples: float
    n_sites: int
    n_colors: int
    signal: float


@dataclass(frozen=True, eq=False, repr=False)
class SpectralOverlaps(Result):
    """What the top singular pair of the sample covariance shows of the true couplings J_ij U_ab.

    `colors` and `sites` are the squared cosines with U (zero-sum part) and with J, and `top_value` is the top singular
    value. Below the threshold the overlaps are zero, and the top value is the edge of the noise.
    """

    colors: float
    sites: float
    top_value: float


@checked
def spectral_threshold(n_sites: int, n_colors: int, signal: float) -> SpectralThreshold:
    """Computes the sample size M_c of the spectral transition of one layer of factored attention.

    The rows of the rearranged sample covariance are the pairs i < j of sites; its columns are the orthonormal symmetric
    matrices B_m of Helmert contrasts of the colors, and its entries are sqrt(2) <Cov_ij, B_m>. For weak couplings and
    equal marginals its noise consists of independent entries of variance s^2 = 2/(C^2 M), and the couplings add one
    singular value theta = `signal` (see `population_signal` and `linear_response_signal`). This is a spiked rectangular
    matrix, whose top pair is correlated with the spike from theta^2 = s^2 sqrt(n1 n2) on (F. Benaych-Georges and R. R.
    Nadakuditi, arXiv:1103.2221). If gamma is the information per site, M_c tends to C/(2 gamma), whatever L.

    ValueError for fewer than two sites or colors, and for a negative signal.

    >>> round(spectral_threshold(60, 10, 0.1342).n_samples, 6)
    313.413612
    """
    L, C = _sizes(n_sites, n_colors)
    theta = checks.non_negative("signal", signal)
    n1, n2 = _shape(L, C)
    # The square of a tiny signal vanishes: the number of samples is then beyond all floating-point numbers.
    squared = theta * theta
    with np.errstate(over="ignore"):
        count = float(np.divide(2 * math.sqrt(n1 * n2) / C**2, squared)) if squared > 0 else math.inf
    return SpectralThreshold(count, L, C, theta)


@checked
def spectral_overlaps(n_sites: int, n_colors: int, signal: float, n_samples: float) -> SpectralOverlaps:
    """Computes how well the top singular pair of M = `n_samples` samples agrees with the true couplings.

    Symbols are those of `spectral_threshold`. With c = n2/n1 and t = theta^2/(s^2 n1), the squared cosines above the
    threshold t^2 > c are 1 - c (1 + t)/(t (t + c)) for the colors and 1 - (c + t)/(t (t + 1)) for the sites, and the
    top singular value is s sqrt(n1 (1 + t) (c + t)/t). Below the threshold they are 0, 0, and s (sqrt(n1) + sqrt(n2)).
    The colors are found with many fewer samples than the sites, of which there are many more.

    >>> found = spectral_overlaps(60, 10, 0.1342, 1600)
    >>> round(found.colors, 9), round(found.sites, 9), round(found.top_value, 9)
    (0.932504485, 0.431512624, 0.203440842)
    """
    L, C = _sizes(n_sites, n_colors)
    theta, M = checks.non_negative("signal", signal), checks.positive("n_samples", n_samples)
    n1, n2 = _shape(L, C)
    c, noise = n2 / n1, math.sqrt(2 / M) / C
    root = theta / (noise * math.sqrt(n1)) if noise > 0 else math.inf
    t = min(root, 1e100) ** 2
    if t * t <= c:
        return SpectralOverlaps(0.0, 0.0, noise * (math.sqrt(n1) + math.sqrt(n2)))
    colors = 1 - (c / t) * ((1 + t) / (t + c))
    sites = 1 - ((c + t) / (t + 1)) / t
    # noise sqrt(n1 t) is theta itself, whatever the size of t.
    return SpectralOverlaps(colors, sites, theta * math.sqrt((1 + 1 / t) * (c / t + 1)))


@checked
def linear_response_signal(model: PottsModel) -> float:
    """Computes the signal beta |J|_F |U0|_F/C^2 of weak couplings J_ij U_ab, to first order in beta.

    U0 is the zero-sum part of the color couplings, and |J|_F runs over ordered pairs of sites. The fields of the model
    are ignored: the formula is that of equal marginals.

    >>> from theory.models.potts import complete_graph
    >>> pair = PottsModel(complete_graph(3), [[1, 0], [0, 1]], beta=0.1)
    >>> round(linear_response_signal(pair), 9)  # 0.1 sqrt(6) 1/4
    0.061237244
    """
    centered = zero_sum(model).color_couplings
    J = model.dense_site_couplings
    return float(model.beta * np.linalg.norm(J) * np.linalg.norm(centered) / model.n_colors**2)


@checked
def population_signal(model: Data, *, whitened: bool = False) -> float:
    """Computes the top singular value theta of the rearranged covariance of the population (see `spectral_threshold`).

    It is exact for a model that can be enumerated or its enumeration. For `Sequences` it is the top value of the
    sample, noise included, so these must be many more than the threshold. It is zero where all sites are independent.

    With colors of unequal marginals the noise of a sample covariance is no longer white, and the plain top pair finds
    the couplings much later than `spectral_overlaps` says. `whitened` multiplies the contrasts of every site by the
    inverse root of their covariance, and divides the top value by C: the noise is then white, with the variance of
    equal marginals, and `spectral_threshold` and `spectral_overlaps` hold for the whitened sample covariance, also
    where local fields prefer other colors at other sites (this was seen in samples of 40 sites and six colors whose
    marginals differ tenfold). Contrasts that never vary are left out.

    >>> from theory.models.potts import complete_graph
    >>> pair = PottsModel(complete_graph(3), [[1, 0], [0, 1]], beta=0.1)
    >>> round(population_signal(pair), 6)  # sqrt(6)/2 (t + t^2)/(1 + t^3) with t = tanh(0.05)
    0.064235
    """
    law = law_of(model)
    L, C = _sizes_of("model", law.n_sites, law.n_colors)
    covariance = second_moments_of(law, law.marginals())
    basis = helmert(C)
    bases = _whitening(law.marginals(), basis) / math.sqrt(C) if whitened else np.broadcast_to(basis, (L, C, C - 1))
    inner = np.einsum("iajb,iak,jbl->ijkl", covariance, bases, bases, optimize=True)
    symmetric = (inner + inner.swapaxes(2, 3)) / 2
    i, j = np.triu_indices(L, 1)
    # <Cov, B_m> over an orthonormal basis of symmetric matrices: off the diagonal an entry counts twice.
    k, m = np.triu_indices(C - 1)
    columns = symmetric[i, j][:, k, m] * np.where(k == m, 1.0, math.sqrt(2))
    return float(math.sqrt(2) * np.linalg.norm(columns, ord=2))


def _whitening(marginals: Array, basis: Array) -> Array:
    """The contrasts of every site times the inverse root of their covariance, (L, C, C - 1)."""
    covariances = np.array([basis.T @ (np.diag(q) - np.outer(q, q)) @ basis for q in marginals])
    variances, axes = np.linalg.eigh(covariances)
    roots = np.where(variances > 1e-12, 1 / np.sqrt(np.maximum(variances, 1e-12)), 0.0)
    return np.asarray(np.einsum("ak,ikm,im,inm->ian", basis, axes, roots, axes))


def _shape(n_sites: int, n_colors: int) -> tuple[float, float]:
    return n_sites * (n_sites - 1) / 2, n_colors * (n_colors - 1) / 2


def _sizes(n_sites: Any, n_colors: Any) -> tuple[int, int]:
    L, C = (
        int(checks.dimension(value, least=2, name=name))
        for name, value in (("n_sites", n_sites), ("n_colors", n_colors))
    )
    for name, value in (("n_sites", L), ("n_colors", C)):
        if value > 1e12:
            raise ValueError(f"{name} must be at most 1e12, got {value}")
    return L, C


def _sizes_of(name: str, n_sites: int, n_colors: int) -> tuple[int, int]:
    if n_sites < 2 or n_colors < 2:
        raise ValueError(f"{name} must have at least two sites and two colors, got {n_sites} and {n_colors}")
    return n_sites, n_colors
