"""How many samples one layer of factored attention needs before its spectral start shows the true couplings."""

import math
from dataclasses import dataclass, replace

import numpy as np

from theory.core import Array, NonNegative, Positive, Result, Several, Share, checked
from theory.models import PottsModel, Sequences
from theory.models.potts import zero_sum
from theory.models.potts.one_hot_contrasts import helmert
from theory.nets.law import ROUNDING, Data, law_of
from theory.nets.moments import second_moments_of
from theory.nets.noise_edge import are_samples, noise_edge

LEAST_SHARE = 0.5  # of the squared covariances of pairs, below which one product is no description of them
UNEQUAL = 0.1  # largest relative deviation of a color's frequency from 1/C that counts as equal
MAX_LOGIT_VARIANCE = 0.1  # largest variance of a logit for which couplings count as weak


@dataclass(frozen=True, eq=False, repr=False)
class SpectralThreshold(Result):
    """The number of samples from which on the top singular pair of the sample covariance knows the true couplings.

    `n_samples` is M_c = 2 sqrt(n1 n2)/(C^2 theta^2), with n1 = L (L-1)/2 pairs of sites and n2 = C (C-1)/2 symmetric
    pairs of contrasts. It is infinite where the signal theta vanishes. `share` is that of `SpectralSignal`, 1 where
    the data are said to be those of one product.
    """

    n_samples: float
    n_sites: int
    n_colors: int
    signal: float
    share: float


@dataclass(frozen=True, eq=False, repr=False)
class SpectralSignal(Result):
    """How strong the best product A_ij V_ab is among the pair covariances of a population, and how much it misses.

    `signal` is the top singular value theta of the rearranged covariance. `share` is theta^2 over the sum of the
    squares of all covariances of pairs of sites, which is that of all squared singular values, with those of the parts
    that no symmetric V expresses: the part of what pairs of sites say that one layer of factored attention can learn.
    It is 1 for weak couplings J_ij U_ab, and small where pairs have tables of their own. `noise` is what the top value
    of independent sites with these marginals stays below in at least 95 of 100 samples of this size, 0 for a law that
    is known exactly. A signal that is not above it is no signal: nothing is to be learned from it, `is_above_noise` is
    False, and the share is NaN, of data with nothing in them as of a sample that is too small.
    """

    n_sites: int
    n_colors: int
    signal: float
    share: float
    noise: float

    @property
    def is_above_noise(self) -> bool:
        """Say whether the top value tells these data from independent sites."""
        return self.signal > max(self.noise, ROUNDING)


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
def spectral_threshold(
    n_sites: Several, n_colors: Several, signal: NonNegative, *, share: Share = 1.0
) -> SpectralThreshold:
    """Compute the sample size M_c of the spectral transition of one layer of factored attention.

    The rows of the rearranged sample covariance are the pairs i < j of sites; its columns are the orthonormal symmetric
    matrices B_m of Helmert contrasts of the colors, and its entries are sqrt(2) <Cov_ij, B_m>. For weak couplings and
    equal marginals its noise consists of independent entries of variance s^2 = 2/(C^2 M), and the couplings add one
    singular value theta = `signal` (see `population_signal` and `linear_response_signal`). This is a spiked rectangular
    matrix, whose top pair is correlated with the spike from theta^2 = s^2 sqrt(n1 n2) on (F. Benaych-Georges and R. R.
    Nadakuditi, arXiv:1103.2221). If gamma is the information per site, M_c tends to C/(2 gamma), whatever L.

    The threshold is that of the product A_ij V_ab which is found, and says nothing of what it misses. `share` is how
    much of the squared covariances of pairs it is (see `spectral_signal`), 1 for couplings J_ij U_ab; below .5 the
    threshold is refused, because one layer then learns less than half of what pairs of sites say, however many samples
    there are. A signal without a share is taken at its word, that all covariances are those of one product: for the
    number of `linear_response_signal` this is so, and that of `population_signal` was tested (to one half), but of any
    other number nothing is known, and the share of the data belongs beside it. In exact fits to 18 small laws, between
    couplings of one product and tables drawn for every pair alone, the gain of one layer over independent sites, in
    units of that of all pairs, was the share within .12.

    ValueError for fewer than two sites or colors, for a negative signal, and for a share below .5 or NaN.

    >>> round(spectral_threshold(60, 10, 0.1342).n_samples, 6)
    313.413612
    """
    if share < LEAST_SHARE:
        raise ValueError(
            f"share must be at least {LEAST_SHARE:g}, got {share:.3g}: one product of site and color couplings misses "
            "more than half of what pairs of sites say, and a layer cannot learn it from any number of samples"
        )
    n1, n2 = _shape(n_sites, n_colors)
    # The square of a tiny signal vanishes: the number of samples is then beyond all floating-point numbers.
    squared = signal * signal
    with np.errstate(over="ignore"):
        count = float(np.divide(2 * math.sqrt(n1 * n2) / n_colors**2, squared)) if squared > 0 else math.inf
    return SpectralThreshold(count, n_sites, n_colors, signal, share)


@checked
def spectral_overlaps(
    n_sites: Several, n_colors: Several, signal: NonNegative, n_samples: Positive
) -> SpectralOverlaps:
    """Compute how well the top singular pair of M = `n_samples` samples agrees with the true couplings.

    Symbols are those of `spectral_threshold`. With c = n2/n1 and t = theta^2/(s^2 n1), the squared cosines above the
    threshold t^2 > c are 1 - c (1 + t)/(t (t + c)) for the colors and 1 - (c + t)/(t (t + 1)) for the sites, and the
    top singular value is s sqrt(n1 (1 + t) (c + t)/t). Below the threshold they are 0, 0, and s (sqrt(n1) + sqrt(n2)).
    The colors are found with many fewer samples than the sites, of which there are many more. Source: a known law of
    spiked rectangular matrices (F. Benaych-Georges and R. R. Nadakuditi, arXiv:1103.2221), not looked up for this; the
    noise is that of `spectral_threshold`.

    >>> found = spectral_overlaps(60, 10, 0.1342, 1600)
    >>> round(found.colors, 9), round(found.sites, 9), round(found.top_value, 9)
    (0.932504485, 0.431512624, 0.203440842)
    """
    n1, n2 = _shape(n_sites, n_colors)
    c, noise = n2 / n1, math.sqrt(2 / n_samples) / n_colors
    root = signal / (noise * math.sqrt(n1)) if noise > 0 else math.inf
    t = min(root, 1e100) ** 2
    if t * t <= c:
        return SpectralOverlaps(0.0, 0.0, noise * (math.sqrt(n1) + math.sqrt(n2)))
    colors = 1 - (c / t) * ((1 + t) / (t + c))
    sites = 1 - ((c + t) / (t + 1)) / t
    # noise sqrt(n1 t) is signal itself, whatever the size of t.
    return SpectralOverlaps(colors, sites, signal * math.sqrt((1 + 1 / t) * (c / t + 1)))


@checked
def linear_response_signal(model: PottsModel) -> float:
    """Compute the signal beta |J|_F |U0|_F/C^2 of weak couplings J_ij U_ab between colors of equal frequency.

    U0 is the zero-sum part of the color couplings, and |J|_F runs over ordered pairs of sites. It is the first order in
    beta of `population_signal`, for sites whose colors all have the frequency 1/C. ValueError where one of these is not
    so. Frequencies are judged by the fields, to which the row means of the color couplings add through
    sum_j J_ij: with the couplings left out, no frequency may be further from 1/C than 10 % of it. The strength is
    judged by the variance of a logit over independent colors, beta^2 sum_j J_ij^2 |U0|_F^2/C^2, which may be at most
    .1 at any site. Within these bounds the exact signal of small random models differed by up to 12 % at a variance of
    .02 and up to 21 % at .05, and by 41 % at .1 where all couplings had one sign. Beyond them, and wherever the model
    can be enumerated or sampled, `population_signal` is the number, for unequal frequencies its whitened form.
    Derived here: to first order in beta two sites have the covariance beta J_ij U0/C^2, one product with this singular
    value.

    >>> from theory.models.potts import complete_graph
    >>> pair = PottsModel(complete_graph(3), [[1, 0], [0, 1]], beta=0.1)
    >>> round(linear_response_signal(pair), 9)  # 0.1 sqrt(6) 1/4
    0.061237244
    """
    centered = zero_sum(model)
    J, U = model.dense_site_couplings, centered.color_couplings
    fields = model.beta * centered.fields
    odds = np.exp(fields - fields.max(axis=1, keepdims=True))
    deviation = float(np.max(abs(model.n_colors * odds / odds.sum(axis=1, keepdims=True) - 1)))
    sizes = np.linalg.norm(J, axis=1) * (np.linalg.norm(U) / model.n_colors)
    strength = float((model.beta * sizes.max()) ** 2)
    advice = "take population_signal of the model, of its enumeration or of sampled Sequences"
    if not deviation <= UNEQUAL:
        raise ValueError(
            f"model must have colors of equal frequency, within {UNEQUAL:.0%} of 1/C at every site, got a frequency "
            f"that its fields move by {deviation:.0%}; {advice}, whitened=True"
        )
    if not strength <= MAX_LOGIT_VARIANCE:
        raise ValueError(
            f"model must have weak couplings, a variance of at most {MAX_LOGIT_VARIANCE:g} of every logit, "
            f"got {strength:.3g}; {advice}"
        )
    return float(model.beta * np.linalg.norm(J) * np.linalg.norm(U) / model.n_colors**2)


@checked
def population_signal(model: Data, *, whitened: bool = False, least_share: Share = LEAST_SHARE) -> float:
    """Compute the top singular value theta of the rearranged covariance of the population (see `spectral_threshold`).

    It is exact for a model that can be enumerated or its enumeration. For `Sequences` it is the top value of the
    sample, noise included, so these must be many more than the threshold. It is zero where all sites are independent.
    Derived here: one layer gains A_ij V_ab times the covariances of pairs, so that theta is the gain of its best
    product, and the whitening makes the noise of independent sites white.

    With colors of unequal marginals the noise of a sample covariance is no longer white, and the plain top pair finds
    the couplings much later than `spectral_overlaps` says. `whitened` multiplies the contrasts of every site by the
    inverse root of their covariance, and divides the top value by C: the noise is then white, with the variance of
    equal marginals, and `spectral_threshold` and `spectral_overlaps` hold for the whitened sample covariance, also
    where local fields prefer other colors at other sites (this was seen in samples of 40 sites and six colors whose
    marginals differ tenfold). Contrasts that never vary are left out.

    ValueError where theta^2 is less than the part `least_share` of the squared covariances of all pairs: these are not
    those of one product A_ij V_ab, and theta does not say how they are learned (see `spectral_signal`, which returns
    both numbers and refuses none), and for `Sequences` of equal weights whose top value is not above that of as many
    sequences of independent sites. With a `least_share` of 0 nothing is refused.

    >>> from theory.models.potts import complete_graph
    >>> pair = PottsModel(complete_graph(3), [[1, 0], [0, 1]], beta=0.1)
    >>> round(population_signal(pair), 6)  # sqrt(6)/2 (t + t^2)/(1 + t^3) with t = tanh(0.05)
    0.064235
    """
    found = spectral_signal(model, whitened=whitened)
    if are_samples(model) and least_share > 0 and 0 < found.signal <= found.noise:
        raise ValueError(
            "model must have pair covariances above those of independent sites, got a top value of "
            f"{found.signal:.6g}, where samples of this size have up to {found.noise:.6g} by chance: nothing is to be "
            "learned from them; take more samples; least_share=0 returns the top value nevertheless"
        )
    if found.share < least_share:
        raise ValueError(
            f"model must have pair covariances of which one product A_ij V_ab is a share of at least {least_share:g}, "
            f"got {found.share:.3g}: its pairs of sites have tables of their own, of which one layer of factored "
            "attention learns no more than this; least_share=0 returns the top value nevertheless"
        )
    return found.signal


@checked
def spectral_signal(model: Data, *, whitened: bool = False) -> SpectralSignal:
    """Compute the top singular value of the rearranged covariance of a population, and its share of all of them.

    Arguments are those of `population_signal`. Covariances of a sample, given as `Sequences`, add up to more than those
    of the population: what independent sites of these marginals would give in as many samples, 1/(the sum of the
    squared weights), is subtracted before the share is taken. A share of a few hundred samples is therefore rough, and
    the weights must count samples, not states of a law. The share is NaN where the top value is not above the noise of
    independent sites. Source: the best product is the nearest Kronecker product of C. F. Van Loan and N. Pitsianis
    (Linear Algebra for Large Scale and Real-Time Applications, Kluwer, 1993); what noise adds to the squares is
    derived here from the covariance of independent sites.

    >>> from theory.models.potts import complete_graph
    >>> found = spectral_signal(PottsModel(complete_graph(3), [[1, 0], [0, 1]], beta=0.1))
    >>> round(found.signal, 6), round(found.share, 6)
    (0.064235, 1.0)
    """
    law = law_of(model)
    L, C = _sizes_of("model", law.n_sites, law.n_colors)
    marginals = law.marginals()
    covariance = second_moments_of(law, marginals)
    basis = helmert(C)
    bases = _whitening(marginals, basis) / math.sqrt(C) if whitened else np.broadcast_to(basis, (L, C, C - 1))
    inner = np.einsum("iajb,iak,jbl->ijkl", covariance, bases, bases, optimize=True)
    symmetric = (inner + inner.swapaxes(2, 3)) / 2
    i, j = np.triu_indices(L, 1)
    # <Cov, B_m> over an orthonormal basis of symmetric matrices: off the diagonal an entry counts twice.
    k, m = np.triu_indices(C - 1)
    columns = symmetric[i, j][:, k, m] * np.where(k == m, 1.0, math.sqrt(2))
    top, total = float(math.sqrt(2) * np.linalg.norm(columns, ord=2)), 2 * float(np.sum(inner[i, j] ** 2))
    noise = 0.0
    if isinstance(model, Sequences):
        size = 1 / float(np.sum(law.probabilities**2))
        centered = np.array([np.diag(q) - np.outer(q, q) for q in marginals])
        variances = np.einsum("iab,iak,ibk->i", centered, bases, bases)
        total -= 2 * float(np.sum(variances[i] * variances[j])) / size
        noise = noise_edge(np.einsum("iab,iak,ibl->ikl", centered, bases, bases, optimize=True)) * math.sqrt(2 / size)
    share = min(1.0, top**2 / total) if total > 0 else 1.0
    found = SpectralSignal(L, C, top, share, noise)
    return found if found.is_above_noise else replace(found, share=math.nan)


def _whitening(marginals: Array, basis: Array) -> Array:
    """Return the contrasts of every site times the inverse root of their covariance, (L, C, C - 1)."""
    covariances = np.array([basis.T @ (np.diag(q) - np.outer(q, q)) @ basis for q in marginals])
    variances, axes = np.linalg.eigh(covariances)
    roots = np.where(variances > 1e-12, 1 / np.sqrt(np.maximum(variances, 1e-12)), 0.0)
    return np.asarray(np.einsum("ak,ikm,im,inm->ian", basis, axes, roots, axes))


def _shape(n_sites: int, n_colors: int) -> tuple[float, float]:
    return n_sites * (n_sites - 1) / 2, n_colors * (n_colors - 1) / 2


def _sizes_of(name: str, n_sites: int, n_colors: int) -> tuple[int, int]:
    if n_sites < 2 or n_colors < 2:
        raise ValueError(f"{name} must have at least two sites and two colors, got {n_sites} and {n_colors}")
    return n_sites, n_colors
