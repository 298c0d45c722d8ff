"""The best direction out of the first plateau, and how many samples it takes before noise has no better one."""

import math
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from scipy.optimize import minimize

from theory.core import Array, AtLeast, Count, NonNegative, Positive, Result, Several, SolverResult, checked, checks
from theory.models import FactoredStack, Sequences
from theory.nets.law import Data, law_of
from theory.nets.leading_gain import LeadingGain, gain_of, packed, unpacked
from theory.numerics import Solution

Few = Annotated[int, AtLeast(1, most=10_000)]  # starts or draws: more would run for hours without a word


@dataclass(frozen=True, eq=False, repr=False)
class BestDirection(SolverResult):
    """The weights of unit norm with the largest gain S* that ascents from several random starts have found.

    `gain` is S*, `direction` the stack, and `maxima` the gains of all starts in decreasing order: S has local maxima,
    so that more starts may find a better one. `residual` is the length of the tangential gradient at `direction`,
    relative to the radial one. The gain of independent sites is zero, and has no direction that could be converged.
    """

    gain: float
    direction: FactoredStack
    maxima: Array = field(repr=False)
    tol: float = field(repr=False)


@checked
def best_direction(
    model: Data,
    n_layers: Count,
    rng: np.random.Generator,
    *,
    n_starts: Few = 6,
    fields: bool = False,
    tol: Positive = 1e-4,
    max_iter: Count = 2000,
) -> BestDirection:
    """Search the largest gain S on the unit sphere of weights: the signal S* that small stacks of N layers follow.

    S is that of `leading_gain`. Each ascent maximizes log S - D log |theta|, which has no scale, by L-BFGS from normal
    weights of variance 1/L and 1/C; where S < 0 at the start the sign of the last values is turned. Derived here: S is
    homogeneous, so that the flow of its gradient from small weights grows along a maximum of S on the unit sphere,
    where grad S = D S theta.

    `model` is a model that can be enumerated, an enumeration, or `Sequences`. ConvergenceError where the best ascent
    ends with a residual above `tol`.

    One layer gains half of its rate, because its norm is shared by two factors:

    >>> from theory.models import PottsModel
    >>> from theory.nets import plateau_rate
    >>> pair = PottsModel(site_couplings=[[0, 1], [1, 0]], color_couplings=[[1, 0], [0, 1]], beta=1.0)
    >>> found = best_direction(pair, 1, np.random.default_rng(0), n_starts=2)
    >>> round(found.gain / plateau_rate(pair).rate, 6)
    0.5
    """
    law = law_of(model)
    first = FactoredStack.random(n_layers, law.n_sites, law.n_colors, 1.0, rng)
    gain = gain_of(law, first.n_layers, fields)
    ascents = []
    for start in range(n_starts):
        stack = first if start == 0 else FactoredStack.random(first.n_layers, law.n_sites, law.n_colors, 1.0, rng)
        ascents.append(ascend(gain, stack, max_iter))
    best = max(ascents, key=lambda one: one[0])
    maxima = np.array(sorted((one[0] for one in ascents), reverse=True))
    iterations = sum(one[3] for one in ascents)
    what, advice = "best_direction", "raise max_iter or n_starts"
    Solution.verified(best[0], best[2], tol, iterations, what=what, advice=advice, otherwise="max_iter")
    direction = FactoredStack(*unpacked(best[1], first))
    return BestDirection(
        best[0], direction, maxima, tol, residual=best[2], iterations=iterations, converged=best[0] > 0
    )


def ascend(gain: LeadingGain, stack: FactoredStack, max_iter: int) -> tuple[float, Array, float, int]:
    """Climb from a stack to a maximum of S; return its gain, its unit direction, its residual, and the iterations."""
    A, V = stack.attentions, stack.values
    S, _, _ = gain.gradient(A, V)
    theta = packed(A, V)
    if S == 0:
        return 0.0, theta / np.linalg.norm(theta), 0.0, 0
    if S < 0:
        theta = packed(A, np.concatenate([V[:-1], -V[-1:]]))
    D, scale = stack.degree, abs(S)

    def objective(x: Array) -> tuple[float, Array]:
        S, by_A, by_V = gain.gradient(*unpacked(x, stack))
        if S <= 0:  # a step too far: the line search is told to come back
            return 1e10, np.zeros_like(x)
        size = float(x @ x)
        return D / 2 * math.log(size) - math.log(S / scale), D * x / size - packed(by_A, by_V) / S

    options = {"maxiter": max_iter, "maxfun": 5 * max_iter, "ftol": 1e-15, "gtol": 1e-7}
    found = minimize(objective, theta, jac=True, method="L-BFGS-B", options=options)
    unit = found.x / np.linalg.norm(found.x)
    S, by_A, by_V = gain.gradient(*unpacked(unit, stack))
    residual = float(np.linalg.norm(packed(by_A, by_V) / (D * S) - unit)) if S > 0 else 0.0
    return S, unit, residual, int(found.nit)


@dataclass(frozen=True, eq=False, repr=False)
class LearningThreshold(Result):
    """The number of samples from which on a stack of N layers leaves its plateau along the structure of the data.

    With fewer samples it leaves along their noise. `n_samples` is (c/S*)^2, from the signal S* = `gain` and the noise
    S*_null(M) = c/sqrt(M) with c = `noise`.
    """

    n_samples: float
    gain: float
    noise: float


@checked
def learning_threshold(gain: NonNegative, noise: NonNegative) -> LearningThreshold:
    """Compute from how many samples on the signal of the data exceeds the best that their noise offers.

    Of M samples without structure (uniform independent colors) the largest gain is c/sqrt(M), since the moments that
    enter S are then sums of independent noise; see `structureless_gain` for c = `noise`. A stack leaves its plateau
    along the structure of the data once this is below their gain S* of `best_direction`, from M = (c/S*)^2 on. Without
    a signal the number is infinite. Derived here: the plateau is left along the direction of the larger gain, and S*
    equals c/sqrt(M) at this M.

    >>> round(learning_threshold(gain=0.001346073, noise=0.0076).n_samples)
    32
    """
    ratio = noise / gain if noise < 1e150 * gain else math.inf
    return LearningThreshold(0.0 if noise == 0 else ratio**2, gain, noise)


@checked
def structureless_gain(
    n_sites: Several,
    n_colors: Several,
    n_layers: Count,
    n_samples: Several,
    rng: np.random.Generator,
    *,
    n_draws: Few = 4,
    n_starts: Few = 4,
) -> Array:
    """Draw the noise c = sqrt(M) S* of M samples with uniform independent colors, once for each of `n_draws` sets.

    S* is found by `best_direction` from `n_starts` starts. c depends little on M.

    **How c grows with sites and colors.** With many sites, the noise of the marginals offers most. If the first layer
    reads all sites and colors alike, no hidden unit depends on the state, and the last layer predicts at each site the
    colors that happen to be above 1/C in the sample. Of two layers, whose attentions and values have the squared norms
    1/3, 1/3, 1/6, 1/6 at a maximum on the unit sphere, the best such weights show that

        c >= (1 - 1/L)^2 sigma/(54 C),    sigma = sqrt(M) |frequencies - 1/C|, near (sqrt(L) + sqrt(C - 1))/sqrt(C),

    with the largest singular value |.| of an (L, C) matrix. It holds for every sample. Ascents on 300 samples found
    1.5, 1.10 and 1.02 times this bound for L = 4, 8, 16 with three colors, and 2.1, 1.16 and 1.03 times with twelve.
    The same weights of N layers have c of order L^(2^(N-2) - 1/2) C^(-2^(N-2) - 1/2) for L >> C; with three layers the
    limit is farther off: 1.2 to 1.5 times the bound for L = 9 and three to six colors, and up to 7 times for L = 4. One
    power of L and one of C do not fit such sizes. A stack with fields has learned the marginals first, and this noise
    does not lead it astray. Derived here: S is linear in moments whose noise falls as 1/sqrt(M); the bound is S of the
    weights described, with the norms at which it is largest.
    """
    L, C, M = n_sites, n_colors, n_samples
    checks.fits_in_memory(f"{M} samples of {L} sites", 2.0 * M * L)
    found = []
    for _ in range(n_draws):
        sample = Sequences(rng.integers(0, C, (M, L)), C)
        found.append(math.sqrt(M) * best_direction(sample, n_layers, rng, n_starts=n_starts).gain)
    return np.array(found)
