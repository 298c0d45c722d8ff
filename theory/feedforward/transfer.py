"""How many layers of a pretrained network to freeze: the risk of every depth, and where the best depth changes."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from theory.core import Array, Correlation, Result, Within, checked
from theory.models import NestedFeatures

Samples = Annotated[float, Within(1e-50, 1e50, closed=(True, True))]
Ridge = Annotated[float, Within(0.0, 1e100, closed=(True, True))]


@dataclass(frozen=True, eq=False, repr=False)
class FrozenRisk(Result):
    """The risks E (w.x - a.P_l x)^2 of ridge regression on the features of each depth, (L + 1,), and its ridges."""

    risks: Array
    lams: Array
    n_samples: float

    @property
    def best_depth(self) -> int:
        """The depth of the least risk, 0 where nothing is frozen; the shallowest of equal ones."""
        return int(np.argmin(self.risks))

    @property
    def best_risk(self) -> float:
        """The least risk."""
        return float(self.risks.min())


@dataclass(frozen=True, eq=False, repr=False)
class WarmStartRisk(Result):
    """The risk E (w.x - a.x)^2 of fine-tuning all d weights from those of the source, and its ridge."""

    risk: float
    lam: float
    n_samples: float
    overlap: float


@dataclass(frozen=True, eq=False, repr=False)
class SwitchingSizes(Result):
    """The best depths from few to many samples, (m + 1,), and the m numbers of samples between them.

    At `sizes`[i] the depths `depths`[i] and `depths`[i + 1] have the same risk `risks`[i]. Depths that are never best
    are not listed. `residual` is the largest relative gap between the two risks of a size.
    """

    depths: tuple[int, ...]
    sizes: Array
    risks: Array


@checked
def frozen_risk(features: NestedFeatures, n_samples: Samples, lam: Ridge | None = None) -> FrozenRisk:
    """Compute the risk of ridge regression on the frozen features of every depth, with n samples, in closed form.

    With g = k/n, the fraction s of the target that the features keep and S = noise + 1 - s, the labels' noise for this
    learner, the ridge that minimizes the risk is lam = g S/s, and the risk is then 1 - s + S g m = 1 - s + s lam m.
    Here m is the Stieltjes transform of the Marchenko-Pastur law at -lam, the positive root of
    g lam m^2 + (1 - g + lam) m = 1. The best ridge is the default. A given `lam` >= 0 is taken at all depths; the risk
    is then 1 - s + (s f (lam + g f) + S g (1 - f))/r with f = lam m and r = 1 - g + lam + 2 g f, which at lam = 0 is
    the risk of the least norm and infinite at n = k.

    The formulas are limits of k and n that grow together (T. Hastie et al., arXiv:1903.08560); that the
    discarded part of the target is noise is exact for Gaussian inputs. ValueError for n outside [1e-50, 1e50].

    >>> features = NestedFeatures(dimensions=(400, 100, 25, 5), kept_powers=(1, 0.9, 0.7, 0.4), noise=0.1)
    >>> found = frozen_risk(features, 160)
    >>> found.risks.round(6), found.best_depth
    (array([0.653113, 0.292939, 0.365945, 0.621339]), 1)
    """
    k, s, S = features.dimensions.astype(float), features.kept_powers, features.label_noises
    risks, lams = _risk(k, 1 - s, s, S, n_samples, lam)
    return FrozenRisk(risks, lams, n_samples)


@checked
def warm_start_risk(
    features: NestedFeatures, n_samples: Samples, overlap: Correlation, lam: Ridge | None = None
) -> WarmStartRisk:
    """Compute the risk of fine-tuning: ridge regression, on all d inputs, of the difference from the source's weights.

    The source's weights have length one and the overlap rho in [-1, 1] with those of the target, so that the difference
    has the power 2 - 2 rho, and the ridge pulls towards the source. The risk is that of `frozen_risk` with this power
    in the place of s, nothing discarded, and the labels' own noise. Derived here: labels minus the source's predictions
    are those of a linear teacher with the difference as weights, to which `frozen_risk` applies (T. Hastie et al.,
    arXiv:1903.08560). At rho = 1 nothing is left to learn: the best ridge is infinite and the risk zero.

    >>> features = NestedFeatures(dimensions=(400, 100), kept_powers=(1, 0.9), noise=0.1)
    >>> round(warm_start_risk(features, 160, overlap=0.9).risk, 6)
    0.151774
    """
    power = np.array([2 - 2 * overlap])
    risks, lams = _risk(np.array([float(features.d)]), np.zeros(1), power, np.array([features.noise]), n_samples, lam)
    return WarmStartRisk(float(risks[0]), float(lams[0]), n_samples, overlap)


@checked
def switching_sizes(features: NestedFeatures) -> SwitchingSizes:
    """Compute at which numbers of samples the best depth changes, and from which depth to which.

    Derived here: the equation of m in `frozen_risk` can be solved for the number of samples at which depth l reaches
    the risk R: n = k_l (1 - R)(R + noise)/(s_l (R - 1 + s_l)). The depth that needs the fewest is thus that with the
    largest of the straight lines (s_l/k_l)(R - 1 + s_l), and two depths have the same risk at one size at most. As
    samples are added R falls from 1 to 0, and along the upper envelope of the lines their slopes s_l/k_l fall: the best
    depth never grows. Each size is a root of R_l(n) = R_l'(n), which the result's `residual` verifies.

    >>> features = NestedFeatures(dimensions=(400, 100, 25, 5), kept_powers=(1, 0.9, 0.7, 0.4), noise=0.1)
    >>> found = switching_sizes(features)
    >>> found.depths, found.sizes.round(3)
    ((3, 2, 1, 0), array([ 15.897, 112.886, 593.504]))
    """
    k, s = features.dimensions.astype(float), features.kept_powers
    slopes = s / k
    # Just below R = 1 the largest line wins, and of equal ones that which falls the least.
    depth = min(range(len(k)), key=lambda i: (-s[i] * slopes[i], slopes[i]))
    depths, sizes, risks = [depth], [], []
    while True:
        crossings = {
            other: (slopes[depth] * (1 - s[depth]) - slopes[other] * (1 - s[other])) / (slopes[depth] - slopes[other])
            for other in range(len(k))
            if slopes[other] < slopes[depth]
        }
        # A line is reached where R is still above what its own and the present depth can reach at all.
        reached = {i: R for i, R in crossings.items() if max(1 - s[i], 1 - s[depth], 0.0) < R < 1}
        if not reached:
            break
        following = max(reached, key=lambda i: (reached[i], -slopes[i]))
        R = reached[following]
        size = k[depth] * (1 - R) * (R + features.noise) / (s[depth] * (R - 1 + s[depth]))
        depth = following
        depths.append(depth)
        sizes.append(size)
        risks.append(R)
    gaps = [
        abs(found.risks[before] - found.risks[after]) / found.risks[after]
        for size, before, after in zip(sizes, depths, depths[1:], strict=False)
        for found in [frozen_risk(features, size)]
    ]
    return SwitchingSizes(tuple(depths), np.array(sizes), np.array(risks), residual=float(max(gaps, default=0.0)))


def _risk(k: Array, lost: Array, s: Array, S: Array, n: float, lam: float | None) -> tuple[Array, Array]:
    """Return the risks and the ridges of learners with k weights of power s, of which `lost` is out of reach."""
    g = k / n
    if lam is None:
        with np.errstate(divide="ignore", invalid="ignore"):
            ridges = np.where(s > 0, g * S / s, np.inf)
    else:
        ridges = np.full(len(k), lam)
    finite = np.where(np.isfinite(ridges), ridges, 0.0)
    b = 1 - g + finite
    root = np.sqrt(b * b + 4 * g * finite)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Of the two forms of f = lam m, the positive root of g f^2 + b f = lam, that without cancellation.
        f = np.where(b > 0, 2 * finite / (b + root), (root - b) / (2 * g))
        if lam is None:
            return np.where(np.isfinite(ridges), lost + s * f, lost + s), ridges
        risks = lost + (s * f * (finite + g * f) + S * g * (1 - f)) / root
    # Without a ridge the risk diverges at n = k, but for labels without noise, from which the weights are then known.
    return np.where(root > 0, risks, np.where(S > 0, np.inf, lost)), ridges
