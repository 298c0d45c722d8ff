"""A masked site as the hidden cluster of a Gaussian mixture: the site's value is the label, its neighbors the inputs.

In a dense model at high temperature the other sites, given the masked one, are nearly Gaussian: its value moves their
mean and, to leading order, leaves their covariance. Logistic regression of a spin, or softmax regression of a color,
is one site of the pseudo-likelihood fit, so that its learning curve is that of a mixture (arXiv:2106.03791 for the
mixture, arXiv:1705.05403 for dense Ising models). The picture is exact for dense models in the paramagnet as the
number p of inputs grows, with corrections of order 1/p. On a graph of mean degree c the mixture's own floor is too low
by a share of order 1/c that no size removes (`random_graph_floors`: 0.1, 1.8 and 8 % at c = 3 and 0.3, 0.6 and 0.9 of
the critical inverse temperature).

Training minimizes the sum of the loss over samples + (lam/2) |w|^2 with the fields h = w.x/sqrt(p). In terms of the
couplings J = w/sqrt(p), a pseudo-likelihood that takes the mean over n samples and a penalty l2 |J|^2 has the same
minimum at l2 = lam p/(2 n) = lam/(2 alpha).
Contrasts are orthonormal, hence |J|^2 is that of the zero-sum blocks. Two colors as contrasts (+-1/sqrt 2, softmax) and
as spins (+-1, logistic) are the same problem at the same lam.
"""

from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from theory.core import Array, Count, Matrix, NonNegativeCount, Vector, Within, checked, checks
from theory.glm.losses import Loss
from theory.glm.multiclass.channel import contrasts
from theory.models.glm import GaussianMixture, Modes, MulticlassMixture
from theory.models.glm.modes import covariance_matrix

MAX_NODES = 100_000
NODES = 200  # of the semicircle law
MIN_PROBABILITY = 1e-12  # of a probability: a color that does not occur is no class


@checked
def masked_classification(
    inputs: ArrayLike,
    cross: Vector,
    *,
    alpha: float,
    lam: float,
    mean: Vector | None = None,
    label_mean: Annotated[float, Within(-1.0, 1.0)] = 0.0,
    loss: str | Loss = "logistic",
    bias: bool = False,
) -> GaussianMixture:
    """Make the mixture of two clusters x | y with the exact means of a label y = +-1 and their common covariance.

    The moments are `inputs` = Cov(x) (p, p), `cross` = Cov(x, y) (p,), `mean` = E x (by default 0) and `label_mean` = E
    y. Then E[x | y] = E x + cross (y - E y)/Var y and Omega = Cov(x) - cross cross^T/Var y; for centered Ising data x |
    y ~ N(y mu, Omega) with mu = E[y x] and Omega = Cov(x) - mu mu^T. Derived here: of a binary y the mean of x given y
    is linear in y, and Omega is what this leaves of Cov(x). The mixture is of the kind of arXiv:2106.03791. There are n
    = alpha p samples. ValueError where these are no moments of any data.

    >>> from theory import glm
    >>> mixture = masked_classification([[1.0, 0.2], [0.2, 1.0]], [0.4, 0.3], alpha=2.0, lam=0.1)
    >>> round(glm.solve(mixture).test_error, 6)
    0.392257
    """
    covariance, c, m = covariance_matrix("inputs", inputs), cross, label_mean
    center = _center(mean, len(covariance))
    checks.shaped("cross", c, center.shape, ", as inputs")
    variance = 1 - m**2
    clusters = [center + c * (y - m) / variance for y in (1, -1)]
    return GaussianMixture(
        modes=_modes(covariance - np.outer(c, c) / variance, clusters),
        probabilities=((1 + m) / 2, (1 - m) / 2),
        alpha=alpha,
        lam=lam,
        loss=loss,
        bias=bias,
    )


@checked
def masked_color(
    inputs: ArrayLike,
    cross: Matrix,
    *,
    alpha: float,
    lam: float,
    mean: Vector | None = None,
    label_mean: Vector | None = None,
    loss: Literal["square", "softmax"] = "softmax",
    bias: bool = True,
) -> MulticlassMixture:
    """Make the mixture of C clusters x | s = a with the exact means of a color s and their common covariance.

    The site's color is given by its C - 1 orthonormal contrasts t, one-hot = 1/C + H t with Helmert's matrix H (C,
    C-1). The moments are `inputs` = Cov(x) (p, p), `cross` = Cov(x, t) (p, C-1), `label_mean` = E t (by default 0,
    which means equally frequent colors) and `mean` = E x. The clusters have the shares P_a = 1/C + H_a.E t and the
    means E[x | a] = E x + cross H_a/P_a. Derived here: E[x | a] is E[x 1(s = a)]/P_a, with the indicator in terms of
    the contrasts, and the covariance within clusters is what these means leave of Cov(x). The mixture is of the kind of
    arXiv:2106.03791. The best inputs are the contrasts of the other sites, p = (L-1)(C-1). There are n = alpha p
    samples.
    """
    covariance, c = covariance_matrix("inputs", inputs), cross
    center = _center(mean, len(covariance))
    if len(c) != len(center) or c.shape[1] < 1:
        raise ValueError(f"cross must have shape ({len(center)}, n_colors - 1), as inputs, got {c.shape}")
    H = contrasts(c.shape[1] + 1).T
    t = np.zeros(c.shape[1]) if label_mean is None else label_mean
    checks.shaped("label_mean", t, c.shape[1:], ", as the columns of cross")
    shares = 1 / len(H) + H @ t
    if shares.min() < MIN_PROBABILITY:
        raise ValueError(f"label_mean must give every color a positive probability, got {shares.tolist()}")
    shifts = (c @ H.T / shares).T
    return MulticlassMixture(
        modes=_modes(covariance - (shifts.T * shares) @ shifts, center + shifts),
        probabilities=shares / shares.sum(),
        alpha=alpha,
        lam=lam,
        loss=loss,
        bias=bias,
    )


@checked
def spin_glass_site(
    beta: Annotated[float, Within(0.0, 1.0, closed=(True, False))],
    *,
    alpha: float,
    lam: float,
    loss: str | Loss = "logistic",
    nodes: int = NODES,
) -> GaussianMixture:
    """Make the mixture of a masked spin of the Sherrington-Kirkpatrick model in the limit of many spins.

    P(s) = exp(beta sum_{i<j} J_ij s_i s_j)/Z with couplings J_ij ~ N(0, 1/N), in the paramagnet 0 <= beta < 1.

    The spins have covariance (1 + beta^2 - beta J)^-1 to leading order (the reaction term keeps the variances at 1),
    J with Wigner's semicircle on [-2, 2]. Without the masked spin y the others have that same law, and y adds the field
    beta J_i y: hence Omega = (1 + beta^2 - beta J)^-1 and mu = beta Omega J_i, J_i of length 1 and any direction.
    mu.Omega^-1.mu = beta^2. The semicircle by its Gauss rule with `nodes` nodes.
    """
    b = beta
    if not 2 <= nodes <= MAX_NODES:
        raise ValueError(f"nodes must lie in 2..{MAX_NODES}, got {nodes}")
    angle = np.arange(1, nodes + 1) * np.pi / (nodes + 1)
    weights = 2 / (nodes + 1) * np.sin(angle) ** 2
    om = 1 / (1 + b**2 - 2 * b * np.cos(angle))
    signs = np.array([[1.0, -1.0], [-1.0, 1.0]])
    modes = Modes(weights / weights.sum(), om[None], signs[:, :, None] * (weights * b**2 * om**2))
    return GaussianMixture(modes=modes, probabilities=(0.5, 0.5), alpha=alpha, lam=lam, loss=loss, bias=False)


@checked
def split_site(covariance: ArrayLike, site: NonNegativeCount, width: Count = 1) -> tuple[Array, Array]:
    """Split a covariance into Cov(x) and Cov(x, t) of the other sites x and one site t, in the order of the sites.

    Each site has `width` numbers. The second is (p,) for width 1 (spins), else (p, width) (contrasts, width = C - 1).
    """
    matrix = covariance_matrix("covariance", covariance)
    if len(matrix) % width or len(matrix) < 2 * width:
        raise ValueError(f"covariance must have width = {width} rows for each of 2 or more sites, got {len(matrix)}")
    if (k := site) >= len(matrix) // width:
        raise ValueError(f"site must lie in 0..{len(matrix) // width - 1}, got {site!r}")
    own = np.arange(k * width, (k + 1) * width)
    others = np.delete(np.arange(len(matrix)), own)
    cross = matrix[np.ix_(others, own)]
    return matrix[np.ix_(others, others)], cross[:, 0] if width == 1 else cross


def _center(mean: Array | None, p: int) -> Array:
    return np.zeros(p) if mean is None else checks.shaped("mean", mean, (p,), ", as inputs")


def _modes(within: Array, means: Any) -> Modes:
    """Make the modes of the signals sqrt(p) mean, in the eigenbasis of the covariance within the clusters."""
    try:
        return Modes.of_matrix((within + within.T) / 2, np.sqrt(len(within)) * np.asarray(means))
    except ValueError as error:
        raise ValueError(f"cross is too large for the covariance of the inputs: {error}") from None
